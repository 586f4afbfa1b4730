/// Text as a part of a path, a query or a word: a page token ends in `=` and may hold `+` and `/`,
/// a licence is whatever its owner typed.

extension String {
  /// Everything but RFC 3986's unreserved characters as `%XX` of its UTF-8 bytes.
  package var percentEncoded: String { percentEncoded(uppercase: true) }

  package func percentEncoded(uppercase: Bool) -> String {
    var encoded = ""
    for byte in utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
        UInt8(ascii: "_"), UInt8(ascii: "~"):
        encoded.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        encoded += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: uppercase)
      }
    }
    return encoded
  }

  /// Undoes `percentEncoded`; nil where a `%` is not followed by two digits or the bytes are not
  /// UTF-8.
  package init?(percentEncoded text: some StringProtocol) {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%") {
        let digits = String(decoding: rest.prefix(2), as: UTF8.self)
        guard rest.count >= 2, let value = UInt8(digits, radix: 16) else { return nil }
        bytes.append(value)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    self.init(validating: bytes, as: UTF8.self)
  }
}
