import Market
import Testing

@testable import Polling

/// A poller and a line of jobs that are told that the clock was set.
@Suite struct ClockJumpTests {
  private let hour: Int64 = 3600 * 1_000_000

  private func wakes(_ actions: [Poller.Action]) -> [Timestamp] {
    actions.compactMap { action in
      if case .wake(let moment) = action { moment } else { nil }
    }
  }

  @Test(arguments: [-3_600, 3_600, 86_400])
  func `nothing is asked before the next slot of the new time`(seconds: Int) {
    var poller = poller(symbols: 1)
    let now = moment(10, 25, 1, 500)
    let first = poller.received(.started, at: now)
    #expect(first.requests.count == 1)
    _ = poller.received(
      .answered(first.requests[0].id, .ok, retryAfterSeconds: nil), at: now)
    let later = now.adding(seconds: Int64(seconds))
    let actions = poller.received(
      .clockJumped(microseconds: Int64(seconds) * 1_000_000), at: later)
    #expect(actions.requests.isEmpty)
    let wake = wakes(actions).last
    #expect(wake.map { $0 > later && $0 <= later.adding(seconds: 4) } == true)
    #expect(wake.map { poller.received(.woke, at: $0).requests.count } == 1)
  }

  @Test func `an answer that is wanted is asked for where no slot is near`() {
    var poller = poller(symbols: 1)
    let night = moment(5, 0)
    let first = poller.received(.started, at: night)
    let answered = poller.received(
      .answered(first.requests[0].id, .ok, retryAfterSeconds: nil), at: night)
    #expect(answered.requests.isEmpty)
    let wanted = poller.received(.responseWanted(withinSeconds: 15), at: night.adding(seconds: 60))
    #expect(wanted.requests.count == 1)
    var busy = runningPoller(at: moment(10, 25, 1, 500))
    #expect(
      busy.received(.responseWanted(withinSeconds: 15), at: moment(10, 25, 2)).requests.isEmpty)
  }

  /// Started and answered.
  private func runningPoller(at now: Timestamp) -> Poller {
    var poller = poller(symbols: 1)
    let first = poller.received(.started, at: now)
    _ = poller.received(
      .answered(first.requests[0].id, .ok, retryAfterSeconds: nil), at: now)
    return poller
  }

  @Test func `a jump forward fills no budget`() {
    var budget = RateBudget(requestsPerMinute: 60, burst: 5)
    var clock = SteadyClock(at: moment(10, 0, 0))
    while budget.take(at: clock.now) {}
    clock.set(by: hour)
    _ = clock.advance(to: moment(11, 0, 0))
    let isTaken = budget.take(at: clock.now)
    #expect(!isTaken)
    _ = clock.advance(to: moment(11, 0, 1))
    let isTakenLater = budget.take(at: clock.now)
    #expect(isTakenLater)
  }

  @Test func `a cool-down lasts as long as it was to last`() {
    var queue = PacedQueue<Int>(
      PacedQueueConfiguration(requestsPerMinute: 60, burst: 1, inFlightMax: 1, seed: 1))
    let now = moment(10, 0, 0)
    let first = queue.received(.enqueued([PacedJob(1, priority: 0)]), at: now)
    guard case .request(let id, _)? = first.first else {
      Issue.record("nothing was asked")
      return
    }
    _ = queue.received(.answered(id, .throttled, retryAfterSeconds: 120), at: now)
    let earlier = now.adding(seconds: -3_600)
    let actions = queue.received(.clockJumped(microseconds: -hour), at: earlier)
    let wake = actions.compactMap { action in
      if case .wake(let moment) = action { moment } else { nil }
    }.last
    #expect(wake.map { $0 >= earlier.adding(seconds: 120) } == true)
    #expect(wake.map { $0 <= earlier.adding(seconds: 300) } == true)
    let early = queue.received(.woke, at: earlier.adding(seconds: 60))
    #expect(!early.contains { if case .request = $0 { true } else { false } })
  }
}
