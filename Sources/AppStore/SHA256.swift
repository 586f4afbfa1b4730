/// SHA-256 (FIPS 180-4), of short inputs that are there at once: tokens. Thirty lines of our own,
/// because the only library for it here builds BoringSSL.
package enum SHA256 {
  package static func digest(of message: some Collection<UInt8>) -> TokenDigest {
    var bytes = Array(message)
    let bitCount = UInt64(bytes.count) * 8
    bytes.append(0x80)
    while bytes.count % blockBytes != blockBytes - 8 { bytes.append(0) }
    withUnsafeBytes(of: bitCount.bigEndian) { bytes.append(contentsOf: $0) }
    var state = initialState
    for start in stride(from: 0, to: bytes.count, by: blockBytes) {
      process(bytes[start..<start + blockBytes], into: &state)
    }
    return TokenDigest(
      words: stride(from: 0, to: 8, by: 2).map { UInt64(state[$0]) << 32 | UInt64(state[$0 + 1]) })
  }

  private static let blockBytes = 64

  private static func process(_ block: ArraySlice<UInt8>, into state: inout [UInt32]) {
    var schedule = stride(from: block.startIndex, to: block.endIndex, by: 4).map { place in
      block[place..<place + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    }
    for t in 16..<64 {
      let (early, late) = (schedule[t - 15], schedule[t - 2])
      let first = rotated(early, by: 7) ^ rotated(early, by: 18) ^ early >> 3
      let second = rotated(late, by: 17) ^ rotated(late, by: 19) ^ late >> 10
      schedule.append(schedule[t - 16] &+ first &+ schedule[t - 7] &+ second)
    }
    var (a, b, c, d) = (state[0], state[1], state[2], state[3])
    var (e, f, g, h) = (state[4], state[5], state[6], state[7])
    for t in 0..<64 {
      let sum = rotated(e, by: 6) ^ rotated(e, by: 11) ^ rotated(e, by: 25)
      let first = h &+ sum &+ (e & f ^ ~e & g) &+ constants[t] &+ schedule[t]
      let turn = rotated(a, by: 2) ^ rotated(a, by: 13) ^ rotated(a, by: 22)
      let second = turn &+ (a & b ^ a & c ^ b & c)
      (h, g, f, e) = (g, f, e, d &+ first)
      (d, c, b, a) = (c, b, a, first &+ second)
    }
    for (index, word) in [a, b, c, d, e, f, g, h].enumerated() { state[index] &+= word }
  }

  private static func rotated(_ word: UInt32, by bits: UInt32) -> UInt32 {
    word >> bits | word << (32 - bits)
  }

  /// The fractions of the square roots of the first eight primes.
  private static let initialState: [UInt32] = [
    0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a,
    0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
  ]

  /// The fractions of the cube roots of the first 64 primes.
  private static let constants: [UInt32] = [
    0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4,
    0xab1c_5ed5, 0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe,
    0x9bdc_06a7, 0xc19b_f174, 0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f,
    0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da, 0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7,
    0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967, 0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc,
    0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85, 0xa2bf_e8a1, 0xa81a_664b,
    0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070, 0x19a4_c116,
    0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
    0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7,
    0xc671_78f2,
  ]
}

/// 32 bytes of SHA-256: what is kept of a token. Two are compared in the same time, equal or not.
package struct TokenDigest: Sendable, Hashable {
  private let words: SIMD4<UInt64>

  fileprivate init(words: [UInt64]) { self.words = SIMD4(words) }

  /// nil unless there are 32.
  package init?(bytes: [UInt8]) {
    guard bytes.count == 32 else { return nil }
    self.init(
      words: stride(from: 0, to: 32, by: 8).map { place in
        bytes[place..<place + 8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      })
  }

  package var bytes: [UInt8] {
    (0..<4).flatMap { index in withUnsafeBytes(of: words[index].bigEndian) { Array($0) } }
  }

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
