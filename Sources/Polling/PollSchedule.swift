// When to ask: slots on the exchange's publishing grid.
//
// An exchange publishes at :00, :03, :06 and so on; a slot asks for one of those snapshots, a phase
// later so that it has arrived at the source, plus a little jitter so that not every client in the
// world asks in the same millisecond. The jitter is a hash of (seed, slot): the schedule is a pure
// function of time, has no state to lose, and gives the same day twice. Phase and jitter together
// stay below every cadence: a slot is due before the next begins and none is skipped for it.
import Market

/// One moment to ask.
public struct PollSlot: Sendable, Hashable {
  /// The grid moment whose snapshot is wanted: the slot's name.
  public let grid: Timestamp
  /// When to ask.
  public let due: Timestamp
  public let cadenceSeconds: Int
}

/// What comes after a moment.
public enum NextSlot: Sendable, Hashable {
  case slot(PollSlot)
  /// The calendar does not reach this day.
  case calendarUnknown(TradingDay)
  /// No window, or no trading day for a month.
  case none
}

/// The slots of a source, as a function of time.
public struct PollSchedule: Sendable {
  public let windows: [PollWindow]
  public let phaseMilliseconds: Int
  /// The jitter is below this.
  public let jitterMillisecondsMax: Int
  public let seed: UInt64
  /// nil where the calendar does not say.
  public let isTradingDay: @Sendable (TradingDay) -> Bool?

  public static let phaseMillisecondsDefault = 1_200
  public static let jitterMillisecondsMaxDefault = 300
  /// The longest closure on record is ten days (the spring festival of 2020).
  static let searchDaysMax = 30

  /// - Precondition: phase and jitter are not negative and together below the shortest cadence.
  public init(
    windows: [PollWindow] = PollWindow.aShare(),
    phaseMilliseconds: Int = phaseMillisecondsDefault,
    jitterMillisecondsMax: Int = jitterMillisecondsMaxDefault, seed: UInt64,
    isTradingDay: @escaping @Sendable (TradingDay) -> Bool?
  ) {
    let cadenceMilliseconds = (windows.map(\.cadenceSeconds).min() ?? 3_600) * 1_000
    precondition(phaseMilliseconds >= 0 && jitterMillisecondsMax >= 0)
    precondition(phaseMilliseconds + jitterMillisecondsMax < cadenceMilliseconds)
    self.windows = windows
    self.phaseMilliseconds = phaseMilliseconds
    self.jitterMillisecondsMax = jitterMillisecondsMax
    self.seed = seed
    self.isTradingDay = isTradingDay
  }

  /// The first slot due later than `moment`.
  public func nextSlot(after moment: Timestamp) -> NextSlot {
    guard !windows.isEmpty else { return .none }
    let delay = phaseMilliseconds + jitterMillisecondsMax
    let first = moment.adding(milliseconds: -Int64(delay)).shanghaiDay
    for day in first..<first.advanced(by: PollSchedule.searchDaysMax) {
      guard let isTradingDay = isTradingDay(day) else { return .calendarUnknown(day) }
      if isTradingDay, let slot = firstSlot(of: day, after: moment) { return .slot(slot) }
    }
    return .none
  }

  /// The latest slot due by `moment`, while it is not older than its cadence.
  public func slot(at moment: Timestamp) -> PollSlot? {
    let asked = moment.adding(milliseconds: -Int64(phaseMilliseconds))
    let day = asked.shanghaiDay
    guard isTradingDay(day) == true else { return nil }
    let second = asked.shanghaiSecondOfDay
    let slots = windows.compactMap { window -> PollSlot? in
      guard let grid = window.lastGrid(upTo: second) else { return nil }
      let latest = slot(day, grid, window)
      guard latest.due > moment else { return latest }
      return window.lastGrid(upTo: grid - 1).map { slot(day, $0, window) }
    }
    guard let latest = slots.max(by: { $0.due < $1.due }) else { return nil }
    let isFresh = moment < latest.due.adding(seconds: Int64(latest.cadenceSeconds))
    return isFresh ? latest : nil
  }

  private func firstSlot(of day: TradingDay, after moment: Timestamp) -> PollSlot? {
    let midnight = Timestamp(day: day, secondOfDay: 0)
    let delay = Int64(phaseMilliseconds + jitterMillisecondsMax)
    let earliest = moment.adding(milliseconds: -delay).microseconds(since: midnight)
    let second = earliest > 0 ? Int(min(earliest / 1_000_000, 86_400)) : 0
    return windows.compactMap { firstSlot(of: day, in: $0, from: second, after: moment) }
      .min { $0.due < $1.due }
  }

  private func firstSlot(
    of day: TradingDay, in window: PollWindow, from second: Int, after moment: Timestamp
  ) -> PollSlot? {
    var grid = window.firstGrid(from: second)
    while let candidate = grid {
      let slot = slot(day, candidate, window)
      if slot.due > moment { return slot }
      grid = window.firstGrid(from: candidate + 1)
    }
    return nil
  }

  private func slot(_ day: TradingDay, _ gridSecond: Int, _ window: PollWindow) -> PollSlot {
    let grid = Timestamp(day: day, secondOfDay: gridSecond)
    let delay = phaseMilliseconds + jitterMilliseconds(at: grid)
    return PollSlot(
      grid: grid, due: grid.adding(milliseconds: Int64(delay)),
      cadenceSeconds: window.cadenceSeconds)
  }

  private func jitterMilliseconds(at grid: Timestamp) -> Int {
    guard jitterMillisecondsMax > 0 else { return 0 }
    var generator = SplitMix64(seed: seed ^ UInt64(bitPattern: grid.seconds))
    return Int.random(in: 0..<jitterMillisecondsMax, using: &generator)
  }
}
