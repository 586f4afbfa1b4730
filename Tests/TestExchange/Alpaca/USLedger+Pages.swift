import ExchangeSimulator
import Market

extension USLedger {
  /// The page of a question, as `now` knows the bars. The token only says where to begin: asked
  /// with other parameters it gives other data, as the real one does.
  package func page(_ query: AlpacaQuery, at now: Timestamp) -> AlpacaPage {
    var page = AlpacaPage()
    for symbol in query.symbols {
      guard let share = market.place(of: symbol) else { continue }
      var start = query.start
      // Days are days of New York, whatever hour was asked for.
      if query.timeframe == .day { start = Timestamp(day: start.newYorkDay, newYorkSecondOfDay: 0) }
      if let token = query.page {
        if symbol < token.symbol { continue }
        if symbol == token.symbol { start = max(start, token.start) }
      }
      if fill(&page, symbol: symbol, share: share, query: query, from: start, at: now) {
        return page
      }
    }
    return page
  }

  /// True if the page is full and something is left.
  private func fill(
    _ page: inout AlpacaPage, symbol: Symbol, share: Int, query: AlpacaQuery,
    from start: Timestamp, at now: Timestamp
  ) -> Bool {
    let kind: Character = query.timeframe == .day ? "D" : "M"
    // A bar that begins before its session does is of hours, aligned to UTC.
    let (first, last) = (start.newYorkDay.advanced(by: -1), query.end.newYorkDay.advanced(by: 1))
    let sessions = market.calendar.sessions
    for session in sessions.indices
    where first <= sessions[session].day && sessions[session].day <= last {
      for bar in bars(share, session: session, query: query, at: now)
      where start <= bar.start && bar.start <= query.end {
        if page.rows.count == query.limit {
          page.token = AlpacaPageToken(symbol: symbol, start: bar.start, kind: kind).text
          return true
        }
        page.rows.append((symbol, bar))
      }
    }
    return false
  }

  private func bars(
    _ share: Int, session: Int, query: AlpacaQuery, at now: Timestamp
  ) -> [USMarket.Bar] {
    switch query.timeframe {
    case .minutes(let length):
      bars(share, session: session, feed: query.feed, minutes: length, at: now)
    case .day: [day(share, session: session, feed: query.feed, at: now)].compactMap(\.self)
    }
  }
}
