import Commits
import Feeds
import Market
import Postgres
import Reader
import Store
import TestSupport
import Testing

@Suite struct CandleQueryTests {
  private static let symbol = StoreSamples.symbol(1)

  @Test(
    arguments: [
      ("candles('sh600001', '7m')", "timeframe: expected 1m, 5m"),
      ("candles('sh600001', fill => 'linear')", "fill: expected none or flat, found 'linear'"),
      ("candles('sh600001', '1d', fill => 'flat')", "fill: expected none for timeframes"),
      ("candles('sh600001', adjust => 'forward')", "adjust: expected raw, qfq, hfq,"),
      ("candles('sh600001', adjust => 'qfq:2026-02-30')", "adjust: expected qfq: and a date"),
      ("candles('sh600001', source => 'reuters')", "source: expected sina, alpaca_iex or"),
      ("candles('sh600001', newest => -1)", "newest: expected a count, found '-1'"),
      ("why('sh600001', now(), '2m')", "timeframe: expected 1m, 5m"),
      ("market_candles('cn', '2m')", "timeframe: expected 1m, 5m"),
      ("market_candles('moon')", "market: expected cn or us, found 'moon'"),
      ("market_candles('cn', adjust => 'forward')", "adjust: expected raw, qfq, hfq,"),
      ("market_at(now(), market => 'moon')", "market: expected cn or us, found 'moon'"),
      ("movers('winners')", "kind: expected gainers, losers, turnover"),
    ])
  func `an argument that means nothing is refused and says what would do`(
    query: String, sentence: String
  ) async throws {
    let refusal = try await AskedStore().refusal("select * from \(query)")
    #expect(refusal?.sqlState == "22023")
    #expect(refusal?.message.contains(sentence) == true, "\(refusal?.message ?? "no refusal")")
  }

  @Test func `fill puts flat candles into holes, never behind the last candle`() async throws {
    var samples = StoreSamples(seed: 61)
    var store = try await AskedStore()
    let present = [0, 1, 4, 118, 121, 130]
    let minutes = present.map { samples.candle(1, minute: $0) }
    try await store.commit(at: StoreSamples.start, candles: minutes)
    let filled = try store.ask(Self.symbol, .minute1) { $0.fill = .flat }
    #expect(
      filled.map(\.openedAt)
        == (0...130).map {
          Timestamp(day: StoreSamples.day, secondOfDay: Session.opening(ofMinute: $0))
        })
    let flags: CandleFlags = [.noTrade, .filled]
    for (minute, candle) in filled.enumerated() where !present.contains(minute) {
      let before = try #require(minutes.last { $0.openedAt < candle.openedAt })
      #expect(candle.prices == Array(repeating: before.close, count: 4))
      #expect(candle.volume.isZero && candle.flags == flags)
    }
    #expect(present.map { filled[$0] } == minutes.map { AskedCandle($0) })
    let from = Timestamp(day: StoreSamples.day, secondOfDay: Session.opening(ofMinute: 3))
    let part = try store.ask(Self.symbol, .minute1) { query in
      query.fill = .flat
      query.from = from
      query.to = from.adding(seconds: 120)
    }
    #expect(part == Array(filled[3...4]))
    #expect(
      try store.ask(Self.symbol, .minute1) { ($0.fill, $0.newest) = (.flat, 20) }
        == filled.suffix(20))
    let quarters = try store.ask(Self.symbol, .minute15) { $0.fill = .flat }
    #expect(
      quarters.map { $0.flags.contains(.filled) } == [0, 1, 1, 1, 1, 1, 1, 0, 0].map { $0 == 1 })
  }

  @Test func `fill begins with the close of the day before`() async throws {
    var samples = StoreSamples(seed: 62)
    var store = try await AskedStore()
    let friday = StoreSamples.day.advanced(by: -3)
    let close = samples.minute(
      Self.symbol, day: friday,
      opened: Timestamp(day: friday, secondOfDay: Session.opening(ofMinute: 239)))
    try await store.commit(
      at: StoreSamples.start, candles: [close, samples.candle(1, minute: 2)])
    let monday = try store.ask(Self.symbol, .minute1) { query in
      query.fill = .flat
      query.from = StoreSamples.start
    }
    #expect(monday.count == 3)
    #expect(monday.prefix(2).allSatisfy { $0.prices[0] == close.close })
    #expect(monday.prefix(2).allSatisfy { $0.tradingDay == StoreSamples.day })
  }

  @Test func `two series of a symbol never mix`() async throws {
    var samples = StoreSamples(seed: 63)
    var store = try await AskedStore()
    let symbol = try #require(Symbol("AAPL"))
    let series = [Source.alpacaIEX, .alpacaSIP].map { source in
      (0..<30).filter { _ in !samples.oneIn(3) }.map { minute in
        samples.minute(
          symbol, day: StoreSamples.day,
          opened: Timestamp(day: StoreSamples.day, newYorkSecondOfDay: 34_200 + minute * 60),
          source: source)
      }
    }
    try await store.commit(at: StoreSamples.start, candles: series[0] + series[1])
    for (source, candles) in zip([Source.alpacaIEX, .alpacaSIP], series) {
      let found = try store.ask(symbol, .minute1) { $0.source = source.name }
      #expect(found == candles.map { AskedCandle($0) })
      let quarters = try store.ask(symbol, .minute15) { $0.source = source.name }
      #expect(quarters.allSatisfy { $0.source == source.name })
    }
    #expect(try store.ask(symbol, .minute1) == series[1].map { AskedCandle($0) })
    let other = #expect(throws: StoreError.self) {
      try store.ask(symbol, .minute1) { $0.source = "sina" }
    }
    #expect(other?.sqlState == "22023")
    let ids = try store.database.execute(
      """
      select candled.instrument_id('aapl'), candled.instrument_id('AAPL', 'alpaca_sip'),
        candled.instrument_id('AAPL', 'alpaca_iex'), candled.instrument_id('AAPL', 'sina')
      """)[0]
    #expect(ids[0] == ids[1])
    #expect(ids[1] != ids[2])
    #expect(ids[3] == nil)
  }

  @Test func `why shows revisions, gaps, disagreements and the journal`() async throws {
    var samples = StoreSamples(seed: 64)
    var store = try await AskedStore()
    let known = StoreSamples.start.adding(seconds: 70)
    try await store.commit(at: known, candles: [samples.candle(1, minute: 0)])
    try await store.commit(
      at: known.adding(seconds: 60), candles: [samples.candle(1, minute: 1)],
      revisions: [samples.candle(1, minute: 0)])
    try store.database.execute(
      """
      set search_path = candled;
      insert into gap
        (instrument_id, trading_day, from_at, to_at, volume, turnover, cause, known_from)
      values
        (1, '2026-07-06', '2026-07-06 09:30:30+08', '2026-07-06 09:30:50+08', 7, 70, 2, now()),
        (1, '2026-07-06', '2026-07-06 09:31+08', '2026-07-06 09:31:50+08', 9, 90, 2, now());
      insert into disagreement
        (instrument_id, timeframe, opened_at, trading_day, field, ours, theirs, our_source,
        their_source, known_from)
      values (1, 1, '2026-07-06 09:30+08', '2026-07-06', 'volume', 1, 2, 1, 1, now())
      """)
    let facts = try store.queries.why(Self.symbol, at: StoreSamples.start, timeframe: .minute1)
    #expect(
      facts.map(\.what) == [
        "candle", "revision", "change", "change", "served", "gap", "disagreement",
      ])
    #expect(facts[0].at == known.adding(seconds: 60))
    #expect(facts[1].detail.contains("late_print"))
    #expect(facts[2].detail.hasPrefix("seq 1, journal position 1"))
    #expect(facts[3].detail.hasPrefix("seq 2, journal position 2"))
    #expect(facts[4].detail == "live quotes of sina")
    #expect(facts[5].detail.contains("volume 7"))
    let rolled = try store.queries.why(Self.symbol, at: StoreSamples.start, timeframe: .minute5)
    #expect(rolled.map(\.what).filter { $0 == "candle" }.count == 2)
    #expect(rolled.first?.what == "rolled up")
    let nothing = try store.queries.why(
      Self.symbol, at: StoreSamples.start.adding(seconds: 7200), timeframe: .minute1)
    #expect(nothing.map(\.what) == ["nothing"])
  }

  @Test(
    arguments: [
      "candles('sh600001', fill => 'flat', as_of => now())", "candles('sh600001', '1w')",
      "market_at(now(), now())", "why('sh600001', now())", "candle_5m", "candle_1mo", "factors",
      "disagreements", "lists", "key_usage", "coverage", "ranges", "candle_1m_f8", "candle_60m_f8",
      "movers('new_highs')", "market_candles('cn', '5m')", "market_candles('us', as_of => now())",
      "market_at(now(), market => 'us')",
    ])
  func `a reader may ask everything`(query: String) async throws {
    var store = try await AskedStore()
    var samples = StoreSamples(seed: 66)
    try await store.commit(at: StoreSamples.start, candles: [samples.candle(1, minute: 0)])
    let reader = store.database.url(role: "candled_reader")
    let rows = try SQLProbe.run("select count(*) from candled.\(query)", url: reader)
    #expect(rows.count == 1)
  }

  @Test func `the views show roll-ups with what is forming`() async throws {
    let database = try StoreDatabase()
    let writer = try await freshWriter(database)
    var samples = StoreSamples(seed: 65)
    var commit = samples.minute(5, position: 1, instruments: 1)
    commit.candles = (0...5).map { samples.candle(0, minute: $0) }
    for place in commit.candles.indices { commit.candles[place].flags = [] }
    commit.quotes[0].forming = samples.candle(0, minute: 6)
    _ = try await writer.commit(commit)
    func states(_ view: String) throws -> [[String?]] {
      try database.execute(
        """
        select state, (extract(epoch from opened_at)::bigint + 28800) / 60 % 1440
        from candled.\(view)
        where symbol = 'sh600000' and trading_day = '2026-07-06'
        order by opened_at
        """)
    }
    #expect(try states("candle_5m") == [["final", "570"], ["open", "575"]])
    for view in ["candle_15m", "candle_30m", "candle_60m", "candle_1w"] {
      #expect(try states(view) == [["open", "570"]], "\(view)")
    }
    let volumes = commit.candles.map(\.volume) + [commit.quotes[0].forming?.volume ?? .zero]
    #expect(
      try database.value("select volume from candled.candle_15m")
        == (try volumes.reduce(.zero) { try $0 + $1 }).description)
  }
}
