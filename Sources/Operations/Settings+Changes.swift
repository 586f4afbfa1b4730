/// What a reload makes of new settings: those it may change while the daemon runs are taken, the
/// rest stays as it was until a restart.

import Market

extension Settings {
  /// The keys whose values differ, in the order of the table.
  package func changes(to other: Settings) -> [String] {
    table.rows.filter { setting in
      !setting.isSame(entries[setting.key]?.value, other.entries[setting.key]?.value)
    }.map(\.key)
  }

  /// These with the live settings of `other`.
  package func takingLive(from other: Settings) -> Settings {
    var settings = self
    for setting in table.rows where setting.isLive {
      settings.entries[setting.key] = other.entries[setting.key]
    }
    return settings
  }
}
