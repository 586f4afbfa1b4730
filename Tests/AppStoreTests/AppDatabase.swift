import AppStore
import Market
import Postgres
import TestSupport

/// A database with both schemas, fresh for each test.
struct AppDatabase: Sendable {
  let store: StoreDatabase

  init() throws { store = try StoreDatabase.withApps() }

  /// As the gateway's role.
  var url: String { store.url(role: DatabaseRole.app) }

  func connection() throws -> AppConnection {
    try AppConnection(url: url, application: "test")
  }

  /// - Returns: its number.
  func user(_ name: String = "alice") throws -> Int64 {
    let id = try store.value(
      "insert into candled_app.app_user (name) values ('\(name)') returning id")
    return Int64(id ?? "") ?? 0
  }
}
