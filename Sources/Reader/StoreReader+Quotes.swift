import Market
import Postgres

/// Quotes back from their table, with book and forming minute.
extension StoreReader {
  static let quoteColumns = """
    \(snapshotColumns), q.candle_opened_at, q.candle_flags, q.candle_source, q.candle_open,
    q.candle_high, q.candle_low, q.candle_close, q.candle_volume, q.candle_turnover
    """

  /// Before those of the forming minute.
  static let snapshotColumns = """
    i.source, i.name, q.changed_seq, q.received_at, i.symbol, q.trading_day, q.quoted_at,
    \(SnapshotColumns.list)
    """

  private static let readQuotes = Statement(
    name: "read_latest",
    sql: """
      select \(quoteColumns)
      from feed_quotes q
      join feed_instruments i on i.id = q.instrument_id
      where q.changed_seq > $1::bigint
        and q.changed_seq <= $2::bigint
      order by i.id
      """)

  func quotes(after: Int64, through: Int64) throws(StoreError) -> [LatestQuote] {
    let parameters = WireParameters(.int64(after), .int64(through))
    return try read(Self.readQuotes, with: parameters, context: "follow") {
      (row) throws(StoreError) in
      try row.latestQuote()
    }
  }

  private static let readLatest = Statement(
    name: "query_latest",
    sql: """
      select \(quoteColumns)
      from feed_quotes q
      join feed_instruments i on i.id = q.instrument_id
      where i.reused_on is null
        and case
          when $1::text is null then i.chain is null or i.id = i.chain[cardinality(i.chain)]
          else i.symbol = any (string_to_array($1::text, ' '))
        end
      order by i.symbol
      """)

  /// The latest quotes with their forming minutes, by symbol.
  /// - Parameter symbols: nil for all codes of today.
  package func latest(_ symbols: [Symbol]? = nil) throws(StoreError) -> [LatestQuote] {
    let list = symbols?.map(\.description).joined(separator: " ")
    let parameters = WireParameters(.text(list))
    return try read(Self.readLatest, with: parameters) { (row) throws(StoreError) in
      try row.latestQuote()
    }
  }
}

extension PostgresRow {
  mutating func latestQuote() throws(StoreError) -> LatestQuote {
    let (source, name) = (try source(), try optionalText())
    let (seq, receivedAt) = (try int64(), try timestamp())
    let quote = try quote()
    return LatestQuote(
      quote: quote, source: source, name: name,
      forming: try formingCandle(symbol: quote.symbol, day: quote.tradingDay),
      receivedAt: receivedAt, seq: seq)
  }

  private mutating func formingCandle(
    symbol: Symbol, day: TradingDay
  ) throws(StoreError) -> Candle? {
    guard let openedAt = try optionalTimestamp() else { return nil }
    let flags = CandleFlags(rawValue: try int16())
    let source = try source()
    return Candle(
      symbol: symbol, timeframe: .minute1, tradingDay: day, openedAt: openedAt,
      closedAt: openedAt.adding(seconds: 60), open: try numeric(), high: try numeric(),
      low: try numeric(), close: try numeric(), volume: try numeric(), turnover: try numeric(),
      flags: flags, source: source)
  }
}
