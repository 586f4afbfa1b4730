import Commits
import Market
import Postgres
import TestSupport
import Testing

@testable import Store

/// A commit whose answer was lost, and a server that crashed: it knows less than it was told.
@Suite struct DoubtTests {
  private let database: StoreDatabase
  private let session: WriterSession

  init() throws {
    database = try StoreDatabase()
    session = try WriterSession(url: database.url)
  }

  private func pending(_ transaction: String, at position: Int64) -> PendingCommit {
    PendingCommit(
      transaction: transaction, backendProcess: 0, position: JournalPosition(position), seq: 1)
  }

  @Test func `a number that was lost in a crash is that of no commit`() throws {
    #expect(try !session.tookEffect(pending("999999999999", at: 7)))
  }

  @Test func `a number that a crash gave to another's commit proves nothing`() throws {
    let other = try #require(try database.value("select pg_current_xact_id()::text"))
    #expect(try !session.tookEffect(pending(other, at: 7)))
  }

  @Test func `a commit that moved the position took effect`() throws {
    let rows = try database.execute(
      """
      update candled.journal_position set position = 7
      returning pg_current_xact_id()::text
      """)
    let transaction = try #require(rows.first?.first ?? nil)
    #expect(try session.tookEffect(pending(transaction, at: 7)))
  }

  @Test func `a commit that was rolled back did not`() throws {
    try session.connection.execute("begin", context: "test")
    var row = try session.connection.execute(
      "select pg_current_xact_id()::text", context: "test"
    ).row(0)
    let transaction = try row.text()
    try session.connection.execute("rollback", context: "test")
    #expect(try !session.tookEffect(pending(transaction, at: 0)))
  }
}
