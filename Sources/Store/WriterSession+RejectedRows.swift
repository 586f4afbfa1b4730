import Market
import Postgres

/// A commit with a row the database refuses: everything else is stored all the same.
///
/// The rows go in kind by kind, in the order every commit writes them, each kind as a whole first.
/// A group that is refused is taken back to its savepoint and tried again by halves, down to the
/// rows that are at fault: for one bad row among n that is 2 log n groups and about three times the
/// work of the commit; each further one adds at most as much. What was accepted stays, so every
/// row is judged beside all that are already in, and all of it is one transaction with one seq.
///
/// Nothing good is ever given up for it: where too much is refused it is not the data that is
/// wrong, and the whole commit waits.
extension WriterSession {
  /// More refused rows than that in one commit is a database that does not fit, not bad data.
  static let refusedRowsMax = 1_000

  /// - Parameter commit: afterwards without the rows of series that could not be registered.
  func isolateRejectedRows(_ commit: inout SortedCommit, _ commitContext: inout CommitContext)
    throws(StoreError)
  {
    try isolateInstruments(&commit, &commitContext)
    try findRepairedDays(commit.base, areMinutesNew: false, &commitContext)
    try isolateQuotes(commit, &commitContext)
    try isolateCandles(commit.base, &commitContext)
    let bars = try divided(commit.base.bars)
    try isolateBars(bars, commit.base, &commitContext)
    try isolateLedger(commit.base, &commitContext)
    try isolateRepairs(bars, &commitContext)
    try markPermanentGaps(commit.base)
    try isolateReference(commit.base, &commitContext)
  }

  /// Writes what can be written of `rows`, and notes the others.
  func isolateRejectedRows<Row>(
    _ rows: [Row], _ commitContext: inout CommitContext, _ sketch: (Row) -> RefusedRow.Sketch,
    _ write: ([Row], inout CommitContext) throws(StoreError) -> Void
  ) throws(StoreError) {
    var waiting = [rows[...]]
    while let group = waiting.popLast() {
      guard let first = group.first else { continue }
      guard
        let error = try refusal(
          { (commitContext) throws(StoreError) in
            try write(Array(group), &commitContext)
          }, &commitContext)
      else { continue }
      if group.count == 1 {
        try refuse(sketch(first), error, &commitContext)
      } else {
        let middle = group.startIndex + group.count / 2
        waiting += [group[middle...], group[..<middle]]
      }
    }
  }

  /// - Returns: why `write` was refused and taken back; nil if it was not.
  private func refusal(
    _ write: (inout CommitContext) throws(StoreError) -> Void, _ commitContext: inout CommitContext
  ) throws(StoreError) -> StoreError? {
    let before = commitContext
    try connection.execute("savepoint sift", context: Context.commit)
    do throws(StoreError) {
      try write(&commitContext)
      try connection.execute("release savepoint sift", context: Context.commit)
      return nil
    } catch {
      // A clash of ids with another writer's is for the commit as a whole to settle.
      let isClash = error.sqlState == "23505" && error.context == Context.instruments
      guard error.code == .rowRefused, !isClash else { throw error }
      try connection.execute(
        "rollback to savepoint sift; release savepoint sift", context: Context.commit)
      commitContext = before
      commitContext.receipt.rejectedGroups += 1
      return error
    }
  }

  private func refuse(
    _ sketch: RefusedRow.Sketch, _ error: StoreError, _ commitContext: inout CommitContext
  ) throws(StoreError) {
    commitContext.refused.append(RefusedRow(sketch, error))
    if commitContext.refused.count > Self.refusedRowsMax {
      throw StoreError(
        .refused,
        "more than \(Self.refusedRowsMax) rows of one commit are refused, the last because "
          + error.message,
        sqlState: error.sqlState, context: Context.commit)
    }
  }
}

// MARK: - Instruments

extension WriterSession {
  /// An instrument whose description is refused is registered by its symbol alone; one that is
  /// refused even so takes its rows with it.
  private func isolateInstruments(
    _ commit: inout SortedCommit, _ commitContext: inout CommitContext
  ) throws(StoreError) {
    let base = commit.base
    let (added, updated) = registry.differences(in: base)
    let sketch = { (entry: InstrumentRegistry.Entry) in entry.row.sketch(base) }
    try isolateRejectedRows(updated, &commitContext, sketch) {
      (entries, commitContext) throws(StoreError) in
      try self.update(entries, &commitContext)
    }
    var unknown: [InstrumentRegistry.Series: StoreError] = [:]
    var waiting = [added[...]]
    while let group = waiting.popLast() {
      guard let entry = group.first else { continue }
      let error = try refusal(
        { (commitContext) throws(StoreError) in
          try self.add(Array(group), base.knownAt, &commitContext)
        }, &commitContext)
      guard let error else { continue }
      if group.count > 1 {
        let middle = group.startIndex + group.count / 2
        waiting += [group[middle...], group[..<middle]]
        continue
      }
      try refuse(sketch(entry), error, &commitContext)
      var bare = entry
      bare.row = InstrumentRow(symbol: entry.row.symbol, source: entry.row.source)
      let again = try refusal(
        { (commitContext) throws(StoreError) in
          try self.add([bare], base.knownAt, &commitContext)
        }, &commitContext)
      if let again { unknown[entry.row.series] = again }
    }
    if !unknown.isEmpty { try leaveOut(unknown, of: &commit, &commitContext) }
  }

  private func leaveOut(
    _ unknown: [InstrumentRegistry.Series: StoreError], of commit: inout SortedCommit,
    _ commitContext: inout CommitContext
  ) throws(StoreError) {
    let day = commit.base.knownAt.shanghaiDay
    func keep<Row>(_ rows: [Row], _ sketch: (Row) -> RefusedRow.Sketch) throws(StoreError) -> [Row]
    {
      var kept: [Row] = []
      for row in rows {
        let sketch = sketch(row)
        let series = Symbol(sketch.symbol).map {
          InstrumentRegistry.Series($0, sketch.source)
        }
        if let series, let error = unknown[series] {
          try refuse(sketch, error, &commitContext)
        } else {
          kept.append(row)
        }
      }
      return kept
    }
    let quotes = commit.base.quotes
    commit.quotesToWrite = try keep(commit.quotesToWrite) { quotes[$0].sketch }
    commit.base.candles = try keep(commit.base.candles) { $0.sketch("candle") }
    commit.base.revisions = try keep(commit.base.revisions) { $0.candle.sketch("revision") }
    commit.base.gaps = try keep(commit.base.gaps, \.sketch)
    commit.base.certificates = try keep(commit.base.certificates, \.sketch)
    commit.base.bars = try keep(commit.base.bars) { $0.sketch(day) }
    commit.base.factors = try keep(commit.base.factors.flatMap(\.byInstrument)) { $0.sketch(day) }
    commit.base.instrumentMarks = try keep(commit.base.instrumentMarks) { $0.sketch(day) }
  }
}
