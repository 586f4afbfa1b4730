/// The settings in force, one by one, for whoever prints or compares them.

import Market

extension Settings {
  /// One setting as it holds.
  package struct Row: Sendable, Hashable {
    package var key: String
    /// As TOML, secrets masked; nil when unset.
    package var value: String?
    /// The file as it was named, `--set` or `default`.
    package var origin: String
    package var line: Int?
  }

  /// The settings that name a credential of the service.
  package var credentialKeys: [String] {
    rows.filter { $0.value?.hasPrefix("\"\(CredentialFile.prefix)") == true }.map(\.key)
  }

  /// Every setting, in the order of the table.
  package var rows: [Row] {
    table.rows.map { setting in
      let entry = entries[setting.key]
      return Row(
        key: setting.key,
        value: entry.map { setting.text($0.value) } ?? setting.defaultText,
        origin: entry?.origin ?? "default", line: entry?.line)
    }
  }
}
