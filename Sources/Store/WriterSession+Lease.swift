import Commits
import Market
import Postgres

/// Where a term begins: the position becomes one of the new leader's journal, and the term's row
/// shows where the earlier one ended. Journals number their own entries, so a position without its
/// journal says nothing; numbers only grow, so that "committed" stays one number a journal.
extension WriterSession {
  private static let takeUp = Statement(
    name: "take_up",
    sql: """
      with held as (
        select term
        from lease
        where term = $1::bigint
        for key share
      ),
      begun as (
        update lease_term t
        set from_journal = j.journal, from_position = j.position, position = $3::bigint
        from journal_position j
        cross join held
        where t.term = held.term
        returning 1
      ),
      moved as (
        update journal_position
        set position = $3::bigint, journal = $2::text, updated_at = clock_timestamp()
        from held
        where position = $4::bigint
        returning 1
      )
      select count(*)
      from begun
      cross join moved
      """)

  /// - Precondition: this session has a lease.
  /// - Throws: `leaseLost`, `positionConflict`, `connectionLost`.
  func takeUp(at place: JournalPosition) throws(StoreError) {
    guard let lease else { preconditionFailure("only a leader takes up a journal") }
    precondition(place >= position, "numbers only grow")
    let parameters = WireParameters(
      .int64(lease.term), .text(lease.holder), .int64(place.sequence), .int64(position.sequence))
    var row = try connection.run(Self.takeUp, with: parameters, context: "take up").row(0)
    if try row.int64() == 1 {
      position = place
      return
    }
    let found = try load()
    throw StoreError(
      .positionConflict,
      message: "the database stands at journal position \(found.position.sequence), not "
        + "\(position.sequence): another writer uses this database",
      context: "take up")
  }
}
