import ExchangeSimulator
import Market

extension USLedger {
  /// The page of a question, as `now` knows the bars. The token only says where to begin: asked
  /// with other parameters it gives other data, as the real one does.
  package func page(_ query: AlpacaQuery, at now: Timestamp) -> AlpacaPage {
    var page = AlpacaPage()
    for symbol in query.symbols {
      guard let share = market.place(of: symbol) else { continue }
      var (start, end) = (query.start, query.end)
      // Days are days of New York, whatever hour was asked for.
      if !query.timeframe.isInsideDay {
        start = Timestamp(day: start.newYorkDay, newYorkSecondOfDay: 0)
      }
      if let token = query.page {
        if symbol < token.symbol { continue }
        if symbol == token.symbol, query.isDescending { end = min(end, token.start) }
        if symbol == token.symbol, !query.isDescending { start = max(start, token.start) }
      }
      if fill(&page, symbol: symbol, share: share, query: query, from: start, to: end, at: now) {
        return page
      }
    }
    return page
  }

  /// True if the page is full and something is left.
  private func fill(
    _ page: inout AlpacaPage, symbol: Symbol, share: Int, query: AlpacaQuery,
    from start: Timestamp, to end: Timestamp, at now: Timestamp
  ) -> Bool {
    let kind: Character = query.timeframe.isInsideDay ? "M" : "D"
    for part in parts(query, from: start, to: end) {
      var bars = bars(share, sessions: part, query: query, at: now).filter {
        start <= $0.start && $0.start <= end
      }
      if query.isDescending { bars.reverse() }
      for bar in bars {
        if page.rows.count == query.limit {
          page.token = AlpacaPageToken(symbol: symbol, start: bar.start, kind: kind).text
          return true
        }
        page.rows.append((symbol, bar))
      }
    }
    return false
  }

  /// Sessions between two moments, put together as far as one bar may span them.
  private func parts(_ query: AlpacaQuery, from start: Timestamp, to end: Timestamp)
    -> [Range<Int>]
  {
    let sessions = market.calendar.sessions
    // A bar that begins before its session does is a week, a month, or hours aligned to UTC.
    let first = sessions.firstIndex { $0.day >= start.newYorkDay.advanced(by: -31) } ?? 0
    var parts: [Range<Int>] = []
    for place in first..<sessions.count where sessions[place].day <= end.newYorkDay.advanced(by: 31)
    {
      if let last = parts.last,
        query.timeframe.span(sessions[last.lowerBound].day)
          == query.timeframe.span(sessions[place].day)
      {
        parts[parts.count - 1] = last.lowerBound..<place + 1
      } else {
        parts.append(place..<place + 1)
      }
    }
    let wanted = parts.filter { part in
      let begin = query.timeframe.span(sessions[part.lowerBound].day)
      return start.newYorkDay <= sessions[part.upperBound - 1].day && begin <= end.newYorkDay
    }
    return query.isDescending ? wanted.reversed() : wanted
  }

  private func bars(
    _ share: Int, sessions part: Range<Int>, query: AlpacaQuery, at now: Timestamp
  ) -> [USMarket.Bar] {
    if case .minutes(let length) = query.timeframe {
      return bars(share, session: part.lowerBound, feed: query.feed, minutes: length, at: now)
    }
    var sum: USMarket.Bar?
    for session in part {
      guard let day = day(share, session: session, feed: query.feed, at: now) else { continue }
      if sum == nil { sum = day } else { sum?.append(day) }
    }
    let begin = query.timeframe.span(market.calendar.sessions[part.lowerBound].day)
    sum?.start = Timestamp(day: begin, newYorkSecondOfDay: 0)
    return [sum].compactMap { $0 }
  }
}

extension AlpacaTimeframe {
  /// The first date of the span a day belongs to.
  fileprivate func span(_ day: TradingDay) -> TradingDay {
    switch self {
    case .minutes, .day: day
    case .week: day.weekBegin
    case .month: day.monthBegin
    }
  }
}
