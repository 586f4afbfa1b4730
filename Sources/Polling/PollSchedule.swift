// When to ask: slots on the exchange's publishing grid.
//
// An exchange publishes at :00, :03, :06 and so on; a slot asks for one of those snapshots, a phase
// later so that it has arrived at the source. Part of the phase is drawn from the seed, so that not
// every client in the world asks in the same millisecond; drawn once, because a phase that moves
// back and forth over the moment a row arrives sees one row twice and skips the next (999 of 4,770
// rows of a recorded bond). The schedule is a pure function of time and phase; the phase only ever
// moves forward, and stays below every cadence: a slot is due before the next begins and none is
// skipped for it.
import Market

/// One moment to ask.
package struct PollSlot: Sendable, Hashable {
  /// The grid moment whose snapshot is wanted: the slot's name.
  package let grid: Timestamp
  /// When to ask.
  package let due: Timestamp
  package let cadenceSeconds: Int
}

/// The slots of a source, as a function of time.
package struct PollSchedule: Sendable {
  package let windows: [PollWindow]
  /// Whose clock the windows are on.
  let zone: MarketZone
  /// How long after each grid moment a slot is due.
  package private(set) var phaseMilliseconds: Int
  /// The phase as it was drawn.
  let phaseMillisecondsFirst: Int
  /// The phase moves no further.
  let phaseMillisecondsMax: Int
  /// Which days are asked for: those that a calendar does not know are, where they may trade.
  package var isTradingDay: @Sendable (TradingDay) -> Bool
  /// Of the others, those of which one batch a minute is asked: should they trade, it shows.
  package var isWatched: @Sendable (TradingDay) -> Bool = { _ in false }
  /// The windows of a day, where the market's hours change with the years.
  package var windowsOfDay: (@Sendable (TradingDay) -> [PollWindow])?

  package static let phaseMillisecondsDefault = 1_200
  package static let spreadMillisecondsDefault = 300
  /// Wider than the 40 ms over which a recorded bond's rows arrived.
  static let stepMilliseconds = 50
  /// A row is worth waiting for, but not longer than this: it is as old by then.
  static let stepsMillisecondsMax = 1_000
  /// The longest closure on record is ten days (the spring festival of 2020).
  static let searchDaysMax = 30

  /// - Parameter spreadMilliseconds: the phase is up to so much longer, as the seed decides.
  /// - Precondition: phase and spread are not negative and together below the shortest cadence.
  package init(
    windows: [PollWindow] = PollWindow.aShare(), zone: MarketZone = .shanghai,
    phaseMilliseconds: Int = phaseMillisecondsDefault,
    spreadMilliseconds: Int = spreadMillisecondsDefault, seed: UInt64,
    isTradingDay: @escaping @Sendable (TradingDay) -> Bool
  ) {
    let cadenceMilliseconds = (windows.map(\.cadenceSeconds).min() ?? 3_600) * 1_000
    precondition(phaseMilliseconds >= 0 && spreadMilliseconds >= 0)
    precondition(phaseMilliseconds + spreadMilliseconds < cadenceMilliseconds)
    var generator = SplitMix64(seed: seed)
    let drawn = Int.random(in: 0..<max(spreadMilliseconds, 1), using: &generator)
    let first = phaseMilliseconds + drawn
    self.windows = windows
    self.zone = zone
    self.phaseMilliseconds = first
    phaseMillisecondsFirst = first
    // The last fifth of a cadence is for the answers, which are due before the next slot.
    phaseMillisecondsMax = max(
      first, min(first + Self.stepsMillisecondsMax, cadenceMilliseconds * 4 / 5))
    self.isTradingDay = isTradingDay
  }

  /// Lets slots from here on begin a step later.
  /// - Returns: false where that is too late.
  mutating func beginLater() -> Bool {
    guard phaseMilliseconds + Self.stepMilliseconds <= phaseMillisecondsMax else { return false }
    phaseMilliseconds += Self.stepMilliseconds
    return true
  }

  /// This schedule with the phase that `other` has moved to, if both began at the same.
  func movedAs(_ other: PollSchedule) -> PollSchedule {
    guard phaseMillisecondsFirst == other.phaseMillisecondsFirst else { return self }
    var moved = self
    moved.phaseMilliseconds = min(other.phaseMilliseconds, phaseMillisecondsMax)
    return moved
  }

  /// The first slot due later than `moment`; nil without a window, or a trading day for a month.
  package func nextSlot(after moment: Timestamp) -> PollSlot? {
    guard !windows.isEmpty else { return nil }
    let first = zone.day(at: moment.adding(milliseconds: -Int64(phaseMilliseconds)))
    for day in first..<first.advanced(by: PollSchedule.searchDaysMax) {
      if let slot = firstSlot(of: day, after: moment) { return slot }
    }
    return nil
  }

  /// The latest slot due by `moment`, while it is not older than its cadence.
  package func slot(at moment: Timestamp) -> PollSlot? {
    let asked = moment.adding(milliseconds: -Int64(phaseMilliseconds))
    let day = zone.day(at: asked)
    let second = Int(asked.microseconds(since: zone.moment(on: day, secondOfDay: 0)) / 1_000_000)
    let slots = windows(on: day).compactMap { window -> PollSlot? in
      guard let grid = window.lastGrid(upTo: second) else { return nil }
      let latest = slot(day, gridSecond: grid, window: window)
      guard latest.due > moment else { return latest }
      return window.lastGrid(upTo: grid - 1).map { slot(day, gridSecond: $0, window: window) }
    }
    guard let latest = slots.max(by: { $0.due < $1.due }) else { return nil }
    let isFresh = moment < latest.due.adding(seconds: Int64(latest.cadenceSeconds))
    return isFresh ? latest : nil
  }

  private func firstSlot(of day: TradingDay, after moment: Timestamp) -> PollSlot? {
    let midnight = zone.moment(on: day, secondOfDay: 0)
    let earliest = moment.adding(milliseconds: -Int64(phaseMilliseconds))
      .microseconds(since: midnight)
    let second = earliest > 0 ? Int(min(earliest / 1_000_000, 86_400)) : 0
    return windows(on: day).compactMap { firstSlot(of: day, in: $0, from: second, after: moment) }
      .min { $0.due < $1.due }
  }

  private func windows(on day: TradingDay) -> [PollWindow] {
    let windows = windowsOfDay?(day) ?? windows
    if isTradingDay(day) { return windows }
    return isWatched(day) ? PollWindow.watching(windows) : []
  }

  private func firstSlot(
    of day: TradingDay, in window: PollWindow, from second: Int, after moment: Timestamp
  ) -> PollSlot? {
    var grid = window.firstGrid(from: second)
    while let candidate = grid {
      let slot = slot(day, gridSecond: candidate, window: window)
      if slot.due > moment { return slot }
      grid = window.firstGrid(from: candidate + 1)
    }
    return nil
  }

  private func slot(_ day: TradingDay, gridSecond: Int, window: PollWindow) -> PollSlot {
    let grid = zone.moment(on: day, secondOfDay: gridSecond)
    return PollSlot(
      grid: grid, due: grid.adding(milliseconds: Int64(phaseMilliseconds)),
      cadenceSeconds: window.cadenceSeconds)
  }
}
