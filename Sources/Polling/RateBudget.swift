// How often a host may be asked: a token bucket in whole numbers.
//
// The level is kept in microseconds times requests a minute, so that no rate rounds and an hour of
// requests adds up exactly. In any stretch of t seconds at most burst + rate·t requests pass.
import Market

/// A token bucket; the moments given to it must not go backwards (an earlier one counts as now).
package struct RateBudget: Sendable {
  package private(set) var requestsPerMinute: Int
  package let burst: Int
  private var level: Int64
  private var filledAt: Timestamp?

  private static let requestCost: Int64 = 60_000_000

  /// Full at the start.
  /// - Precondition: both are at least 1.
  package init(requestsPerMinute: Int, burst: Int) {
    precondition(requestsPerMinute > 0 && burst > 0)
    self.requestsPerMinute = requestsPerMinute
    self.burst = burst
    level = Int64(burst) * RateBudget.requestCost
  }

  /// Another rate from now on; what was saved up or spent stays so.
  package mutating func change(requestsPerMinute: Int, at now: Timestamp) {
    precondition(requestsPerMinute > 0)
    fill(at: now)
    self.requestsPerMinute = requestsPerMinute
  }

  private var capacity: Int64 { Int64(burst) * RateBudget.requestCost }

  /// Takes one request out, or says no.
  package mutating func take(at now: Timestamp) -> Bool {
    fill(at: now)
    guard level >= RateBudget.requestCost else { return false }
    level -= RateBudget.requestCost
    return true
  }

  /// When one request can be taken: `now` or later.
  package mutating func availableAt(_ now: Timestamp) -> Timestamp {
    fill(at: now)
    let missing = max(RateBudget.requestCost - level, 0)
    let rate = Int64(requestsPerMinute)
    return Timestamp(microseconds: now.microseconds + (missing + rate - 1) / rate)
  }

  private mutating func fill(at now: Timestamp) {
    let last = filledAt ?? now
    let elapsed = now.microseconds(since: last)
    guard elapsed >= 0 else { return }
    filledAt = now
    let rate = Int64(requestsPerMinute)
    let missing = capacity - level
    // Compared before multiplying, so that a jump of years cannot overflow.
    level = elapsed > missing / rate ? capacity : level + elapsed * rate
  }
}
