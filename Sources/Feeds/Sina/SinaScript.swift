/// Finds the JSON in the script Sina wraps around it, without running any.
///
///     /*<script>location.href='//sina.com';</script>*/⏎ =([…]);
///     var sh600000qfq={…}; /* … */
///
/// Comments may stand in front and behind; an assignment may stand between, its name empty or not,
/// to a value or to one in parentheses. What is left must be one value, a closing parenthesis if
/// one was opened, and semicolons: a body that was cut off is never taken for a shorter answer.

struct SinaScript {
  /// The bytes from the value's first one to the end of the body.
  let json: UnsafeRawBufferPointer
  /// What stands before the `=`: `var sh600000qfq`. Empty where nothing does.
  let name: UnsafeRawBufferPointer
  private let isInParentheses: Bool

  init(_ body: UnsafeRawBufferPointer) {
    let mark = NameCharset.byteOrderMark
    let text = SinaScript.skippingComments(
      body.starts(with: mark) ? body.dropping(mark.count) : body)
    let start = text.firstIndex { "([{\"".utf8.contains($0) } ?? text.count
    let head = text.slice(0, to: start).trimmed
    guard head.last == UInt8(ascii: "=") else {
      (name, json, isInParentheses) = (text.slice(0, to: 0), text, false)
      return
    }
    name = head.slice(0, to: head.count - 1).trimmed
    isInParentheses = start < text.count && text[start] == UInt8(ascii: "(")
    json = text.dropping(isInParentheses ? start + 1 : start).trimmed
  }

  /// Checks that only the end of the script follows what `reader`, made of `json`, has read.
  func finish(_ reader: JSONReader) throws(FeedRefusal) {
    var rest = json.dropping(reader.offset).trimmed
    if isInParentheses {
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

  private static let opening = Array("/*".utf8)
  private static let closing = Array("*/".utf8)
}
