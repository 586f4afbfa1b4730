import Commits
import Feeds
import Postgres
import Reader
import Store
import TestSupport
import Testing

@testable import Market

/// Two live sources that use one symbol text: another source, another market, another series.
@Suite struct SecondSourceTests {
  private static let other = Source(rawValue: 200)
  private static let round = MarketDefinition(
    code: 90, name: "round", zone: .utc, currency: "USD", units: "coins",
    sessions: [SessionHours(opens: 0, closes: 86_400)], tradingDays: .everyDay,
    hasEveryMinute: true)
  private static let row = SourceRow(
    source: other, name: "round_the_clock", market: round, instruments: other, priority: 9,
    hasQuotes: true)
  private static let symbol = StoreSamples.symbol(0)

  private func writer(_ database: StoreDatabase) async throws -> StoreWriter {
    try Schema.apply(url: database.url, sources: [Self.row])
    return try await freshWriter(database)
  }

  /// A minute of Sina's, and the same symbol as the other source has it.
  private func commit(_ samples: inout StoreSamples, position: Int64) -> Commit {
    var commit = samples.minute(Int(position), position: position, instruments: 1)
    var quote = samples.quote(0, second: Session.closing(ofMinute: Int(position)))
    quote.source = Self.other
    quote.name = "other \(position)"
    var candle = samples.candle(0, minute: Int(position))
    candle.source = Self.other
    quote.forming = nil
    commit.quotes.append(quote)
    commit.candles.append(candle)
    commit.gaps = [Source.live, Self.other].map { source in
      Gap(
        symbol: Self.symbol, tradingDay: StoreSamples.day, from: StoreSamples.start,
        to: StoreSamples.start.adding(seconds: 60 * position), volume: ExactDecimal(7),
        turnover: ExactDecimal(position), cause: .outage, source: source)
    }
    commit.certificates = [Source.live, Self.other].map { source in
      DayCertificate(
        symbol: Self.symbol, tradingDay: StoreSamples.day, exchangeVolume: samples.shares(),
        exchangeTurnover: samples.money(), minuteVolume: samples.shares(),
        minuteTurnover: samples.money(), gapVolume: .zero, gapTurnover: .zero,
        afterHoursVolume: .zero, afterHoursTurnover: .zero, minutesTraded: 1,
        minutesUntraded: 0, minutesMissing: 1_439, source: source)
    }
    return commit
  }

  @Test func `a second live source of one symbol is stored beside the first`() async throws {
    let database = try StoreDatabase()
    let writer = try await writer(database)
    var samples = StoreSamples(seed: 200)
    let commit = commit(&samples, position: 1)
    let receipt = try await writer.commit(commit)
    #expect(receipt.quotes == 2 && receipt.candles == 2 && receipt.gaps == 2)
    #expect(receipt.certificates == 2 && receipt.refusals.rows == 0)
    #expect(
      try database.execute("select id, source from candled.instrument order by id") == [
        ["1", "1"], ["2", "200"],
      ])
    #expect(
      try SQLProbe.run(
        """
        select s.name, m.currency, m.units
        from candled.source s
        join candled.market m on m.code = s.market
        where s.code in (1, 200)
        order by s.code
        """, url: database.url(role: "candled_reader")) == [
          ["sina", "CNY", "shares"], ["round_the_clock", "USD", "coins"],
        ])
    let reader = try StoreReader(following: database.url)
    let change = try #require(try reader.changes(after: 0).changes.first)
    #expect(change.candles.map(\.candle) == commit.candles)
    #expect(change.gaps == commit.gaps && change.certificates == commit.certificates)
    #expect(change.quotes.map(\.source) == [.live, Self.other])
    let snapshot = try reader.snapshot().quotes
    #expect(snapshot.map(\.source) == [.live, Self.other])
    #expect(snapshot.map(\.quote) == commit.quotes.map(\.quote))
    for (source, candle) in zip(["sina", "round_the_clock"], commit.candles) {
      var query = CandleQuery(Self.symbol, timeframe: .minute1)
      query.source = source
      #expect(try reader.candles(query).map(\.close) == [candle.close])
    }
  }

  @Test func `a second live source's rows are revised, and closed, alone`() async throws {
    let database = try StoreDatabase()
    let writer = try await writer(database)
    var samples = StoreSamples(seed: 201)
    let first = commit(&samples, position: 1)
    _ = try await writer.commit(first)
    var second = commit(&samples, position: 2)
    second.quotes = []
    second.candles = []
    second.certificates = []
    var revised = samples.candle(0, minute: 1)
    revised.source = Self.other
    second.revisions = [Revision(candle: revised, cause: .latePrint)]
    second.closedGaps = [first.gaps[1]]
    second.gaps = []
    let receipt = try await writer.commit(second)
    #expect(receipt.revisions == 1 && receipt.repairs.supersededGaps == 1)
    let reader = try StoreReader(following: database.url)
    let change = try #require(try reader.changes(after: 1).changes.first)
    #expect(change.revisions.map(\.candle) == [revised])
    #expect(change.closedGaps == [first.gaps[1]])
    #expect(
      try database.execute(
        "select instrument_id from candled.gap where known_to is null") == [["1"]])
    let state = try await writer.load()
    #expect(state.quotes.map(\.source) == [.live, Self.other])
    #expect(state.quotes.map(\.quote) == first.quotes.map(\.quote))
  }

  @Test func `a recounted day has the minutes of its market`() async throws {
    let database = try StoreDatabase()
    let writer = try await writer(database)
    var samples = StoreSamples(seed: 202)
    var commit = commit(&samples, position: 1)
    for place in commit.candles.indices {
      commit.candles[place].volume = ExactDecimal(units: -1, scale: 0)
    }
    #expect(try await writer.commit(commit).refusals.rows == 2)
    #expect(
      try database.execute(
        """
        select instrument_id, minutes_missing
        from candled.day_audit
        order by 1
        """) == [["1", "240"], ["2", "1440"]])
  }
}
