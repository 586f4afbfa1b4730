import Market
import Postgres

/// How far plans have come, and what keys have spent: rows that a crash must not lose.
extension WriterSession {
  private static let writeKeyUsage = Statement(
    name: "write_key_usage",
    sql: """
      insert into api_key_usage as k
        (source, label, day, requests, parked_until, parked_reason, updated_at)
      select r.*, $7::timestamptz
      from unnest(
        $1::smallint[], $2::text[], $3::date[], $4::int[], $5::timestamptz[], $6::text[]) r
      on conflict (source, label, day) do update
      set
        requests = excluded.requests,
        parked_until = excluded.parked_until,
        parked_reason = excluded.parked_reason,
        updated_at = excluded.updated_at
      where (k.requests, k.parked_until, k.parked_reason)
        is distinct from (excluded.requests, excluded.parked_until, excluded.parked_reason)
      """)

  func writeKeyUsage(_ commit: Commit, _ commitContext: inout CommitContext) throws(StoreError) {
    struct Key: Hashable {
      let source: Source
      let label: String
      let day: TradingDay
    }
    let rows = commit.keyUsage.lastOfEach { Key(source: $0.source, label: $0.label, day: $0.day) }
    if rows.isEmpty { return }
    var parameters = WireParameters()
    parameters.add { $0.array(rows, type: .int2) { $0.int16($1.source.rawValue) } }
    parameters.add { $0.array(rows, type: .text) { $0.text($1.label) } }
    parameters.add { $0.array(rows, type: .date) { $0.date($1.day) } }
    parameters.add { $0.array(rows, type: .int4) { $0.int32(Int32(clamping: $1.requests)) } }
    parameters.add { $0.array(rows, type: .timestamptz) { $0.optionalTimestamp($1.parkedUntil) } }
    parameters.add { $0.array(rows, type: .text) { $0.optionalText($1.parkedReason?.name) } }
    parameters.add { $0.timestamp(commit.knownAt) }
    commitContext.receipt.keyUsage += try connection.run(
      Self.writeKeyUsage, parameters, context: Context.commit
    ).affectedRows
  }

  private static let writeWatermarks = Statement(
    name: "write_watermarks",
    sql: """
      insert into bar_watermark as w (source, chunk, timeframe, through)
      select *
      from unnest($1::smallint[], $2::text[], $3::smallint[], $4::timestamptz[])
      on conflict (source, chunk, timeframe) do update
      set through = excluded.through
      where w.through is distinct from excluded.through
      """)

  func writeWatermarks(_ commit: Commit, _ commitContext: inout CommitContext) throws(StoreError) {
    struct Key: Hashable {
      let source: Source
      let chunk: String
      let timeframe: Timeframe
    }
    let rows = commit.watermarks.lastOfEach {
      Key(source: $0.source, chunk: $0.chunk, timeframe: $0.timeframe)
    }
    if rows.isEmpty { return }
    var parameters = WireParameters()
    parameters.add { $0.array(rows, type: .int2) { $0.int16($1.source.rawValue) } }
    parameters.add { $0.array(rows, type: .text) { $0.text($1.chunk) } }
    parameters.add { $0.array(rows, type: .int2) { $0.int16($1.timeframe.rawValue) } }
    parameters.add { $0.array(rows, type: .timestamptz) { $0.timestamp($1.through) } }
    commitContext.receipt.watermarks += try connection.run(
      Self.writeWatermarks, parameters, context: Context.commit
    ).affectedRows
  }

  private static let writeChunk = Statement(
    name: "write_chunk",
    sql: """
      insert into backfill_chunk as c (name, through, done_at, candles)
      values ($1::text, $2::date, $3::timestamptz, $4::bigint)
      on conflict (name) do update
      set
        through = greatest(c.through, excluded.through),
        done_at = excluded.done_at,
        candles = excluded.candles
      """)

  func writeChunk(
    _ chunk: HistoryCommit.Chunk, _ doneAt: Timestamp, _ commitContext: CommitContext
  ) throws(StoreError) {
    var parameters = WireParameters()
    parameters.add { $0.text(chunk.name) }
    parameters.add { $0.date(chunk.through) }
    parameters.add { $0.timestamp(doneAt) }
    parameters.add {
      $0.int64(Int64(commitContext.receipt.candles + commitContext.receipt.revisions))
    }
    try connection.run(Self.writeChunk, parameters, context: Context.commit)
  }

  private static let readChunks = Statement(
    name: "read_chunks",
    sql: """
      select name, through, done_at
      from backfill_chunk
      where name = any ($1::text[])
      """)

  func doneChunks(_ names: [String]) throws(StoreError) -> [String: DoneChunk] {
    var parameters = WireParameters()
    parameters.add { $0.array(names, type: .text) { $0.text($1) } }
    var chunks: [String: DoneChunk] = [:]
    for row in try connection.run(Self.readChunks, parameters, context: "load").rows {
      var row = row
      let name = try row.text()
      chunks[name] = DoneChunk(through: try row.day(), doneAt: try row.timestamp())
    }
    return chunks
  }
}
