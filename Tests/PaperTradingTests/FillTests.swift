import Market
import PaperTrading
import TestSupport
import Testing

/// The certain-fill model, part by part; `script/trials fills` holds it against a real book.
@Suite struct FillTests {
  static let day = TradingDay.first(of: 2026).advanced(by: 250)

  private static func price(_ cents: Int64) -> ExactDecimal { ExactDecimal(units: cents, scale: 2) }

  private static func levels(_ levels: [(Int64, Int64)]) -> [BookLevel] {
    levels.map { BookLevel(price: price($0.0), volume: ExactDecimal($0.1)) }
  }

  /// All trades at `cents`.
  private func row(
    _ number: Int64, volume: Int64, at cents: Int64 = 1100, bids: [(Int64, Int64)] = [],
    asks: [(Int64, Int64)] = [], second: Int32 = 36_000
  ) -> Snapshot {
    Snapshot(
      stamp: SnapshotStamp(
        day: Self.day, secondOfDay: second + Int32(number) * 3, sequence: number),
      previousClose: Self.price(1000), last: Self.price(cents), high: Self.price(cents),
      low: Self.price(cents), volume: ExactDecimal(volume),
      turnover: ExactDecimal(units: volume * cents, scale: 2), bids: Self.levels(bids),
      asks: Self.levels(asks))
  }

  private func account() throws -> InstrumentTrading {
    InstrumentTrading(try #require(Symbol("sz000001").flatMap(Instrument.classify)))
  }

  private func order(
    _ id: Int64 = 1, _ quantity: Int64, limit: Int64?, kind: OrderKind = .limit,
    force: TimeInForce = .day, stop: Int64? = nil, entersAt: Int = 0
  ) throws -> RestingOrder {
    let symbol = try #require(Symbol("sz000001"))
    let instrument = try #require(Instrument.classify(symbol))
    let order = Order(
      id: id, account: 1, symbol: symbol, side: .buy, kind: kind, timeInForce: force,
      quantity: ExactDecimal(quantity), limit: limit.map(Self.price), stop: stop.map(Self.price))
    let band = try #require(
      PriceLimit.band(
        for: instrument, previousClose: Self.price(1000), on: Self.day, specialTreatment: false,
        tradingDaysSinceListing: nil))
    return RestingOrder(
      order, acceptance: Acceptance(entersAt: entersAt, worstPrice: order.limit ?? band.upper),
      on: Self.day, band: band)
  }

  private func quantities(_ events: [FillEvent], booked: Bool) -> [Int64] {
    events.compactMap { event in
      switch event {
      case .booked(let fill) where booked: fill.quantity.units
      case .pending(let fill) where !booked: fill.quantity.units
      default: nil
      }
    }
  }

  /// Whether the row leads to nothing.
  private func isQuiet(_ account: inout InstrumentTrading, _ row: Snapshot) -> Bool {
    account.accept(row).isEmpty
  }

  @Test func `a queue at limit-up gives what is behind the front, once a row confirms it`() throws {
    var account = try account()
    account.enter(try order(1, 500, limit: 1100))
    let quiet1 = isQuiet(&account, row(1, volume: 100, bids: [(1100, 1000)]))
    #expect(quiet1)
    let quiet2 = isQuiet(&account, row(2, volume: 900, bids: [(1100, 900)]))
    #expect(quiet2)
    let shown = account.accept(row(3, volume: 1400, bids: [(1100, 700)]))
    #expect(quantities(shown, booked: false) == [300])
    let booked = account.accept(row(4, volume: 1400, bids: [(1100, 700)]))
    #expect(quantities(booked, booked: true) == [300])
  }

  @Test func `a row that is taken out reverses what it had led to`() throws {
    var account = try account()
    account.enter(try order(1, 500, limit: 1100))
    _ = account.accept(row(1, volume: 100, bids: [(1100, 1000)]))
    _ = account.accept(row(2, volume: 1300, bids: [(1100, 1000)]))
    let booked = account.accept(row(3, volume: 1400, bids: [(1100, 1000)]))
    #expect(quantities(booked, booked: true) == [200])
    let events = account.withdraw(from: 2)
    let reversed = events.compactMap { if case .reversed(let fill) = $0 { fill } else { nil } }
    #expect(reversed.map(\.quantity.units) == [200])
    // From the first row to the third 1,300 traded all the same.
    let again = account.accept(row(3, volume: 1400, bids: [(1100, 1000)]))
    #expect(quantities(again, booked: false) == [300])
    let changes = account.withdraw(from: 77)
    #expect(changes == [])
  }

  @Test func `a pending fill of a row that is taken out is dropped`() throws {
    var account = try account()
    account.enter(try order(1, 500, limit: 1100))
    _ = account.accept(row(1, volume: 100, bids: [(1100, 1000)]))
    _ = account.accept(row(2, volume: 9000, bids: [(1100, 1000)]))
    let events = account.withdraw(from: 2)
    guard case .dropped(let fill)? = events.first, events.count == 1 else {
      Issue.record("\(events)")
      return
    }
    #expect(fill.quantity.units == 500)
  }

  @Test func `a marketable order walks the levels within its limit`() throws {
    var account = try account()
    account.enter(try order(1, 500, limit: 1002))
    let events = account.accept(
      row(1, volume: 100, at: 1000, asks: [(1001, 200), (1002, 100), (1003, 900)]))
    #expect(quantities(events, booked: false) == [200, 100])
    #expect(account.orders.first?.queue?.limit == Self.price(1002))
  }

  @Test func `what an order took is not there for the next one`() throws {
    var account = try account()
    let asks: [(Int64, Int64)] = [(1001, 300), (1002, 500)]
    account.enter(try order(1, 200, limit: 1002))
    _ = account.accept(row(1, volume: 100, at: 1000, asks: asks))
    account.enter(try order(2, 200, limit: 1002))
    let events = account.accept(row(2, volume: 100, at: 1000, asks: asks))
    #expect(quantities(events, booked: false) == [100, 100])
  }

  @Test func `what an order took is there again once the market has traded as much`() throws {
    var account = try account()
    let asks: [(Int64, Int64)] = [(1001, 300)]
    var filled: [[Int64]] = []
    for (number, volume) in [(Int64(1), Int64(100)), (2, 100), (3, 250), (4, 550)] {
      account.enter(try order(number, 300, limit: 1001, force: .immediateOrCancel))
      filled.append(
        quantities(
          account.accept(row(number, volume: volume, at: 1000, asks: asks)), booked: false))
    }
    #expect(filled == [[300], [], [150], [300]])
  }

  @Test func `the tenth market order of a day is filled as the first was`() throws {
    var account = try account()
    for number in Int64(1)...10 {
      account.enter(try order(number, 300, limit: nil, kind: .fiveBestThenCancel))
      let events = account.accept(
        row(number, volume: number * 400, at: 1000, asks: [(1001, 200), (1002, 200)]))
      #expect(quantities(events, booked: false) == [200, 100], "order \(number)")
    }
  }

  @Test func `what an order took is forgotten once its price has left the book`() throws {
    var account = try account()
    account.enter(try order(1, 300, limit: 1001))
    _ = account.accept(row(1, volume: 100, at: 1000, asks: [(1001, 300)]))
    _ = account.accept(row(2, volume: 100, at: 1000, asks: [(1002, 300)]))
    account.enter(try order(2, 300, limit: 1001))
    let events = account.accept(row(3, volume: 100, at: 1000, asks: [(1001, 300)]))
    #expect(quantities(events, booked: false) == [300])
  }

  @Test func `of two orders that rest, the better one gets what is offered to both`() throws {
    var account = try account()
    account.enter(try order(1, 200, limit: 1000))
    account.enter(try order(2, 200, limit: 1001))
    _ = account.accept(row(1, volume: 100, at: 1002, asks: [(1003, 900)]))
    let events = account.accept(row(2, volume: 100, at: 1002, asks: [(1000, 300)]))
    let filled = events.compactMap { event in
      if case .pending(let fill) = event {
        "\(fill.order): \(fill.quantity)@\(fill.price)"
      } else {
        nil
      }
    }
    #expect(filled == ["2: 200@10.01", "1: 100@10.00"])
  }

  @Test func `what was cancelled unfilled has taken nothing`() throws {
    var account = try account()
    account.enter(try order(1, 200, limit: 1001))
    _ = account.accept(row(1, volume: 100, at: 1000, bids: [(990, 500)], asks: [(1002, 300)]))
    account.cancel(1, of: 1)
    account.enter(try order(2, 300, limit: 1001))
    let events = account.accept(
      row(2, volume: 100, at: 1000, bids: [(990, 500)], asks: [(1001, 300)]))
    #expect(quantities(events, booked: false) == [300])
  }

  @Test func `the largest offer that a resting order met is certain, and never their sum`() throws {
    var account = try account()
    account.enter(try order(1, 1000, limit: 1000))
    _ = account.accept(row(1, volume: 100, at: 1000, bids: [(999, 900)], asks: [(1010, 900)]))
    var filled: [[Int64]] = []
    for number in Int64(2)...9 {
      let offered = number / 2 * 100
      let asks = number % 2 == 0 ? [(Int64(1000), offered)] : [(1010, 900)]
      let events = account.accept(
        row(number, volume: number * 1000, at: 1000, bids: [(999, 900)], asks: asks))
      filled.append(quantities(events, booked: false))
    }
    // 100, 200, 300 and 400 were offered, and 8,000 traded at its limit.
    #expect(filled == [[100], [], [100], [], [100], [], [100], []])
  }

  @Test func `what another version of the model filled is not derived`() throws {
    let text = """
      model=certain/2 basis=limit_queue side=buy before=2026-07-06/36003/1 \
      after=2026-07-06/36006/2 limit=10.00 tick=0.01 own=1000 filled=0 yields=0 front=0 counted=0 \
      volume_before=100 volume_after=900 turnover_before=1000.00 turnover_after=9000.00 \
      high=10.00 low=10.00 volume_slack=0 turnover_slack=0
      """
    let evidence = try #require(FillEvidence(text: text))
    #expect(FillRules.derive(evidence)?.quantity.units == 800)
    for other in ["certain/1", "certain/3"] {
      let unknown = try #require(FillEvidence(text: text.replacing("certain/2", with: other)))
      #expect(FillRules.derive(unknown) == nil)
    }
  }

  @Test func `what a halt ends with is an auction, of which no place in the queue is known`() throws
  {
    var account = try account()
    account.enter(try order(1, 500, limit: 1000))
    _ = account.accept(row(1, volume: 100, at: 1001, bids: [(1000, 100)]))
    var halt = row(2, volume: 100, at: 1001)
    halt.trading = .halted
    _ = account.accept(halt)
    let resumed = account.accept(row(3, volume: 500_100, at: 950, bids: [(949, 100)]))
    #expect(quantities(resumed, booked: false) == [])
    let later = account.accept(
      row(4, volume: 501_100, at: 950, bids: [(949, 100)], asks: [(950, 700)]))
    #expect(quantities(later, booked: false) == [500], "offers behind it count")
  }

  @Test(arguments: [
    (OrderKind.limit, TimeInForce.immediateOrCancel, [Int64(200)]),
    (.limit, .fillOrKill, []), (.allOrCancel, .day, []), (.fiveBestThenCancel, .day, [200]),
  ])
  func `an order that meets the book once is cancelled`(
    kind: OrderKind, force: TimeInForce, filled: [Int64]
  ) throws {
    var account = try account()
    account.enter(try order(1, 500, limit: 1001, kind: kind, force: force))
    var events = account.accept(row(1, volume: 100, at: 1000, asks: [(1001, 200)]))
    events += account.accept(row(2, volume: 100, at: 1000, asks: [(1001, 200)]))
    #expect(quantities(events, booked: true) == filled)
    #expect(events.contains(.cancelled(order: 1)))
  }

  @Test func `five best, then limit stays at the price of its last fill`() throws {
    var account = try account()
    account.enter(try order(1, 500, limit: nil, kind: .fiveBestThenLimit))
    _ = account.accept(row(1, volume: 100, at: 1000, asks: [(1001, 200)]))
    #expect(account.orders.first?.queue?.limit == Self.price(1001))
  }

  @Test func `a stop order sees the book of the row after the one that releases it`() throws {
    var account = try account()
    account.enter(try order(1, 100, limit: nil, kind: .stop, stop: 1005))
    let asks: [(Int64, Int64)] = [(1006, 500)]
    let quiet3 = isQuiet(&account, row(1, volume: 100, at: 1004, asks: asks))
    #expect(quiet3)
    let quiet4 = isQuiet(&account, row(2, volume: 200, at: 1005, asks: asks))
    #expect(quiet4)
    let events = account.accept(row(3, volume: 200, at: 1005, asks: asks))
    #expect(events.contains(.released(order: 1)))
    #expect(quantities(events, booked: false) == [100])
  }

  @Test func `an indicative book fills nothing, the book behind the match does`() throws {
    var account = try account()
    account.enter(try order(1, 100, limit: 1000))
    let collecting = row(
      1, volume: 0, at: 1000, bids: [(1000, 900)], asks: [(1000, 900)],
      second: 33_600)
    let quiet5 = isQuiet(&account, collecting)
    #expect(quiet5)
    let matched = row(
      2, volume: 900, at: 1000, bids: [(999, 100)], asks: [(1000, 300)],
      second: 33_900)
    let events = account.accept(matched)
    #expect(quantities(events, booked: false) == [100])
  }

  @Test func `evidence is a line of text that gives the fill again`() throws {
    var account = try account()
    account.enter(try order(1, 500, limit: 1100))
    _ = account.accept(row(1, volume: 100, bids: [(1100, 1000)]))
    let events = account.accept(row(2, volume: 1400, bids: [(1100, 900)]))
    guard case .pending(let fill)? = events.first else {
      Issue.record("no fill")
      return
    }
    let evidence = try #require(FillEvidence(text: fill.evidence.text))
    #expect(evidence == fill.evidence)
    #expect(FillRules.derive(evidence)?.quantity == fill.quantity)
    #expect(FillEvidence(text: fill.evidence.text + " more=1") == nil)
    #expect(FillEvidence(text: "") == nil)
  }
}
