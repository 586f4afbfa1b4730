import Market
import Postgres
import TestSupport
import TestTraits
import Testing

@testable import AppStore

/// Writers of the apps' tables whose server turned read-only under their session.
@Suite(.ownThread) struct ReadOnlyServerTests {
  private func isLeft(_ error: AppStoreError?) -> Bool {
    guard case .store(let cause) = error else { return false }
    return cause.code == .connectionLost && cause.isReadOnly
  }

  @Test func `a broker leaves it although all it does is read`() throws {
    let connection = try AppDatabase().connection()
    let table = BrokerTable(connection)
    _ = try table.serverTime()
    try connection.execute("set default_transaction_read_only = on", context: "test")
    #expect(isLeft(#expect(throws: AppStoreError.self) { try table.serverTime() }))
  }

  @Test func `a request ends the session, and the next one connects anew`() async throws {
    let database = try AppDatabase()
    let store = AppStore(url: database.store.url)
    try await store.run { (connection) throws(AppStoreError) in
      try connection.execute("set default_transaction_read_only = on", context: "test")
    }
    let write = { @Sendable (connection: AppConnection) throws(AppStoreError) in
      try connection.execute("create table candled_app.never (a int)", context: "test")
    }
    let error = await #expect(throws: AppStoreError.self) { try await store.run(write) }
    #expect(isLeft(error))
    try await store.run(write)
  }
}
