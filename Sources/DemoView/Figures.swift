/// Numbers for people. Exact values stay exact: they are grouped, never abbreviated; only
/// measured times are rounded.

import Market

enum Figures {
  /// `12345678` as `12,345,678`.
  static func grouped(_ whole: Int) -> String { grouped(digits: String(whole)) }

  /// `12345.60` as `12,345.60`.
  static func grouped(_ value: ExactDecimal) -> String {
    let parts = value.description.split(separator: ".")
    let whole = grouped(digits: String(parts[0]))
    return parts.count == 1 ? whole : "\(whole).\(parts[1])"
  }

  /// `12340` as `12.3 ms`.
  static func milliseconds(ofMicroseconds microseconds: Int64) -> String {
    "\(ExactDecimal(units: microseconds, scale: 3).rounded(places: 1)) ms"
  }

  /// `20` as `20.0/min`.
  static func rate(_ perMinute: ExactDecimal) -> String {
    let shown = (try? perMinute.rescaled(places: 1)) ?? perMinute
    return "\(shown)/min"
  }

  private static func grouped(digits: String) -> String {
    let isNegative = digits.hasPrefix("-")
    let magnitude = isNegative ? digits.dropFirst() : Substring(digits)
    var text = isNegative ? "-" : ""
    for (index, digit) in magnitude.enumerated() {
      if index > 0, (magnitude.count - index) % 3 == 0 { text += "," }
      text.append(digit)
    }
    return text
  }
}
