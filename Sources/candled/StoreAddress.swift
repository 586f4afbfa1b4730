/// Where the database is: `store.url`, or the private cluster in the state directory.

import Ingest
import Operations
import Store

extension Settings {
  /// A libpq address. It may hold a password: it must never be printed.
  /// - Throws: `unavailable` if it is the private cluster and that is not running.
  func storeAddress() throws(CommandFailure) -> String {
    if let url = self.storeURL { return url.reveal() }
    let server = embeddedServer
    guard server.isRunning else {
      throw CommandFailure(
        status: .unavailable,
        sentence: "no database: store.url is not set, and no private PostgreSQL is running in "
          + "\(server.directory) (`candled run` starts it)")
    }
    return server.connectionString
  }
}
