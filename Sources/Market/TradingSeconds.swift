/// Time as a market counts it: a source that is silent over lunch or a holiday is not late.

extension TradingCalendar {
  /// Whether a market of these hours trades at `moment`; false on a day the table does not know.
  package func isInSession(_ moment: Timestamp, hours: TradingHours = .mainlandChina) -> Bool {
    guard status(of: hours.clock.day(at: moment)) == .trading else { return false }
    let second = hours.clock.secondOfDay(at: moment)
    return (hours.opens..<hours.closes).contains(second) && !hours.breakSeconds.contains(second)
  }

  /// When the exchanges next begin, with the opening auction or after lunch, later than `moment`;
  /// nil where the table does not tell.
  public func nextSession(after moment: Timestamp) -> Timestamp? {
    let today = moment.shanghaiDay
    let begins = [Session.auctionOpen, Session.afternoonOpen].first {
      $0 > moment.shanghaiSecondOfDay
    }
    if let begins, status(of: today) == .trading {
      return Timestamp(day: today, secondOfDay: begins)
    }
    return next(after: today).map { Timestamp(day: $0, secondOfDay: Session.auctionOpen) }
  }

  /// Further back it does not matter by how much.
  private static let daysCountedMax = 400

  /// Seconds of trading between two moments; zero if `end` is not the later one.
  package func tradingSeconds(
    from start: Timestamp, to end: Timestamp, hours: TradingHours = .mainlandChina
  ) -> Int64 {
    guard start < end else { return 0 }
    let clock = hours.clock
    let (begun, last) = (clock.day(at: start), clock.day(at: end))
    let first = max(begun, last.advanced(by: -Self.daysCountedMax))
    let passed = { (moment: Timestamp) in
      hours.tradingSeconds(before: clock.secondOfDay(at: moment))
    }
    var seconds = 0
    for day in first...last where status(of: day) == .trading {
      seconds += day == last ? passed(end) : hours.secondsPerDay
      if day == begun { seconds -= passed(start) }
    }
    return Int64(seconds)
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
