import Market
import Postgres

/// Questions people ask of a database, over a connection of their own. Blocking; every value is a
/// parameter, never part of the SQL. Reading only: a role with the rights of `candled_reader`.
///
/// Not Sendable: use it on the thread that made it.
package final class Queries {
  let connection: PostgresConnection

  /// - Parameter url: a libpq URL or keyword string.
  /// - Throws: `connectionLost`, `schemaMismatch`, `badAddress`, `refused`.
  package init(url: String) throws(StoreError) {
    connection = try PostgresConnection(url: url, application: "candled query")
    try Schema.requireVersion(connection)
  }

  /// From here on every answer is of one moment, whatever is committed meanwhile.
  /// - Throws: `connectionLost`.
  package func holdMoment() throws(StoreError) {
    try connection.execute("begin isolation level repeatable read read only", context: "query")
  }

  func read<Value>(
    _ statement: Statement, _ parameters: borrowing WireParameters,
    _ decode: (inout PostgresRow) throws(StoreError) -> Value
  ) throws(StoreError) -> [Value] {
    let response = try connection.run(statement, parameters, context: "query")
    var values: [Value] = []
    values.reserveCapacity(response.rowCount)
    for row in response.rows {
      var row = row
      values.append(try decode(&row))
    }
    return values
  }
}

extension Queries {
  private static let readLatest = Statement(
    name: "query_latest",
    sql: """
      select \(FeedReader.columns)
      from feed_quotes q
      join feed_instruments i on i.id = q.instrument_id
      where $1::text is null
        or i.symbol = any (string_to_array($1::text, ' '))
      order by i.symbol
      """)

  /// The latest quotes with their forming minutes, by symbol.
  /// - Parameter symbols: nil for all.
  package func latest(_ symbols: [Symbol]? = nil) throws(StoreError) -> [LatestQuote] {
    let list = symbols?.map(\.description).joined(separator: " ")
    var parameters = WireParameters()
    parameters.add { $0.optional(list) { $0.text($1) } }
    return try read(Self.readLatest, parameters) { (row) throws(StoreError) in
      try row.latestQuote()
    }
  }

  private static let readGapRecords = Statement(
    name: "query_gap_records",
    sql: """
      select i.symbol, g.trading_day, g.from_at, g.to_at, g.volume, g.turnover, g.cause, s.state,
        s.sightings, s.permanent_reason, g.known_from
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
    try read(Self.readGapRecords, parameters(day, symbol)) { (row) throws(StoreError) in
      GapRecord(
        gap: try row.gap(), state: try row.text(), sightings: try row.int16(),
        permanentReason: try row.optionalText(), knownFrom: try row.timestamp())
    }
  }

  private static let readCertificates = Statement(
    name: "query_audits",
    sql: """
      select i.symbol, a.trading_day, a.exchange_volume, a.exchange_turnover, a.minute_volume,
        a.minute_turnover, a.gap_volume, a.gap_turnover, a.after_hours_volume,
        a.after_hours_turnover, a.minutes_traded, a.minutes_untraded, a.minutes_missing,
        a.residual_volume, a.residual_turnover, a.balanced, a.repaired_at
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
    try read(Self.readCertificates, parameters(day, symbol)) { (row) throws(StoreError) in
      CertificateRecord(
        certificate: try row.certificate(), residualVolume: try row.optionalNumeric(),
        residualTurnover: try row.optionalNumeric(), isBalanced: try row.optionalBool(),
        repairedAt: try row.optionalTimestamp())
    }
  }

  private static let readInstruments = Statement(
    name: "query_instruments",
    sql: """
      select symbol, name, exchange, kind, board, source, first_seen
      from instruments
      where $1::text is null
        or position(lower($1::text) in lower(symbol)) > 0
        or position(lower($1::text) in lower(name)) > 0
      order by symbol, source
      """)

  /// Series of instruments, by symbol.
  /// - Parameter part: what the symbol or the name must contain, in any case; nil for all.
  package func instruments(like part: String? = nil) throws(StoreError) -> [InstrumentRecord] {
    var parameters = WireParameters()
    parameters.add { $0.optional(part) { $0.text($1) } }
    return try read(Self.readInstruments, parameters) { (row) throws(StoreError) in
      InstrumentRecord(
        symbol: try row.symbol(), name: try row.optionalText(), exchange: try row.optionalText(),
        kind: try row.optionalText(), board: try row.optionalText(), source: try row.text(),
        firstSeen: try row.timestamp())
    }
  }

  /// When markets trade, as far as the daemon has learnt. A table without a view: with the daemon's
  /// rights.
  /// - Throws: `operatorNeeded` for others.
  package func sessions() throws(StoreError) -> [MarketSession] {
    try read(WriterSession.readSessions, WireParameters()) { (row) throws(StoreError) in
      try row.marketSession()
    }
  }

  func parameters(_ day: TradingDay?, _ symbol: Symbol?) -> WireParameters {
    var parameters = WireParameters()
    parameters.add { $0.optional(day) { $0.date($1) } }
    parameters.add { $0.optional(symbol?.description) { $0.text($1) } }
    return parameters
  }
}

extension WireBuffer {
  /// NULL for nil.
  mutating func optional<Value>(
    _ value: Value?, _ write: (inout WireBuffer, Value) -> Void
  ) {
    if let value { write(&self, value) } else { null() }
  }
}
