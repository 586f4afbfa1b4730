/// A name as it came, and the charset its body is written in.
///
/// Names are the only text in a quote answer that is not ASCII and they change once in months, so
/// they travel undecoded: who keeps them compares bytes first and decodes only what differs. The
/// bytes belong to the response body and must not outlive the call that hands them out.

package struct RawName {
  package let bytes: UnsafeRawBufferPointer
  package let charset: NameCharset

  package init(bytes: UnsafeRawBufferPointer, charset: NameCharset) {
    self.bytes = bytes
    self.charset = charset
  }
}

/// What the bytes above 0x7F mean. Sina answers GBK/GB18030; one report of 2026-09 measured UTF-8
/// (docs/sources/sina.md#requests), and its WebSocket frames are UTF-8.
package enum NameCharset: Sendable, Hashable {
  case gb18030
  case utf8

  /// The charset of a whole body: UTF-8 if every byte sequence is valid UTF-8 and at least one of
  /// them is three bytes long, as every Chinese character is; GB18030 otherwise.
  ///
  /// One name alone cannot decide: nearly all UTF-8 is valid GB18030 too, and one GBK name in some
  /// hundreds happens to be valid UTF-8, in two-byte sequences. In a GBK body the first name or
  /// two settle it, so this costs nothing on the usual path.
  package static func detected(in body: UnsafeRawBufferPointer) -> NameCharset {
    guard let base = body.baseAddress else { return .gb18030 }
    var index = 0
    var sawThreeBytes = false
    while index < body.count {
      if index + 8 <= body.count, Swar.load(base + index) & Swar.tops == 0 {
        index += 8
        continue
      }
      let length = utf8Length(body, at: index)
      if length == 0 { return .gb18030 }
      if length == 3, !body.starts(with: byteOrderMark, at: index) { sawThreeBytes = true }
      index += length
    }
    return sawThreeBytes ? .utf8 : .gb18030
  }

  /// U+FEFF, which some tools put in front of UTF-8.
  static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// Whether the whole of `bytes` is well-formed UTF-8.
  static func isUTF8(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var index = 0
    while index < bytes.count {
      let length = utf8Length(bytes, at: index)
      if length == 0 { return false }
      index += length
    }
    return true
  }

  /// How many bytes the well-formed UTF-8 sequence at `index` has; 0 if there is none
  /// (Unicode 16, table 3-7).
  private static func utf8Length(_ bytes: UnsafeRawBufferPointer, at index: Int) -> Int {
    let lead = bytes[index]
    if lead < 0x80 { return 1 }
    let length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2
    guard (0xC2...0xF4).contains(lead), index + length <= bytes.count else { return 0 }
    let second: ClosedRange<UInt8> =
      switch lead {
      case 0xE0: 0xA0...0xBF
      case 0xED: 0x80...0x9F
      case 0xF0: 0x90...0xBF
      case 0xF4: 0x80...0x8F
      default: 0x80...0xBF
      }
    guard second.contains(bytes[index + 1]) else { return 0 }
    for offset in 2..<max(length, 2) where !(0x80...0xBF).contains(bytes[index + offset]) {
      return 0
    }
    return length
  }
}
