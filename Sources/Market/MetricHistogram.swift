/// How often a duration was how long: counts by upper bound, as Prometheus wants them.
package struct MetricHistogram: Sendable, Hashable {
  /// Upper bounds, µs. What memory answers takes less than a millisecond, a commit some, a slow one
  /// some hundred; 10 s is an outage.
  package static let boundsMicroseconds: [Int64] = [
    1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000,
    10_000_000,
  ]

  /// Of each bound on its own; one more for what is beyond all.
  package private(set) var counts = [Int](repeating: 0, count: boundsMicroseconds.count + 1)
  package private(set) var sumMicroseconds: Int64 = 0

  package init() {}

  package mutating func record(_ duration: Duration) {
    record(microseconds: Int64(duration / .microseconds(1)))
  }

  package mutating func record(microseconds: Int64) {
    let bounds = MetricHistogram.boundsMicroseconds
    counts[bounds.firstIndex { microseconds <= $0 } ?? bounds.count] += 1
    sumMicroseconds += max(microseconds, 0)
  }

  package var count: Int { counts.reduce(0, +) }
}
