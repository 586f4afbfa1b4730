import EmbeddedPostgres
import Market
import Postgres
import TestSupport
import TestTraits
import Testing

@testable import AppStore

@Suite(.ownThread) struct SHA256Tests {
  private func hex(_ bytes: [UInt8]) -> String {
    bytes.map { String(UInt16($0) + 256, radix: 16).dropFirst() }.joined()
  }

  /// FIPS 180-4's examples, and the input of a million.
  @Test(arguments: [
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
    (
      String(repeating: "a", count: 1_000_000),
      "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
    ),
  ])
  func `the standard's examples have their digests`(_ message: String, _ digest: String) {
    #expect(hex(SHA256.digest(of: message.utf8).bytes) == digest)
  }

  @Test func `every length around a block has PostgreSQL's digest`() throws {
    let url = try PrivateCluster.shared().server.adminConnectionString()
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SplitMix(seed: seed)
    for length in 0...200 {
      let bytes = (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
      let theirs = try SQLProbe.run("select sha256('\\x\(hex(bytes))')", url: url)
      #expect(
        theirs == [["\\x" + hex(SHA256.digest(of: bytes).bytes)]], "seed \(seed), \(length) bytes")
    }
  }

  @Test func `a digest is rebuilt from its bytes, and from no other number of them`() {
    let digest = SHA256.digest(of: "cndl".utf8)
    #expect(TokenDigest(bytes: digest.bytes) == digest)
    #expect(TokenDigest(bytes: Array(digest.bytes.dropLast())) == nil)
    for place in 0..<32 {
      var bytes = digest.bytes
      bytes[place] ^= 1
      #expect(TokenDigest(bytes: bytes) != digest, "byte \(place)")
    }
  }
}

@Suite struct TokenSecretTests {
  @Test func `a token is its prefix and 43 digits of base 62`() {
    var generator = SystemRandomNumberGenerator()
    var seen: Set<String> = []
    for _ in 0..<1_000 {
      let text = TokenSecret(using: &generator).reveal()
      #expect(text.wholeMatch(of: /cndl_[0-9A-Za-z]{43}/) != nil)
      #expect(TokenSecret(text)?.reveal() == text)
      seen.insert(text)
    }
    #expect(seen.count == 1_000)
  }

  @Test func `all 32 bytes are in it`() {
    let zeros = TokenSecret(random: Array(repeating: 0, count: 32)).reveal()
    #expect(zeros == "cndl_" + String(repeating: "0", count: 43))
    for place in 0..<32 {
      var bytes = [UInt8](repeating: 0, count: 32)
      bytes[place] = 1
      #expect(TokenSecret(random: bytes).reveal() != zeros, "byte \(place)")
    }
  }

  @Test(arguments: [
    "", "cndl_", "cndl_short", "CNDL_" + String(repeating: "0", count: 43),
    "cndl_" + String(repeating: "0", count: 44), "cndl_" + String(repeating: "-", count: 43),
    "cndl_" + String(repeating: "é", count: 21) + "0",
  ])
  func `what cannot be a token is none`(_ text: String) {
    #expect(TokenSecret(text) == nil)
  }

  @Test func `a token does not print itself`() {
    var generator = SystemRandomNumberGenerator()
    let secret = TokenSecret(using: &generator)
    let digits = secret.reveal().dropFirst(5)
    var dumped = ""
    dump(secret, to: &dumped)
    for text in ["\(secret)", String(reflecting: secret), dumped, "\(secret.digest)"] {
      #expect(!text.contains(digits))
    }
  }
}
