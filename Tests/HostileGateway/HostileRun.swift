/// Many mutated requests, or frames, one connection each.
package struct HostileRun: Sendable {
  package enum Kind: String, CaseIterable, Sendable {
    case heads, frames
  }

  package var kind: Kind
  package var count: Int
  package var seed: UInt64

  package init(_ kind: Kind, count: Int, seed: UInt64) {
    self.kind = kind
    self.count = count
    self.seed = seed
  }

  /// - Returns: what went wrong, and with which input.
  package func run() -> [String] {
    let gateway = HostileGateway()
    var complaints: [String] = []
    for number in 0..<count {
      var random = HostileRandom(seed: seed &+ UInt64(number))
      do {
        try gateway.take(input(by: &random))
      } catch {
        complaints.append("seed \(seed &+ UInt64(number)): \(error)")
      }
    }
    return complaints
  }

  private func input(by random: inout HostileRandom) -> [[UInt8]] {
    switch kind {
    case .heads:
      let head = HostileBytes.heads.randomElement(using: &random) ?? []
      return HostileBytes.cut(HostileBytes.mutated(head, by: &random), by: &random)
    case .frames:
      let frame = HostileBytes.frames.randomElement(using: &random) ?? []
      return [HostileBytes.upgrade]
        + HostileBytes.cut(HostileBytes.mutated(frame, by: &random), by: &random)
    }
  }
}

/// SplitMix64: one number is enough to make an input again.
struct HostileRandom: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
