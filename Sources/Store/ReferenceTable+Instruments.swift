import Commits
import Market
import Postgres

/// Instruments, registered before rows refer to them, with their marks.
extension ReferenceTable {
  private static let added = RowTable<InstrumentRegistry.Entry>(
    "instrument", name: "add_instruments", into: "instrument",
    columns: columns + [.int16("source") { $0.row.source.rawValue }], stamps: ["first_seen"],
    conflict: .refused, counter: \.instruments, origin: \.row.rowDescription.origin)

  private static let columns: [RowTable<InstrumentRegistry.Entry>.Column] = [
    .int32("id") { $0.id },
    .text("symbol") { $0.row.symbol.description },
    .int16("exchange") { $0.row.exchange?.rawValue },
    .int16("kind") { $0.row.kind?.rawValue },
    .int16("board") { $0.row.board?.rawValue },
    .text("name") { $0.row.name },
  ]

  private static let updateInstruments = Statement(
    name: "update_instruments",
    sql: """
      update instrument i
      set exchange = r.exchange, kind = r.kind, board = r.board, name = r.name
      from unnest(
          $1::int[], $2::text[], $3::smallint[], $4::smallint[], $5::smallint[], $6::text[],
          $7::smallint[])
        r (id, symbol, exchange, kind, board, name, source)
      where i.id = r.id
      """)

  /// An instrument whose description is refused is registered by its symbol alone; one that is
  /// refused even so takes its rows with it.
  /// - Parameter commit: afterwards without the rows of series that could not be registered.
  func writeInstruments(
    of commit: inout Commit, in context: inout CommitContext
  ) throws(StoreError) {
    try end(commit.reference.reused, in: &context)
    let (added, updated) = session.registry.differences(in: commit)
    guard context.strategy.isolatesRows else {
      try add(added, in: &context)
      return try update(updated, in: &context)
    }
    try session.write(updated, in: &context, rowDescription: \.row.rowDescription, by: update)
    var unknown: [InstrumentRegistry.Series: StoreError] = [:]
    for (entry, error) in try session.isolateRejectedRows(added, in: &context, by: add) {
      try session.refuse(entry.row.rowDescription, error: error, in: &context)
      var bare = entry
      bare.row = InstrumentRow(symbol: entry.row.symbol, source: entry.row.source)
      let refused = try session.isolateRejectedRows([bare], in: &context, by: add)
      if let again = refused.first { unknown[entry.row.series] = again.error }
    }
    if !unknown.isEmpty { try leaveOut(unknown, of: &commit, in: &context) }
  }

  private func add(
    _ entries: [InstrumentRegistry.Entry], in context: inout CommitContext
  ) throws(StoreError) {
    if entries.isEmpty { return }
    let parameters = Self.added.parameters(entries, stamp: context.knownAt)
    try run(Self.added.statement, with: parameters, step: CommitStep.instruments)
    try register(entries, in: &context)
  }

  private func update(
    _ entries: [InstrumentRegistry.Entry], in context: inout CommitContext
  ) throws(StoreError) {
    if entries.isEmpty { return }
    var parameters = WireParameters()
    for column in Self.added.columns {
      parameters.add { $0.array(entries, type: column.type) { column.write(&$0, $1) } }
    }
    try run(Self.updateInstruments, with: parameters, step: CommitStep.instruments)
    try register(entries, in: &context)
  }

  private func register(
    _ entries: [InstrumentRegistry.Entry], in context: inout CommitContext
  ) throws(StoreError) {
    try nameInstruments(
      entries.filter { $0.row.name != session.registry.entries[$0.row.series]?.row.name },
      in: context)
    for entry in entries { session.registry.insert(entry) }
    context.receipt.instruments += entries.count
  }

  private func leaveOut(
    _ unknown: [InstrumentRegistry.Series: StoreError], of commit: inout Commit,
    in context: inout CommitContext
  ) throws(StoreError) {
    func keep<Row>(
      _ rows: [Row], rowDescription: (Row) -> RefusedRow.RowDescription
    ) throws(StoreError) -> [Row] {
      var kept: [Row] = []
      for row in rows {
        let rowDescription = rowDescription(row)
        let series = Symbol(rowDescription.origin.symbol).map {
          InstrumentRegistry.Series($0, source: rowDescription.origin.source)
        }
        if let series, let error = unknown[series] {
          try session.refuse(rowDescription, error: error, in: &context)
        } else {
          kept.append(row)
        }
      }
      return kept
    }
    commit.quotes = try keep(commit.quotes, rowDescription: \.rowDescription)
    commit.candles = try keep(commit.candles) { .init("candle", of: $0) }
    commit.revisions = try keep(commit.revisions) { .init("revision", of: $0.candle) }
    commit.gaps = try keep(commit.gaps, rowDescription: \.rowDescription)
    commit.closedGaps = try keep(commit.closedGaps, rowDescription: \.rowDescription)
    commit.certificates = try keep(commit.certificates, rowDescription: \.rowDescription)
    commit.bars = try keep(commit.bars, rowDescription: \.rowDescription)
    commit.reference.factors = try keep(
      commit.reference.factors.flatMap(\.byInstrument), rowDescription: \.rowDescription)
    commit.reference.instrumentMarks = try keep(
      commit.reference.instrumentMarks, rowDescription: \.rowDescription)
  }
}

// MARK: - Marks

extension ReferenceTable {
  private static let markInstruments = Statement(
    name: "mark_instruments",
    sql: """
      update instrument i
      set delisted_at = r.delisted_at, missed_lists = r.missed_lists, listed_part = r.listed_part
      from unnest($1::int[], $2::date[], $3::smallint[], $4::text[])
        r (id, delisted_at, missed_lists, listed_part)
      where i.id = r.id
        -- An old code is not delisted.
        and (i.chain is null or i.id = i.chain[cardinality(i.chain)])
        and (i.delisted_at, i.missed_lists, i.listed_part)
          is distinct from (r.delisted_at, r.missed_lists, r.listed_part)
      """)

  func mark(_ marks: [InstrumentMarks], in context: inout CommitContext) throws(StoreError) {
    let rows = marks.map { Identified(id: id(of: $0.symbol, source: $0.source), row: $0) }
      .lastOfEach(\.id)
      .sorted { $0.id < $1.id }
    let parameters = WireParameters(
      .array(rows, type: .int4) { $0.int32($1.id) },
      .array(rows, type: .date) { $0.optional($1.row.delistedAt) { $0.date($1) } },
      .array(rows, type: .int2) { $0.int16($1.row.missedLists) },
      .array(rows, type: .text) { $0.optionalText($1.row.listedPart) })
    context.receipt.reference += try run(Self.markInstruments, with: parameters)
      .affectedRows
  }
}
