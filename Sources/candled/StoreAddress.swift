/// Where the database is: `store.url`, or the private cluster in the state directory.

import Commands
import DaemonCommands
import EmbeddedPostgres
import Ingest
import Operations

extension Settings {
  /// A libpq address. It may hold a password: it must never be printed.
  /// - Parameter asOwner: in the private cluster, as the one who may apply the schema.
  /// - Throws: `unavailable` if it is the private cluster and that is not running; a file of the
  ///   password that cannot be read.
  func storeAddress(asOwner: Bool = false) throws -> String {
    if let url = try storeConnection() { return url }
    let server = embeddedServer
    guard server.isRunning else {
      if let sentence = KeptDemo(self[StateSettings.directory]).closedSentence {
        throw CommandFailure(status: .unavailable, sentence: sentence)
      }
      throw CommandFailure(
        status: .unavailable,
        sentence: "no database: store.url is not set, and no private PostgreSQL is running in "
          + "\(server.directory) (`candled run` starts it)")
    }
    return asOwner ? server.ownerConnectionString : server.connectionString
  }
}
