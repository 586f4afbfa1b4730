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
  ) throws -> InstrumentTrading {
    let instrument = try #require(Symbol(code).flatMap(Instrument.classify))
    let order = Order(
      id: 1, account: 1, symbol: instrument.symbol, side: .buy, kind: kind, timeInForce: force,
      quantity: ExactDecimal(100), limit: kind == .stop ? nil : Self.price(1001),
      stop: kind.isStop ? Self.price(1000) : nil)
    var account = InstrumentTrading(instrument)
    account.enter(
      RestingOrder(
        order, acceptance: Acceptance(entersAt: entersAt, worstPrice: Self.price(1100)),
        on: Self.day,
        band: nil, isReleased: isReleased))
    return account
  }

  /// The stamps of the books that gave what was shown.
  private func stamps(_ account: inout InstrumentTrading, _ rows: [Snapshot]) -> [Int] {
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

  /// Shenzhen takes orders at noon, which stand in the book and meet nobody.
  @Test(arguments: [("sh600000", noon + 9), ("sz000001", afternoon + 3)])
  func `an order that came before noon is filled from the book of noon, if that is none of noon`(
    code: String, second: Int
  ) throws {
    var account = try account(.limit, entersAt: Self.noon - 3, code: code)
    let rows = [Self.noon + 9, Self.afternoon + 3].map { row($0, volume: 900) }
    #expect(stamps(&account, rows) == [second])
  }

  @Test(arguments: [
    ("sh600000", [noon + 3, noon + 6], [noon + 3]), ("sz000001", [noon + 3, noon + 6], []),
    ("sh600000", [afternoon + 3, afternoon + 6], []),
  ])
  func `an order for the book of its moment ends with the phase that it came in`(
    code: String, seconds: [Int], filled: [Int]
  ) throws {
    for force in [TimeInForce.immediateOrCancel, .fillOrKill] {
      var account = try account(.limit, entersAt: Self.noon - 1, code: code, force: force)
      #expect(stamps(&account, seconds.map { row($0, volume: 900) }) == filled)
      #expect(!account.isActive(1))
    }
  }

  /// At limit-up, behind 100 shares; 5,000 more are traded in the second row, or a later one.
  private func queued(
    _ seconds: [Int], traded index: Int = 1, change: (Int, inout Snapshot) -> Void = { _, _ in }
  ) throws -> [Int64] {
    let instrument = try #require(Symbol("sh600000").flatMap(Instrument.classify))
    let limitUp = Self.price(1100)
    var account = InstrumentTrading(instrument)
    account.enter(
      RestingOrder(
        Order(
          id: 1, account: 1, symbol: instrument.symbol, side: .buy, kind: .limit,
          timeInForce: .goodTillCancelled, quantity: ExactDecimal(1000), limit: limitUp),
        acceptance: Acceptance(entersAt: 0, worstPrice: limitUp), on: Self.day,
        band: PriceBand(lower: Self.price(900), upper: limitUp)))
    var fills: [Int64] = []
    for (number, second) in seconds.enumerated() {
      var row = row(second, volume: number < index ? 100 : 5_100)
      (row.last, row.high, row.low) = (limitUp, limitUp, limitUp)
      row.turnover = ExactDecimal(units: row.volume.units * 1100, scale: 2)
      (row.bids, row.asks) = ([BookLevel(price: limitUp, volume: ExactDecimal(100))], [])
      change(number, &row)
      for case .pending(let fill) in account.accept(row) { fills.append(fill.quantity.units) }
    }
    return fills
  }

  @Test func `volume fills an order that rests where it was matched`() throws {
    #expect(try queued([Self.open + 3, Self.open + 6]) == [1000])
    #expect(try queued([Self.close - 200, Self.close + 3]) == [1000])
  }

  @Test(arguments: [
    [close + 3, close + 1200, close + 1203], [noon + 3, noon + 600, afternoon],
    [33_903, 34_100, 34_200], [close - 170, close - 30, close - 3],
  ])
  func `volume that comes where nothing is matched fills nothing`(seconds: [Int]) throws {
    #expect(try queued(seconds) == [])
  }

  @Test func `volume that comes in a halt fills nothing, be it stated or seen`() throws {
    let seconds = [3, 6, 9, 12].map { Self.open + $0 }
    #expect(try queued(seconds, traded: 2) == [1000])
    let stated = try queued(seconds, traded: 2) { number, row in
      if number == 1 || number == 2 { row.trading = .halted }
    }
    let seen = try queued(seconds, traded: 2) { number, row in
      if number == 1 || number == 2 { row.bids = [] }
    }
    #expect(stated == [] && seen == [])
  }

  @Test(arguments: [(Int64(100), Int64(1000)), (500, 1001), (1500, 1002)])
  func `an order that took part in an auction has one price there`(
    quantity: Int64, cents: Int64
  ) throws {
    let instrument = try #require(Symbol("sh600000").flatMap(Instrument.classify))
    var account = InstrumentTrading(instrument)
    let limit = Self.price(1002)
    account.enter(
      RestingOrder(
        Order(
          id: 1, account: 1, symbol: instrument.symbol, side: .buy, kind: .limit,
          quantity: ExactDecimal(quantity), limit: limit),
        acceptance: Acceptance(entersAt: 33_400, worstPrice: limit), on: Self.day, band: nil))
    var row = row(33_900, volume: 900)
    row.asks = [
      BookLevel(price: Self.price(1000), volume: ExactDecimal(200)),
      BookLevel(price: Self.price(1001), volume: ExactDecimal(1000)),
    ]
    let fills = account.accept(row).compactMap { event in
      if case .pending(let fill) = event { fill } else { nil }
    }
    let auction = fills.filter { $0.evidence.basis == .auction }
    #expect(auction.map(\.price) == [Self.price(cents)])
    #expect(auction.map(\.quantity.units) == [min(quantity, 1200)])
    #expect(fills.allSatisfy { $0.evidence.basis != .book })
  }

  @Test func `an order that came before the closing auction pays its limit there`() throws {
    for seconds in [[Self.close + 3], [Self.close - 185, Self.close - 60, Self.close + 3]] {
      var account = try account(.limit, entersAt: Self.close - 200, code: "sh600000")
      let rows = seconds.map { second in
        var row = row(second, volume: Int64(second))
        row.asks = [
          BookLevel(
            price: Self.price(second < Self.close ? 1005 : 1000), volume: ExactDecimal(500))
        ]
        return row
      }
      let fills = rows.flatMap { account.accept($0) }.compactMap { event in
        if case .pending(let fill) = event { fill } else { nil }
      }
      #expect(fills.map(\.price) == [Self.price(1001)])
      #expect(fills.map(\.evidence.basis) == [.passive])
    }
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
    let reason = "continuous trading ended before its book was seen"
    #expect(
      account.accept(row(Self.close + 6, volume: 900)) == [.cancelled(order: 1, reason: reason)])
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
