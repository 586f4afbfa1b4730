// How long to leave a failing host alone: exponential with full jitter.
//
// Full jitter (a uniform draw from zero to the exponential bound) spreads clients that failed
// together better than any fixed or half-jittered delay. What the server asks for wins if longer.
import Market

/// A bound that doubles with every failure, and a draw below it.
package struct Backoff: Sendable {
  package let baseMilliseconds: Int
  package let capMilliseconds: Int
  private var generator: SplitMix64

  /// - Precondition: 0 < base ≤ cap.
  package init(baseMilliseconds: Int, capMilliseconds: Int, seed: UInt64) {
    precondition(baseMilliseconds > 0 && baseMilliseconds <= capMilliseconds)
    self.baseMilliseconds = baseMilliseconds
    self.capMilliseconds = capMilliseconds
    generator = SplitMix64(seed: seed)
  }

  /// The backoff for a host that refuses too many requests. It draws from a sequence of its own, so
  /// that retries beside it change nothing about when the host is asked again.
  static func throttled(seed: UInt64) -> Backoff {
    Backoff(
      baseMilliseconds: throttleMillisecondsMin, capMilliseconds: throttleMillisecondsMax,
      seed: ~seed)
  }

  private static let throttleMillisecondsMin = 1_000
  private static let throttleMillisecondsMax = 60_000

  /// The longest delay after so many failures in a row, counted from 1.
  package func boundMilliseconds(failures: Int) -> Int {
    let doublings = min(max(failures - 1, 0), 30)
    let (bound, overflowed) = baseMilliseconds.multipliedReportingOverflow(by: 1 << doublings)
    return overflowed ? capMilliseconds : min(bound, capMilliseconds)
  }

  /// 1 ms … the bound, or what the server asked for if that is longer.
  package mutating func delayMilliseconds(failures: Int, retryAfterSeconds: Int? = nil) -> Int {
    let drawn = Int.random(in: 1...boundMilliseconds(failures: failures), using: &generator)
    let asked = min(max(retryAfterSeconds ?? 0, 0), RetryAfter.secondsMax) * 1_000
    return max(drawn, asked)
  }
}
