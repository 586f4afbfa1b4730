/// The one escaper. Whatever candled writes in quotation marks (JSON lines, log values, TOML) may
/// have come from upstream or from a file, so it must neither end its string early nor reach a
/// terminal's controls. The escapes are those JSON and TOML have in common.

extension String {
  /// The text in quotation marks, as RFC 8259 and TOML 1.0 read it back. Beyond what they ask, DEL
  /// and the C1 controls are escaped as well: they steer terminals too.
  public var quoted: String {
    var quoted = "\""
    for scalar in unicodeScalars {
      switch scalar {
      case "\"": quoted += #"\""#
      case "\\": quoted += #"\\"#
      case "\n": quoted += #"\n"#
      case "\r": quoted += #"\r"#
      case "\t": quoted += #"\t"#
      case _ where scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value):
        let digits = String(scalar.value, radix: 16)
        quoted += #"\u"# + String(repeating: "0", count: 4 - digits.utf8.count) + digits
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }
}

extension [String] {
  /// The texts as a list of TOML and of JSON, each in quotation marks.
  package var quotedList: String { "[" + map(\.quoted).joined(separator: ", ") + "]" }
}
