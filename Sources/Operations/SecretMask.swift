/// Knows the secrets of this process by value and takes them out of any text about to leave it:
/// as they are, percent-encoded, and inside Base64 (an Authorization header holds
/// `user:password`, so the secret may begin at any of three places in a group). The last line of
/// defence: the first is `Secret`.

import Glibc
import Platform

public final class SecretMask: Sendable {
  /// Shorter secrets are not looked for: they would black out ordinary words.
  public static let secretBytesMin = 4
  public static let replacement = "***"

  private let patterns = Guarded<[[UInt8]]>([])

  public init() {}

  public func register(_ secret: Secret) {
    let bytes = Array(secret.reveal().utf8)
    guard bytes.count >= SecretMask.secretBytesMin else { return }
    let forms = SecretMask.forms(of: bytes)
    patterns.withLock {
      // The longest first, so that no tail of a long form outlives a short one.
      $0 = Array(Set($0 + forms)).sorted { $0.count > $1.count }
    }
  }

  /// Registers a connection URL whole, and its password on its own.
  public func register(url: Secret) {
    register(url)
    for password in ConnectionURL(url.reveal())?.passwords ?? [] { register(Secret(password)) }
  }

  /// `text` with every known secret replaced.
  public func masked(_ text: String) -> String {
    let patterns = patterns.withLock { $0 }
    guard !patterns.isEmpty else { return text }
    let bytes = Array(text.utf8)
    var output: [UInt8] = []
    var position = 0
    while position < bytes.count {
      let rest = bytes[position...]
      if let hit = patterns.first(where: { rest.starts(with: $0) }) {
        output += SecretMask.replacement.utf8
        position += hit.count
      } else {
        output.append(bytes[position])
        position += 1
      }
    }
    return String(decoding: output, as: UTF8.self)
  }

  /// Shorter ones may stand in data by chance, and data must not change.
  private static let blankedBytesMin = 8

  /// Overwrites every known secret of eight bytes or more in a body, byte for byte.
  public func blank(_ body: inout [UInt8]) {
    for pattern in patterns.withLock({ $0 }) where pattern.count >= SecretMask.blankedBytesMin {
      var start = 0
      while let place = body.firstPlace(of: pattern, from: start) {
        for index in place..<place + pattern.count { body[index] = UInt8(ascii: "*") }
        start = place + pattern.count
      }
    }
  }

  private static func forms(of bytes: [UInt8]) -> [[UInt8]] {
    var forms = [bytes]
    forms.append(percentEncoded(bytes, digits: "0123456789ABCDEF"))
    forms.append(percentEncoded(bytes, digits: "0123456789abcdef"))
    for before in 0..<3 {
      forms.append(base64(bytes, before: before, tail: "+/"))
      forms.append(base64(bytes, before: before, tail: "-_"))
    }
    return forms.filter { $0.count >= secretBytesMin }
  }

  private static func percentEncoded(_ bytes: [UInt8], digits: String) -> [UInt8] {
    let digits = Array(digits.utf8)
    return bytes.flatMap { byte -> [UInt8] in
      let isPlain =
        Character(UnicodeScalar(byte)).isASCIILetterOrDigit || "-._~".utf8.contains(byte)
      return isPlain
        ? [byte] : [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }
  }

  /// The characters that depend on `bytes` alone when `before` bytes stand ahead of them.
  private static func base64(_ bytes: [UInt8], before: Int, tail: String) -> [UInt8] {
    let alphabet = Array(
      ("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" + tail).utf8)
    let bits = [UInt8](repeating: 0, count: before) + bytes
    let firstWhole = (before * 8 + 5) / 6
    let endWhole = bits.count * 8 / 6
    guard firstWhole < endWhole else { return [] }
    return (firstWhole..<endWhole).map { index in
      let bit = index * 6
      let high = UInt16(bits[bit / 8]) << 8
      let low = bit / 8 + 1 < bits.count ? UInt16(bits[bit / 8 + 1]) : 0
      return alphabet[Int((high | low) >> UInt16(10 - bit % 8)) & 63]
    }
  }
}

extension [UInt8] {
  fileprivate func firstPlace(of pattern: [UInt8], from start: Int) -> Int? {
    withUnsafeBytes { bytes in
      var place = start
      while place + pattern.count <= bytes.count, let base = bytes.baseAddress {
        let span = bytes.count - pattern.count + 1 - place
        guard let found = memchr(base + place, Int32(pattern[0]), span) else { return nil }
        place = UnsafeRawPointer(found) - base
        if memcmp(found, pattern, pattern.count) == 0 { return place }
        place += 1
      }
      return nil
    }
  }
}

extension Character {
  fileprivate var isASCIILetterOrDigit: Bool { isASCII && (isLetter || isNumber) }
}
