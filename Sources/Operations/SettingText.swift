/// Durations, sizes and moments as people write them in a configuration. Always with a unit: a
/// bare number has been read as the wrong one too often.

import Market

enum DurationText {
  private static let units: [(name: String, milliseconds: Int64)] = [
    ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1),
  ]

  static func parse(_ text: String) -> Duration? {
    guard let (number, unit) = splitUnit(text),
      let scale = units.first(where: { $0.name == unit })?.milliseconds
    else { return nil }
    let (total, isTooBig) = number.multipliedReportingOverflow(by: scale)
    return isTooBig ? nil : .milliseconds(total)
  }

  /// In the largest unit that needs no fraction.
  static func print(_ duration: Duration) -> String {
    let milliseconds = duration.wholeMilliseconds
    guard milliseconds != 0 else { return "0s" }
    let unit = units.first { milliseconds % $0.milliseconds == 0 } ?? ("ms", 1)
    return "\(milliseconds / unit.milliseconds)\(unit.name)"
  }
}

enum ByteCountText {
  private static let units: [(name: String, bytes: Int64)] = [
    ("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1),
  ]

  static func parse(_ text: String) -> Int64? {
    guard let (number, unit) = splitUnit(text),
      let scale = units.first(where: { $0.name == unit })?.bytes
    else { return nil }
    let (total, isTooBig) = number.multipliedReportingOverflow(by: scale)
    return isTooBig ? nil : total
  }

  static func print(_ bytes: Int64) -> String {
    guard bytes != 0 else { return "0B" }
    let unit = units.first { bytes % $0.bytes == 0 } ?? ("B", 1)
    return "\(bytes / unit.bytes)\(unit.name)"
  }
}

/// `64MiB` → 64, `MiB`.
private func splitUnit(_ text: String) -> (Int64, String)? {
  let digits = text.utf8.prefix { (48...57).contains($0) }
  guard let number = Int64(String(decoding: digits, as: UTF8.self)) else { return nil }
  return (number, String(decoding: text.utf8.dropFirst(digits.count), as: UTF8.self))
}

extension Duration {
  /// Whole milliseconds, rounded down.
  package var wholeMilliseconds: Int64 {
    components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
  }
}

extension Timestamp {
  /// Parses RFC 3339 with an offset, seconds and up to six fraction digits:
  /// `2026-07-06T09:15:00+08:00`, `2026-07-06T01:15:00.250Z`.
  package init?(rfc3339 text: String) {
    let parts = text.split(separator: "T", omittingEmptySubsequences: false)
    guard parts.count == 2, let day = TradingDay(parts[0]),
      let mark = parts[1].lastIndex(where: { "Z+-".contains($0) }),
      let clock = Timestamp.microsecondOfDay(parts[1][..<mark]),
      let offset = Timestamp.offsetSeconds(parts[1][mark...])
    else { return nil }
    let midnight = Int64(day.daysSince1970) * 86_400 - offset
    self.init(microseconds: midnight * 1_000_000 + clock)
  }

  private static func microsecondOfDay(_ text: Substring) -> Int64? {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    let fields = parts[0].split(separator: ":", omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), fields.count == 3,
      let hour = twoDigits(fields[0], below: 24), let minute = twoDigits(fields[1], below: 60),
      let second = twoDigits(fields[2], below: 60)
    else { return nil }
    var micros: Int64 = 0
    if parts.count == 2 {
      guard (1...6).contains(parts[1].utf8.count), parts[1].utf8.allSatisfy(isDigit),
        let value = Int64(parts[1] + String(repeating: "0", count: 6 - parts[1].utf8.count))
      else { return nil }
      micros = value
    }
    return (hour * 3600 + minute * 60 + second) * 1_000_000 + micros
  }

  private static func offsetSeconds(_ text: Substring) -> Int64? {
    if text == "Z" { return 0 }
    let fields = text.dropFirst().split(separator: ":", omittingEmptySubsequences: false)
    guard fields.count == 2, let hours = twoDigits(fields[0], below: 24),
      let minutes = twoDigits(fields[1], below: 60)
    else { return nil }
    return (text.hasPrefix("-") ? -1 : 1) * (hours * 3600 + minutes * 60)
  }

  private static func twoDigits(_ text: Substring, below limit: Int64) -> Int64? {
    guard text.utf8.count == 2, text.utf8.allSatisfy(isDigit), let value = Int64(text) else {
      return nil
    }
    return value < limit ? value : nil
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }
}
