// One GET or POST, as a value: what to ask, of whom, and every limit on the answer. There is no
// request without limits: a deadline, a connect deadline and a body cap are part of the value.

/// One GET, or POST of a body. Path, headers and body may hold secrets, so the value does not
/// describe itself.
package struct HTTPRequest: Sendable {
  package var base: BaseAddress
  /// Absolute, with its query, printable ASCII, sent byte for byte.
  package var path: String
  /// Sent in this order. Names and values must be free of control characters.
  package var headers: [(name: String, value: String)]
  /// nil: it is a GET.
  package var body: [UInt8]?
  /// From `send` to the last byte, waiting in the queue included.
  package var deadlineMilliseconds: Int
  package var connectMilliseconds: Int
  /// Bytes after inflation: a compressed answer counts with what it unpacks to.
  package var bodyBytesMax: Int
  /// Whether the answer is more than its status. If not, no body makes it a failure: one that is
  /// too long is cut off, one that is damaged or does not end is left.
  package var needsBody = true
  /// The caller's name for the request, used in errors instead of anything that is sent.
  package var route: String

  package static let deadlineMillisecondsDefault = 10_000
  package static let connectMillisecondsDefault = 3_000
  /// A full Sina batch is 215 KB; a whole market in one body 1.5 MB.
  package static let bodyBytesMaxDefault = 8 << 20

  package init(
    base: BaseAddress, path: String, headers: [(String, String)] = [],
    deadlineMilliseconds: Int = deadlineMillisecondsDefault,
    connectMilliseconds: Int = connectMillisecondsDefault,
    bodyBytesMax: Int = bodyBytesMaxDefault, route: String
  ) {
    self.base = base
    self.path = path
    self.headers = headers.map { (name: $0.0, value: $0.1) }
    self.deadlineMilliseconds = deadlineMilliseconds
    self.connectMilliseconds = connectMilliseconds
    self.bodyBytesMax = bodyBytesMax
    self.route = route
  }

  /// `Name: value` lines, or nil if one could smuggle a second header in or unset one of libcurl's.
  var headerLines: [String]? {
    var lines: [String] = []
    for (name, value) in headers {
      let isToken = !name.isEmpty && name.utf8.allSatisfy(HTTPRequest.isTokenByte)
      let isText = value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
      guard isToken, isText else { return nil }
      // libcurl reads "Name:" as "do not send this header"; "Name;" sends it empty.
      lines.append(value.isEmpty ? "\(name);" : "\(name): \(value)")
    }
    return lines
  }

  /// RFC 9110 §5.6.2, without the rarely used marks.
  private static func isTokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }
}

extension HTTPRequest: CustomStringConvertible, CustomReflectable {
  package var description: String { "HTTPRequest(\(route))" }

  /// No children: `dump` and string interpolation of a containing value reach for the mirror.
  package var customMirror: Mirror { Mirror(self, children: []) }
}
