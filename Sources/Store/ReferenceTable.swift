import Commits
import Market
import Postgres

/// What sources say of instruments, days, keys and themselves, and how far plans have come: rows
/// that a crash must not lose. Each leaves an equal row alone, so that a repetition writes nothing.
struct ReferenceTable: TableGroup {
  let session: WriterSession

  private static let overview = RowTable<OverviewRow>(
    "overview", name: "write_overview", into: "overview",
    columns: [
      .text("symbol", role: .key) { $0.symbol },
      .text("name", role: .kept) { $0.name },
      .numeric("last") { $0.last },
      .numeric("change") { $0.change },
      .numeric("percent_change") { $0.percentChange },
      .timestamp("at") { $0.at },
    ],
    conflict: .replaced, counter: \.reference,
    origin: { .init(source: .live, symbol: $0.symbol) },
    identity: { $0.symbol })

  private static let health = RowTable<SourceHealthRow>(
    "health", name: "write_health", into: "source_health",
    columns: [
      .int16("source", role: .key) { $0.source.rawValue },
      .text("endpoint", role: .key) { $0.endpoint },
      .text("state") { $0.state.rawValue },
      .timestamp("since") { $0.since },
      .timestamp("last_success_at") { $0.lastSuccessAt },
      .int64("requests") { $0.requests },
      .int64("failures") { $0.failures },
      .text("detail") { $0.detail },
      .timestamp("updated_at", role: .remark) { $0.updatedAt },
    ],
    conflict: .replaced, counter: \.reference, origin: { .init(source: $0.source) },
    identity: { "\($0.source.rawValue) \($0.endpoint)" })

  private static let lists = RowTable<ListVerdict>(
    "list", name: "add_lists", into: "instrument_list",
    columns: [
      .int16("source") { $0.source.rawValue },
      .text("part") { $0.part },
      .timestamp("judged_at") { $0.decidedAt },
      .int32("rows") { Int32(clamping: $0.rows) },
      .int64("content_hash") { Int64(bitPattern: $0.contentHash) },
      .text("verdict") { $0.verdict.rawValue },
      .text("detail") { $0.detail },
    ],
    conflict: .refused, counter: \.reference, origin: { .init(source: $0.source) })

  private static let keyUsage = RowTable<KeyUsage>(
    "key usage", name: "write_key_usage", into: "api_key_usage",
    columns: [
      .int16("source", role: .key) { $0.source.rawValue },
      .text("label", role: .key) { $0.label },
      .day("day", role: .key) { $0.day },
      .int32("requests") { Int32(clamping: $0.requests) },
      .timestamp("parked_until") { $0.parkedUntil },
      .text("parked_reason") { $0.parkedReason?.name },
    ],
    stamps: ["updated_at"], conflict: .replaced, counter: \.reference,
    origin: { .init(source: $0.source, day: $0.day) },
    identity: { "\($0.source.rawValue) \($0.label) \($0.day)" })

  private static let watermarks = RowTable<BarWatermark>(
    "watermark", name: "write_watermarks", into: "bar_watermark",
    columns: [
      .int16("source", role: .key) { $0.source.rawValue },
      .text("chunk", role: .key) { $0.chunk },
      .int16("timeframe", role: .key) { $0.timeframe.rawValue },
      .timestamp("through") { $0.through },
    ],
    conflict: .replaced, counter: \.reference, origin: { .init(source: $0.source) },
    identity: { "\($0.source.rawValue) \($0.chunk) \($0.timeframe.rawValue)" })

  private static let serving = RowTable<ServingRow>(
    "serving", name: "write_serving", into: "serving",
    columns: [
      .int16("series", role: .key) { $0.series.rawValue },
      .timestamp("since", role: .key) { $0.since },
      .int16("source") { $0.source.rawValue },
    ],
    conflict: .replaced, counter: \.reference, origin: { .init(source: $0.source) },
    identity: { "\($0.series.rawValue) \($0.since.microseconds)" })

  /// What the overview and the sources' health say now.
  func writeObservations(
    _ rows: ReferenceRows, in context: inout CommitContext
  ) throws(StoreError) {
    try write(rows.overview, to: Self.overview, in: &context)
    let knownAt = context.knownAt
    let health = rows.health.map { row in
      var row = row
      row.updatedAt = row.updatedAt ?? knownAt
      return row
    }
    try write(health, to: Self.health, in: &context)
  }

  func write(_ commit: Commit, in context: inout CommitContext) throws(StoreError) {
    let rows = commit.reference
    try session.write(rows.links, in: &context, rowDescription: \.rowDescription, by: link)
    try session.write(
      rows.instrumentMarks, in: &context, rowDescription: \.rowDescription, by: mark)
    // Of an instrument's factors those that are left out end: all of them are one row here.
    let factors =
      context.strategy.isolatesRows ? rows.factors.flatMap(\.byInstrument) : rows.factors
    try session.write(
      factors, in: &context, rowDescription: \.rowDescription, by: session.factors.replace)
    for case .dayComplete(let day, _, _) in commit.events {
      try session.factors.test(day, in: &context)
    }
    try write(rows.lists, to: Self.lists, in: &context)
    try session.write(rows.sessions, in: &context, rowDescription: \.rowDescription, by: replace)
    for contradiction in rows.contradictions { try record(contradiction, in: &context) }
    try write(rows.keyUsage, to: Self.keyUsage, in: &context)
    try write(rows.watermarks, to: Self.watermarks, in: &context)
    try write(rows.serving, to: Self.serving, in: &context)
  }
}

// MARK: - Chunks of a backfill

extension ReferenceTable {
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

  func write(
    _ chunk: HistoryCommit.Chunk, in context: CommitContext
  ) throws(StoreError) {
    let parameters = WireParameters(
      .text(chunk.name), .day(chunk.through), .timestamp(context.knownAt),
      .int64(Int64(context.receipt.candles + context.receipt.revisions)))
    try run(Self.writeChunk, with: parameters)
  }

  private static let readChunks = Statement(
    name: "read_chunks",
    sql: """
      select name, through, done_at
      from backfill_chunk
      where name = any ($1::text[])
      """)

  func doneChunks(_ names: [String]) throws(StoreError) -> [String: DoneChunk] {
    let parameters = WireParameters(.texts(names))
    var chunks: [String: DoneChunk] = [:]
    for var row in try run(Self.readChunks, with: parameters, step: "load").rows {
      let name = try row.text()
      chunks[name] = DoneChunk(through: try row.day(), doneAt: try row.timestamp())
    }
    return chunks
  }
}
