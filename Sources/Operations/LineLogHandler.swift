/// The log: one line an event on stderr, written by one write(2), so that lines of threads and
/// processes never mix. `key=value` for people, JSON for machines. Under systemd the journal has
/// its own clock and wants the priority in front. Every part is masked before it is escaped: a
/// secret cannot hide behind a backslash.

import Glibc
import Logging
import Market
import Platform

package enum LogFormat: String, Sendable, CaseIterable {
  case text
  case json
}

package struct LineLogHandler: LogHandler {
  /// A longer message or value is cut, before it is escaped: a cut line of JSON would be none.
  package static let valueScalarsMax = 2048

  /// The control's, unless this logger was given one of its own.
  package var logLevel: Logger.Level {
    get { ownLevel ?? control.level }
    set { ownLevel = newValue }
  }
  package var metadata: Logger.Metadata = [:]
  package var metadataProvider: Logger.MetadataProvider?

  private let label: String
  private let control: LogControl
  private var ownLevel: Logger.Level?
  private let hasPriorityPrefix: Bool
  private let mask: SecretMask
  private let now: @Sendable () -> Timestamp
  private let write: @Sendable ([UInt8]) -> Void

  /// Whether stderr is the stream of systemd's journal that the variable names by its device and
  /// inode: whoever sends it elsewhere passes the variable on all the same (systemd.exec(5)).
  package static func isJournal(named stream: String?) -> Bool {
    var status = stat()
    guard let stream, fstat(STDERR_FILENO, &status) == 0 else { return false }
    return stream == "\(status.st_dev):\(status.st_ino)"
  }

  /// `isJournal` says that systemd's journal reads stderr; by default what the environment says.
  package init(
    label: String, control: LogControl, mask: SecretMask,
    isJournal: Bool = isJournal(named: getenv("JOURNAL_STREAM").map { String(cString: $0) }),
    now: @escaping @Sendable () -> Timestamp = wallClock,
    write: @escaping @Sendable ([UInt8]) -> Void = writeToStandardError
  ) {
    self.label = label
    self.control = control
    self.mask = mask
    hasPriorityPrefix = isJournal
    self.now = now
    self.write = write
  }

  package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  package func log(event: LogEvent) {
    var fields: [(key: String, value: String)] = []
    if !hasPriorityPrefix { fields.append(("time", now().description)) }
    fields.append(("level", event.level.rawValue))
    fields.append(("logger", label))
    fields.append(("message", shown(event.message.description)))
    var extra = metadata
    for (key, value) in metadataProvider?.get() ?? [:] { extra[key] = value }
    for (key, value) in event.metadata ?? [:] { extra[key] = value }
    for (key, value) in extra.sorted(by: { $0.key < $1.key }) {
      fields.append((key, shown(value)))
    }
    if let error = event.error { fields.append(("error", shown("\(error)"))) }
    write(line(of: fields, level: event.level))
  }

  private func line(of fields: [(key: String, value: String)], level: Logger.Level) -> [UInt8] {
    let prefix = hasPriorityPrefix ? "<\(level.priority)>" : ""
    let text =
      switch control.format {
      case .text:
        fields.map { "\(plain($0.key))=\(quotedIfNeeded($0.value))" }
          .joined(separator: " ")
      case .json:
        "{"
          + fields.map { "\($0.key.quoted):\($0.value.quoted)" }
          .joined(separator: ",") + "}"
      }
    return Array((prefix + text + "\n").utf8)
  }

  /// Lists and tables are laid out here: their own descriptions escape, and would hide a secret.
  private func shown(_ value: Logger.Metadata.Value) -> String {
    switch value {
    case .string(let text): shown(text)
    case .stringConvertible(let thing): shown(thing.description)
    case .array(let values): "[" + values.map(shown).joined(separator: ", ") + "]"
    case .dictionary(let values):
      "{"
        + values.sorted { $0.key < $1.key }.map { "\($0.key): \(shown($0.value))" }
        .joined(separator: ", ") + "}"
    }
  }

  private func shown(_ value: String) -> String {
    let masked = mask.masked(value).unicodeScalars
    let cut = masked.prefix(LineLogHandler.valueScalarsMax)
    return cut.endIndex == masked.endIndex ? String(cut) : String(cut) + "…"
  }

  private func plain(_ key: String) -> String {
    String(key.map { $0.isWhitespace || $0 == "=" || $0 == "\"" ? "_" : $0 })
  }

  private func quotedIfNeeded(_ value: String) -> String {
    let isPlain =
      !value.isEmpty
      && value.unicodeScalars.allSatisfy {
        $0.value > 0x20 && $0 != "=" && $0 != "\"" && $0 != "\\"
      }
    return isPlain ? value : value.quoted
  }
}

extension Logger.Level {
  /// syslog(3)'s number.
  var priority: Int {
    switch self {
    case .trace, .debug: 7
    case .info: 6
    case .notice: 5
    case .warning: 4
    case .error: 3
    case .critical: 2
    }
  }
}

/// The system's clock, for the log only: data is stamped by the injected clock.
@Sendable package func wallClock() -> Timestamp {
  Timestamp(microseconds: SystemClock.realMicroseconds())
}

/// A log that cannot be written is lost: there is nowhere to say so.
@Sendable package func writeToStandardError(_ line: [UInt8]) {
  while Glibc.write(STDERR_FILENO, line, line.count) < 0, errno == EINTR {}
}
