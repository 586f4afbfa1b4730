/// JSON as text, in the order given. Exact numbers are written as strings: a JSON number passes
/// through binary floating point in most readers, and no digit of a price may be lost.

public enum JSONText {
  /// One object on one line.
  public static func object(_ members: [(key: String, value: ResultCell)]) -> String {
    "{" + members.map { quoted($0.key) + ":" + value($0.value) }.joined(separator: ",") + "}"
  }

  /// Counts and flags as themselves, decimals and texts as strings.
  public static func value(_ cell: ResultCell) -> String {
    switch cell {
    case .null: "null"
    case .text(let text), .number(let text): quoted(text)
    case .integer(let whole): String(whole)
    case .boolean(let truth): truth ? "true" : "false"
    case .list(let texts): "[" + texts.map(quoted).joined(separator: ",") + "]"
    }
  }

  /// RFC 8259: quotation mark, reverse solidus and the controls are escaped, all else stands.
  public static func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": quoted += #"\""#
      case "\\": quoted += #"\\"#
      case "\n": quoted += #"\n"#
      case "\r": quoted += #"\r"#
      case "\t": quoted += #"\t"#
      case _ where scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value):
        // Beyond what the RFC asks: DEL and the C1 controls steer terminals too.
        let digits = String(scalar.value, radix: 16)
        quoted += #"\u"# + String(repeating: "0", count: 4 - digits.utf8.count) + digits
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }
}
