/// The units of durations and sizes, as people write them in a configuration. Always with a unit: a
/// bare number has been read as the wrong one too often.

package struct SettingUnits: Sendable {
  /// Of milliseconds.
  package static let duration = SettingUnits(
    [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)], zero: "0s")
  package static let bytes = SettingUnits(
    [("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1)], zero: "0B")

  /// The largest first; the last counts one.
  private let units: [(name: String, scale: Int64)]
  private let zero: String

  private init(_ units: [(name: String, scale: Int64)], zero: String) {
    self.units = units
    self.zero = zero
  }

  /// The smallest first: `ms, s, m, h, d`.
  var names: String { units.reversed().map { $0.name }.joined(separator: ", ") }

  /// The number that `64MiB` stands for; nil of anything but a whole number with a unit.
  package func parse(_ text: String) -> Int64? {
    let digits = text.utf8.prefix { (48...57).contains($0) }
    let name = String(decoding: text.utf8.dropFirst(digits.count), as: UTF8.self)
    guard let number = Int64(String(decoding: digits, as: UTF8.self)),
      let scale = units.first(where: { $0.name == name })?.scale
    else { return nil }
    let (total, isTooBig) = number.multipliedReportingOverflow(by: scale)
    return isTooBig ? nil : total
  }

  /// In the largest unit that needs no fraction.
  package func text(_ number: Int64) -> String {
    guard number != 0, let unit = units.first(where: { number % $0.scale == 0 }) else {
      return zero
    }
    return "\(number / unit.scale)\(unit.name)"
  }
}

extension Duration {
  /// Whole milliseconds, rounded down.
  package var wholeMilliseconds: Int64 {
    components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
  }
}
