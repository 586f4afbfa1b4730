import Commits
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

  /// Writes rows of one kind: all at once or, where some row of the commit is refused, all but
  /// those.
  func write<Row>(
    _ rows: [Row], in context: inout CommitContext,
    rowDescription: (Row) -> RefusedRow.RowDescription,
    by write: ([Row], inout CommitContext) throws(StoreError) -> Void
  ) throws(StoreError) {
    if rows.isEmpty { return }
    if context.strategy.isolatesRows {
      let refused = try isolateRejectedRows(rows, in: &context, by: write)
      for (row, error) in refused { try refuse(rowDescription(row), error: error, in: &context) }
    } else {
      try write(rows, &context)
    }
  }

  /// Writes what can be written of `rows`.
  /// - Returns: the others.
  func isolateRejectedRows<Row>(
    _ rows: [Row], in context: inout CommitContext,
    by write: ([Row], inout CommitContext) throws(StoreError) -> Void
  ) throws(StoreError) -> [(row: Row, error: StoreError)] {
    var refused: [(row: Row, error: StoreError)] = []
    var waiting = [rows[...]]
    while let group = waiting.popLast() {
      guard let first = group.first, let error = try refusal(of: group, in: &context, by: write)
      else { continue }
      if group.count == 1 {
        refused.append((first, error))
        if context.refused.count + refused.count > Self.refusedRowsMax { throw Self.tooMany(error) }
      } else {
        let middle = group.startIndex + group.count / 2
        waiting += [group[middle...], group[..<middle]]
      }
    }
    return refused
  }

  /// - Returns: why the group was refused and taken back; nil if it was not.
  private func refusal<Row>(
    of group: ArraySlice<Row>, in context: inout CommitContext,
    by write: ([Row], inout CommitContext) throws(StoreError) -> Void
  ) throws(StoreError) -> StoreError? {
    let before = context
    try connection.execute("savepoint refused_row", context: CommitStep.commit)
    do throws(StoreError) {
      try write(Array(group), &context)
      try connection.execute("release savepoint refused_row", context: CommitStep.commit)
      return nil
    } catch {
      // A clash of ids with another writer's is for the commit as a whole to settle.
      let isClash = error.sqlState == "23505" && error.context == CommitStep.instruments
      guard error.code == .rowRefused, !isClash else { throw error }
      try connection.execute(
        "rollback to savepoint refused_row; release savepoint refused_row",
        context: CommitStep.commit)
      context = before
      context.receipt.refusals.groups += 1
      return error
    }
  }

  func refuse(
    _ rowDescription: RefusedRow.RowDescription, error: StoreError, in context: inout CommitContext
  ) throws(StoreError) {
    context.refused.append(
      RefusedRow(rowDescription, day: context.knownAt.shanghaiDay, error: error))
    if context.refused.count > Self.refusedRowsMax { throw Self.tooMany(error) }
  }

  private static func tooMany(_ error: StoreError) -> StoreError {
    StoreError(
      .refused,
      message: "more than \(refusedRowsMax) rows of one commit are refused, the last because "
        + error.message,
      sqlState: error.sqlState, context: CommitStep.commit)
  }
}
