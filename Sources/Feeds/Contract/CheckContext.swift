/// What the requests of checks, and their validation, are made from: the source, the moment, the
/// calendar and the instruments that are recorded.

import Market

package struct CheckContext: Sendable {
  package let source: any SourceDefinition
  /// The series of the source that is recorded.
  package let series: Source
  package let now: Timestamp
  let calendar: TradingCalendar
  /// Instruments that are polled, those that the source can be asked for first.
  let symbols: [Symbol]
  /// Symbols of a full batch of live quotes.
  let batchSymbols: Int

  package init(
    _ source: any SourceDefinition, series: Source, now: Timestamp, symbols: [Symbol],
    batchSymbols: Int = 0, calendar: TradingCalendar = .shanghai
  ) {
    self.source = source
    self.series = series
    self.now = now
    self.calendar = calendar
    self.symbols = symbols
    self.batchSymbols = batchSymbols
  }

  /// The calendar to decode with: what lies behind its end is another check's to find.
  package var decodingCalendar: TradingCalendar {
    calendar.supposingWeekdays(through: source.market.day(at: now))
  }

  /// Stocks that are polled, else those that a source knows for sure.
  func stocks(orElse known: [Symbol]) -> [Symbol] {
    let polled = symbols.filter { Instrument.classify($0)?.kind == .stock }
    if polled.isEmpty { return known }
    return known.filter(polled.contains) + polled.filter { !known.contains($0) }
  }

  // MARK: - Days and sessions

  /// Around the beginning and the end of a session the service may be early or late.
  private static let sessionMarginSeconds = 240
  /// How long before the open the lines of the last day may be replaced.
  private static let changeSeconds = 3_600

  private var hours: TradingHours? { TradingHours(source.market) }

  /// nil where the calendar does not reach, or is another market's.
  func isTradingDay(_ day: TradingDay) -> Bool? {
    let market = source.market
    if market.tradingDays == .everyDay { return true }
    return market.calendar == .shanghai ? calendar.isTradingDay(day) : nil
  }

  /// Weekdays that the calendar does not reach are recorded like trading days.
  private func mayTrade(_ day: TradingDay) -> Bool? {
    isTradingDay(day) ?? (source.market.calendar == .shanghai ? !day.isWeekend : nil)
  }

  /// The day that data is of at `moment`; nil where that is not known, or changes just then.
  func dataDay(at moment: Timestamp) -> TradingDay? {
    let day = source.market.day(at: moment)
    guard let hours, let isTrading = mayTrade(day) else { return nil }
    let second = hours.clock.second(of: moment, on: day)
    if isTrading, second >= hours.opens { return day }
    if isTrading, second >= hours.opens - Self.changeSeconds { return nil }
    return calendar.previous(before: day)
  }

  /// Whether the market trades at `moment`, and did and will for some minutes.
  func isInSession(_ moment: Timestamp) -> Bool {
    let day = source.market.day(at: moment)
    guard let hours, mayTrade(day) == true else { return false }
    let second = hours.clock.second(of: moment, on: day)
    return source.market.sessions.contains { session in
      session.opens + Self.sessionMarginSeconds <= second
        && second <= session.closes - Self.sessionMarginSeconds
    }
  }

  /// When the last session that is over at `moment` ended; nil in a session, near its ends, or
  /// where it is not known.
  func lastClose(at moment: Timestamp) -> Timestamp? {
    guard let hours, let day = dataDay(at: moment), !isInSession(moment) else { return nil }
    let second = hours.clock.second(of: moment, on: day)
    let margin = Self.sessionMarginSeconds
    let over = source.market.sessions.last { $0.closes + margin <= second }
    guard let over else { return nil }
    let isNear = source.market.sessions.contains {
      $0.opens - margin <= second && second < $0.closes + margin
    }
    return isNear ? nil : hours.moment(on: day, secondOfDay: over.closes)
  }
}
