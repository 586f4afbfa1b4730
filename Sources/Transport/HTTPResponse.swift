// What came back, whatever its status: a 403 or a ban page is an answer for the feed to classify,
// not an error of the transport.

/// A whole answer.
package struct HTTPResponse: Sendable {
  package let status: Int
  package let headers: HTTPHeaders
  /// After inflation.
  package let body: [UInt8]
  /// When the certificate of the authority ends that the host was verified with, in seconds since
  /// 1970; nil without TLS, and where an earlier session was resumed.
  let authorityEnd: Int64?

  /// When its server says it answered, as the header gives it; nil also if it comes out of a cache
  /// (RFC 9111, section 5.1), which keeps the date with the answer.
  package var date: String? { headers["age"] == nil ? headers["date"] : nil }
}

/// The headers anything downstream asks for; the others are not kept.
package struct HTTPHeaders: Sendable, Hashable {
  private var values: [String: String] = [:]

  static let kept: Set<String> = ["content-type", "retry-after", "date", "age"]
  /// Longer values are dropped: none of them has a use for more.
  static let valueBytesMax = 512

  /// nil if the server did not send it or it is none of `content-type`, `retry-after`, `date` and
  /// `age`. Case does not matter.
  package subscript(name: String) -> String? { values[name.lowercased()] }

  /// Keeps the line if it is one of ours; the last of several wins.
  mutating func keep(line: UnsafeRawBufferPointer) {
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
      line.count - colon <= HTTPHeaders.valueBytesMax
    else { return }
    let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
    guard HTTPHeaders.kept.contains(name) else { return }
    let blanks: Set<UInt8> = [0x20, 0x09, 0x0D, 0x0A]
    let value = line[(colon + 1)...].drop { blanks.contains($0) }
    let end = value.lastIndex { !blanks.contains($0) }.map { $0 + 1 } ?? value.startIndex
    values[name] = String(decoding: value[..<end], as: UTF8.self)
  }
}
