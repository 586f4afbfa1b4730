/// FNV-1a of 64 bits: what is named by a hash must have the same name in every process, and Swift's
/// own hashes differ from run to run. Tells things apart by accident, not against an adversary.
public struct StableHash: Sendable, Hashable {
  public private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

  public init() {}

  public init(of text: String) {
    combine(text)
  }

  public mutating func combine(_ text: String) { combine(text.utf8) }

  package mutating func combine(_ bytes: some Sequence<UInt8>) {
    for byte in bytes { value = (value ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
  }
}
