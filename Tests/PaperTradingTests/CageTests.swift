import Market
import PaperTrading
import Testing

/// The price cage of orders that the house sends into continuous trading: it is judged by the book
/// that they meet.
@Suite struct CageTests {
  private static let day = FillTests.day
  private static let noon = 11 * 3600 + 30 * 60
  private static let afternoon = 13 * 3600

  private static func price(_ cents: Int64) -> ExactDecimal { ExactDecimal(units: cents, scale: 2) }

  /// Of an instrument at 10.00 with one offer: 10.21 is inside the cage of a purchase, 10.22 is
  /// not.
  private func row(_ second: Int, ask cents: Int64 = 1001) -> Snapshot {
    let ten = Self.price(1000)
    return Snapshot(
      stamp: SnapshotStamp(day: Self.day, secondOfDay: Int32(second), sequence: Int64(second)),
      previousClose: ten, last: ten, high: ten, low: ten, volume: ExactDecimal(100),
      turnover: ExactDecimal(1000),
      bids: [BookLevel(price: Self.price(999), volume: ExactDecimal(500))],
      asks: [BookLevel(price: Self.price(cents), volume: ExactDecimal(500))])
  }

  private func order(
    _ kind: OrderKind, limit: Int64, code: String, entersAt: Int, isReleased: Bool = false
  ) throws -> RestingOrder {
    let symbol = try #require(Symbol(code))
    return RestingOrder(
      Order(
        id: 1, account: 1, symbol: symbol, side: .buy, kind: kind, quantity: ExactDecimal(100),
        limit: Self.price(limit), stop: kind.isStop ? Self.price(1000) : nil),
      acceptance: Acceptance(entersAt: entersAt, worstPrice: Self.price(limit)), on: Self.day,
      band: nil, isReleased: isReleased)
  }

  private func outcome(
    of order: RestingOrder, _ rows: [Snapshot]
  ) throws -> (filled: Int, reasons: [String]) {
    var account = InstrumentTrading(try #require(Instrument.classify(order.order.symbol)))
    account.enter(order)
    var (filled, reasons) = (0, [String]())
    for event in rows.flatMap({ account.accept($0) }) + account.confirm() {
      switch event {
      case .booked: filled += 1
      case .cancelled(_, let reason): reasons.append(reason ?? "")
      default: break
      }
    }
    return (filled, reasons)
  }

  /// An order of 09:25 to 09:30, or of Shanghai's noon, comes when continuous trading begins, one
  /// of Shenzhen's noon while it waits.
  @Test(arguments: [
    ("sh600000", 34_200), ("sz000001", 34_200), ("sh600000", afternoon), ("sz000001", noon + 600),
  ])
  func `an order that waits for continuous trading is judged by the book that it meets there`(
    code: String, entersAt: Int
  ) throws {
    let rows = [3, 6].map { row((entersAt < Self.noon ? 34_200 : Self.afternoon) + $0) }
    let inside = try outcome(
      of: order(.limit, limit: 1021, code: code, entersAt: entersAt), rows)
    #expect(inside.filled == 1 && inside.reasons == [])
    let outside = try outcome(
      of: order(.limit, limit: 1022, code: code, entersAt: entersAt), rows)
    #expect(outside.filled == 0)
    #expect(outside.reasons.allSatisfy { $0.contains("the price cage of a buy order") })
    #expect(outside.reasons.count == 1)
  }

  @Test func `a stop-limit order is judged when it was reached`() throws {
    for (limit, filled) in [(Int64(1021), 1), (1022, 0)] {
      let stop = try order(.stopLimit, limit: limit, code: "sh600000", entersAt: 36_000)
      let found = try outcome(of: stop, [3, 6, 9].map { row(36_000 + $0) })
      #expect(found.filled == filled && found.reasons.count == 1 - filled)
    }
  }

  @Test func `an order that was judged as it came is not judged again`() throws {
    let order = try order(.limit, limit: 1022, code: "sh600000", entersAt: 36_000)
    #expect(try outcome(of: order, [3, 6].map { row(36_000 + $0) }).filled == 1)
  }

  @Test func `neither an auction nor a fund has a cage`() throws {
    let auction = try order(.limit, limit: 1022, code: "sh600000", entersAt: 33_400)
    #expect(try outcome(of: auction, [33_903, 34_203].map { row($0) }).filled == 1)
    let fund = try order(.limit, limit: 1022, code: "sh510300", entersAt: 34_200)
    #expect(try outcome(of: fund, [34_203, 34_206].map { row($0) }).filled == 1)
  }

  /// A queue purchase can wait: it sends nothing that would be void.
  @Test(arguments: [9 * 3600 + 27 * 60, noon + 600])
  func `a queue purchase is judged at once, whenever its order would come`(second: Int) throws {
    let instrument = try #require(Symbol("sh600000").flatMap(Instrument.classify))
    for (origin, isRefused) in [(Order.Origin.person, false), (.queuePurchase, true)] {
      let order = Order(
        id: 1, account: 1, symbol: instrument.symbol, side: .buy, kind: .limit,
        quantity: ExactDecimal(100), limit: Self.price(1022), origin: origin)
      var refusal: Refusal?
      do throws(Refusal) {
        _ = try OrderRules.judge(
          order, of: TradedInstrument(instrument), against: row(second),
          at: TradingMoment(day: Self.day, secondOfDay: second))
      } catch {
        refusal = error
      }
      #expect((refusal?.code == .cage) == isRefused)
    }
  }
}
