import Market
import Postgres

/// A quote without its forming minute, and whether its totals are those of a source that rounds
/// them.
package struct WatchedQuote: Sendable {
  package var quote: LatestQuote
  package var isCoarse: Bool
}

/// What happened since a change, as the broker asks for it.
package struct WatchedChanges: Sendable {
  package var lastSeq: Int64
  /// By which the daemon's clock was ahead of the server's at the last commit.
  package var clockOffsetMicroseconds: Int64
  /// The daemon's clock at that commit; nil where none is kept.
  package var knownAt: Timestamp?
  /// Which were asked for.
  package var symbols: Set<Symbol> = []
  /// In the order of their changes.
  package var quotes: [WatchedQuote] = []
  /// Instruments whose rows the daemon took out, with the newest change that did.
  package var corrected: [Symbol: Int64] = [:]
  /// Instruments and days with a certificate.
  package var certified: Set<CertifiedDay> = []

  package init(lastSeq: Int64, clockOffsetMicroseconds: Int64) {
    self.lastSeq = lastSeq
    self.clockOffsetMicroseconds = clockOffsetMicroseconds
  }
}

package struct CertifiedDay: Sendable, Hashable {
  package var symbol: Symbol
  package var day: TradingDay
  /// The exchange's own total; nil where the end of the day was not seen.
  package var volume: ExactDecimal?
}

/// How far the feed of a database is, and which source serves each series since when, where it is
/// not its own.
package struct WatchedPosition: Sendable {
  package var epoch: Int64 = 0
  package var lastSeq: Int64 = 0
  package var serving: [Source: (source: Source, since: Timestamp)] = [:]

  package init() {}
}

/// Of a few instruments, what changed: what else the feed has is not read.
extension StoreReader {
  private static let readPosition = Statement(
    name: "watched_position",
    sql: """
      select
        p.last_seq, coalesce(extract(epoch from c.known_at - c.committed_at) * 1e6, 0)::bigint,
        c.known_at
      from feed_position() p
      left join feed_changes c on c.seq = p.last_seq
      """)

  private static let readWatched = Statement(
    name: "watched_quotes",
    sql: """
      select
        coalesce(v.source, i.source) <> i.source, \(snapshotColumns), null::timestamptz
      from feed_quotes q
      join feed_instruments i on i.id = q.instrument_id
      -- Of a sweep many rows have one moment: it is looked up once.
      left join lateral (
        select s.source
        from feed_serving s
        where s.series = i.source
          and s.since <= q.received_at
        order by s.since desc
        limit 1
      ) v on true
      where i.symbol = any (string_to_array($1::text, ' '))
        and q.changed_seq > $2::bigint
      order by q.changed_seq, i.id
      """)

  private static let readCorrected = Statement(
    name: "watched_corrections",
    sql: """
      select e.symbol, max(c.seq)
      from feed_changes c
      cross join lateral jsonb_array_elements(c.events) as item (object)
      cross join lateral jsonb_to_record(item.object) as e (event text, symbol text)
      where c.seq > $2::bigint
        and c.events <> '[]'
        and e.event in ('rows_corrected', 'correction_undone', 'disputed', 'dispute_settled')
        and e.symbol = any (string_to_array($1::text, ' '))
      group by e.symbol
      """)

  private static let readCertified = Statement(
    name: "watched_certificates",
    sql: """
      select i.symbol, k.trading_day, a.exchange_volume
      from feed_changes c
      cross join lateral unnest(c.audit_instrument_ids, c.audit_days) as
        k (instrument_id, trading_day)
      join feed_instruments i on i.id = k.instrument_id
      join feed_audits a on a.instrument_id = k.instrument_id
        and a.trading_day = k.trading_day
      where c.seq > $2::bigint
        and i.symbol = any (string_to_array($1::text, ' '))
      """)

  private static let readServing = Statement(
    name: "watched_serving",
    sql: """
      select p.epoch, p.last_seq, s.series, s.source, s.since
      from feed_position() p
      left join (
        select distinct on (series) series, source, since
        from feed_serving
        order by series, since desc
      ) s on true
      where p.epoch is not null
      """)

  /// - Throws: `connectionLost`, `transient`, `malformed`.
  package func watchedPosition() throws(StoreError) -> WatchedPosition {
    var position = WatchedPosition()
    for var row in try connection.run(Self.readServing, context: "broker").rows {
      (position.epoch, position.lastSeq) = (try row.int64(), try row.int64())
      guard let series = try row.optionalInt16() else { break }
      position.serving[Source(rawValue: series)] = (try row.source(), try row.timestamp())
    }
    return position
  }

  /// The newest rows of those instruments that changed behind `seq`, and what was taken out: all of
  /// one moment.
  /// - Throws: `connectionLost`, `transient`, `malformed`.
  package func changes(
    of symbols: Set<Symbol>, after seq: Int64
  ) throws(StoreError) -> WatchedChanges {
    try inOneMoment("broker") { () throws(StoreError) in try read(symbols, after: seq) }
  }

  private func read(
    _ symbols: Set<Symbol>, after seq: Int64
  ) throws(StoreError) -> WatchedChanges {
    let position = try read(Self.readPosition, context: "broker") { (row) throws(StoreError) in
      (try row.int64(), try row.int64(), try row.optionalTimestamp())
    }.first
    var changes = WatchedChanges(
      lastSeq: position?.0 ?? 0, clockOffsetMicroseconds: position?.1 ?? 0)
    (changes.symbols, changes.knownAt) = (symbols, position?.2)
    if symbols.isEmpty || changes.lastSeq <= seq { return changes }
    let parameters = Self.parameters(symbols, seq)
    changes.quotes = try quotes(by: parameters)
    let corrected = try read(
      Self.readCorrected, with: parameters, context: "broker"
    ) { (row) throws(StoreError) in (try row.symbol(), try row.int64()) }
    for (symbol, seq) in corrected { changes.corrected[symbol] = seq }
    let certified = try read(
      Self.readCertified, with: parameters, context: "broker"
    ) { (row) throws(StoreError) in
      CertifiedDay(
        symbol: try row.symbol(), day: try row.day(), volume: try row.optionalNumeric())
    }
    changes.certified = Set(certified)
    return changes
  }

  package func quotes(
    of symbols: Set<Symbol>, after seq: Int64 = -1
  ) throws(StoreError) -> [WatchedQuote] {
    try quotes(by: Self.parameters(symbols, seq))
  }

  private func quotes(
    by parameters: borrowing WireParameters
  ) throws(StoreError) -> [WatchedQuote] {
    try read(Self.readWatched, with: parameters, context: "broker") { (row) throws(StoreError) in
      let isCoarse = try row.bool()
      return WatchedQuote(quote: try row.latestQuote(), isCoarse: isCoarse)
    }
  }

  private static func parameters(_ symbols: Set<Symbol>, _ seq: Int64) -> WireParameters {
    return WireParameters(.text(symbols.map(\.description).joined(separator: " ")), .int64(seq))
  }
}
