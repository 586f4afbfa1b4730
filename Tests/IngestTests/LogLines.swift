import Logging
import Operations
import Platform

/// The lines an engine logs, as people would read them.
final class LogLines: Sendable {
  private let all = Locked<[String]>([])

  var lines: [String] { all.withLock { $0 } }

  func count(_ words: String) -> Int { lines.count { $0.contains(words) } }

  var logger: Logger {
    Logger(label: "engine") { label in
      LineLogHandler(
        label: label, control: LogControl(level: .info, format: .text), mask: SecretMask(),
        isJournal: false,
        write: { line in
          self.all.withLock { $0.append(String(decoding: line, as: UTF8.self)) }
        })
    }
  }
}
