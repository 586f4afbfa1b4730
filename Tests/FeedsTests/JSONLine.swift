/// One JSON object on one line, written in the order of the calls.
///
/// Numbers are written as strings: a JSON number passes through binary floating point in most
/// readers, and no digit of a price may be lost on the way to a person or a test.

import Market

struct JSONLine {
  private(set) var text = "{"
  private var needsComma = false

  /// The finished object. Nothing may be added afterwards.
  var finished: String { text + "}" }

  mutating func add(_ key: String, value: String) {
    begin(key)
    text += value.quoted
  }

  mutating func add(_ key: String, value: ExactDecimal) { add(key, value: value.description) }

  mutating func add(_ key: String, value: String?) {
    if let value { add(key, value: value) } else { addNull(key) }
  }

  /// A count, which every reader holds exactly: a number. Its range is far below 2^53.
  mutating func add(_ key: String, count: Int64?) {
    guard let count else { return addNull(key) }
    begin(key)
    text += String(count)
  }

  mutating func add(_ key: String, isTrue value: Bool) {
    begin(key)
    text += value ? "true" : "false"
  }

  mutating func addNull(_ key: String) {
    begin(key)
    text += "null"
  }

  mutating func add(_ key: String, value object: JSONLine) {
    begin(key)
    text += object.finished
  }

  mutating func add(_ key: String, value objects: [JSONLine]) {
    begin(key)
    text += "[" + objects.map(\.finished).joined(separator: ",") + "]"
  }

  private mutating func begin(_ key: String) {
    if needsComma { text += "," }
    needsComma = true
    text += key.quoted + ":"
  }
}
