import Market

/// Leave to write what comes from a journal: one daemon has it at a time, and each time it changes
/// hands the term counts up. Every transaction of the holder holds the term while it commits
/// (`WriterSession+Change.swift`), so nothing of an earlier term is ever stored behind a later one,
/// however long its daemon slept.
package struct Lease: Sendable, Hashable {
  package let term: Int64
  /// The identity of the holder's journal.
  package let holder: String
  /// Its length: how long the others wait for a holder that says nothing.
  package let milliseconds: Int64
}

/// The lease as it stands.
package struct LeaseRow: Sendable, Hashable {
  /// 0: nobody ever led.
  package var term: Int64
  package var holder: String
  package var host: String
  /// By the server's clock; not above 0 once anybody may take it.
  package var microsecondsLeft: Int64

  package var isExpired: Bool { microsecondsLeft <= 0 }
}

/// What came of asking for the lease.
package enum LeaseAttempt: Sendable, Hashable {
  /// - Parameter before: the row that was found: whose term ended, and whether it had run out.
  case taken(Lease, before: LeaseRow)
  case held(LeaseRow)
}

extension PostgresRow {
  /// The columns of `LeaseConnection.columns`.
  mutating func lease() throws(StoreError) -> LeaseRow {
    LeaseRow(
      term: try int64(), holder: try text(), host: try text(), microsecondsLeft: try int64())
  }
}
