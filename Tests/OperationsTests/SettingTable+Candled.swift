import Feeds

@testable import Operations

extension SettingTable {
  /// As candled has it.
  static let candled = SettingTable(sources: SourceRegistry.all.map(\.settings))
}
