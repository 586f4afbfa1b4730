import Market
import TestSupport
import Testing

@testable import Polling

@Suite struct RateBudgetTests {
  @Test func `a burst passes, then one request a period`() {
    var budget = RateBudget(requestsPerMinute: 60, burst: 2)
    let start = moment(10, 0)
    let taken = [start, start, start].map { budget.take(at: $0) }
    #expect(taken == [true, true, false])
    #expect(budget.availableAt(start) == start.adding(seconds: 1))
    #expect(budget.take(at: start.adding(milliseconds: 999)) == false)
    #expect(budget.take(at: start.adding(seconds: 1)) == true)
  }

  @Test func `a long rest refills to the burst and no further`() {
    var budget = RateBudget(requestsPerMinute: 6_000, burst: 3)
    for _ in 0..<3 { #expect(budget.take(at: moment(10, 0)) == true) }
    let later = Timestamp(seconds: 250_000_000_000)
    let taken = (0..<4).map { _ in budget.take(at: later) }
    #expect(taken == [true, true, true, false])
  }

  @Test func `a moment in the past gives nothing`() {
    var budget = RateBudget(requestsPerMinute: 60, burst: 1)
    #expect(budget.take(at: moment(10, 0)) == true)
    #expect(budget.take(at: moment(9, 0)) == false)
    #expect(budget.take(at: moment(10, 0)) == false)
  }

  @Test func `no stretch of time sees more than burst and rate`() {
    let seed = UInt64.random(in: .min ... .max)
    var generator = SplitMix(seed: seed)
    for _ in 0..<50 {
      let rate = Int.random(in: 1...500, using: &generator)
      let burst = Int.random(in: 1...20, using: &generator)
      var budget = RateBudget(requestsPerMinute: rate, burst: burst)
      var taken: [Int64] = []
      var now = moment(10, 0)
      for _ in 0..<300 {
        now = now.adding(milliseconds: Int64.random(in: 0...200, using: &generator))
        if Bool.random(using: &generator) { now = budget.availableAt(now) }
        if budget.take(at: now) { taken.append(now.microseconds) }
      }
      for first in taken.indices {
        for last in first..<taken.count {
          let stretch = taken[last] - taken[first]
          let allowed = Int64(burst) * 60_000_000 + stretch * Int64(rate)
          #expect(Int64(last - first + 1) * 60_000_000 <= allowed, "seed \(seed)")
        }
      }
    }
  }
}
