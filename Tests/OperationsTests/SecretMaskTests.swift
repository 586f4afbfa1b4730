import Operations
import TestSupport
import Testing

@Suite struct SecretMaskTests {
  private func mask(_ secrets: String...) -> SecretMask {
    let mask = SecretMask()
    for secret in secrets { mask.register(Secret(secret)) }
    return mask
  }

  @Test func `secrets are known for one renewal more than they are in force`() {
    let mask = mask("first-key")
    mask.register(Secret("second-key"))
    mask.renew(with: self.mask("second-key"))
    #expect(mask.masked("first-key second-key") == "*** ***")
    mask.register(Secret("third-key"))
    mask.renew(with: self.mask("third-key"))
    #expect(mask.masked("first-key second-key third-key") == "first-key *** ***")
    mask.renew(with: self.mask("third-key"))
    #expect(mask.masked("second-key third-key") == "second-key ***")
  }

  @Test func `what a refused reload named does not push out what is in force`() {
    let mask = mask("in-force")
    for number in 0..<5 {
      mask.register(Secret("refused-\(number)"))
      mask.renew(with: self.mask("in-force"))
    }
    #expect(mask.masked("in-force refused-4 refused-3") == "*** *** refused-3")
  }

  @Test func `secrets that overlap are one, and those side by side are two`() {
    let mask = mask("abcdefgh", "fghijklmnop", "fghi")
    #expect(mask.masked("<abcdefghijklmnop>") == "<***>")
    #expect(mask.masked("abcdefghabcdefgh") == "******")
    var body = Array("<abcdefghijklmnop>".utf8)
    mask.blank(&body)
    #expect(String(decoding: body, as: UTF8.self) == "<****************>")
  }

  @Test(arguments: (0..<8).map { _ in UInt64.random(in: .min ... .max) })
  func `each known secret is masked wherever it stands, and nothing else`(_ seed: UInt64) {
    var random = SplitMix(seed: seed)
    func word(_ letters: String, _ counts: ClosedRange<Int>) -> String {
      String(
        (0..<Int.random(in: counts, using: &random)).map { _ in
          letters.randomElement(using: &random) ?? "a"
        })
    }
    let mask = SecretMask()
    let secrets = (0..<40).map { _ in word("ABC", 6...20) }
    for secret in secrets { mask.register(Secret(secret)) }
    for _ in 0..<200 {
      var text = ""
      var expected = ""
      for _ in 0..<Int.random(in: 0...6, using: &random) {
        // Not a letter of a secret, of its Base64 or of its percent-encoding stands between.
        let plain = word(" .:;|行", 1...12)
        text += plain + (secrets.randomElement(using: &random) ?? "")
        expected += plain + "***"
      }
      #expect(mask.masked(text) == expected, "seed \(seed)")
    }
  }
}
