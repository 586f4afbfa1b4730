import CCrypto

/// SHA-256 (FIPS 180-4), of what is there at once.
package enum SHA256 {
  fileprivate static let bytes = Int(SHA256_DIGEST_LENGTH)

  package static func digest(of message: some Collection<UInt8>) -> TokenDigest {
    let message = Array(message)
    var digest = [UInt8](repeating: 0, count: bytes)
    CCrypto.SHA256(message, message.count, &digest)
    return TokenDigest(digest)
  }

  /// HMAC-SHA256 (RFC 2104).
  package static func code(of message: [UInt8], key: [UInt8]) -> [UInt8] {
    var code = [UInt8](repeating: 0, count: bytes)
    HMAC(EVP_sha256(), key, Int32(key.count), message, message.count, &code, nil)
    return code
  }
}

/// 32 bytes of SHA-256: what is kept of a token. Two are compared in the same time, equal or not.
package struct TokenDigest: Sendable, Hashable {
  private let words: SIMD4<UInt64>

  fileprivate init(_ bytes: [UInt8]) {
    words = bytes.withUnsafeBytes { $0.loadUnaligned(as: SIMD4<UInt64>.self) }
  }

  /// nil unless there are 32.
  package init?(bytes: [UInt8]) {
    guard bytes.count == SHA256.bytes else { return nil }
    self.init(bytes)
  }

  package var bytes: [UInt8] { withUnsafeBytes(of: words) { Array($0) } }

  package static func == (left: TokenDigest, right: TokenDigest) -> Bool {
    let differences = left.words ^ right.words
    return differences[0] | differences[1] | differences[2] | differences[3] == 0
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(words[0]) }
}

extension TokenDigest: CustomStringConvertible, CustomDebugStringConvertible {
  package var description: String { "<digest>" }
  package var debugDescription: String { description }
}
