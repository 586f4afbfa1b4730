import Commits
import Feeds
import Postgres
import Store
import TestSupport
import Testing

@testable import Market

/// Markets and sources as rows, and a market that no source of ours has.
@Suite struct MarketTableTests {
  /// Trades around the clock, weekends included; made up.
  private static let round = MarketDefinition(
    code: 90, name: "round", zone: .utc, currency: "USD",
    sessions: [SessionHours(opens: 0, closes: 86_400)], tradingDays: .everyDay,
    hasEveryMinute: true)
  private static let source = SourceRow(
    source: Source(rawValue: 90), name: "round_the_clock", market: round,
    instruments: Source(rawValue: 90), priority: 9, hasQuotes: false)

  /// Sunday, with ten minutes missing at ten, and the Saturday before.
  private func roundTheClock() throws -> StoreDatabase {
    let database = try StoreDatabase()
    try Schema.apply(url: database.url, sources: [Self.source])
    try database.execute(
      """
      set search_path = candled;
      insert into instrument (id, symbol, source, first_seen) values (900, 'COIN', 90, now());
      select ensure_partition('2026-06-29'), ensure_partition('2026-07-04');
      insert into candle
      select o, o + interval '1 minute', o, 900, (o at time zone 'UTC')::date, 1, 0, 90, 0, 1, 2, 1,
        2, 5, 10, null, null
      from generate_series(
        timestamptz '2026-07-04 00:00+00', '2026-07-05 23:59+00', interval '1 minute') o
      where o not between '2026-07-05 10:00+00' and '2026-07-05 10:09+00';
      insert into candle
      select d at time zone 'UTC', (d + interval '1 day') at time zone 'UTC', now(), 900, d::date,
        240, 0, 90, 0, 1, 2, 1, 2, 5, 10, null, null
      from generate_series(timestamp '2026-06-29', '2026-07-06', interval '1 day') d
      """)
    return database
  }

  @Test func `a market that never closes has hours around the clock`() throws {
    let database = try roundTheClock()
    #expect(
      try database.execute(
        """
        select count(*), count(*) filter (where flags & 2 <> 0), sum(volume)
        from candled.candles('COIN', '60m')
        """) == [["48", "1", "14350"]])
    #expect(
      try database.execute(
        """
        select opened_at at time zone 'UTC', closed_at at time zone 'UTC'
        from candled.candle_60m
        where symbol = 'COIN' and trading_day = '2026-07-05' and partial
        """) == [["2026-07-05 10:00:00", "2026-07-05 11:00:00"]])
  }

  @Test func `a hole of a market that never closes is filled`() throws {
    let database = try roundTheClock()
    #expect(
      try database.execute(
        """
        select count(*), count(*) filter (where flags = 17)
        from candled.candles('COIN', '1m', fill => 'flat')
        """) == [["2880", "10"]])
  }

  @Test func `a week of a market without weekends has seven days`() throws {
    let database = try roundTheClock()
    #expect(
      try database.execute(
        """
        select opened_at at time zone 'UTC', flags & 2, volume, source
        from candled.candles('COIN', '1w')
        """) == [
          ["2026-06-29 00:00:00", "0", "35", "round_the_clock"],
          ["2026-07-06 00:00:00", "2", "5", "round_the_clock"],
        ])
  }

  @Test func `a day that its calendar ends early ends its buckets`() throws {
    let database = try StoreDatabase()
    try database.execute(
      """
      insert into candled.market_session
      values (5, '2026-11-27', '2026-11-27 09:30-05', '2026-11-27 13:00-05')
      """)
    #expect(
      try database.execute(
        """
        select to_char(d.opens at time zone m.zone, 'HH24:MI'),
          to_char(d.closes at time zone m.zone, 'HH24:MI')
        from candled.market m
        cross join lateral candled.trading_sessions(m, '2026-11-27') d
        where m.calendar = 5
        """) == [["09:30", "13:00"]])
  }

  @Test func `rows are written once, and anew where one differs`() async throws {
    let database = try StoreDatabase()
    let rows = "select s.*, m.* from candled.source s join candled.market m on m.code = s.market"
    let before = try database.execute("\(rows) order by s.code")
    #expect(before.count == SourceRegistry.series.count)
    let places = "select s.xmin, m.xmin from candled.source s, candled.market m"
    let written = try database.execute(places)
    let writer = StoreWriter(url: database.url)
    try await writer.connect()
    try await writer.record(SourceRegistry.rows)
    #expect(try database.execute(places) == written)
    try database.execute(
      "update candled.source set name = 'x' || name; update candled.market set zone = 'UTC'")
    try await writer.record(SourceRegistry.rows)
    #expect(try database.execute("\(rows) order by s.code") == before)
  }

  @Test func `of several series of a symbol the one of the lowest priority is meant`() throws {
    let database = try StoreDatabase()
    try database.execute(
      """
      insert into candled.instrument (id, symbol, source, first_seen)
      values (1, 'AAPL', 3, now()), (2, 'AAPL', 4, now())
      """)
    #expect(try database.value("select candled.instrument_id('AAPL')") == "2")
    #expect(try database.value("select candled.instrument_id('AAPL', 'alpaca_iex')") == "1")
    let error = #expect(throws: StoreError.self) {
      try database.execute("select candled.instrument_id('AAPL', 'nobody')")
    }
    #expect(error?.message.contains("sina, alpaca_iex or alpaca_sip") == true)
  }
}
