import TestSupport
import Testing

@testable import Market
@testable import Polling

@Suite struct PollScheduleTests {
  /// All slots of a day, found by asking again and again for the next.
  private func slots(_ schedule: PollSchedule, of day: TradingDay) -> [PollSlot] {
    var slots: [PollSlot] = []
    var cursor = Timestamp(day: day, secondOfDay: 0)
    while let slot = schedule.nextSlot(after: cursor), slot.grid.shanghaiDay == day {
      slots.append(slot)
      cursor = slot.due
    }
    return slots
  }

  @Test func `an A-share day has every grid moment of its windows`() {
    let grids = slots(schedule(), of: monday).map(\.grid)
    var expected: [Timestamp] = []
    expected += stride(from: 32_400, to: 33_270, by: 60).map(second)
    expected += stride(from: 33_270, to: 41_460, by: 3).map(second)
    expected += stride(from: 46_740, to: 54_090, by: 3).map(second)
    expected += stride(from: 54_090, to: 56_400, by: 30).map(second)
    #expect(grids == expected)
  }

  private func second(_ second: Int) -> Timestamp {
    Timestamp(day: monday, secondOfDay: second)
  }

  @Test func `a slot is due a phase after its grid moment`() {
    #expect(
      schedule().nextSlot(after: moment(10, 0))
        == PollSlot(grid: moment(10, 0), due: moment(10, 0, 1, 200), cadenceSeconds: 3))
    #expect(
      schedule().nextSlot(after: moment(10, 0, 1, 200))
        == PollSlot(grid: moment(10, 0, 3), due: moment(10, 0, 4, 200), cadenceSeconds: 3))
  }

  @Test func `the phase is drawn once, skips no slot and differs between daemons`() {
    let seeds = (0..<20).map { _ in UInt64.random(in: .min ... .max) }
    let drawn = seeds.map { seed in
      let slots = slots(schedule(spreadMilliseconds: 1_700, seed: seed), of: monday)
      #expect(slots.map(\.grid) == self.slots(schedule(), of: monday).map(\.grid), "seed \(seed)")
      let delays = Set(slots.map { $0.due.microseconds(since: $0.grid) })
      #expect(delays.count == 1, "seed \(seed)")
      #expect(delays.allSatisfy { (1_200_000..<2_900_000).contains($0) }, "seed \(seed)")
      return delays
    }
    #expect(Set(drawn).count > 5, "seeds \(seeds)")
  }

  @Test func `the same seed gives the same day`() {
    let first = slots(schedule(spreadMilliseconds: 300, seed: 5), of: monday)
    #expect(first == slots(schedule(spreadMilliseconds: 300, seed: 5), of: monday))
    #expect(first != slots(schedule(spreadMilliseconds: 300, seed: 6), of: monday))
  }

  @Test func `the next slot after Friday's last is Monday's first`() {
    let friday = monday.advanced(by: 4)
    let evening = Timestamp(day: friday, secondOfDay: 20 * 3_600)
    let next = Timestamp(day: monday.advanced(by: 7), secondOfDay: 9 * 3_600)
    #expect(schedule().nextSlot(after: evening)?.grid == next)
  }

  @Test func `a weekday that no calendar knows has the slots of a trading day`() throws {
    let supposing = PollSchedule(
      spreadMilliseconds: 0, seed: 1, isTradingDay: TradingCalendar.shanghai.mayTrade)
    let last = TradingCalendar.shanghai.lastDay
    try #require(last.description == "2026-12-31" && last.weekday == 4)
    for (evening, next) in [(0, 1), (1, 4)] {
      let (evening, next) = (last.advanced(by: evening), last.advanced(by: next))
      let night = Timestamp(day: evening, secondOfDay: 20 * 3_600)
      let slot = supposing.nextSlot(after: night)
      #expect(slot?.grid == Timestamp(day: next, secondOfDay: 9 * 3_600))
    }
    let day = slots(supposing, of: last.advanced(by: 4)).map { $0.grid.shanghaiSecondOfDay }
    #expect(day == slots(schedule(), of: monday).map { $0.grid.shanghaiSecondOfDay })
  }

  @Test func `a day that is only watched has a slot a minute, from first to last window`() {
    var watching = schedule()
    watching.isTradingDay = { $0 != monday && !$0.isWeekend }
    watching.isWatched = { $0 == monday }
    let slots = slots(watching, of: monday)
    #expect(slots.map(\.grid) == stride(from: 32_400, to: 56_400, by: 60).map(second))
    #expect(watching.slot(at: moment(10, 0, 30))?.grid == moment(10, 0))
    let tuesday = slots.last.flatMap { watching.nextSlot(after: $0.due) }
    #expect(tuesday?.grid == moment(9, 0).adding(seconds: 86_400))
  }

  @Test func `without a trading day or a window there is no slot`() {
    #expect(PollSchedule(seed: 1) { _ in false }.nextSlot(after: moment(9, 0)) == nil)
    #expect(
      PollSchedule(windows: [], seed: 1) { _ in true }.nextSlot(after: moment(9, 0)) == nil)
  }

  @Test func `the slot in force is the latest due, while it is fresh`() {
    let schedule = schedule()
    #expect(schedule.slot(at: moment(10, 0, 1, 199))?.grid == moment(9, 59, 57))
    #expect(schedule.slot(at: moment(10, 0, 1, 200))?.grid == moment(10, 0))
    #expect(schedule.slot(at: moment(11, 31, 0))?.grid == moment(11, 30, 57))
    #expect(schedule.slot(at: moment(11, 31, 1, 200)) == nil)
    #expect(schedule.slot(at: moment(3, 0)) == nil)
    #expect(schedule.slot(at: moment(10, 0).adding(seconds: -86_400)) == nil)
  }

  @Test func `slot and next slot agree at random moments`() {
    let seed = UInt64.random(in: .min ... .max)
    var generator = SplitMix(seed: seed)
    let schedule = schedule(spreadMilliseconds: 300, seed: seed)
    for _ in 0..<5_000 {
      let start = moment(8, 50).microseconds
      let now = Timestamp(
        microseconds: start + Int64.random(in: 0..<(7 * 3_600_000_000), using: &generator))
      guard let next = schedule.nextSlot(after: now) else { continue }
      #expect(next.due > now, "seed \(seed)")
      guard let current = schedule.slot(at: now) else { continue }
      #expect(current.due <= now && current.grid < next.grid, "seed \(seed)")
      #expect(schedule.nextSlot(after: current.due) == next, "seed \(seed) \(now)")
    }
  }

  @Test func `on a day with longer hours there are slots to its close`() {
    let today = MarketDefinition.mainlandChina
    let longer = MarketDefinition(
      code: today.code, name: today.name, zone: today.zone, currency: today.currency,
      sessions: [
        SessionHours(opens: 34_200, closes: 41_400), SessionHours(opens: 46_800, closes: 57_600),
      ], auction: today.auction, tradingDays: today.tradingDays)
    let windows = [
      PollWindow.windows(of: longer, every: 3), PollWindow.aShare(every: 3),
    ]
    #expect(windows[0].contains { $0.opensAt == 46_740 && $0.closesAt == 57_690 })
    #expect(windows[1].map(\.opensAt) == [32_400, 33_270, 46_740, 54_090])
    #expect(windows[1].map(\.closesAt) == [33_270, 41_460, 54_090, 56_400])
    var schedule = PollSchedule(seed: 1) { _ in true }
    schedule.windowsOfDay = { windows[$0.weekday == 1 ? 0 : 1] }
    let monday = TradingDay(daysSince1970: 20_640)
    func cadence(on day: TradingDay) -> Int? {
      schedule.nextSlot(after: Timestamp(day: day, secondOfDay: 56_000))?.cadenceSeconds
    }
    #expect(cadence(on: monday) == 3 && cadence(on: monday.advanced(by: 1)) == 30)
  }
}
