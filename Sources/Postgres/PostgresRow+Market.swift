import Market

/// Values of `Market` out of rows, for whoever reads the tables: the columns in the order in which
/// each function names them.
extension PostgresRow {
  /// `symbol` … `source` of a candle.
  package mutating func candle() throws(StoreError) -> Candle {
    Candle(
      symbol: try symbol(), timeframe: try code(), tradingDay: try day(),
      openedAt: try timestamp(), closedAt: try timestamp(), open: try numeric(),
      high: try numeric(), low: try numeric(), close: try numeric(), volume: try numeric(),
      turnover: try optionalNumeric(), trades: try optionalInt64(), vwap: try optionalNumeric(),
      flags: CandleFlags(rawValue: try int16()), source: try source())
  }

  /// `symbol` … `cause` of a gap, and `source` of its instrument.
  package mutating func gap() throws(StoreError) -> Gap {
    Gap(
      symbol: try symbol(), tradingDay: try day(), from: try timestamp(), to: try timestamp(),
      volume: try numeric(), turnover: try numeric(), cause: try code(), source: try source())
  }

  /// `symbol`, `trading_day` and the columns of `CertificateColumns`, and `source` of the
  /// instrument.
  package mutating func certificate() throws(StoreError) -> DayCertificate {
    DayCertificate(
      symbol: try symbol(), tradingDay: try day(), exchangeVolume: try optionalNumeric(),
      exchangeTurnover: try optionalNumeric(), minuteVolume: try numeric(),
      minuteTurnover: try numeric(), gapVolume: try numeric(), gapTurnover: try numeric(),
      afterHoursVolume: try numeric(), afterHoursTurnover: try numeric(),
      minutesTraded: try int16(), minutesUntraded: try int16(), minutesMissing: try int16(),
      isCoarse: try bool(), reference: try dayReference(), source: try source())
  }

  private mutating func dayReference() throws(StoreError) -> DayReference? {
    let (previousClose, limits) = (try optionalNumeric(), try limits())
    let source = try optionalInt16()
    guard let previousClose, let source else { return nil }
    return DayReference(
      previousClose: previousClose, limits: limits, source: Source(rawValue: source))
  }

  /// Limit-up and limit-down.
  private mutating func limits() throws(StoreError) -> StatedLimits {
    let (upper, lower) = (try optionalNumeric(), try optionalNumeric())
    guard let upper, let lower else { return .unstated }
    return StatedLimits(stored: PriceBand(lower: lower, upper: upper))
  }

  package mutating func marketSession() throws(StoreError) -> MarketSession {
    MarketSession(
      exchange: try code(), day: try day(), opens: try timestamp(), closes: try timestamp(),
      grade: try code())
  }

  /// Symbols of both codes, `day` … `source` of a link.
  package mutating func instrumentLink() throws(StoreError) -> InstrumentLink {
    let (from, to, day) = (try symbol(), try symbol(), try day())
    guard let kind = InstrumentLink.Kind(rawValue: try text()),
      let verdict = InstrumentLink.Verdict(rawValue: try text())
    else { throw malformed() }
    return InstrumentLink(
      from: from, to: to, day: day, kind: kind, verdict: verdict, ratio: try optionalNumeric(),
      cash: try optionalNumeric(), source: try text())
  }

  /// The columns of `serving`.
  package mutating func servingRow() throws(StoreError) -> ServingRow {
    ServingRow(series: try source(), since: try timestamp(), source: try source())
  }

  /// One of the numbers by which a value is stored.
  package mutating func code<Value: RawRepresentable<Int16>>() throws(StoreError) -> Value {
    guard let value = Value(rawValue: try int16()) else { throw malformed() }
    return value
  }

  package mutating func source() throws(StoreError) -> Source {
    Source(rawValue: try int16())
  }
}

extension MarketSession {
  /// What is known now of every market, by exchange and day.
  package static let readAll = Statement(
    name: "read_sessions",
    sql: """
      select exchange, day, opens, closes, grade
      from market_session
      where known_to is null
      order by exchange, day
      """)
}

/// A row of `day_audit`, `a`.
package enum CertificateColumns {
  package static let list = """
    a.exchange_volume, a.exchange_turnover, a.minute_volume, a.minute_turnover, a.gap_volume,
    a.gap_turnover, a.after_hours_volume, a.after_hours_turnover, a.minutes_traded,
    a.minutes_untraded, a.minutes_missing, a.coarse, a.previous_close, a.limit_up, a.limit_down,
    a.reference_source
    """
}

/// A row of `quote` as the exchange told it: all that followers and a restart both read back.
package enum SnapshotColumns {
  package static let list = """
    q.status, q.open, q.previous_close, q.last, q.high, q.low, q.bid, q.ask, q.volume, q.turnover,
    q.after_hours_volume, q.after_hours_turnover, q.bids, q.asks, q.limit_up, q.limit_down
    """
}

extension PostgresRow {
  /// `symbol`, `trading_day`, `quoted_at` and the columns of `SnapshotColumns`, in order.
  package mutating func quote() throws(StoreError) -> Quote {
    let symbol = try symbol()
    let day = try day()
    let second = try timestamp().microseconds(since: Timestamp(day: day, secondOfDay: 0))
    var quote = Quote(
      symbol: symbol, tradingDay: day, secondOfDay: Int32(clamping: second / 1_000_000))
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
    quote.limits = try limits()
    return quote
  }
}
