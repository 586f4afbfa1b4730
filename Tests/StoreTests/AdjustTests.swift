import Commits
import Market
import Postgres
import Reader
import Store
import TestSupport
import Testing

@Suite struct AdjustTests {
  private static let symbol = StoreSamples.symbol(1)
  private static let texts = ["2026-06-29", "2026-06-30", "2026-07-01", "2026-07-02", "2026-07-03"]

  /// Five days of a week at 10.01, and factors that change on its Wednesday.
  private static func store() async throws -> AskedStore {
    var store = try await AskedStore()
    var samples = StoreSamples(seed: 51)
    var candles = try PeriodTests.days(texts, &samples)
    for place in candles.indices { price(&candles[place]) }
    for day in [candles[1], candles[2]] {
      var minute = day
      minute.timeframe = .minute1
      minute.closedAt = day.openedAt.adding(seconds: 60)
      candles.append(minute)
    }
    try await store.commit(at: candles[4].closedAt, candles: candles)
    try store.database.execute(
      """
      insert into candled.adjustment_factor
      values
        (1, 1, '1900-01-01', 1.6, '2026-07-01 20:00+08', null),
        (1, 1, '2026-07-01', 1, '2026-07-01 20:00+08', null),
        (1, 2, '1900-01-01', 1, '2026-07-01 20:00+08', null),
        (1, 2, '2026-07-01', 1.6, '2026-07-01 20:00+08', '2026-07-02 20:00+08'),
        (1, 2, '2026-07-01', 1.7, '2026-07-02 20:00+08', null)
      """)
    return store
  }

  private static func price(_ candle: inout Candle) {
    candle.open = ExactDecimal(units: 1001, scale: 2)
    candle.high = ExactDecimal(units: 1050, scale: 2)
    candle.low = ExactDecimal(units: 990, scale: 2)
    candle.close = ExactDecimal(units: 1002, scale: 2)
  }

  private static func opens(
    _ store: AskedStore, _ adjust: String, _ timeframe: Timeframe = .day1,
    asOf: Timestamp? = nil
  ) throws -> [String] {
    let adjustment = try #require(PriceAdjustment(text: adjust))
    let found = try store.ask(symbol, timeframe) { query in
      query.adjust = adjustment
      query.asOf = asOf
    }
    return found.map { $0.prices[0]?.description ?? "-" }
  }

  @Test func `qfq divides by the factor of the day, half away from zero`() async throws {
    let store = try await Self.store()
    // 10.01 / 1.6 is 6.25625.
    #expect(
      try Self.opens(store, "qfq") == ["6.2563", "6.2563", "10.0100", "10.0100", "10.0100"])
  }

  @Test func `hfq multiplies with the factor of the day`() async throws {
    let store = try await Self.store()
    #expect(
      try Self.opens(store, "hfq") == ["10.0100", "10.0100", "17.0170", "17.0170", "17.0170"])
  }

  @Test func `qfq as of a date lets that day's prices stand`() async throws {
    let store = try await Self.store()
    #expect(
      try Self.opens(store, "qfq:2026-06-30")
        == ["10.0100", "10.0100", "16.0160", "16.0160", "16.0160"])
    #expect(try Self.opens(store, "qfq:2026-07-02") == Self.opens(store, "qfq"))
  }

  @Test func `factors are those known at the time asked about`() async throws {
    let store = try await Self.store()
    let friday = try #require(TradingDay("2026-07-03"))
    let then = try Self.opens(
      store, "hfq", asOf: Timestamp(day: friday, secondOfDay: Session.afternoonClose))
    #expect(then.last == "17.0170")
    try store.database.execute(
      "update candled.candle set known_from = '2026-06-30 20:00+08'")
    let thursday = try #require(TradingDay("2026-07-02"))
    let before = try Self.opens(
      store, "hfq", asOf: Timestamp(day: thursday, secondOfDay: Session.afternoonClose))
    #expect(before.last == "16.0160")
  }

  @Test func `minutes and weeks are adjusted, volumes are not`() async throws {
    let store = try await Self.store()
    #expect(try Self.opens(store, "qfq", .minute1) == ["6.2563", "10.0100"])
    #expect(try Self.opens(store, "qfq", .week1) == ["6.2563"])
    let raw = try store.ask(Self.symbol, .week1)
    let adjusted = try store.ask(Self.symbol, .week1) { $0.adjust = .qfq(standsOn: nil) }
    #expect(adjusted.map(\.prices[1]) == raw.map(\.prices[1]))
    #expect(adjusted.map(\.prices[2]) == [ExactDecimal(units: 61_875, scale: 4)])
    #expect(adjusted.map(\.volume) == raw.map(\.volume))
  }

  @Test func `split moves prices by splits alone, and volumes with them`() async throws {
    let store = try await Self.store()
    try store.database.execute(
      """
      insert into candled.adjustment_factor
      values
        (1, 3, '1900-01-01', null, '2026-07-01 20:00+08', null),
        (1, 3, '2026-06-30', 1, '2026-07-01 20:00+08', null),
        (1, 3, '2026-07-01', 2, '2026-07-01 20:00+08', null)
      """)
    // Of the first day no split is known.
    #expect(try Self.opens(store, "split") == ["5.0050", "10.0100", "10.0100", "10.0100"])
    let raw = try store.ask(Self.symbol, .day1).dropFirst()
    let split = try store.ask(Self.symbol, .day1) { $0.adjust = .split }
    #expect(try split[0].volume == raw[1].volume * ExactDecimal(2))
    #expect(split.dropFirst().map(\.volume) == raw.dropFirst().map(\.volume))
    #expect(split.map(\.turnover) == raw.map(\.turnover))
    // Nor, then, of all of its week.
    #expect(try Self.opens(store, "split", .week1).isEmpty)
    // A window that ends before is refused; of a market such series are left out.
    let window = "'1d', to_ts => '2026-06-30 00:00+08', adjust => 'split'"
    let refusal = #expect(throws: StoreError.self) {
      try store.database.execute("select * from candled.candles('sh600001', \(window))")
    }
    #expect(refusal?.message.contains("no factors of sh600001 are known") == true)
    #expect(
      try store.database.execute(
        "select symbol from candled.market_candles(timeframe => \(window))"
      ).isEmpty)
    let named = try ["total", "qfq"].map { adjust in
      try store.database.execute(
        "select * from candled.candles('sh600001', '1d', adjust => '\(adjust)')")
    }
    #expect(named[0] == named[1])
  }

  @Test func `a delivered week in which the factor changed is not adjusted by one of them`()
    async throws
  {
    var store = try await Self.store()
    var samples = StoreSamples(seed: 52)
    var week = try PeriodTests.days(["2026-07-03"], &samples)[0]
    week.timeframe = .week1
    week.openedAt = Timestamp(
      day: week.tradingDay.advanced(by: -4), secondOfDay: Session.morningOpen)
    try await store.commit(at: week.closedAt.adding(seconds: 9), candles: [week])
    try store.database.execute(
      "delete from candled.candle where trading_day = '2026-07-03' and timeframe = 240")
    #expect(try store.ask(Self.symbol, .week1) == [AskedCandle(week)])
    #expect(try Self.opens(store, "qfq", .week1) == ["6.2563"])
  }

  @Test func `prices without a known factor are refused, not shown raw`() async throws {
    var store = try await AskedStore()
    var samples = StoreSamples(seed: 53)
    try await store.commit(
      at: StoreSamples.start, candles: try PeriodTests.days(Self.texts, &samples))
    let refusal = #expect(throws: StoreError.self) { try Self.opens(store, "qfq") }
    #expect(refusal?.sqlState == "22023")
    #expect(refusal?.message.contains("no factors of sh600001 are known") == true)
  }
}
