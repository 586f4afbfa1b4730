import Market

/// The seedable generator of property tests: one that fails names the seed that reproduces it.
package struct SplitMix: RandomNumberGenerator {
  private var generator: SplitMix64

  package init(seed: UInt64) { generator = SplitMix64(seed: seed) }

  package mutating func next() -> UInt64 { generator.next() }
}
