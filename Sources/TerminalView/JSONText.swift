/// JSON as text, in the order given. Exact numbers are written as strings: a JSON number passes
/// through binary floating point in most readers, and no digit of a price may be lost.

import Market

package enum JSONText {
  /// One object on one line.
  package static func object(_ members: [(key: String, value: ResultCell)]) -> String {
    "{" + members.map { $0.key.quoted + ":" + value($0.value) }.joined(separator: ",") + "}"
  }

  /// Counts and flags as themselves, decimals and texts as strings.
  package static func value(_ cell: ResultCell) -> String {
    switch cell {
    case .null: "null"
    case .text(let text), .number(let text): text.quoted
    case .integer(let whole): String(whole)
    case .boolean(let truth): truth ? "true" : "false"
    case .list(let texts): "[" + texts.map(\.quoted).joined(separator: ",") + "]"
    }
  }
}
