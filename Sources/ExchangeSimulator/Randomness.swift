import Market

/// Seeded randomness of the simulated market.
///
/// Everything the market does follows from one seed, so a day is the same on every machine and in
/// every process. It must never take anything from the system: no clock, no address, no hash seed.
package struct Randomness: Sendable {
  private var generator: SplitMix64

  package init(seed: UInt64) { generator = SplitMix64(seed: seed) }

  /// A generator of its own for each thing that a seed has many of.
  package init(seed: UInt64, stream: UInt64) {
    self.init(
      seed: Randomness.mixed(seed &+ Randomness.mixed(stream &+ 0x9E37_79B9_7F4A_7C15)))
  }

  @inline(__always)
  package mutating func next() -> UInt64 { generator.next() }

  /// Uniform in `0..<bound`.
  @inline(__always)
  package mutating func below(_ bound: Int64) -> Int64 {
    Int64(next().multipliedFullWidth(by: UInt64(bound)).high)
  }

  @inline(__always)
  package mutating func chance(perMille: Int64) -> Bool { below(1000) < perMille }

  /// 1…2·mean−1, `mean` on average.
  @inline(__always)
  package mutating func around(_ mean: Int64) -> Int64 { 1 + below(2 * mean - 1) }

  @inline(__always)
  package static func mixed(_ value: UInt64) -> UInt64 { SplitMix64.mixed(value) }
}
