/// Knows the secrets of this process by value and takes them out of any text about to leave it:
/// as they are, percent-encoded, and inside Base64 (an Authorization header holds
/// `user:password`, so the secret may begin at any of three places in a group). The last line of
/// defence: the first is `Secret`.

import FoundationEssentials
import Market
import Platform

package final class SecretMask: Sendable {
  /// Shorter secrets are not looked for: they would black out ordinary words.
  package static let secretBytesMin = 4
  package static let replacement = "***"

  private struct Known {
    var patterns = SecretPatterns()
    var forms: Set<[UInt8]> = []
    /// Of before the last renewal: a request under way may still hold one.
    var formsBefore: Set<[UInt8]> = []

    mutating func rebuild() { patterns = SecretPatterns(forms.union(formsBefore)) }
  }

  private let known = Locked(Known())

  package init() {}

  package func register(_ secret: Secret) {
    let text = secret.reveal()
    guard text.utf8.count >= SecretMask.secretBytesMin else { return }
    let forms = SecretMask.forms(of: text)
    known.withLock { known in
      if known.forms.isSuperset(of: forms) { return }
      known.forms.formUnion(forms)
      known.rebuild()
    }
  }

  /// Keeps the secrets of `present` and those known until now, and forgets those that were known
  /// before an earlier renewal: a daemon that is reloaded for years has few secrets.
  package func renew(with present: SecretMask) {
    let forms = present.known.withLock { $0.forms }
    known.withLock { known in
      known.formsBefore = known.forms
      known.forms = forms
      known.rebuild()
    }
  }

  /// Registers a connection URL whole, and its password on its own.
  package func register(url: Secret) {
    register(url)
    for password in ConnectionURL(url.reveal())?.passwords ?? [] { register(Secret(password)) }
  }

  /// `text` with every known secret replaced.
  package func masked(_ text: String) -> String {
    let patterns = known.withLock { $0.patterns }
    if patterns.isEmpty { return text }
    var text = text
    return text.withUTF8 { bytes -> String? in
      let places = patterns.places(in: UnsafeRawBufferPointer(bytes))
      if places.isEmpty { return nil }
      var output: [UInt8] = []
      output.reserveCapacity(bytes.count)
      var position = 0
      for place in places {
        output += bytes[position..<place.lowerBound]
        output += SecretMask.replacement.utf8
        position = place.upperBound
      }
      output += bytes[position...]
      return String(decoding: output, as: UTF8.self)
    } ?? text
  }

  /// Shorter ones may stand in data by chance, and data must not change.
  static let blankedBytesMin = 8

  /// Overwrites every known secret of eight bytes or more in a body, byte for byte.
  package func blank(_ body: inout [UInt8]) {
    let patterns = known.withLock { $0.patterns }
    let places = body.withUnsafeBytes {
      patterns.places(in: $0, bytesMin: SecretMask.blankedBytesMin)
    }
    for place in places {
      for index in place { body[index] = UInt8(ascii: "*") }
    }
  }

  private static func forms(of text: String) -> [[UInt8]] {
    let texts = [text, text.percentEncoded, text.percentEncoded(uppercase: false)]
    var forms = texts.map { Array($0.utf8) }
    for before in 0..<3 { forms += base64(forms[0], before: before) }
    return forms.filter { $0.count >= secretBytesMin }
  }

  /// The characters that depend on `bytes` alone when `before` bytes stand ahead of them, in both
  /// alphabets.
  private static func base64(_ bytes: [UInt8], before: Int) -> [[UInt8]] {
    let whole = Data([UInt8](repeating: 0, count: before) + bytes)
    let (first, end) = ((before * 8 + 5) / 6, whole.count * 8 / 6)
    guard first < end else { return [] }
    let text = Array(whole.base64EncodedData()[first..<end])
    let other = [UInt8(ascii: "+"): UInt8(ascii: "-"), UInt8(ascii: "/"): UInt8(ascii: "_")]
    return [text, text.map { other[$0] ?? $0 }]
  }
}
