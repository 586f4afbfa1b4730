import Market
import Testing

@testable import Polling

@Suite struct PollerSweepTests {
  private func request(
    _ number: UInt64, group: UInt16, _ symbols: [Symbol], slot: Timestamp
  ) -> Poller.Action {
    .request(
      PollRequest(
        id: PollRequestID(number), purpose: .sweep, group: group,
        symbols: [referenceSymbol()] + symbols,
        slot: slot,
        deadlineMilliseconds: 5_000))
  }

  private func answered(_ number: UInt64, _ outcome: RequestOutcome) -> Poller.Event {
    .answered(PollRequestID(number), outcome, retryAfterSeconds: nil)
  }

  @Test func `a sweep is asked together, answered, completed and followed by the next slot`() {
    var poller = poller(symbols: 4, batch: 3)
    let (left, right) = (Array(symbols(4)[..<2]), Array(symbols(4)[2...]))
    let slot = moment(10, 0)
    #expect(
      poller.received(.started, at: moment(10, 0, 1, 500)) == [
        request(1, group: 0, left, slot: slot), request(2, group: 1, right, slot: slot),
        .wake(at: moment(10, 0, 4, 200)),
      ])
    #expect(poller.received(answered(2, .ok), at: moment(10, 0, 1, 600)) == [])
    #expect(
      poller.received(answered(1, .unchanged), at: moment(10, 0, 1, 700)) == [
        .sweepCompleted(slot: slot, answered: 2, failed: 0),
        .health(SourceState(.ok, since: moment(10, 0, 1, 700))),
      ])
    #expect(
      poller.received(.woke, at: moment(10, 0, 4, 200)) == [
        request(3, group: 0, left, slot: moment(10, 0, 3)),
        request(4, group: 1, right, slot: moment(10, 0, 3)),
        .wake(at: moment(10, 0, 7, 200)),
      ])
  }

  @Test func `a start outside every window asks once and sleeps until the next`() {
    var poller = poller(symbols: 1)
    #expect(
      poller.received(.started, at: moment(3, 0)) == [
        request(1, group: 0, symbols(1), slot: moment(3, 0)),
        .wake(at: moment(9, 0, 1, 200)),
      ])
  }

  @Test func `a start on a holiday asks once too`() {
    var poller = poller(
      symbols: 1, schedule: PollSchedule(spreadMilliseconds: 0, seed: 1) { $0 != monday })
    let actions = poller.received(.started, at: moment(10, 0))
    #expect(actions.requests.count == 1)
    #expect(actions.last == .wake(at: moment(9, 0, 1, 200).adding(seconds: 86_400)))
  }

  @Test func `a day that closes is asked for a batch a minute, and swept once it opens`() throws {
    let open = TradingCalendar.shanghai
    var closed = open
    _ = closed.observe(monday, trades: false)
    let started = poller(
      symbols: 4, batch: 3, schedule: PollSchedule(spreadMilliseconds: 0, seed: 1) { _ in true })
    var bench = Bench(started, at: moment(9, 59, 58))
    let well: (PollRequest, Timestamp) -> Reply = { _, _ in Reply() }
    bench.feed(.started, well)
    _ = bench.poller.follow(closed, at: bench.now)
    bench.run(untilElapsedSeconds: 300, well)
    let watched = bench.requests.filter { $0.request.purpose == .probe }
    #expect(watched.map(\.wall) == (0..<5).map { moment(10, $0, 1, 200) })
    #expect(watched.map(\.request.group) == [0, 1, 0, 1, 0])
    #expect(bench.requests.count == watched.count + 2)
    let sweep = bench.poller.follow(open, at: bench.now).requests
    #expect(sweep.map(\.group) == [0, 1] && sweep.allSatisfy { $0.purpose == .sweep })
  }

  @Test func `a schedule without a trading day is looked at again every ten minutes`() {
    var poller = poller(symbols: 1, schedule: PollSchedule(seed: 1) { _ in false })
    #expect(poller.received(.started, at: moment(10, 0)).last == .wake(at: moment(10, 10)))
    _ = poller.received(answered(1, .ok), at: moment(10, 0, 1))
    #expect(poller.received(.woke, at: moment(10, 10)) == [.wake(at: moment(10, 20))])
  }

  @Test func `symbols that come after the start get the sweep the start owed`() {
    var poller = poller(symbols: 0)
    #expect(
      poller.received(.started, at: moment(3, 0)) == [.wake(at: moment(9, 0, 1, 200))])
    #expect(
      poller.received(.symbolsChanged(symbols(1)), at: moment(3, 1)) == [
        request(1, group: 0, symbols(1), slot: moment(3, 1))
      ])
  }

  @Test func `waking early or twice asks for nothing`() {
    var poller = poller(symbols: 1)
    _ = poller.received(.started, at: moment(10, 0, 2))
    _ = poller.received(answered(1, .ok), at: moment(10, 0, 2, 100))
    let wake = Poller.Action.wake(at: moment(10, 0, 4, 200))
    #expect(poller.received(.woke, at: moment(10, 0, 4, 199)) == [wake])
    #expect(poller.received(.woke, at: moment(10, 0, 4, 200)).requests.count == 1)
    #expect(poller.received(.woke, at: moment(10, 0, 4, 200)).requests.isEmpty)
  }

  @Test func `a group still in flight sits the slot out and counts as failed`() {
    var poller = poller(symbols: 4, batch: 3)
    _ = poller.received(.started, at: moment(10, 0, 2))
    _ = poller.received(answered(1, .ok), at: moment(10, 0, 2, 100))
    let actions = poller.received(.woke, at: moment(10, 0, 4, 200))
    #expect(actions.requests.map(\.group) == [0])
    #expect(
      poller.received(answered(3, .ok), at: moment(10, 0, 4, 300)) == [
        .sweepCompleted(slot: moment(10, 0, 3), answered: 1, failed: 1),
        .health(SourceState(.degraded, since: moment(10, 0, 4, 300))),
      ])
    #expect(
      poller.received(answered(2, .ok), at: moment(10, 0, 5)).first
        == .sweepCompleted(slot: moment(10, 0), answered: 2, failed: 0))
  }

  @Test func `missed slots are not replayed`() {
    var poller = poller(symbols: 1)
    _ = poller.received(.started, at: moment(10, 0, 2))
    _ = poller.received(answered(1, .ok), at: moment(10, 0, 2, 100))
    let actions = poller.received(.woke, at: moment(10, 20, 2))
    #expect(actions.requests.map(\.slot) == [moment(10, 20)])
    #expect(actions.last == .wake(at: moment(10, 20, 4, 200)))
  }

  @Test func `a wake that comes long after a window asks for nothing`() {
    var poller = poller(symbols: 1)
    _ = poller.received(.started, at: moment(10, 0, 2))
    #expect(
      poller.received(.woke, at: moment(12, 0)) == [.wake(at: moment(12, 59, 1, 200))])
  }

  @Test func `a clock set back does not ask again at once, and goes on with the new time`() {
    var poller = poller(symbols: 1)
    _ = poller.received(.started, at: moment(10, 0, 2))
    #expect(
      poller.received(answered(1, .ok), at: moment(9, 50, 2)).last
        == .wake(at: moment(9, 50, 4, 200)))
    #expect(poller.received(.woke, at: moment(9, 50, 4, 200)).requests.count == 1)
  }

  @Test func `answers nobody waits for are ignored`() {
    var poller = poller(symbols: 1)
    #expect(poller.received(answered(9, .banned), at: moment(10, 0)) == [])
    _ = poller.received(.started, at: moment(10, 0, 2))
    #expect(poller.received(answered(9, .banned), at: moment(10, 0, 2)) == [])
    _ = poller.received(answered(1, .ok), at: moment(10, 0, 2, 100))
    #expect(poller.received(answered(1, .banned), at: moment(10, 0, 2, 200)) == [])
  }

  @Test func `after stopping nothing is asked, and what is in flight is still accounted for`() {
    var poller = poller(symbols: 1)
    _ = poller.received(.started, at: moment(10, 0, 2))
    #expect(poller.received(.stopping, at: moment(10, 0, 2)) == [])
    #expect(
      poller.received(answered(1, .transient), at: moment(10, 0, 2, 100)).first
        == .sweepCompleted(slot: moment(10, 0), answered: 0, failed: 1))
    #expect(poller.received(.woke, at: moment(10, 0, 4, 200)) == [])
    #expect(poller.received(.started, at: moment(10, 0, 5)) == [])
  }
}
