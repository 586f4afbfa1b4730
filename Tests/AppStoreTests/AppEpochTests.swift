import AppStore
import Postgres
import TestSupport
import TestTraits
import Testing

/// Numbers that are given again after a backup was restored.
@Suite(.ownThread) struct AppEpochTests {
  private let database: AppDatabase

  init() throws { database = try AppDatabase() }

  private func epochs() throws -> [[String?]] {
    try database.store.execute("select epoch, outbox_id from candled_app.epoch order by epoch")
  }

  @Test func `the same database stays in its first epoch`() throws {
    let connection = try database.connection()
    for _ in 0..<3 { try connection.beginEpoch() }
    #expect(try epochs() == [["0", "0"]])
    #expect(try OutboxTable(connection).end(of: 1) == (0, 0))
  }

  @Test func `a restored one begins the next, and once`() throws {
    let connection = try database.connection()
    try connection.beginEpoch()
    try database.store.execute(
      """
      update candled_app.epoch set identity = 'another server';
      update candled_app.outbox_cursor set last_id = 7
      """)
    for _ in 0..<3 { try connection.beginEpoch() }
    let found = try epochs()
    #expect(found.count == 2 && found[1][1] == "7")
    let epoch = try #require(found[1][0].flatMap { Int64($0) })
    #expect(try OutboxTable(connection).end(of: 1) == (0, epoch))
    let known = try AppEpochs(over: connection)
    #expect(known.epoch(of: \.event, number: 7) == 0)
    #expect(known.epoch(of: \.event, number: 8) == epoch)
    #expect(known.epoch(of: \.order, number: 1) == epoch)
  }
}
