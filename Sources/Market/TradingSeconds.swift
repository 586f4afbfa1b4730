/// Time as a market counts it: a source that is silent over lunch or a holiday is not late. A
/// weekday that the table does not know counts as a trading day, for it is asked for like one.

extension TradingCalendar {
  /// Whether the market trades at `moment`.
  package func isInSession(_ moment: Timestamp, hours: TradingHours = .mainlandChina) -> Bool {
    let second = hours.clock.secondOfDay(at: moment)
    return mayTrade(hours.clock.day(at: moment))
      && hours.tradingSeconds(before: second) < hours.tradingSeconds(before: second + 1)
  }

  /// When the market next begins, with the opening auction or after the break, later than `moment`;
  /// nil where the table does not tell.
  package func nextSession(
    after moment: Timestamp, hours: TradingHours = .mainlandChina
  ) -> Timestamp? {
    let today = hours.clock.day(at: moment)
    let second = hours.clock.secondOfDay(at: moment)
    if let begins = hours.beginnings.first(where: { $0 > second }), mayTrade(today) {
      return hours.moment(on: today, secondOfDay: begins)
    }
    return next(after: today).map { hours.moment(on: $0, secondOfDay: hours.beginnings[0]) }
  }

  /// Further back it does not matter by how much.
  private static let daysCountedMax = 400

  /// Seconds of trading between two moments; zero if `end` is not the later one.
  package func tradingSeconds(
    from start: Timestamp, to end: Timestamp, hours: TradingHours = .mainlandChina
  ) -> Int64 {
    guard start < end else { return 0 }
    let last = hours.clock.day(at: end)
    let first = max(hours.clock.day(at: start), last.advanced(by: -Self.daysCountedMax))
    let days = (first...last).filter(mayTrade)
    let seconds = days.map { day in
      hours.tradingSeconds(before: hours.clock.second(of: end, on: day))
        - hours.tradingSeconds(before: hours.clock.second(of: start, on: day))
    }
    return Int64(seconds.reduce(0, +))
  }
}

extension [MarketSession] {
  /// These, and regular American hours on the weekdays of `days` that lie beyond the first and the
  /// last of them: as schema.sql has it, a day of which no calendar tells trades from Monday to
  /// Friday.
  public func supposingWeekdays(of days: ClosedRange<TradingDay>) -> [MarketSession] {
    let (first, last) = (map(\.day).min(), map(\.day).max())
    let isBeyond = { (day: TradingDay) in
      first.map { day < $0 } ?? true || last.map { $0 < day } ?? true
    }
    return self
      + days.filter { !$0.isWeekend && isBeyond($0) }.map { day in
        MarketSession(
          exchange: .unitedStates, day: day,
          opens: Timestamp(day: day, newYorkSecondOfDay: NewYork.regularOpen),
          closes: Timestamp(day: day, newYorkSecondOfDay: NewYork.regularClose))
      }
  }

  /// Seconds of these sessions between two moments.
  public func tradingSeconds(from start: Timestamp, to end: Timestamp) -> Int64 {
    let microseconds = map { session in
      Swift.min(end, session.closes).microseconds(since: Swift.max(start, session.opens))
    }
    return microseconds.reduce(0) { $0 + Swift.max($1, 0) } / 1_000_000
  }
}
