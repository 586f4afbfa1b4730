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
    var parameters = WireParameters()
    parameters.add { $0.text(query.symbol.description) }
    parameters.add { $0.text(query.timeframe.name) }
    parameters.add { $0.optional(query.from) { $0.timestamp($1) } }
    parameters.add { $0.optional(query.to) { $0.timestamp($1) } }
    parameters.add { $0.text(query.fill.rawValue) }
    parameters.add { $0.text(query.adjust.text) }
    parameters.add { $0.optional(query.asOf) { $0.timestamp($1) } }
    parameters.add { $0.optional(query.source) { $0.text($1) } }
    parameters.add { $0.optional(query.newest) { $0.int32($1) } }
    return try read(Self.readCandles, with: parameters) { (row) throws(StoreError) in
      CandleRecord(
        openedAt: try row.timestamp(), closedAt: try row.timestamp(), tradingDay: try row.day(),
        open: try row.optionalNumeric(), high: try row.optionalNumeric(),
        low: try row.optionalNumeric(), close: try row.optionalNumeric(),
        volume: try row.numeric(), turnover: try row.optionalNumeric(),
        trades: try row.optionalInt64(), vwap: try row.optionalNumeric(),
        flags: CandleFlags(rawValue: try row.int16()), revision: try row.int16(),
        knownFrom: try row.timestamp(), source: try row.text())
    }
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
    var parameters = WireParameters()
    parameters.add { $0.text(symbol.description) }
    parameters.add { $0.timestamp(moment) }
    parameters.add { $0.text(timeframe.name) }
    parameters.add { $0.optional(source) { $0.text($1) } }
    return try read(Self.readFacts, with: parameters) { (row) throws(StoreError) in
      CandleFact(what: try row.text(), at: try row.timestamp(), detail: try row.text())
    }
  }

  private static let readDisagreements = Statement(
    name: "query_disagreements",
    sql: """
      select symbol, timeframe, opened_at, trading_day, field, ours, theirs, our_source,
        their_source, state, known_from
      from disagreements
      where ($1::date is null or trading_day = $1::date)
        and ($2::text is null or symbol = $2::text)
      order by opened_at, symbol, id
      """)

  /// What could not be reconciled, oldest first, the resolved included.
  package func disagreements(
    day: TradingDay? = nil, symbol: Symbol? = nil
  ) throws(StoreError) -> [DisagreementRecord] {
    try read(Self.readDisagreements, with: parameters(day: day, symbol: symbol)) {
      (row) throws(StoreError) in
      DisagreementRecord(
        symbol: try row.symbol(), timeframe: try row.text(), openedAt: try row.timestamp(),
        tradingDay: try row.day(), field: try row.text(), ours: try row.optionalNumeric(),
        theirs: try row.optionalNumeric(), ourSource: try row.text(),
        theirSource: try row.text(), state: try row.text(), knownFrom: try row.timestamp())
    }
  }
}
