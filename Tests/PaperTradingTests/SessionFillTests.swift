import Market
import PaperTrading
import TestSupport
import Testing

/// Which books fill an order: those of sessions in which it can be matched.
@Suite struct SessionFillTests {
  private static let day = FillTests.day
  private static let open = 9 * 3600 + 30 * 60
  private static let noon = 11 * 3600 + 30 * 60
  private static let afternoon = 13 * 3600
  private static let close = 15 * 3600

  private static func price(_ cents: Int64) -> ExactDecimal { ExactDecimal(units: cents, scale: 2) }

  /// Of an instrument that stays at 10.00, with offers above.
  private func row(_ second: Int, volume: Int64) -> Snapshot {
    Snapshot(
      stamp: SnapshotStamp(day: Self.day, secondOfDay: Int32(second), sequence: Int64(second)),
      previousClose: Self.price(1000), last: Self.price(1000), high: Self.price(1000),
      low: Self.price(1000), volume: ExactDecimal(volume),
      turnover: ExactDecimal(units: volume * 1000, scale: 2),
      bids: [BookLevel(price: Self.price(999), volume: ExactDecimal(500))],
      asks: [BookLevel(price: Self.price(1001), volume: ExactDecimal(500))])
  }

  private func account(
    _ kind: OrderKind, entersAt: Int = 0, isReleased: Bool = false, code: String = "sz000001",
    force: TimeInForce = .day
  ) throws -> AccountOrders {
    let instrument = try #require(Symbol(code).flatMap(Instrument.classify))
    let order = Order(
      id: 1, account: 1, symbol: instrument.symbol, side: .buy, kind: kind, timeInForce: force,
      quantity: ExactDecimal(100), limit: kind == .stop ? nil : Self.price(1001),
      stop: kind.isStop ? Self.price(1000) : nil)
    var account = AccountOrders(instrument)
    account.enter(
      RestingOrder(
        order, acceptance: Acceptance(entersAt: entersAt, bound: Self.price(1100)), on: Self.day,
        band: nil, isReleased: isReleased))
    return account
  }

  /// The stamps of the books that gave what was shown.
  private func stamps(_ account: inout AccountOrders, _ rows: [Snapshot]) -> [Int] {
    rows.flatMap { account.accept($0) }.compactMap { event in
      if case .pending(let fill) = event { Int(fill.at.secondOfDay) } else { nil }
    }
  }

  @Test(arguments: [OrderKind.stop, .stopLimit])
  func `a stop that the opening auction reaches is filled from 09:30 on`(kind: OrderKind) throws {
    var account = try account(kind)
    let seconds = [33_600, 33_900, 33_903, 34_000, Self.open + 3, Self.open + 6]
    let rows = seconds.map { row($0, volume: $0 < 33_900 ? 0 : 900) }
    #expect(stamps(&account, rows) == [Self.open + 3])
  }

  @Test(arguments: [OrderKind.stop, .stopLimit])
  func `a stop that the closing auction reaches is not filled on that day`(
    kind: OrderKind
  ) throws {
    var account = try account(kind, entersAt: Self.close - 60)
    let seconds = [Self.close - 180, Self.close - 30, Self.close, Self.close + 3, Self.close + 60]
    let rows = seconds.map { row($0, volume: Int64($0)) }
    #expect(stamps(&account, rows) == [])
    #expect(account.isActive(1))
  }

  @Test func `a stop that was reached on an earlier day is sent when continuous trading begins`()
    throws
  {
    var account = try account(.stop, entersAt: 33_300, isReleased: true)
    let rows = [33_900, 33_903, Self.open + 3].map { row($0, volume: 900) }
    #expect(stamps(&account, rows) == [Self.open + 3])
  }

  @Test func `a price of the day before reaches no stop`() throws {
    var account = try account(.stop)
    let rows = [Self.open + 3, Self.open + 6, Self.open + 9].map { row($0, volume: 0) }
    #expect(stamps(&account, rows) == [])
    #expect(stamps(&account, [row(Self.open + 12, volume: 100)]) == [])
    #expect(stamps(&account, [row(Self.open + 15, volume: 100)]) == [Self.open + 15])
  }

  @Test func `an order that comes at noon is not filled from the book of noon`() throws {
    var account = try account(.limit, entersAt: Self.noon + 60)
    let seconds = [Self.noon + 90, Self.noon + 3000, Self.afternoon, Self.afternoon + 3]
    #expect(stamps(&account, seconds.map { row($0, volume: 900) }) == [Self.afternoon + 3])
  }

  @Test func `an order that came before noon is filled from the book of noon`() throws {
    var account = try account(.limit, entersAt: Self.noon - 3)
    #expect(stamps(&account, [row(Self.noon + 9, volume: 900)]) == [Self.noon + 9])
  }

  @Test(arguments: [
    (OrderKind.fiveBestThenCancel, TimeInForce.day), (.ownBest, .day), (.limit, .fillOrKill),
    (.limit, .immediateOrCancel),
  ])
  func `an order for the book of its moment is not filled from that behind the closing auction`(
    kind: OrderKind, force: TimeInForce
  ) throws {
    var account = try account(kind, entersAt: Self.close - 182, force: force)
    let events = account.accept(row(Self.close + 3, volume: 900))
    #expect(events == [])
    #expect(account.accept(row(Self.close + 6, volume: 900)) == [.cancelled(order: 1)])
    #expect(!account.isActive(1))
  }

  @Test func `of a first row behind the close it is not known what the auction traded`() throws {
    var account = try account(.limit, entersAt: Self.close - 60)
    let events = account.accept(row(Self.close, volume: 1_000_000))
    let isAssumed = events.contains { event in
      if case .pending(let fill) = event { fill.evidence.basis == .smallOrder } else { false }
    }
    #expect(!isAssumed, "\(events)")
  }

  @Test func `nothing is filled where nothing is matched`() throws {
    let seed = UInt64.random(in: 0...UInt64(UInt32.max))
    var random = SplitMix(seed: seed)
    for _ in 0..<2_000 {
      let kinds: [OrderKind] = [.limit, .stop, .stopLimit]
      let kind = kinds[Int.random(in: 0..<3, using: &random)]
      let entersAt = Int.random(in: 33_300..<Self.close, using: &random)
      let code = Bool.random(using: &random) ? "sz000001" : "sh600000"
      var account = try account(kind, entersAt: entersAt, code: code)
      let seconds = Set((0..<12).map { _ in Int.random(in: 33_300..<55_000, using: &random) })
      let rows = seconds.sorted().map { row($0, volume: Int64($0)) }
      for second in stamps(&account, rows) {
        let continuous = [Self.open..<Self.noon, Self.afternoon..<(14 * 3600 + 57 * 60)]
        let isInside = continuous.contains { $0.contains(second) }
        let wasMatched =
          continuous.contains { $0.lowerBound < second && entersAt < $0.upperBound }
          || [33_900, Self.close].contains { entersAt < $0 && $0 <= second }
        #expect(
          second > entersAt && (kind.isStop ? isInside : wasMatched),
          "seed \(seed): \(kind.name) of second \(entersAt) is filled at \(second)")
      }
    }
  }
}
