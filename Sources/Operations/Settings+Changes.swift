/// What a reload makes of new settings: those it may change while the daemon runs are taken, the
/// rest stays as it was until a restart.

extension Settings {
  /// The keys whose values differ, in the order of the table.
  package func changes(to other: Settings) -> [String] {
    SettingTable.all.filter { setting in
      !setting.isSame(entries[setting.key]?.value, other.entries[setting.key]?.value)
    }.map(\.key)
  }

  /// These with the live settings of `other`.
  package func takingLive(from other: Settings) -> Settings {
    var settings = self
    for setting in SettingTable.all where setting.isLive {
      settings.entries[setting.key] = other.entries[setting.key]
    }
    return settings
  }

  /// The keys a reload changes, in the order of the table.
  package static var liveKeys: [String] { SettingTable.all.filter(\.isLive).map(\.key) }
}
