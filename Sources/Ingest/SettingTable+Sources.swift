/// The settings of candled, the sources' own included.

import Feeds
import Operations

extension SettingTable {
  /// All settings of candled: those of every module, and those that the sources declare.
  package static let candled = SettingTable(sources: SourceRegistry.all.map(\.settings))
}
