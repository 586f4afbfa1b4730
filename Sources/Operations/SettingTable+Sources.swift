/// The settings of candled, the sources' own included: one table for the daemon and the gateway,
/// which read the same file.

import Feeds

extension SettingTable {
  /// All settings of candled: those of every module, and those that the sources declare.
  package static var candled: SettingTable {
    SourceRegistry.isReplaced ? .ofRegisteredSources : own
  }

  private static let own = ofRegisteredSources

  private static var ofRegisteredSources: SettingTable {
    SettingTable(sources: SourceRegistry.all.map(\.settings))
  }
}
