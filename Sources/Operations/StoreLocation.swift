import Market

/// Where a database is: its URL, and the password of the file that is named beside it. Joining the
/// two is libpq's business.
package struct StoreLocation: Sendable {
  package let url: Secret
  /// nil where it is in the URL, or where libpq finds it by itself.
  package let password: Secret?

  fileprivate init(url: Secret, file: String?, of key: String) throws(ConfigurationError) {
    self.url = url
    do throws(ConfigurationError) {
      password = try file.map { (file) throws(ConfigurationError) in
        try CredentialFile.password(file)
      }
    } catch {
      throw error.about(key)
    }
  }
}

extension Settings {
  /// The daemon's database; nil where it is the private cluster.
  /// - Throws: the file of the password cannot be read.
  package func storeLocation() throws(ConfigurationError) -> StoreLocation? {
    guard let url = self[StoreSettings.url] else { return nil }
    let setting = StoreSettings.passwordFile
    return try StoreLocation(url: url, file: self[setting], of: setting.key)
  }

  /// The gateway's database: its own, or the daemon's; nil where that is the private cluster.
  /// - Throws: the file of the password cannot be read.
  package func gatewayStoreLocation() throws(ConfigurationError) -> StoreLocation? {
    guard let url = self[GatewaySettings.storeURL] else { return try storeLocation() }
    let setting = GatewaySettings.storePasswordFile
    return try StoreLocation(url: url, file: self[setting], of: setting.key)
  }
}
