// When to ask for a list of instruments.
//
// A list is due so many calendar days after the last accepted one, from 16:30 Shanghai on a trading
// day (the source renews it at 16:20), a few minutes later by a jitter of the day, with more tries
// up to an hour and a half later, and again on the next trading day. All moments are a function of
// the day, and a moment is used up by the request that was made after it: so the plan is rebuilt
// from two times, and a crash loop asks no oftener than a calm day. A daemon that slept through the
// moments asks when it wakes. The very first list is wanted at once, on any day, but where none is
// ever accepted (a licence may lack a board) the tries become rare: each costs a request a host.
import Market

/// The refreshes of one list.
package struct ListPlan: Sendable {
  package enum Event: Sendable, Hashable {
    /// The moment of the latest `wake` has come, or the daemon has started.
    case woke
    /// A list was accepted.
    case accepted
    /// An unknown code was seen, or a new listing is expected: the next 16:30, due or not.
    case wanted
    /// What was listed is known no more: now, and at the next 16:30 for the source may be late.
    case wantedNow
  }

  package enum Action: Sendable, Hashable {
    case ask
    /// Replaces every earlier wake.
    case wake(at: Timestamp)
    /// The tries of this day brought no list.
    case overdue(TradingDay)
  }

  private let seed: UInt64
  private let intervalDays: Int
  private let jitterSecondsMax: Int
  package var isTradingDay: @Sendable (TradingDay) -> Bool?
  private var acceptedAt: Timestamp?
  private var askedAt: Timestamp?
  private var wantedAt: Timestamp?
  /// When it was last asked for at once; until that is answered.
  private var hurriedAt: Timestamp?
  /// Tries for the first list of all.
  private var triesFirst: Int
  private var alarmedDay: TradingDay?

  /// Seconds since Shanghai midnight of the first try.
  private static let opensAt = 16 * 3_600 + 30 * 60
  /// The tries of a day, after the first moment (docs/sources/mairui.md#tries).
  private static let tryMinutes = [0, 5, 15, 45, 90]
  /// Seconds since Shanghai midnight; without a list by then somebody should know.
  private static let alarmAt = 18 * 3_600 + 30 * 60
  /// The pauses between the tries for the first list, the last one for ever.
  static let pauseMinutesFirst = [5, 10, 30, 45, 90, 180, 300]
  /// The number of these tries that count as made after a restart: somebody may have mended what
  /// was wrong. A crash loop asks no oftener than each half hour, and the ring keeps the quota.
  static let triesFirstRestored = 3
  /// Between a request and one that is made at once.
  static let hurryPauseSeconds: Int64 = 600
  /// The longest closure on record is ten days.
  static let searchDaysMax = 30

  /// - Parameters:
  ///   - acceptedAt: when a list was last accepted; nil if never.
  ///   - askedAt: when one was last asked for, as the journal knows; nil if never.
  ///   - isTradingDay: nil where the calendar does not say: weekdays then, a request is cheap.
  package init(
    seed: UInt64, intervalDays: Int = 10, jitterSecondsMax: Int = 300, acceptedAt: Timestamp?,
    askedAt: Timestamp?, isTradingDay: @escaping @Sendable (TradingDay) -> Bool?
  ) {
    self.seed = seed
    self.intervalDays = intervalDays
    self.jitterSecondsMax = jitterSecondsMax
    self.acceptedAt = acceptedAt
    self.askedAt = askedAt
    self.isTradingDay = isTradingDay
    triesFirst = askedAt == nil ? 0 : ListPlan.triesFirstRestored
  }

  /// Takes an event at a wall-clock moment; returns what to do, in order.
  package mutating func received(_ event: Event, at now: Timestamp) -> [Action] {
    switch event {
    case .woke: break
    case .accepted:
      acceptedAt = now
      wantedAt = hurriedAt.flatMap { $0.shanghaiDay == now.shanghaiDay ? $0 : nil }
      hurriedAt = nil
    case .wanted, .wantedNow: wantedAt = wantedAt ?? now
    }
    var actions: [Action] = []
    let isHurried = event == .wantedNow && mayHurry(now)
    if isHurried { hurriedAt = now }
    if isHurried || isDue(now) {
      askedAt = now
      triesFirst += 1
      actions.append(.ask)
    }
    if let day = dayOverdue(now), day != alarmedDay {
      alarmedDay = day
      actions.append(.overdue(day))
    }
    if let wake = nextMoment(after: now) { actions.append(.wake(at: wake)) }
    return actions
  }

  private func mayHurry(_ now: Timestamp) -> Bool {
    askedAt.map { now >= $0.adding(seconds: Self.hurryPauseSeconds) } ?? true
  }

  private func isDue(_ now: Timestamp) -> Bool {
    guard acceptedAt != nil else { return firstDue.map { $0 <= now } ?? true }
    let latest = days(endingOn: now.shanghaiDay).lazy
      .compactMap { day in moments(of: day).last { $0 <= now } }.first
    guard let latest else { return false }
    return askedAt.map { $0 < latest } ?? true
  }

  /// When the first list of all may be asked for again.
  private var firstDue: Timestamp? {
    let pauses = ListPlan.pauseMinutesFirst
    let pause = pauses[min(max(triesFirst, 1), pauses.count) - 1]
    return askedAt?.adding(seconds: Int64(pause) * 60)
  }

  /// The last day whose tries are over, if they were made and brought nothing.
  private func dayOverdue(_ now: Timestamp) -> TradingDay? {
    days(endingOn: now.shanghaiDay).first { day in
      guard let askedAt, askedAt.shanghaiDay == day, alarm(on: day) <= now else { return false }
      return acceptedAt == nil || moments(of: day).first.map { $0 <= askedAt } ?? false
    }
  }

  private func alarm(on day: TradingDay) -> Timestamp {
    Timestamp(day: day, secondOfDay: Self.alarmAt)
  }

  private func nextMoment(after now: Timestamp) -> Timestamp? {
    let today = now.shanghaiDay
    let first = max(today, dayDue ?? today)
    let day = (0..<ListPlan.searchDaysMax).lazy.map { first.advanced(by: $0) }
      .first { isAsked($0) && alarm(on: $0) > now }
    let tries = acceptedAt == nil ? [firstDue].compactMap { $0 } : day.map(moments(of:)) ?? []
    return (tries + [day.map(alarm(on:))].compactMap { $0 }).filter { $0 > now }.min()
  }

  // MARK: The days

  /// The first day on which a list is due; nil for the first list of all.
  private var dayDue: TradingDay? {
    guard let acceptedAt else { return nil }
    let due = acceptedAt.shanghaiDay.advanced(by: intervalDays)
    guard let wantedAt else { return due }
    let today = wantedAt.shanghaiDay
    let isTooLate = moments(of: today).first.map { $0 <= wantedAt } ?? true
    return min(due, isTooLate ? today.advanced(by: 1) : today)
  }

  /// The days on which a list was or is due, latest first.
  private func days(endingOn today: TradingDay) -> [TradingDay] {
    let earliest = today.advanced(by: -ListPlan.searchDaysMax)
    let first = max(dayDue ?? today, earliest)
    return first <= today ? (first...today).reversed().filter(isAsked) : []
  }

  private func isAsked(_ day: TradingDay) -> Bool { isTradingDay(day) ?? !day.isWeekend }

  private func moments(of day: TradingDay) -> [Timestamp] {
    var generator = SplitMix64(
      seed: seed ^ UInt64(bitPattern: Int64(day.daysSince1970)))
    let jitter = Int.random(in: 0...jitterSecondsMax, using: &generator)
    let first = Timestamp(day: day, secondOfDay: Self.opensAt + jitter)
    return Self.tryMinutes.map { first.adding(seconds: Int64($0) * 60) }
  }
}
