import Market

/// One page of bars: by symbol, then by time, filled up across symbols.
package struct AlpacaPage {
  package var rows: [(symbol: Symbol, bar: USMarket.Bar)] = []
  package var next: AlpacaPageToken?
  /// `null` instead of an object.
  package var isNull = false
}

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
          page.next = AlpacaPageToken(symbol: symbol, start: bar.start, kind: kind)
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

/// A page as it goes over the wire, faults included.
extension AlpacaPage {
  func body(faults: (any AlpacaFaults)?) -> [UInt8] {
    let rows = isNull ? Array("null".utf8) : bars(faults: faults)
    let token = next.map { "\"\($0.text)\"" } ?? "null"
    return Array("{\"bars\":".utf8) + rows + Array(",\"next_page_token\":\(token)}".utf8)
  }

  private func bars(faults: (any AlpacaFaults)?) -> [UInt8] {
    var body = Array("{".utf8)
    var symbol: Symbol?
    for row in rows {
      let texts = faults?.texts(of: row.bar, symbol: row.symbol) ?? [row.bar.text()]
      if row.symbol != symbol {
        body += (symbol == nil ? "" : "],").utf8
        body += "\"\(row.symbol)\":[".utf8
        symbol = row.symbol
      }
      for text in texts {
        if body.last != UInt8(ascii: "[") { body.append(UInt8(ascii: ",")) }
        body += text.utf8
      }
    }
    return body + (symbol == nil ? "}" : "]}").utf8
  }
}

extension USMarket.Bar {
  /// Keys in the order of the alphabet, numbers as short as they go.
  package func text(close closeText: String? = nil) -> String {
    func price(_ units: Int64) -> String {
      ExactDecimal(units: units, scale: 4).normalized.description
    }
    let average = ExactDecimal(units: average, scale: 6).normalized
    return "{\"c\":\(closeText ?? price(close)),\"h\":\(price(high)),\"l\":\(price(low)),"
      + "\"n\":\(trades),\"o\":\(price(open)),\"t\":\"\(start.utcText)\",\"v\":\(volume),"
      + "\"vw\":\(average)}"
  }
}

extension Timestamp {
  /// `2026-09-03T13:30:00Z`
  fileprivate var utcText: String {
    let day = TradingDay(daysSince1970: Int32(seconds / 86_400))
    return "\(day)T\(clockText(Int(seconds % 86_400)))Z"
  }
}
