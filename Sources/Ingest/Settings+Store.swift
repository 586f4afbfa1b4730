/// Where the database is, for every command and the daemon alike: the URL, with the password of the
/// file that is named beside it.

import Operations
import Postgres

extension Settings {
  /// How to reach the configured database, its password included: never to be printed; nil where
  /// it is the private cluster.
  /// - Throws: the file of the password cannot be read.
  package func storeConnection() throws(ConfigurationError) -> String? {
    guard let location = try storeLocation() else { return nil }
    let url = location.url.reveal()
    return location.password.map { StoreAddress.joining(url, password: $0.reveal()) } ?? url
  }
}
