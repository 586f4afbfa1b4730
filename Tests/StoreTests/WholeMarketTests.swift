import Foundation
import TestSupport
import Testing

/// What is asked of a whole market, held against plain references: `Fixtures/whole-market.sql`
/// draws the rows, `Fixtures/rolled-by-day.sql` calculates each series and day by itself.
@Suite struct WholeMarketTests {
  private static let fixtures = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "Fixtures")
  private static let symbols = """
    array(select symbol from instrument order by id desc) || array['600001.SH', 'sh600002']
    """

  /// Drawn once a run: no test writes.
  private struct Drawn: Sendable {
    let database: StoreDatabase
    let seed: Int

    static let market = Result { try Drawn() }

    private init() throws {
      database = try StoreDatabase()
      seed = .random(in: 0...1_000)
      try database.execute(
        "select setseed(\(seed) / 1000.0); \(WholeMarketTests.text("whole-market"))")
      try database.execute(WholeMarketTests.text("rolled-by-day"))
    }
  }

  private let database: StoreDatabase
  private let seed: Int

  init() throws {
    let market = try Drawn.market.get()
    (database, seed) = (market.database, market.seed)
  }

  private static func text(_ name: String) throws -> String {
    try String(contentsOf: fixtures.appending(path: "\(name).sql"), encoding: .utf8)
  }

  /// Some rows that one of the two has and the other has not, or has less often.
  private func difference(
    _ found: String, _ expected: String, mayBeEmpty: Bool = false
  ) throws -> [[String?]] {
    let rows = try database.execute(
      """
      set search_path = candled;
      with found as materialized (\(found)),
      expected as materialized (\(expected)),
      differences as (
        (
          select 'unexpected', f.*
          from (select * from found except all select * from expected) f
          limit 3
        )
        union all
        (
          select 'missing', e.*
          from (select * from expected except all select * from found) e
          limit 3
        )
      )
      select n.count, d.*
      from (select count(*) from expected) n
      left join differences d on true
      """)
    #expect(mayBeEmpty || rows[0][0] != "0", "seed \(seed): \(expected)")
    return rows.map { Array($0.dropFirst()) }.filter { $0[0] != nil }
  }

  /// The columns of a view, some of them otherwise.
  private func columns(of view: String, _ change: (String, String) -> String = { name, _ in name })
    throws -> String
  {
    try database.execute(
      """
      select attname, atttypid::regtype
      from pg_attribute
      where attrelid = 'candled.\(view)'::regclass and attnum > 0
      order by attnum
      """
    ).map { change($0[0] ?? "", $0[1] ?? "") }.joined(separator: ", ")
  }

  @Test(arguments: [5, 15, 30, 60])
  func `a view of the market is what each series and day gives`(length: Int) throws {
    let columns = try columns(of: "candle_\(length)m")
    #expect(
      try difference(
        "select \(columns) from candle_\(length)m",
        "select \(columns) from rolled_by_day where length = \(length)") == [], "seed \(seed)")
    for condition in [
      "trading_day = '2026-11-26'", "symbol = 'sh600004'", "opened_at >= '2026-11-27 10:30+08'",
      "instrument_id in (5, 12) and trading_day > '2026-11-25'", "state = 'open' or partial",
    ] {
      #expect(
        try difference(
          "select \(columns) from candle_\(length)m where \(condition)",
          "select \(columns) from rolled_by_day where length = \(length) and (\(condition))")
          == [], "seed \(seed): \(condition)")
    }
  }

  @Test(arguments: ["1m", "5m", "15m", "30m", "60m", "1d", "1w", "1mo"], ["cn", "us"])
  func `candles of a market are those of each of its series`(
    timeframe: String, market: String
  ) throws {
    let windows = [
      "'-infinity', 'infinity'", "'2026-11-25', '2026-11-26'",
      "'2026-11-25 10:07+08', '2026-11-26 10:00:30+08'",
    ]
    for window in windows {
      #expect(
        try difference(
          "select * from market_candles('\(market)', '\(timeframe)', \(window))",
          one(by: "'\(timeframe)', \(window)", of: market),
          mayBeEmpty: timeframe.hasPrefix("1") && window != windows[0]) == [],
        "seed \(seed): \(window)")
    }
  }

  /// candles() of each series of a market by itself.
  private func one(by arguments: String, of market: String) -> String {
    """
    select c.*
    from instrument i
    join source s on s.code = i.source
    join market m on m.code = s.market
    cross join lateral candles(i.symbol, \(arguments), source => s.name) c
    where m.name = '\(market)'
    """
  }

  @Test(arguments: ["1m", "60m", "1d"])
  func `candles of a market are adjusted, and as they were known`(timeframe: String) throws {
    let known = "as_of => '2026-11-26 11:40+08'"
    #expect(
      try difference(
        "select * from market_candles('us', '\(timeframe)', \(known))",
        one(by: "'\(timeframe)', \(known)", of: "us")) == [], "seed \(seed)")
    #expect(
      try difference(
        "select * from market_candles('cn', '\(timeframe)', adjust => 'qfq', \(known))",
        one(by: "'\(timeframe)', adjust => 'qfq', \(known)", of: "cn")
          + " and i.id % 2 = 0") == [], "seed \(seed)")
  }

  @Test(arguments: ["1m", "30m", "1d", "1w"])
  func `candles of many symbols are those of each, in their order`(timeframe: String) throws {
    let found = """
      select row_number() over (), c.*
      from candles(\(Self.symbols), '\(timeframe)', '2026-11-21', '2026-11-27') c
      """
    let expected = """
      select row_number() over (order by s.place, c.opened_at), c.*
      from unnest(\(Self.symbols)) with ordinality s (symbol, place)
      cross join lateral candles(s.symbol, '\(timeframe)', '2026-11-21', '2026-11-27') c
      """
    #expect(try difference(found, expected) == [], "seed \(seed)")
    let refused = #expect(throws: (any Error).self) {
      try database.execute("select * from candled.candles(array_fill('nobody'::text, array[20]))")
    }
    #expect("\(String(describing: refused))".contains("nobody"))
  }

  @Test(arguments: ["null", "'2026-11-25 23:30+08'", "'2026-11-25 23:00:30+08'"])
  func `a market at a minute is its rows of that minute`(known: String) throws {
    for (market, zone) in [("cn", "+08"), ("us", "-05")] {
      #expect(
        try difference(
          """
          select symbol, close, revision
          from market_at('2026-11-25 10:00\(zone)', \(known), '\(market)')
          """,
          """
          select distinct on (i.id) i.symbol, c.close, c.revision
          from (
            select instrument_id, timeframe, opened_at, known_from, close, revision,
              'infinity'::timestamptz as known_to
            from candle
            union all
            select instrument_id, timeframe, opened_at, known_from, close, revision, known_to
            from candle_revision
          ) c
          join instrument i on i.id = c.instrument_id
          where c.timeframe = 1
            and c.opened_at = '2026-11-25 09:59\(zone)'
            and c.known_from <= coalesce(\(known)::timestamptz, 'infinity')
            and c.known_to > coalesce(\(known)::timestamptz, '9999-01-01')
            and (i.id < 10) = ('\(market)' = 'cn')
          order by i.id, c.revision desc
          """) == [], "seed \(seed): \(market)")
    }
  }

  @Test func `coverage counts the minutes of each series and day`() throws {
    let columns = """
      symbol, trading_day, traded, untraded, minute_volume, source, instrument_id, served_by
      """
    #expect(
      try difference(
        "select \(columns) from coverage", "select \(columns) from coverage_by_group") == [],
      "seed \(seed)")
  }

  @Test(arguments: ["1m", "5m", "60m", "1d", "1w", "1mo"])
  func `views of floats are the exact ones, rounded`(timeframe: String) throws {
    let rounded = try columns(of: "candle_\(timeframe)") { name, type in
      type == "numeric" ? "\(name)::float8" : name
    }
    #expect(
      try difference(
        "select * from candle_\(timeframe)_f8", "select \(rounded) from candle_\(timeframe)")
        == [], "seed \(seed)")
  }

  /// Every day of every instrument, the one that is going on included.
  private static let days = """
    select instrument_id, trading_day, high, low, close, volume, turnover,
      lag(close) over (partition by instrument_id order by trading_day) as before
    from candle_1d
    """

  @Test func `ranges are those of all days of the time`() throws {
    #expect(
      try difference(
        """
        select instrument_id, high_day, low_day, high_52w, low_52w, high_year, low_year, days
        from ranges
        """,
        """
        select instrument_id, max(high) filter (where trading_day = '2026-11-27'),
          min(low) filter (where trading_day = '2026-11-27'), max(high), min(low),
          max(high) filter (where trading_day >= '2026-01-01'),
          min(low) filter (where trading_day >= '2026-01-01'), count(*)::integer
        from (\(Self.days)) d
        where trading_day > date '2026-11-27' - 364
        group by instrument_id
        """) == [], "seed \(seed)")
  }

  @Test(
    arguments: [
      ("gainers", "close > before", "close / before - 1"),
      ("losers", "close < before", "1 - close / before"),
      ("turnover", "true", "turnover"),
      ("volume", "true", "volume"),
      ("new_highs", "high > highest", "turnover"),
      ("new_lows", "low < lowest", "turnover"),
    ])
  func `movers are the first of all instruments of a day`(
    kind: String, condition: String, order: String
  ) throws {
    for day in ["2026-11-26", "2026-10-13", "2026-11-27"] {
      let expected = """
        select row_number() over (order by \(order) desc nulls last, i.symbol), i.symbol, d.close,
          d.before, round(100 * (d.close - d.before) / d.before, 2), d.volume
        from (
          select e.instrument_id, e.trading_day, e.high, e.low, e.close, e.volume, e.turnover,
            case when e.trading_day = '2026-11-27' then 9.5 else e.before end as before, x.*
          from (\(Self.days)) e
          left join lateral (
            select max(b.high) as highest, min(b.low) as lowest
            from candle_1d b
            where b.instrument_id = e.instrument_id
              and b.trading_day > e.trading_day - 364
              and b.trading_day < e.trading_day
          ) x on true
          where e.trading_day = '\(day)'
        ) d
        join instrument i on i.id = d.instrument_id
        where i.source = 1 and \(condition)
        """
      let found = """
        select row_number() over (), symbol, last, previous_close, percent_change, volume
        from movers('\(kind)', 'cn', '\(day)', max_rows => 100)
        """
      #expect(
        try database.execute("set search_path = candled; \(found) order by 1")
          == database.execute("set search_path = candled; \(expected) order by 1"),
        "seed \(seed): \(day)")
    }
  }

  @Test func `movers are of the newest day, and no more than wanted`() throws {
    #expect(
      try database.execute(
        """
        set search_path = candled;
        select count(*), min(trading_day), max(trading_day)
        from movers('turnover', 'cn', max_rows => 3)
        """) == [["3", "2026-11-27", "2026-11-27"]])
    #expect(
      try database.value("select min(trading_day) from candled.movers('volume', 'us')")
        == "2026-11-26")
  }
}
