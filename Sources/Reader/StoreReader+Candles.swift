import Market
import Postgres

/// Candles as people ask for them, where one came from, and what two sources did not agree on. What
/// is rolled up, filled or adjusted is so by the database's functions, never a second time here.
extension StoreReader {
  private static let readCandles = Statement(
    name: "query_candles",
    sql: """
      select opened_at, closed_at, trading_day, open, high, low, close, volume, turnover, trades,
        vwap, flags, revision, known_from, source
      from candles(
        $1::text, $2::text, coalesce($3::timestamptz, '-infinity'),
        coalesce($4::timestamptz, 'infinity'), $5::text, $6::text, $7::timestamptz, $8::text,
        $9::int)
      """)

  /// Final candles, oldest first.
  /// - Throws: `refused` (SQLSTATE 22023) where the question makes no sense: filled days, or
  ///   adjusted prices without a known factor.
  package func candles(_ query: CandleQuery) throws(StoreError) -> [CandleRecord] {
    try read(Self.readCandles, with: parameters(of: query)) { (row) throws(StoreError) in
      try row.candleRecord()
    }
  }

  /// The first and the last stay, and of each of so many stretches between them, as even as can be,
  /// the highest high and the lowest low: the picture has the extremes of the full one.
  private static let readThinned = Statement(
    name: "query_thinned_candles",
    sql: """
      with c as materialized (
        select
          k.*, row_number() over (order by k.opened_at) as place, count(*) over () as total,
          ($10::int - 2) / 2 as stretches
        from candles(
          $1::text, $2::text, coalesce($3::timestamptz, '-infinity'),
          coalesce($4::timestamptz, 'infinity'), $5::text, $6::text, $7::timestamptz, $8::text,
          $9::int) k
      ),
      s as (
        select c.*, ((c.place - 1) * c.stretches - 1) / (c.total - 2) as stretch
        from c
        where c.total > $10::int and c.place > 1 and c.place < c.total and c.stretches > 0
      ),
      r as (
        select
          s.place,
          row_number() over (
            partition by s.stretch order by s.high is null or s.low is null, s.high desc, s.place)
            as above,
          row_number() over (
            partition by s.stretch order by s.high is null or s.low is null, s.low, s.place)
            as below
        from s
      )
      select c.opened_at, c.closed_at, c.trading_day, c.open, c.high, c.low, c.close, c.volume,
        c.turnover, c.trades, c.vwap, c.flags, c.revision, c.known_from, c.source, c.total
      from c
      where c.total <= $10::int
        or c.place in (1, c.total)
        or c.place in (select r.place from r where 1 in (r.above, r.below))
      order by c.place
      """)

  /// The same as a coarse picture.
  /// - Parameter points: how many at most.
  /// - Returns: beside them, how many there are.
  /// - Throws: as `candles`.
  package func candles(
    _ query: CandleQuery, points: Int32
  ) throws(StoreError) -> (candles: [CandleRecord], total: Int) {
    var parameters = parameters(of: query)
    parameters.add { $0.int32(points) }
    let rows = try read(Self.readThinned, with: parameters) { (row) throws(StoreError) in
      (candle: try row.candleRecord(), total: try row.int64())
    }
    return (rows.map(\.candle), Int(rows.first?.total ?? 0))
  }

  private func parameters(of query: CandleQuery) -> WireParameters {
    return WireParameters(
      .text(query.symbol.description), .text(query.timeframe.name), .timestamp(query.from),
      .timestamp(query.to), .text(query.fill.rawValue), .text(query.adjust.text),
      .timestamp(query.asOf), .text(query.source), .int32(query.newest))
  }

  private static let readNewest = Statement(
    name: "query_newest_candles",
    sql: """
      select u.number, c.opened_at, c.closed_at, c.trading_day, c.open, c.high, c.low, c.close,
        c.volume, c.turnover, c.trades,
        coalesce(c.vwap, average_price(c.turnover, c.volume, i.kind)), c.flags, c.revision,
        c.known_from, s.name
      from unnest($1::int[], $2::smallint[], $3::int[])
        with ordinality as u (series, length, count, number)
      join feed_instruments i on i.id = u.series
      cross join lateral (
        select *
        from feed_candles
        where instrument_id = u.series
          and timeframe = u.length
          and opened_at >= coalesce($4::timestamptz, '-infinity')
          and opened_at < coalesce($5::timestamptz, 'infinity')
        order by opened_at desc
        limit u.count
      ) c
      join source s on s.code = c.source
      order by u.number, c.opened_at
      """)

  /// The newest final candles of many series, in one statement. Bounds are those of all: months
  /// beyond them are not looked at for each series.
  /// - Parameters:
  ///   - from: opened then or later; nil: at any time.
  ///   - before: opened before then; nil: at any time.
  /// - Returns: for each of `asked` its candles, oldest first.
  package func newest(
    _ asked: [NewestCandles], from: Timestamp? = nil, before: Timestamp? = nil
  ) throws(StoreError) -> [[CandleRecord]] {
    var found = [[CandleRecord]](repeating: [], count: asked.count)
    if asked.isEmpty { return found }
    let parameters = WireParameters(
      .int32s(asked.map(\.series)),
      .array(asked, type: .int2) { $0.int16($1.timeframe.rawValue) },
      .int32s(asked.map(\.count)), .timestamp(from), .timestamp(before))
    let rows = try read(Self.readNewest, with: parameters) { (row) throws(StoreError) in
      (number: try row.int64(), candle: try row.candleRecord())
    }
    for row in rows { found[Int(row.number) - 1].append(row.candle) }
    return found
  }

  private static func readForming(_ timeframe: Timeframe) -> Statement {
    Statement(
      name: "query_forming_\(timeframe.name)",
      sql: """
        select c.opened_at, c.closed_at, c.trading_day, c.open, c.high, c.low, c.close, c.volume,
          c.turnover, c.trades, c.vwap,
          (c.no_trade::int | c.partial::int * 2 | c.extreme_ambiguous::int * 4
            | 32 | c.coarse::int * 64)::smallint,
          c.revision, c.known_from, c.source
        from candle_\(timeframe.name) c
        where c.instrument_id = $1::int
          and c.trading_day >= (
            select q.trading_day from feed_quotes q where q.instrument_id = $1::int)
          and c.state = 'open'
        order by c.opened_at desc
        limit 1
        """)
  }

  /// The candle that is not over; nil where none is.
  /// - Parameter series: its number.
  package func forming(_ series: Int32, timeframe: Timeframe) throws(StoreError) -> CandleRecord? {
    precondition(timeframe != .afterHours, "after-hours candles come whole")
    let parameters = WireParameters(.int32(series))
    return try read(Self.readForming(timeframe), with: parameters) { (row) throws(StoreError) in
      try row.candleRecord()
    }.first
  }

  private static let readFacts = Statement(
    name: "query_why",
    sql: """
      select what, at, detail
      from why($1::text, $2::timestamptz, $3::text, $4::text)
      """)

  /// Where the candle came from that was open at a moment.
  package func why(
    _ symbol: Symbol, at moment: Timestamp, timeframe: Timeframe, source: String? = nil
  ) throws(StoreError) -> [CandleFact] {
    let parameters = WireParameters(
      .text(symbol.description), .timestamp(moment), .text(timeframe.name), .text(source))
    return try read(Self.readFacts, with: parameters) { (row) throws(StoreError) in
      CandleFact(what: try row.text(), at: try row.timestamp(), detail: try row.text())
    }
  }

  private static let readDisagreements = Statement(
    name: "query_disagreements",
    sql: """
      select symbol, timeframe, opened_at, trading_day, field, ours, theirs, our_source,
        their_source, state, known_from, id
      from disagreements
      where ($1::date is null or trading_day = $1::date)
        and ($2::text is null or symbol = $2::text)
        and (
          $3::bigint is null
          or (opened_at, id) > (
            select a.opened_at, a.id from disagreements a where a.id = $3::bigint))
      order by opened_at, id
      limit $4::int
      """)

  /// What could not be reconciled, oldest first, the resolved included.
  /// - Parameters:
  ///   - after: behind this one; nil for the first page.
  ///   - limit: nil for all.
  package func disagreements(
    day: TradingDay?, symbol: Symbol?, after: Int64? = nil, limit: Int32? = nil
  ) throws(StoreError) -> [(id: Int64, row: DisagreementRecord)] {
    let parameters = WireParameters(
      .day(day), .text(symbol?.description), .int64(after), .int32(limit))
    return try read(Self.readDisagreements, with: parameters) { (row) throws(StoreError) in
      let record = try DisagreementRecord(
        symbol: row.symbol(), timeframe: row.text(), openedAt: row.timestamp(),
        tradingDay: row.day(), field: row.text(), ours: row.optionalNumeric(),
        theirs: row.optionalNumeric(), ourSource: row.text(), theirSource: row.text(),
        state: row.text(), knownFrom: row.timestamp())
      return (try row.int64(), record)
    }
  }
}

extension PostgresRow {
  fileprivate mutating func candleRecord() throws(StoreError) -> CandleRecord {
    CandleRecord(
      openedAt: try timestamp(), closedAt: try timestamp(), tradingDay: try day(),
      open: try optionalNumeric(), high: try optionalNumeric(), low: try optionalNumeric(),
      close: try optionalNumeric(), volume: try numeric(), turnover: try optionalNumeric(),
      trades: try optionalInt64(), vwap: try optionalNumeric(),
      flags: CandleFlags(rawValue: try int16()), revision: try int16(),
      knownFrom: try timestamp(), source: try text())
  }
}
