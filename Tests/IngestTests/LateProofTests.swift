import Ingest
import Market
import Testing
import Trials

/// Minutes proven only after their grace period.
@Suite struct LateProofTests {
  @Test func `a minute proven late is final with its last chance and not reported as missing`() {
    var plan = Recording.plan(seed: 9)
    plan.cadenceSeconds = 3
    plan.instruments = 14
    plan.end = 10 * 3600 + 2 * 60
    // The answers of 10:00:54 to 10:01:03 are lost: no gap, but 10:01:06 finds nothing proven.
    plan.outages = [36_055..<36_067]
    let tables = Recording(plan).tables
    let opening = Timestamp(day: plan.day, secondOfDay: 36_000)
    #expect(tables.gaps.isEmpty)
    #expect(tables.candles.keys.contains { $0.openedAt == opening })
    let missing = tables.events.compactMap { event in
      if case .minuteComplete(let minute) = event, minute.openedAt == opening {
        minute.missing
      } else {
        nil
      }
    }
    #expect(missing == [0])
    #expect(!tables.events.contains { if case .feedStalled = $0 { true } else { false } })
  }
}
