/// A form that texts have: the same expression validates requests and stands in the OpenAPI
/// document, so that whatever the document allows is accepted.

package struct TextPattern: Sendable {
  /// In what JSON Schema and Swift have in common; anchored at both ends.
  package let expression: String
  /// For people.
  package let expectation: String
  // Safe: `matches` alone uses it, from its first call in `init` on; that one has compiled it, and
  // no later one changes anything of it.
  private nonisolated(unsafe) let regex: Regex<AnyRegexOutput>

  package init(_ expression: String, expectation: String) {
    guard let regex = try? Regex(expression) else {
      preconditionFailure("no expression: \(expression)")
    }
    self.expression = expression
    self.expectation = expectation
    self.regex = regex.matchingSemantics(.unicodeScalar)
    _ = matches("")
  }

  func matches(_ text: String) -> Bool { text.wholeMatch(of: regex) != nil }

  /// Neither empty nor with NUL, which PostgreSQL's texts cannot hold.
  static let anyText = #"^[^\u0000]+$"#

  static let cursor = TextPattern(
    "^[A-Za-z0-9_-]{4,64}$", expectation: "nextCursor of a page of the same request")

  static let source = TextPattern(
    "^[a-z][a-z0-9_]{0,31}$", expectation: "the name of a source")

  /// A price that can be stored, above 0.
  static let price = TextPattern(
    "^([1-9][0-9]{0,11}([.][0-9]{1,6})?|0[.]0{0,5}[1-9][0-9]{0,5})$",
    expectation: "a decimal number above 0 in a string such as \"1769.040\"")

  /// A change in per cent that can be stored.
  static let percent = TextPattern(
    "^-?(0|[1-9][0-9]{0,3})([.][0-9]{1,6})?$",
    expectation: "a decimal number in a string such as \"-3.5\"")

  /// Each name of a day that there is, leap years included.
  private static let day =
    "(?!0000)([0-9]{4}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])"
    + "|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))"
    + "|([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)-02-29)"

  static let adjustment = TextPattern(
    "^(raw|hfq|split|total|qfq(:\(day))?)$",
    expectation: "raw, qfq, total, hfq, split, or qfq: and a date")

  /// Texts with commas between them, and perhaps blanks.
  static func list(countMax: Int, charactersMax: Int) -> String {
    let item = #" *[^, \u0000][^,\u0000]{0,\#(charactersMax - 1)}"#
    return "^\(item)(,\(item)){0,\(countMax - 1)}$"
  }

  /// The same of these.
  static func choices(_ names: [String]) -> String {
    let item = " *(\(names.joined(separator: "|"))) *"
    return "^\(item)(,\(item)){0,\(names.count - 1)}$"
  }
}
