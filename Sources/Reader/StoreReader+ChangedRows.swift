import Market
import Postgres

/// The rows that changes name by key, each with the seq of its change.
extension StoreReader {
  private static let readCandles = Statement(
    name: "read_changed_candles",
    sql: """
      select k.seq, k.is_revision, i.symbol, c.timeframe, c.trading_day, c.opened_at, c.closed_at,
        c.open, c.high, c.low, c.close, c.volume, c.turnover, c.trades, c.vwap, c.flags, c.source,
        c.known_from, c.revision
      from (
        select g.seq, false as is_revision, u.*
        from feed_changes g,
          unnest(g.candle_instrument_ids, g.candle_timeframes, g.candle_opened_ats)
            u (instrument_id, timeframe, opened_at)
        where g.seq between $1::bigint and $2::bigint
        union all
        select g.seq, true, u.*
        from feed_changes g,
          unnest(g.revision_instrument_ids, g.revision_timeframes, g.revision_opened_ats)
            u (instrument_id, timeframe, opened_at)
        where g.seq between $1::bigint and $2::bigint
      ) k
      join feed_candles c
        on c.instrument_id = k.instrument_id
        and c.timeframe = k.timeframe
        and c.opened_at = k.opened_at
      join feed_instruments i on i.id = k.instrument_id
      where c.opened_at between $3::timestamptz and $4::timestamptz
      order by k.seq, k.instrument_id, k.timeframe, k.opened_at
      """)

  func candles(
    _ range: ClosedRange<Int64>, opened: ClosedRange<Timestamp>
  ) throws(StoreError) -> [(seq: Int64, isRevision: Bool, candle: StoredCandle)] {
    var parameters = self.parameters(range)
    parameters.add { $0.timestamp(opened.lowerBound) }
    parameters.add { $0.timestamp(opened.upperBound) }
    return try read(Self.readCandles, with: parameters, context: "follow") {
      (row) throws(StoreError) in
      (try row.int64(), try row.bool(), try row.storedCandle())
    }
  }

  private static let readGaps = Statement(
    name: "read_changed_gaps",
    sql: """
      select k.seq, k.is_closed, i.symbol, g.trading_day, g.from_at, g.to_at, g.volume, g.turnover,
        g.cause, i.source
      from (
        select seq, false as is_closed, unnest(gap_ids) as id
        from feed_changes
        where seq between $1::bigint and $2::bigint
        union all
        select seq, true, unnest(closed_gap_ids)
        from feed_changes
        where seq between $1::bigint and $2::bigint
      ) k
      join feed_gaps g on g.id = k.id
      join feed_instruments i on i.id = g.instrument_id
      order by k.seq, g.id
      """)

  func gaps(
    _ range: ClosedRange<Int64>
  ) throws(StoreError) -> [(seq: Int64, isClosed: Bool, gap: Gap)] {
    try read(Self.readGaps, with: parameters(range), context: "follow") {
      (row) throws(StoreError) in
      (try row.int64(), try row.bool(), try row.gap())
    }
  }

  private static let readCertificates = Statement(
    name: "read_changed_certificates",
    sql: """
      select c.seq, i.symbol, a.trading_day, \(CertificateColumns.list), i.source
      from feed_changes c,
        unnest(c.audit_instrument_ids, c.audit_days) k (instrument_id, trading_day)
      join feed_audits a on a.instrument_id = k.instrument_id and a.trading_day = k.trading_day
      join feed_instruments i on i.id = a.instrument_id
      where c.seq between $1::bigint and $2::bigint
      order by c.seq, a.trading_day, a.instrument_id
      """)

  func certificates(_ range: ClosedRange<Int64>) throws(StoreError) -> [(Int64, DayCertificate)] {
    try read(Self.readCertificates, with: parameters(range), context: "follow") {
      (row) throws(StoreError) in
      (try row.int64(), try row.certificate())
    }
  }

  /// The server takes the JSON apart: what the writer put together needs no second parser here.
  private static let readEvents = Statement(
    name: "read_changed_events",
    sql: """
      select c.seq, e.event, e.source, e.at, e.trading_day, e.expected, e.traded, e.untraded,
        e.missing, e.instruments, e.residuals, e.symbol
      from feed_changes c,
        jsonb_array_elements(c.events) with ordinality as item (object, place),
        jsonb_to_record(item.object) as e (event text, source text, at timestamptz,
          trading_day date, expected bigint, traded bigint, untraded bigint, missing bigint,
          instruments bigint, residuals bigint, symbol text)
      where c.seq between $1::bigint and $2::bigint
      order by c.seq, item.place
      """)

  /// Events this version does not know are left out.
  func events(_ range: ClosedRange<Int64>) throws(StoreError) -> [(Int64, FeedEvent)] {
    var found: [(Int64, FeedEvent)] = []
    for row in try connection.run(Self.readEvents, with: parameters(range), context: "follow").rows
    {
      var row = row
      let seq = try row.int64()
      if let event = try row.event() { found.append((seq, event)) }
    }
    return found
  }

  private func parameters(_ range: ClosedRange<Int64>) -> WireParameters {
    return WireParameters(.int64(range.lowerBound), .int64(range.upperBound))
  }
}

extension PostgresRow {
  mutating func storedCandle() throws(StoreError) -> StoredCandle {
    StoredCandle(candle: try candle(), knownFrom: try timestamp(), revision: try int16())
  }

  fileprivate mutating func event() throws(StoreError) -> FeedEvent? {
    let name = try text()
    let source = try optionalText()
    let at = try optionalTimestamp()
    let day = try optionalDay()
    var counts: [Int?] = []
    for _ in 0..<6 { counts.append(try optionalInt64().map { Int($0) }) }
    let symbol = try optionalText().flatMap { Symbol($0) }
    switch (name, source, at, day) {
    case ("minute_complete", _, let at?, let day?):
      return .minuteComplete(
        MinuteComplete(
          tradingDay: day, openedAt: at, expected: counts[0] ?? 0, traded: counts[1] ?? 0,
          untraded: counts[2] ?? 0, missing: counts[3] ?? 0))
    case ("feed_stalled", let source?, let at?, _): return .feedStalled(source: source, since: at)
    case ("feed_recovered", let source?, let at?, _): return .feedRecovered(source: source, at: at)
    case ("day_complete", _, _, let day?):
      return .dayComplete(day: day, instruments: counts[4] ?? 0, residuals: counts[5] ?? 0)
    case ("codes_changed", _, _, let day?):
      return .codesChanged(day: day, count: counts[4] ?? 0)
    default:
      guard let kind = DisputeEvent.Kind(rawValue: name), let symbol, let at, let day else {
        return nil
      }
      return .dispute(DisputeEvent(kind: kind, symbol: symbol, tradingDay: day, at: at))
    }
  }
}
