/// Finds the JSON in the script Sina wraps around it, without running any.
///
///     /*<script>location.href='//sina.com';</script>*/⏎ name=([…]);
///     var sh600000qfq={…}; /* … */
///
/// Comments may stand in front and behind; a call or an assignment may stand between, its name
/// empty or not. What is left must be one value, a closing bracket if one was opened, and
/// semicolons: a body that was cut off is never taken for a shorter answer.

struct SinaScript {
  /// The bytes from the value's first one to the end of the body.
  let json: UnsafeRawBufferPointer
  /// What stands before the `=` or `(`: `var sh600000qfq`. Empty where nothing does.
  let name: UnsafeRawBufferPointer
  private let isCall: Bool

  init(_ body: UnsafeRawBufferPointer) {
    let mark = NameCharset.byteOrderMark
    let text = SinaScript.skippingComments(
      body.starts(with: mark) ? body.dropping(mark.count) : body)
    var end = 0
    while end < text.count, SinaScript.isName(text[end]) { end += 1 }
    isCall = end < text.count && text[end] == UInt8(ascii: "(")
    let wraps = isCall || text.slice(0, to: end).trimmed.last == UInt8(ascii: "=")
    name =
      wraps ? SinaScript.withoutAssignment(text.slice(0, to: end).trimmed) : text.slice(0, to: 0)
    json = (wraps ? text.dropping(isCall ? end + 1 : end) : text).trimmed
  }

  /// Checks that only the end of the script follows what `reader`, made of `json`, has read.
  func finish(_ reader: JSONReader) throws(FeedRefusal) {
    var rest = json.dropping(reader.offset).trimmed
    if isCall {
      guard rest.first == UInt8(ascii: ")") else {
        throw FeedRefusal(.malformed, "the closing parenthesis is missing")
      }
      rest = rest.dropping(1)
    }
    rest = SinaScript.skippingComments(rest)
    while rest.first == UInt8(ascii: ";") { rest = SinaScript.skippingComments(rest.dropping(1)) }
    guard rest.isEmpty else { throw FeedRefusal(.malformed, "unexpected text after the data") }
  }

  private static func skippingComments(_ text: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    var text = text.trimmed
    while text.starts(with: opening), let end = text.offset(of: closing, from: opening.count) {
      text = text.dropping(end + closing.count).trimmed
    }
    return text
  }

  private static func withoutAssignment(_ name: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    name.last == UInt8(ascii: "=") ? name.slice(0, to: name.count - 1).trimmed : name
  }

  private static func isName(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    case UInt8(ascii: "_"), UInt8(ascii: "$"), UInt8(ascii: "."), UInt8(ascii: "="),
      UInt8(ascii: " "):
      true
    default: false
    }
  }

  private static let opening = Array("/*".utf8)
  private static let closing = Array("*/".utf8)
}
