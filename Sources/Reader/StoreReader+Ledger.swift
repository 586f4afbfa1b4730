import Market
import Postgres

/// A day's rows, instrument by instrument, for whoever compares a database with a replay. Reading
/// along the key of `candle` keeps the memory it takes to one instrument's day.
extension StoreReader {
  private static let readGapRecords = Statement(
    name: "query_gap_records",
    sql: """
      select i.symbol, g.trading_day, g.from_at, g.to_at, g.volume, g.turnover, g.cause, i.source,
        s.state, s.sightings, s.permanent_reason, g.known_from
      from feed_gaps g
      join feed_instruments i on i.id = g.instrument_id
      join gaps s on s.id = g.id
      where ($1::date is null or g.trading_day = $1::date)
        and ($2::text is null or i.symbol = $2::text)
        and s.closed_by is distinct from 'superseded'
      order by g.from_at, i.symbol, g.id
      """)

  /// What passed unseen and what became of it, oldest first.
  package func gapRecords(
    day: TradingDay? = nil, symbol: Symbol? = nil
  ) throws(StoreError) -> [GapRecord] {
    try read(Self.readGapRecords, with: parameters(day: day, symbol: symbol)) {
      (row) throws(StoreError) in try row.gapRecord()
    }
  }

  private static let readGapPage = Statement(
    name: "query_gap_page",
    sql: """
      select i.symbol, g.trading_day, g.from_at, g.to_at, g.volume, g.turnover, g.cause, i.source,
        s.state, s.sightings, s.permanent_reason, g.known_from, g.id
      from feed_gaps g
      join feed_instruments i on i.id = g.instrument_id
      join gaps s on s.id = g.id
      where g.instrument_id = $1::int
        and ($2::date is null or g.trading_day = $2::date)
        and ($3::timestamptz is null or g.to_at > $3::timestamptz)
        and ($4::timestamptz is null or g.from_at < $4::timestamptz)
        and s.closed_by is distinct from 'superseded'
        and (
          $5::bigint is null
          or (g.from_at, g.id) > (select a.from_at, a.id from feed_gaps a where a.id = $5::bigint))
      order by g.from_at, g.id
      limit $6::int
      """)

  /// A page of the gaps of a series, oldest first.
  /// - Parameters:
  ///   - day: nil for all.
  ///   - seen: those that reach into these times; nil for all.
  ///   - after: behind this one; nil for the first page.
  package func gaps(
    of series: Int32, day: TradingDay? = nil, seen: Range<Timestamp>? = nil, after: Int64? = nil,
    limit: Int32
  ) throws(StoreError) -> [(id: Int64, row: GapRecord)] {
    let parameters = WireParameters(
      .int32(series), .day(day), .timestamp(seen?.lowerBound), .timestamp(seen?.upperBound),
      .int64(after), .int32(limit))
    return try read(Self.readGapPage, with: parameters) { (row) throws(StoreError) in
      let record = try row.gapRecord()
      return (try row.int64(), record)
    }
  }

  private static let readCertificates = Statement(
    name: "query_certificates",
    sql: """
      select i.symbol, a.trading_day, \(CertificateColumns.list), i.source, a.residual_volume,
        a.residual_turnover, a.balanced, a.repaired_at
      from feed_audits a
      join feed_instruments i on i.id = a.instrument_id
      where a.trading_day = coalesce($1::date, (select max(trading_day) from feed_audits))
        and ($2::text is null or i.symbol = $2::text)
      order by i.symbol
      """)

  /// The certificates of a day, by symbol.
  /// - Parameter day: nil for the newest day that has some.
  package func certificates(
    day: TradingDay? = nil, symbol: Symbol? = nil
  ) throws(StoreError) -> [CertificateRecord] {
    try read(Self.readCertificates, with: parameters(day: day, symbol: symbol)) {
      (row) throws(StoreError) in
      CertificateRecord(
        certificate: try row.certificate(), residualVolume: try row.optionalNumeric(),
        residualTurnover: try row.optionalNumeric(), isBalanced: try row.optionalBool(),
        repairedAt: try row.optionalTimestamp())
    }
  }
}

// MARK: - A day

extension StoreReader {
  private static let readDayCandles = Statement(
    name: "query_day_candles",
    sql: """
      select i.symbol, c.timeframe, c.trading_day, c.opened_at, c.closed_at, c.open, c.high, c.low,
        c.close, c.volume, c.turnover, c.trades, c.vwap, c.flags, c.source, c.known_from,
        c.revision
      from (
        select opened_at, closed_at, known_from, instrument_id, trading_day, timeframe, flags,
          source, revision, open, high, low, close, volume, turnover, trades, vwap
        from feed_candles
        where $3::timestamptz is null or known_from < $3::timestamptz
        union all
        select opened_at, closed_at, known_from, instrument_id, trading_day, timeframe, flags,
          source, revision, open, high, low, close, volume, turnover, trades, vwap
        from feed_revisions
        where known_from < $3::timestamptz and known_to >= $3::timestamptz
      ) c
      join feed_instruments i on i.id = c.instrument_id
      where i.symbol = $2::text
        and c.trading_day = $1::date
        and c.opened_at between $1::date - interval '1 day' and $1::date + interval '1 day'
      order by c.timeframe, c.opened_at
      """)

  /// All final candles of an instrument's day.
  /// - Parameter before: as they were known up to that moment; nil for now.
  package func candles(
    of symbol: Symbol, day: TradingDay, before moment: Timestamp? = nil
  ) throws(StoreError) -> [StoredCandle] {
    var parameters = parameters(day: day, symbol: symbol)
    parameters.add { $0.optional(moment) { $0.timestamp($1) } }
    return try read(Self.readDayCandles, with: parameters) { (row) throws(StoreError) in
      try row.storedCandle()
    }
  }

  private static let readDays = Statement(
    name: "query_days",
    sql: """
      select d.day
      from (
        select trading_day as day from feed_quotes
        union
        select trading_day from feed_audits
        union
        select trading_day from feed_gaps
        union
        select trading_day from feed_rejections
        union
        select trading_day from feed_candles where timeframe in (1, 240)
      ) d
      where d.day >= $1::date
      order by 1
      """)

  /// The days from `first` on that have any row.
  package func days(from first: TradingDay) throws(StoreError) -> [TradingDay] {
    let parameters = WireParameters(.day(first))
    return try read(Self.readDays, with: parameters) { (row) throws(StoreError) in try row.day() }
  }

  private static let readServing = Statement(
    name: "query_serving",
    sql: """
      select series, since, source
      from feed_serving
      order by series, since
      """)

  /// Which source served each series from when on, oldest first.
  package func serving() throws(StoreError) -> [ServingRow] {
    try read(Self.readServing) { (row) throws(StoreError) in try row.servingRow() }
  }

  private static let readRejections = Statement(
    name: "query_rejections",
    sql: """
      select source, symbol, reason, detail, payload
      from feed_rejections
      where trading_day = $1::date
      order by id
      """)

  /// The rows refused on a day.
  package func rejections(day: TradingDay) throws(StoreError) -> [RejectionRecord] {
    let parameters = WireParameters(.day(day))
    return try read(Self.readRejections, with: parameters) { (row) throws(StoreError) in
      let source = try row.source()
      return RejectionRecord(
        source: source, symbol: try row.text(), reason: try row.text(), detail: try row.text(),
        payload: try row.bytes())
    }
  }
}

extension PostgresRow {
  fileprivate mutating func gapRecord() throws(StoreError) -> GapRecord {
    GapRecord(
      gap: try gap(), state: try text(), sightings: try int16(),
      permanentReason: try optionalText(), knownFrom: try timestamp())
  }
}
