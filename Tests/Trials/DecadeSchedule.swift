import Market
import TestSupport

/// Which days of the ten years are lived through, and what is special about each.
struct DecadeSchedule {
  private let calendar: DecadeCalendar
  private let byDay: [TradingDay: [DecadeEvent]]
  private let days: Set<TradingDay>

  private let isShort: Bool

  /// - Parameters:
  ///   - isShort: no day but those of events and the ones before them.
  ///   - hasFirstDates: of each event no more than the first.
  init(
    events: [DecadeEvent], shift: Int, calendar: DecadeCalendar, isShort: Bool,
    hasFirstDates: Bool
  ) {
    (self.calendar, self.isShort) = (calendar, isShort)
    var byDay: [TradingDay: [DecadeEvent]] = [:]
    for event in events {
      for day in Set(event.days(shiftedBy: shift, calendar, isShort: hasFirstDates)) {
        byDay[day, default: []].append(event)
      }
    }
    self.byDay = byDay
    days = Set(byDay.keys)
  }

  /// Days on which nothing runs.
  var daysOff: Set<TradingDay> {
    Set(byDay.filter { $0.value.contains(where: \.isMachineOff) }.keys)
  }

  func events(on day: TradingDay) -> [DecadeEvent] { byDay[day] ?? [] }

  /// Days on which something can be seen: of those that a calendar declares closed a few.
  func days(
    from first: TradingDay, through last: TradingDay
  ) -> [TradingDay] {
    let before = Set(
      days.compactMap { day in
        (1...20).lazy.map { day.advanced(by: -$0) }.first(where: calendar.trades)
      })
    return (first...last).filter { day in
      let events = events(on: day)
      if events.contains(where: \.isMachineOff) { return false }
      if !events.isEmpty { return true }
      if isShort { return before.contains(day) }
      let isSupposed = calendar.publicationDay(of: day.civil.year) > day
      return calendar.trades(day)
        || !day.isWeekend && (isSupposed || Int(day.daysSince1970) % 8 == 0)
    }
  }

  func plan(of day: TradingDay, seed: UInt64) -> DecadePlan {
    var plan = DecadePlan(day)
    plan.trades = calendar.trades(day)
    var random = SplitMix(seed: seed &+ UInt64(day.daysSince1970))
    let events = events(on: day)
    if !events.isEmpty || Int.random(in: 0..<10, using: &random) == 0 {
      plan.restartAt = Int.random(in: 9 * 3600 + 1_860..<15 * 3600, using: &random)
    }
    for event in events { event.prepare(&plan) }
    return plan
  }
}
