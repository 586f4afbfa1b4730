import Logging
import Operations
import Platform

/// The lines an engine logs, as people would read them.
package final class LogLines: Sendable {
  private let level: Logger.Level
  private let all = Locked<[String]>([])

  package init(level: Logger.Level = .info) { self.level = level }

  package var lines: [String] { all.withLock { $0 } }

  package func count(_ words: String) -> Int { lines.count { $0.contains(words) } }

  package var logger: Logger {
    Logger(label: "engine") { label in
      LineLogHandler(
        label: label, control: LogControl(level: level, format: .text), mask: SecretMask(),
        isJournal: false,
        write: { line in
          self.all.withLock { $0.append(String(decoding: line, as: UTF8.self)) }
        })
    }
  }
}
