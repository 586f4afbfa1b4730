/// Durations and sizes as people write them in a configuration. Always with a unit: a bare number
/// has been read as the wrong one too often.

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
