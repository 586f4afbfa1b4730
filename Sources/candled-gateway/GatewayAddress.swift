import AppStore
import Commands
import EmbeddedPostgres
import Operations
import Postgres

/// Where the gateway's database is.
extension Settings {
  /// A libpq address. It may hold a password: it must never be printed.
  /// - Parameter asOwner: in the private cluster, as the one who may apply the schema.
  /// - Throws: `unavailable` if it is the private cluster and that is not running; a file of the
  ///   password that cannot be read.
  func gatewayAddress(asOwner: Bool = false) throws -> String {
    if let location = try gatewayStoreLocation() {
      let url = location.url.reveal()
      return location.password.map { StoreAddress.joining(url, password: $0.reveal()) } ?? url
    }
    let server = EmbeddedServer(directory: serverPath)
    guard server.isRunning else {
      throw CommandFailure(
        status: .unavailable,
        sentence: "no database: neither gateway.store_url nor store.url is set, and no private "
          + "PostgreSQL is running in \(server.directory) (`candled run` starts it)")
    }
    return asOwner ? server.ownerConnectionString : server.appConnectionString
  }
}

extension ConfigurationOptions {
  /// - Parameter command: that asks.
  func appConnection(of command: String) throws -> AppConnection {
    try AppConnection(
      url: load().gatewayAddress(), application: "candled-gateway \(command)")
  }
}
