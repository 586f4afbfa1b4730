import ExchangeSimulator
import Market

/// When a source writes its lines that shows the exchange's second hand: each instrument's line is
/// written anew every three seconds, in a second of its own, from a state that is a little old. Its
/// stamp is that of the writing, not of a trade, so that it says nothing about when its instrument
/// last changed.
///
/// A pure function of (seed, instrument, second): who judges what was served needs no more than the
/// second of the answer. The hours are those of docs/sources/tencent.md#the-course-of-a-day;
/// between them lines rest.
package struct RefreshedLines: Sendable, Hashable {
  private let seed: UInt64

  /// A state was this old at most when its line was written; the line is shown for three seconds.
  private static let lagSecondsMax: Int64 = 4
  /// So old a shown state can be.
  static let ageSecondsMax = Int(lagSecondsMax) + Grid.periodSeconds - 1

  /// How long after a session the last lines of it are written: what it printed last must be seen.
  private static let tailSeconds = 10
  private static let shenzhenTail = Grid.shenzhenClose + 9
  /// Every line is written once more then, in a second of its own.
  private static let restamp = Grid.clock(16, 14)

  /// One line as it stands.
  package struct Line: Sendable {
    /// The second whose state it shows, and the stamp.
    package var state: Int32
    package var stamp: Int32

    /// It is of the session before.
    package var isPreviousSession: Bool { state < Int32(Grid.dayReset) }
  }

  /// What one answer showed.
  package struct Response: Sendable {
    package var lines: RefreshedLines
    /// Since the midnight of the market's day.
    package var second: Int32
    /// The latest stamp of today, as each line of the answer has it; 0 for one of another day.
    package var stamps: [Int32]

    package init(lines: RefreshedLines, second: Int32, stamps: [Int32]) {
      self.lines = lines
      self.second = second
      self.stamps = stamps
    }
  }

  package init(seed: UInt64) { self.seed = seed }

  package func line(of place: Int32, _ traits: Traits, at second: Int) -> Line {
    var random = Randomness(seed: seed &+ 0x7E9C, stream: UInt64(place))
    let phase = Int(random.below(Int64(Grid.periodSeconds)))
    let lag = Int(random.below(RefreshedLines.lagSecondsMax + 1))
    let last = RefreshedLines.lastStamp(traits, shift: Int(random.below(61)))
    if second >= last { return Line(state: Int32(second), stamp: Int32(last)) }
    for hours in RefreshedLines.hours(traits) {
      let now = min(second, hours.upperBound)
      let written = now - (now + Grid.periodSeconds - phase) % Grid.periodSeconds
      if written < hours.lowerBound { continue }
      let line = Line(state: Int32(written - lag), stamp: Int32(written))
      return line.isPreviousSession ? Line(state: 0, stamp: Int32(last)) : line
    }
    return Line(state: 0, stamp: Int32(last))
  }

  /// When lines are written, the latest hours first.
  private static func hours(_ traits: Traits) -> [ClosedRange<Int>] {
    let morning = Grid.dayReset...(Grid.morningClose + tailSeconds)
    if traits.isShanghaiIndex {
      return [Grid.afternoonOpen...Grid.indexStampsEnd, morning]
    }
    let afternoon = Grid.afternoonOpen...shenzhenTail
    if !traits.afterHours { return [afternoon, morning] }
    return [Grid.afterHoursOpen...(Grid.afterHoursClose + tailSeconds), afternoon, morning]
  }

  /// 16:14:00 to 16:15:00; Beijing's lines rest since 15:34:30.
  private static func lastStamp(_ traits: Traits, shift: Int) -> Int {
    traits.exchange == .beijing ? Grid.shenzhenRestamp : restamp + shift
  }
}

/// What such a source states of the totals.
extension RefreshedLines {
  /// Shares are counted in so many, to the nearest.
  package static func lot(_ traits: Traits) -> Int64 { traits.board == .star ? 1 : 100 }

  package static func lots(_ shares: Int64, _ traits: Traits) -> Int64 {
    nearest(shares, unit: lot(traits))
  }

  /// Of thousandths.
  package static func yuan(_ thousandths: Int64) -> Int64 { nearest(thousandths, unit: 1000) }

  static func nearest(_ value: Int64, unit: Int64) -> Int64 {
    (2 * value + unit) / (2 * unit)
  }
}

/// The states of a market in the last seconds, for lines that show earlier ones.
struct RecentStates {
  private(set) var market: SimulatedMarket
  /// One for each second up to the market's, the latest last.
  private var states: [[InstrumentState]]

  private static let secondsMax = RefreshedLines.ageSecondsMax + 1
  /// Beyond, going back to a checkpoint is cheaper.
  private static let stepsMax = 600

  /// As of `second` of the day of `moment`.
  init(at moment: Timestamp, in timeline: inout MarketTimeline, watchedBy observers: DayObservers) {
    let (day, second) = timeline.show(at: moment, watchedBy: observers) { ($0.day, $0.second) }
    let earlier = max(second - RecentStates.secondsMax, Grid.dayReset - 1)
    market = timeline.show(
      at: Timestamp(day: day, secondOfDay: earlier), watchedBy: observers
    ) { $0.withoutLines() }
    states = [market.states]
    advance(to: second)
  }

  /// The same day later; false if it is another day, or too far away.
  mutating func goes(to moment: Timestamp, in timeline: MarketTimeline) -> Bool {
    let second = market.publication(at: moment)
    guard timeline.history.day(at: moment) == market.day, second >= market.second,
      second - market.second <= RecentStates.stepsMax
    else { return false }
    advance(to: second)
    return true
  }

  private mutating func advance(to second: Int) {
    while market.second < second {
      market.advance(to: Timestamp(day: market.day, secondOfDay: market.second + 1))
      if states.count >= RecentStates.secondsMax { states.removeFirst() }
      states.append(market.states)
    }
  }

  /// While a line rests its state does too: the oldest one known is then as good as an older one.
  func state(of place: Int32, at second: Int32) -> InstrumentState {
    let latest = states.count - 1
    let index = latest - (market.second - Int(second))
    return states[min(max(index, 0), latest)][Int(place)]
  }
}
