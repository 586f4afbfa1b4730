import Market
import Testing

@testable import Polling

@Suite struct ListPlanTests {
  private func plan(acceptedAt: Timestamp?, askedAt: Timestamp? = nil) -> ListPlan {
    ListPlan(seed: 7, jitterSecondsMax: 0, acceptedAt: acceptedAt, askedAt: askedAt) {
      !$0.isWeekend
    }
  }

  private func on(_ days: Int, _ hour: Int, _ minute: Int = 0) -> Timestamp {
    moment(hour, minute).adding(seconds: Int64(days) * 86_400)
  }

  /// Lets it wake as it asks to, and tells what it did.
  private func run(
    _ plan: inout ListPlan, from start: Timestamp, until end: Timestamp,
    _ onAsk: (Timestamp) -> Bool = { _ in false }
  ) -> (asked: [Timestamp], overdue: [TradingDay]) {
    var asked: [Timestamp] = []
    var overdue: [TradingDay] = []
    var now = start
    var event = ListPlan.Event.woke
    while now <= end {
      var next = end.adding(seconds: 1)
      var isAccepted = false
      for action in plan.received(event, at: now) {
        switch action {
        case .ask:
          asked.append(now)
          isAccepted = onAsk(now)
        case .wake(let at): next = at
        case .overdue(let day): overdue.append(day)
        }
      }
      event = isAccepted ? .accepted : .woke
      now = isAccepted ? now.adding(seconds: 2) : next
    }
    return (asked, overdue)
  }

  @Test func `a list is asked for ten days after the last one, at half past four`() {
    var plan = plan(acceptedAt: moment(16, 31))
    let done = run(&plan, from: moment(17, 0), until: on(30, 0)) { _ in true }
    // Thursday of next week, and then a Sunday, which waits for Monday.
    #expect(done.asked == [on(10, 16, 30), on(21, 16, 30)])
    #expect(done.overdue == [])
  }

  @Test func `a list that is wanted now is asked for now, and again at half past four`() {
    var plan = plan(acceptedAt: on(-6, 16, 31))
    let early = moment(9, 15)
    #expect(plan.received(.wantedNow, at: early).first == .ask)
    // More codes that are known no more wait for that one.
    #expect(plan.received(.wantedNow, at: early.adding(seconds: 5)).first != .ask)
    _ = plan.received(.accepted, at: early.adding(seconds: 9))
    let done = run(&plan, from: early.adding(seconds: 10), until: moment(20, 0)) { _ in true }
    #expect(done.asked == [moment(16, 30)])
  }

  @Test func `a day has five tries and an alarm, and the next trading day again`() {
    var plan = plan(acceptedAt: on(-6, 16, 31))
    let done = run(&plan, from: on(4, 12), until: on(7, 17))
    let minutes = [30, 35, 45, 75, 120]
    #expect(
      done.asked == minutes.map { on(4, 16, $0) } + [on(7, 16, 30), on(7, 16, 35), on(7, 16, 45)])
    #expect(done.overdue == [monday.advanced(by: 4)])
  }

  @Test func `an early refresh waits for the next half past four`() {
    for (wanted, asked) in [(moment(9, 31), moment(16, 30)), (moment(16, 40), on(1, 16, 30))] {
      var plan = plan(acceptedAt: on(-3, 16, 31), askedAt: on(-3, 16, 30))
      _ = plan.received(.wanted, at: wanted)
      #expect(run(&plan, from: wanted, until: on(5, 12)) { _ in true }.asked == [asked])
    }
  }

  @Test func `the first list of all is wanted at once, and again with longer pauses`() {
    var plan = plan(acceptedAt: nil)
    let start = on(-1, 3)
    let done = run(&plan, from: start, until: on(-1, 7))
    let minutes = done.asked.map { Int($0.microseconds(since: start) / 60_000_000) }
    #expect(minutes == [0, 5, 15, 45, 90, 180])
  }

  @Test func `a first list that never comes is asked for five times a day at most`() {
    var plan = plan(acceptedAt: nil)
    let asked = run(&plan, from: on(0, 0, 10), until: on(4, 0)).asked
    let counts = (0..<4).map { day in asked.count { $0.shanghaiDay == monday.advanced(by: day) } }
    #expect(counts[0] <= 10 && counts.dropFirst().allSatisfy { (4...5).contains($0) }, "\(counts)")
  }

  @Test func `a crash loop asks for the first list no oftener than each half hour`() {
    var askedAt: Timestamp? = on(0, 1)
    var count = 0
    for minute in 0..<600 {
      var plan = plan(acceptedAt: nil, askedAt: askedAt)
      let now = on(0, 1, minute)
      guard plan.received(.woke, at: now).contains(.ask) else { continue }
      askedAt = now
      count += 1
    }
    #expect(count == 19)
  }

  @Test func `a crash loop uses each moment of the day once`() {
    var askedAt: Timestamp?
    var asked: [Timestamp] = []
    for minute in 0..<600 {
      var plan = plan(acceptedAt: on(-20, 16, 31), askedAt: askedAt ?? on(-3, 18))
      let now = on(0, 14, minute)
      guard plan.received(.woke, at: now).contains(.ask) else { continue }
      askedAt = now
      asked.append(now)
    }
    #expect(asked == [30, 35, 45, 75, 120].map { on(0, 16, $0) })
  }

  @Test func `a daemon that slept through the moments asks when it wakes`() {
    var plan = plan(acceptedAt: on(-20, 16, 31), askedAt: on(-20, 16, 30))
    let done = run(&plan, from: moment(8, 0), until: moment(16, 29))
    #expect(done.asked == [moment(8, 0)])
    #expect(done.overdue == [])
  }

  @Test func `the jitter belongs to the day and stays below five minutes`() {
    var seconds: Set<Int> = []
    for day in 0..<40 {
      var plan = ListPlan(
        seed: 7, acceptedAt: on(-20, 16), askedAt: on(day - 1, 23)
      ) { _ in true }
      let asked = run(&plan, from: on(day, 16, 29), until: on(day, 16, 36)).asked
      seconds.insert((asked.first ?? on(day, 0)).shanghaiSecondOfDay - 59_400)
    }
    #expect(seconds.allSatisfy { (0...300).contains($0) })
    #expect(seconds.count > 20)
  }
}
