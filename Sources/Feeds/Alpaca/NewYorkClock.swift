/// Which New York day a bar belongs to and when it ends.
///
/// A page is ten thousand bars of a few days, so the day of the last one is remembered: the next is
/// nearly always in it.

import Market

struct NewYorkClock {
  private var day = TradingDay(daysSince1970: 0)
  private var midnight = Timestamp(seconds: 0)
  private var nextMidnight = Timestamp(seconds: 0)

  /// - Throws: `inconsistent` for a bar that starts where none of its length does: minutes and
  ///   hours are cut from UTC's (docs/sources/alpaca.md#bars), days and longer ones from New York's
  ///   midnights.
  mutating func interval(
    from openedAt: Timestamp, _ timeframe: Timeframe
  ) throws(RowFault) -> (day: TradingDay, closedAt: Timestamp) {
    if !(midnight..<nextMidnight).contains(openedAt) { move(to: openedAt) }
    if let minutes = timeframe.minutes {
      let seconds = Int64(minutes) * 60
      guard openedAt.microseconds % (seconds * 1_000_000) == 0 else {
        throw RowFault(.inconsistent, detail: "t: not the start of a \(timeframe.name) bar")
      }
      return (day, openedAt.adding(seconds: seconds))
    }
    guard openedAt == midnight else {
      throw RowFault(.inconsistent, detail: "t: not a New York midnight")
    }
    return (day, end(timeframe))
  }

  private mutating func move(to moment: Timestamp) {
    day = moment.newYorkDay
    midnight = Timestamp(day: day, newYorkSecondOfDay: 0)
    nextMidnight = Timestamp(day: day.advanced(by: 1), newYorkSecondOfDay: 0)
  }

  /// The end of a bar that starts with `day`.
  private func end(_ timeframe: Timeframe) -> Timestamp {
    switch timeframe {
    case .week1: return Timestamp(day: day.advanced(by: 7), newYorkSecondOfDay: 0)
    case .month1:
      let (year, month, _) = day.civil
      let next = TradingDay(
        year: month == 12 ? year + 1 : year, month: month == 12 ? 1 : month + 1, day: 1)
      return next.map { Timestamp(day: $0, newYorkSecondOfDay: 0) } ?? nextMidnight
    default: return nextMidnight
    }
  }
}
