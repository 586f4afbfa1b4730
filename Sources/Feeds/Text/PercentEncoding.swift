/// Text as a part of a path or query: a page token ends in `=` and may hold `+` and `/`, a licence
/// is whatever its owner typed.

extension String {
  /// Everything but RFC 3986's unreserved characters as `%XX` of its UTF-8 bytes.
  var percentEncoded: String {
    var encoded = ""
    for byte in utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
        UInt8(ascii: "_"), UInt8(ascii: "~"):
        encoded.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        encoded += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
      }
    }
    return encoded
  }

  /// Undoes `percentEncoded`; nil where a `%` is not followed by two digits or the bytes are not
  /// UTF-8.
  init?(percentEncoded text: some StringProtocol) {
    var bytes: [UInt8] = []
    var rest = Substring(text)[...]
    while let first = rest.utf8.first {
      if first == UInt8(ascii: "%") {
        guard rest.utf8.count >= 3, let byte = UInt8(rest.dropFirst().prefix(2), radix: 16)
        else { return nil }
        bytes.append(byte)
        rest = rest.dropFirst(3)
      } else {
        bytes.append(first)
        rest = Substring(rest.utf8.dropFirst())
      }
    }
    self.init(validating: bytes, as: UTF8.self)
  }
}
