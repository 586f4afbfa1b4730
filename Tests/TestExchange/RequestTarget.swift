/// The target of a request taken apart: the path, and the query's values without their escapes.
package struct RequestTarget {
  package let path: Substring
  private let values: [String: String]

  package init(_ target: String) {
    let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    path = parts[0]
    var values: [String: String] = [:]
    for pair in (parts.count > 1 ? parts[1] : "").split(separator: "&") {
      let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      values[RequestTarget.unescaped(sides[0])] =
        sides.count > 1 ? RequestTarget.unescaped(sides[1]) : ""
    }
    self.values = values
  }

  package subscript(name: String) -> String? { values[name] }

  /// The cache buster, milliseconds since 1970: `rn` or `_`.
  package var milliseconds: Int64? { (self["rn"] ?? self["_"]).flatMap { Int64($0) } }

  /// `%2C` as a comma, `+` as a space; an escape that is none stays as it is.
  package static func unescaped(_ text: Substring) -> String {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), rest.count >= 2,
        let value = UInt8(Substring(rest.prefix(2)), radix: 16)
      {
        bytes.append(value)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
