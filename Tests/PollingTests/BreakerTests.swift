import Market
import Testing

@testable import Polling

@Suite struct BreakerTests {
  private let start = moment(10, 0)

  /// The cool-down the breaker is in, in seconds from `now`.
  private func coolDown(_ breaker: Breaker, _ now: Timestamp) -> Int64? {
    guard case .open(let until) = breaker.state else { return nil }
    return until.microseconds(since: now) / 1_000_000
  }

  @Test func `a ban opens it and only one probe passes after the cool-down`() {
    var breaker = Breaker()
    #expect(breaker.admit(at: start) == .open)
    breaker.tripped(at: start)
    #expect(breaker.admit(at: start.adding(seconds: 59)) == .refused)
    #expect(breaker.admit(at: start.adding(seconds: 60)) == .probe)
    #expect(breaker.admit(at: start.adding(seconds: 60)) == .refused)
    #expect(breaker.admit(at: start.adding(seconds: 9_999)) == .refused)
  }

  @Test func `cool-downs grow from 1 to 10 to 60 minutes and stay there`() {
    var breaker = Breaker()
    var now = start
    breaker.tripped(at: now)
    var seen: [Int64] = []
    for _ in 0..<4 {
      guard let seconds = coolDown(breaker, now) else { return }
      seen.append(seconds)
      now = now.adding(seconds: seconds)
      #expect(breaker.admit(at: now) == .probe)
      breaker.probed(.banned, at: now)
    }
    #expect(seen == [60, 600, 3_600, 3_600])
  }

  @Test func `bans of requests sent before it opened change nothing`() {
    var breaker = Breaker()
    breaker.tripped(at: start)
    breaker.tripped(at: start.adding(seconds: 5))
    #expect(coolDown(breaker, start) == 60)
  }

  @Test func `a good probe closes it`() {
    var breaker = Breaker()
    breaker.tripped(at: start)
    _ = breaker.admit(at: start.adding(seconds: 60))
    breaker.probed(.recovered, at: start.adding(seconds: 61))
    #expect(breaker.isClosed)
  }

  @Test func `a lost probe costs the shortest cool-down`() {
    var breaker = Breaker()
    breaker.tripped(at: start)
    _ = breaker.admit(at: start.adding(seconds: 60))
    breaker.probed(.banned, at: start.adding(seconds: 60))
    let probedAt = start.adding(seconds: 660)
    _ = breaker.admit(at: probedAt)
    breaker.probed(.none, at: probedAt)
    #expect(coolDown(breaker, probedAt) == 60)
    _ = breaker.admit(at: probedAt.adding(seconds: 60))
    breaker.probed(.banned, at: probedAt.adding(seconds: 60))
    #expect(coolDown(breaker, probedAt.adding(seconds: 60)) == 3_600)
  }

  @Test func `a relapse goes on where it was, a ban after a calm hour begins anew`() {
    var breaker = Breaker()
    breaker.tripped(at: start)
    let closedAt = start.adding(seconds: 60)
    _ = breaker.admit(at: closedAt)
    breaker.probed(.recovered, at: closedAt)
    var relapsed = breaker
    relapsed.tripped(at: closedAt.adding(seconds: 3_599))
    #expect(coolDown(relapsed, closedAt.adding(seconds: 3_599)) == 600)
    breaker.tripped(at: closedAt.adding(seconds: 3_600))
    #expect(coolDown(breaker, closedAt.adding(seconds: 3_600)) == 60)
  }
}
