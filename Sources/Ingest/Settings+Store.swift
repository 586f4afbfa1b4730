/// Where the database is, for every command and the daemon alike: the URL, with the password of the
/// file that is named beside it.

import Operations
import Postgres

extension Settings {
  /// How to reach the configured database, its password included: never to be printed; nil where
  /// it is the private cluster.
  /// - Throws: the file of the password cannot be read.
  package func storeConnection() throws(ConfigurationError) -> String? {
    guard let url = self.storeURL?.reveal() else { return nil }
    guard let file = self.storePasswordFile else { return url }
    do throws(ConfigurationError) {
      let password = try CredentialFile.password(file)
      return StoreAddress.joining(url, password: password.reveal())
    } catch {
      throw error.about("store.password_file")
    }
  }
}
