import Commits
import Market
import Postgres

/// What passed unseen, and what was refused on its way in.
struct LedgerTable: TableGroup {
  let session: WriterSession

  private static let gaps = RowTable<Identified<Gap>>(
    "gap", name: "add_gaps", into: "gap",
    columns: [
      .int32("instrument_id") { $0.id },
      .day("trading_day") { $0.row.tradingDay },
      .timestamp("from_at") { $0.row.from },
      .timestamp("to_at") { $0.row.to },
      .numeric("volume") { $0.row.volume },
      .numeric("turnover") { $0.row.turnover },
      .int16("cause") { $0.row.cause.rawValue },
    ],
    stamps: ["known_from"], conflict: .refused, returning: "id", counter: \.gaps,
    origin: \.row.rowDescription.origin)

  private static let rejections = RowTable<Rejection>(
    "rejection", name: "add_rejections", into: "rejected",
    columns: [
      .timestamp("received_at") { $0.receivedAt },
      .day("trading_day") { $0.receivedAt.shanghaiDay },
      .int16("source") { $0.source.rawValue },
      .text("symbol") { $0.symbol?.description ?? "" },
      .text("reason") { $0.reason.rawValue },
      .quotation("detail") { $0.detail },
      .bytes("payload") { $0.payload },
    ],
    conflict: .ignored(key: "trading_day, source, symbol, reason, payload_md5"),
    counter: \.rejections,
    origin: {
      .init(
        source: $0.source, symbol: $0.symbol?.description ?? "", day: $0.receivedAt.shanghaiDay)
    })

  func write(_ commit: Commit, in context: inout CommitContext) throws(StoreError) {
    try session.write(
      commit.closedGaps, in: &context, rowDescription: \.rowDescription, by: supersede)
    try session.write(commit.gaps, in: &context, rowDescription: \.rowDescription, by: open)
    try session.certificates.write(commit.certificates, in: &context)
    try write(commit.rejections, to: Self.rejections, in: &context)
    try session.reference.writeObservations(commit.reference, in: &context)
    context.receipt.events += commit.events.count
  }

  /// A neighbouring gap took them in, or a correction took back what they held. The values name the
  /// row: the book knows no numbers.
  private static let closeSuperseded = Statement(
    name: "supersede_gaps",
    sql: """
      with r as (
        select *
        from unnest(
            $1::int[], $2::date[], $3::timestamptz[], $4::timestamptz[], $5::numeric[],
            $6::numeric[], $7::smallint[])
          r (instrument_id, trading_day, from_at, to_at, volume, turnover, cause)
      ),
      chosen as (
        select max(g.id) as id
        from r
        join gap g
          on (g.instrument_id, g.trading_day, g.from_at, g.to_at, g.volume, g.turnover, g.cause)
          = (r.instrument_id, r.trading_day, r.from_at, r.to_at, r.volume, r.turnover, r.cause)
        where g.known_to is null
        group by r.instrument_id, r.trading_day, r.from_at, r.to_at, r.volume, r.turnover, r.cause
      )
      update gap g
      set known_to = greatest($8::timestamptz, g.known_from), closed_by = 'superseded'
      from chosen c
      where g.id = c.id
      returning g.id
      """)

  private func supersede(_ gaps: [Gap], in context: inout CommitContext) throws(StoreError) {
    let rows = rows(gaps, in: context)
    if rows.isEmpty { return }
    let parameters = Self.gaps.parameters(rows, stamp: context.knownAt)
    for var row in try run(Self.closeSuperseded, with: parameters).rows {
      context.keys.closedGaps.append(try row.int64())
      context.receipt.repairs.supersededGaps += 1
    }
  }

  func open(_ gaps: [Gap], in context: inout CommitContext) throws(StoreError) {
    let rows = rows(gaps, in: context)
    if rows.isEmpty { return }
    let parameters = Self.gaps.parameters(rows, stamp: context.knownAt)
    for var row in try run(Self.gaps.statement, with: parameters).rows {
      context.keys.gaps.append(try row.int64())
    }
    context.receipt.gaps = context.keys.gaps.count
  }

  /// Without those of days that were repaired, whose account is the tables'.
  private func rows(_ gaps: [Gap], in context: CommitContext) -> [Identified<Gap>] {
    gaps.map { Identified(id: id(of: $0.symbol, source: $0.source), row: $0) }
      .filter {
        !context.repaired.contains(DayKey(instrument: $0.id, day: $0.row.tradingDay))
      }
      .sorted { ($0.id, $0.row.from, $0.row.to) < ($1.id, $1.row.from, $1.row.to) }
  }
}
