import Market

/// Values of `Market` out of rows, for whoever reads the tables: the columns in the order in which
/// each function names them.
extension PostgresRow {
  /// `symbol` … `source` of a candle.
  package mutating func candle() throws(StoreError) -> Candle {
    let symbol = try symbol()
    guard let timeframe = Timeframe(rawValue: try int16()) else { throw malformed() }
    let tradingDay = try day()
    let openedAt = try timestamp()
    let closedAt = try timestamp()
    let prices = (try numeric(), try numeric(), try numeric(), try numeric())
    let volume = try numeric()
    let (turnover, trades, vwap) =
      (try optionalNumeric(), try optionalInt64(), try optionalNumeric())
    return Candle(
      symbol: symbol, timeframe: timeframe, tradingDay: tradingDay, openedAt: openedAt,
      closedAt: closedAt, open: prices.0, high: prices.1, low: prices.2, close: prices.3,
      volume: volume, turnover: turnover, trades: trades, vwap: vwap,
      flags: CandleFlags(rawValue: try int16()), source: try source())
  }

  package mutating func gap() throws(StoreError) -> Gap {
    let symbol = try symbol()
    let tradingDay = try day()
    let from = try timestamp()
    let to = try timestamp()
    let volume = try numeric()
    let turnover = try numeric()
    guard let cause = GapCause(rawValue: try int16()) else { throw malformed() }
    return Gap(
      symbol: symbol, tradingDay: tradingDay, from: from, to: to, volume: volume,
      turnover: turnover, cause: cause)
  }

  package mutating func certificate() throws(StoreError) -> DayCertificate {
    DayCertificate(
      symbol: try symbol(), tradingDay: try day(), exchangeVolume: try optionalNumeric(),
      exchangeTurnover: try optionalNumeric(), minuteVolume: try numeric(),
      minuteTurnover: try numeric(), gapVolume: try numeric(), gapTurnover: try numeric(),
      afterHoursVolume: try numeric(), afterHoursTurnover: try numeric(),
      minutesTraded: try int16(), minutesUntraded: try int16(), minutesMissing: try int16())
  }

  package mutating func marketSession() throws(StoreError) -> MarketSession {
    guard let exchange = Exchange(rawValue: try int16()) else { throw malformed() }
    return MarketSession(
      exchange: exchange, day: try day(), opens: try timestamp(), closes: try timestamp())
  }

  package mutating func source() throws(StoreError) -> Source {
    Source(rawValue: try int16())
  }
}

extension MarketSession {
  /// Of every market, by exchange and day.
  package static let readAll = Statement(
    name: "read_sessions",
    sql: """
      select exchange, day, opens, closes
      from market_session
      order by exchange, day
      """)
}

/// A row of `quote` as the exchange told it: all that followers and a restart both read back.
package enum SnapshotColumns {
  package static let list = """
    q.status, q.open, q.previous_close, q.last, q.high, q.low, q.bid, q.ask, q.volume, q.turnover,
    q.after_hours_volume, q.after_hours_turnover, q.bids, q.asks
    """
}

extension PostgresRow {
  /// The columns of `SnapshotColumns`, in order.
  package mutating func readSnapshot(into quote: inout Quote) throws(StoreError) {
    quote.status = QuoteStatus(rawValue: UInt8(clamping: try int16())) ?? .unknown
    quote.open = try numeric()
    quote.previousClose = try numeric()
    quote.last = try numeric()
    quote.high = try numeric()
    quote.low = try numeric()
    quote.bid = try numeric()
    quote.ask = try numeric()
    quote.volume = try numeric()
    quote.turnover = try numeric()
    let afterHoursVolume = try optionalNumeric()
    let afterHoursTurnover = try optionalNumeric()
    if let afterHoursVolume, let afterHoursTurnover {
      quote.afterHours = AfterHours(volume: afterHoursVolume, turnover: afterHoursTurnover)
    }
    quote.bids = try book()
    quote.asks = try book()
  }
}
