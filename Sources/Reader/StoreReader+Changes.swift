import Market
import Postgres

/// Changes after a cursor, with the rows their keys name: one query a kind of row and batch, and
/// only for kinds that occur.
extension StoreReader {
  /// What one look at the feed found.
  package struct Batch: Sendable {
    package var epoch: Int64
    /// The last change there is; the batch may end before it.
    package var lastSeq: Int64
    /// Changes past the horizon, which come before `changes`.
    package var skipped: ClosedRange<Int64>?
    package var changes: [FeedChange] = []
    /// Whether it ended before the last.
    package var hasMore: Bool { changes.last.map { $0.seq < lastSeq } ?? false }
  }

  /// The changes after `seq`, at most `changesMax` and as many as together name `candlesMax`
  /// candles, but one at least; nil for `seq` asks for the position alone.
  /// - Parameter candlesMax: nil is the reader's own.
  /// - Throws: `connectionLost`, `transient`, `malformed`.
  package func changes(
    after seq: Int64?, candlesMax: Int? = nil
  ) throws(StoreError) -> Batch {
    try inOneMoment("follow") { () throws(StoreError) -> Batch in
      let (epoch, lastSeq) = try position()
      var batch = Batch(epoch: epoch, lastSeq: lastSeq)
      if let seq, seq < lastSeq {
        try fill(&batch, after: seq, candlesMax: candlesMax ?? self.candlesMax)
      }
      return batch
    }
  }

  private static let seqBefore = Statement(
    name: "seq_before",
    sql: """
      select coalesce(
        -- The newest with too much from it on: it and what is older is left out.
        (select max(w.seq)
          from (
            select c.seq,
              sum(
                cardinality(c.candle_opened_ats) + cardinality(c.revision_opened_ats)
                + cardinality(c.gap_ids) + cardinality(c.closed_gap_ids)
                + cardinality(c.audit_days)) over (order by c.seq desc) as messages
            from feed_changes c
            where c.seq > o.seq
          ) w
          where w.messages > $2::bigint),
        o.seq)
      from (
        select coalesce(
          (select c.seq
            from feed_changes c
            where c.committed_at < now() - make_interval(secs => $1::bigint)
            order by c.seq desc
            limit 1),
          (select min(c.seq) - 1 from feed_changes c),
          p.last_seq) as seq
        from feed_position() p
        where p.epoch is not null
      ) o
      """)

  /// The changes of the last seconds are those after this seq: the newest of them, where together
  /// they are about more rows than that, as after a backfill.
  /// - Parameter rowsMax: candles, gaps and certificates.
  /// - Throws: `connectionLost`, `transient`, `malformed`.
  package func seq(
    committedSecondsAgo seconds: Int64, rowsMax: Int
  ) throws(StoreError) -> Int64 {
    let parameters = WireParameters(.int64(seconds), .int64(Int64(rowsMax)))
    let seqs = try read(Self.seqBefore, with: parameters, context: "follow") {
      (row) throws(StoreError) in
      try row.int64()
    }
    guard let seq = seqs.first else { throw Self.noFeed(context: "follow") }
    return seq
  }

  private static let readChanges = Statement(
    name: "read_changes",
    sql: """
      select kind, from_seq, seq,
        cardinality(candle_opened_ats) + cardinality(revision_opened_ats),
        committed_at, known_at, quotes, rejections,
        cardinality(gap_ids || closed_gap_ids), cardinality(audit_days), jsonb_array_length(events),
        (select min(at) from unnest(candle_opened_ats || revision_opened_ats) at),
        (select max(at) from unnest(candle_opened_ats || revision_opened_ats) at)
      from changes($1::bigint, $2::int)
      """)

  private func fill(
    _ batch: inout Batch, after seq: Int64, candlesMax: Int
  ) throws(StoreError) {
    let parameters = WireParameters(.int64(seq), .int32(Self.changesMax))
    var contents = Contents()
    for var row in try connection.run(Self.readChanges, with: parameters, context: "follow").rows {
      let kind = try row.text()
      let from = try row.int64()
      let through = try row.int64()
      if kind == "skipped" {
        batch.skipped = from...through
        continue
      }
      contents.candles += Int(try row.int32())
      if contents.candles > candlesMax, !batch.changes.isEmpty { break }
      let committedAt = try row.timestamp()
      let knownAt = try row.timestamp()
      contents.quotes += Int(try row.int32())
      batch.changes.append(
        FeedChange(
          seq: through, committedAt: committedAt, knownAt: knownAt,
          rejections: Int(try row.int32())))
      contents.gaps += Int(try row.int32())
      contents.certificates += Int(try row.int32())
      contents.events += Int(try row.int32())
      contents.widen(from: try row.optionalTimestamp(), to: try row.optionalTimestamp())
    }
    guard let first = batch.changes.first?.seq, let last = batch.changes.last?.seq else { return }
    guard last - first == Int64(batch.changes.count - 1) else {
      throw StoreError(
        .malformed, message: "changes are missing between \(first) and \(last)", context: "follow")
    }
    try addRows(contents, of: first...last, to: &batch.changes)
  }

  /// What a batch holds, so that nothing is asked for that is not there.
  private struct Contents {
    var candles = 0
    var quotes = 0
    var gaps = 0
    var certificates = 0
    var events = 0
    /// When its candles opened: tells the planner the partitions.
    var opened: ClosedRange<Timestamp>?

    mutating func widen(from first: Timestamp?, to last: Timestamp?) {
      guard let first, let last else { return }
      opened = min(first, opened?.lowerBound ?? first)...max(last, opened?.upperBound ?? last)
    }
  }

  private func addRows(
    _ contents: Contents, of range: ClosedRange<Int64>, to changes: inout [FeedChange]
  ) throws(StoreError) {
    // seq is contiguous: a change's place is its distance from the first.
    func place(_ seq: Int64) -> Int { Int(seq - range.lowerBound) }
    if contents.quotes > 0 {
      for quote in try quotes(after: range.lowerBound - 1, through: range.upperBound) {
        changes[place(quote.seq)].quotes.append(quote)
      }
    }
    if let opened = contents.opened {
      for row in try candles(range, opened: opened) {
        if row.isRevision {
          changes[place(row.seq)].revisions.append(row.candle)
        } else {
          changes[place(row.seq)].candles.append(row.candle)
        }
      }
    }
    if contents.gaps > 0 {
      for row in try gaps(range) {
        if row.isClosed {
          changes[place(row.seq)].closedGaps.append(row.gap)
        } else {
          changes[place(row.seq)].gaps.append(row.gap)
        }
      }
    }
    if contents.certificates > 0 {
      for (seq, certificate) in try certificates(range) {
        changes[place(seq)].certificates.append(certificate)
      }
    }
    if contents.events > 0 {
      for (seq, event) in try events(range) { changes[place(seq)].events.append(event) }
    }
  }
}
