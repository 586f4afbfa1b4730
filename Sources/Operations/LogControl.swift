/// What every logger made with it obeys, as long as it sets no level of its own: a reload changes
/// level and form of the whole log at once.

import Logging
import Synchronization

package final class LogControl: Sendable {
  private let levelIndex: Atomic<Int>
  private let isJSON: Atomic<Bool>

  package init(level: Logger.Level, format: LogFormat) {
    levelIndex = Atomic(Self.index(of: level))
    isJSON = Atomic(format == .json)
  }

  /// As configured.
  package convenience init(_ settings: Settings) {
    self.init(level: settings[LogSettings.level], format: settings[LogSettings.format])
  }

  package var level: Logger.Level { Logger.Level.allCases[levelIndex.load(ordering: .relaxed)] }

  package var format: LogFormat { isJSON.load(ordering: .relaxed) ? .json : .text }

  package func set(level: Logger.Level, format: LogFormat) {
    levelIndex.store(Self.index(of: level), ordering: .relaxed)
    isJSON.store(format == .json, ordering: .relaxed)
  }

  private static func index(of level: Logger.Level) -> Int {
    Logger.Level.allCases.firstIndex(of: level) ?? 0
  }
}
