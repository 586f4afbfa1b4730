import Candles
import Commits
import Journal
import Market

/// What the responses of all sources say of today, whether they are booked or not, and what becomes
/// of it: the calendar of the book, rows, and events for workers.
extension QuoteStage {
  /// - Parameter newest: the newest credible stamp of a row that trades.
  mutating func watchDay(
    _ newest: Timestamp, in response: inout Response, into rows: inout PendingRows
  ) {
    guard isMainland else { return }
    let (receivedAt, clock) = (response.entry.receivedAt, book.rules.hours.clock)
    let today = clock.day(at: receivedAt)
    let isOfToday =
      clock.day(at: newest) == today
      && (dayWatch.isOpen(today) || quoteBatch.hasMostRows(of: today))
    let findings = dayWatch.received(
      DayWatch.Response(
        source: response.entry.source, newest: newest, isOfToday: isOfToday,
        receivedAt: receivedAt))
    for finding in findings {
      let (isNews, isOfCalendar) = take(finding, into: &rows)
      contradict(finding, in: &response, into: &rows)
      if isNews { response.digest.days.append(finding) }
      if isOfCalendar { response.digest.found.append(.calendar(book.calendar)) }
    }
  }

  /// A weekend is never a trading day: rows that are dated so are refused, and kept as such.
  private mutating func take(
    _ finding: DayFinding, into rows: inout PendingRows
  ) -> (isNews: Bool, isOfCalendar: Bool) {
    switch finding {
    case .opened(let day):
      let isNews = !day.isWeekend && book.calendar.observe(day, trades: true)
      if isNews { store(day, into: &rows) }
      return (isNews, isNews)
    case .closed(let day, _):
      let isNews = book.calendar.mayTrade(day)
      if isNews { _ = book.calendar.observe(day, trades: false) }
      return (isNews, isNews)
    case .observedClosed(let day):
      if book.calendar.exchangeDeclaration(of: day).trades { store(day, into: &rows) }
      return (book.calendar.declaration(of: day).trades, false)
    case .unproven(let day):
      let isNews = book.calendar.declaration(of: day).trades
      if isNews { book.calendar.forgetObservation(of: day) }
      return (isNews, isNews)
    case .stale, .standsStill, .moves, .withdrawn, .added, .contradicted, .calendarRefused:
      return (true, false)
    }
  }

  /// What is observed may contradict what the operator declared.
  private func contradict(
    _ finding: DayFinding, in response: inout Response, into rows: inout PendingRows
  ) {
    let (day, trades): (TradingDay, Bool)
    switch finding {
    case .opened(let opened): (day, trades) = (opened, true)
    case .observedClosed(let closed): (day, trades) = (closed, false)
    default: return
    }
    guard !day.isWeekend, book.calendar.overrides[day] == !trades else { return }
    rows.contradict(day, of: source, by: book.calendar)
    response.digest.days.append(.contradicted(day))
  }

  private func store(_ day: TradingDay, into rows: inout PendingRows) {
    rows.commit.reference.sessions.append(MarketSession(of: day, by: book.calendar))
  }
}
