import Market

/// The seedable generator of property tests: one that fails names the seed that reproduces it.
public struct SplitMix: RandomNumberGenerator {
  private var generator: SplitMix64

  public init(seed: UInt64) { generator = SplitMix64(seed: seed) }

  public mutating func next() -> UInt64 { generator.next() }
}
