import Candles
import Commits
import Feeds
import Journal
import Market
import Polling

/// What workers brought in: bars, lists, factors, sessions and the spending of keys. As with
/// quotes, rows are a function of the entry and of what came before it.
extension Pipeline {
  /// The answer in an entry, without taking anything from it; nil if it is none of a worker's.
  package static func feedResponse(
    _ entry: JournalEntry, calendar: TradingCalendar
  ) -> FeedResponse? {
    guard let feedRequest = entry.feedRequest else { return nil }
    // A bar of a weekday that the calendar does not know yet proves that it traded.
    let calendar = calendar.supposingWeekdays(through: entry.receivedAt.shanghaiDay)
    return entry.body.withUnsafeBytes { body in
      FeedResponse.decode(feedRequest, status: Int(entry.status), body: body, calendar: calendar)
    }
  }

  /// What an answer amounts to, without taking anything from it.
  static func read(_ entry: JournalEntry, calendar: TradingCalendar, rules: CandleRules) -> Digest {
    if entry.quotesGroup != nil { return classify(entry, rules: rules) }
    return Digest(feedResponse(entry, calendar: calendar))
  }

  mutating func readFeed(_ entry: JournalEntry, into digest: inout Digest) {
    guard let feedRequest = entry.feedRequest,
      let response = Pipeline.feedResponse(entry, calendar: calendar)
    else { return }
    digest.response = response
    switch response {
    case .candles(let page):
      apply(page, of: feedRequest, in: entry)
      digest.dropped += page.dropped
    case .list(let list):
      for row in list.refused { pending.reject(row, in: entry) }
      digest.dropped += list.dropped
      apply(list, of: feedRequest, in: entry, into: &digest.found)
    case .listCount(let count):
      if case .listCount(let part) = feedRequest.query {
        collections[part] = ListCollection(expected: count)
      }
    case .factors(let factors):
      pending.commit.reference.factors.append(FactorBatch(source: entry.source, factors: factors))
    case .calendar(let days):
      digest.days += apply(days, on: entry.receivedAt.shanghaiDay)
      digest.found.append(.calendar(calendar))
    case .sessions(let sessions):
      digest.days += apply(sessions)
    case .refused, .quotes: break
    }
    pending.counters.count(digest.dropped)
  }

  /// The ledger of keys: the latest row of each counts.
  mutating func readUsage(_ entry: JournalEntry) {
    guard var usage = KeyUsage(text: String(decoding: entry.request, as: UTF8.self)) else { return }
    usage.recordedAt = entry.receivedAt
    keyUsage[usage.label] = usage
    pending.keyUsage[PendingRows.KeyDay(label: usage.label, day: usage.day)] = usage
  }
}

// MARK: - Bars

extension Pipeline {
  private mutating func apply(
    _ page: CandlePage, of feedRequest: FeedRequest, in entry: JournalEntry
  ) {
    let batches = BarBatch.batches(
      of: page, to: feedRequest, rules: rules, calendar: calendar,
      receivedAt: entry.receivedAt)
    for batch in batches {
      if batch.source != .live, batch.timeframe == .minute1, let last = batch.candles.last {
        recorded.latest[batch.symbol] = last
      }
      pending.add(batch)
    }
    if case .bars(let query) = feedRequest.query {
      recordBars(query, from: feedRequest.source, in: entry, page: page)
    }
    for row in page.refused { pending.reject(row, in: entry) }
  }

  private mutating func recordBars(
    _ query: BarsQuery, from source: Source, in entry: JournalEntry, page: CandlePage
  ) {
    for symbol in query.symbols {
      let row = InstrumentRow(barsOf: symbol, from: source)
      if recorded.series.insert(row).inserted { pending.commit.instruments.append(row) }
    }
    guard page.nextPageToken == nil, query.timeframe == .minute1 else { return }
    // Asked by a clock that was ahead: nobody has read what is yet to come.
    let now = entry.receivedAt
    guard query.end <= now else { return }
    let chunk = BarsPlan.key(of: query.symbols)
    let known = recorded.through[source]?[chunk].map {
      BarsPlan.believed($0, at: now, source.barsHours)
    }
    guard let through = BarsPlan.through(known, reading: query.start, to: query.end) else { return }
    recorded.through[source, default: [:]][chunk] = through
    pending.watermarks[chunk] = BarWatermark(
      source: source, chunk: chunk, timeframe: query.timeframe, through: through)
  }
}

// MARK: - Days

extension Pipeline {
  private mutating func apply(_ days: [TradingDay], on today: TradingDay) -> [DayFinding] {
    var longer = calendar
    let declaration = longer.declare(days, on: today)
    if declaration.isRefused { return onlyNew([.calendarRefused(.shanghai)]) }
    know(longer)
    pending.commit.reference.sessions += declaration.changed.map(session(on:))
    return declaration.changed.map { day in
      longer.isTradingDay(day) == true ? .added(day) : .withdrawn(day, of: .shanghai)
    } + contradict(declaration.contradicted)
  }

  /// Stores that days are declared otherwise than they were observed.
  mutating func contradict(_ days: [TradingDay]) -> [DayFinding] {
    let findings = onlyNew(days.map { .contradicted($0) })
    for case .contradicted(let day) in findings {
      pending.contradict(day, of: stages[0].source, by: calendar)
    }
    return findings
  }

  /// What a file says, it says with each request.
  private mutating func onlyNew(_ findings: [DayFinding]) -> [DayFinding] {
    findings.filter { reportedDays.insert($0).inserted }
  }

  /// Takes in the American sessions of a stretch of days. Those that were known and are not among
  /// them are withdrawn, also behind their day; where they are too many, none is.
  private mutating func apply(_ sessions: [MarketSession]) -> [DayFinding] {
    guard let first = sessions.first?.day, let last = sessions.last?.day else { return [] }
    let listed = Set(sessions.map(\.day))
    var withdrawn = recorded.sessions.filter {
      $0.day >= first && $0.day <= last && !listed.contains($0.day)
    }
    let isRefused = withdrawn.count > TradingCalendar.changedDaysMax
    if isRefused { withdrawn = [] }
    let gone = listed.union(withdrawn.map(\.day))
    recorded.sessions = recorded.sessions.filter { !gone.contains($0.day) } + sessions
    pending.commit.reference.sessions += sessions
    pending.commit.reference.sessions += withdrawn.map { session in
      MarketSession(
        exchange: session.exchange, day: session.day, opens: session.opens, closes: session.opens)
    }
    if isRefused { return onlyNew([.calendarRefused(.unitedStates)]) }
    return withdrawn.map { .withdrawn($0.day, of: .unitedStates) }
  }

  /// Takes in the days that a database knows. For a replay: the answer they came from is a year's,
  /// and the journal keeps a month.
  package mutating func know(stored sessions: [MarketSession]) {
    know(calendar.extended(byStored: sessions))
    pending.commit.reference.sessions += sessions.filter {
      $0.exchange == .shanghai && ($0.grade == .observed || !$0.trades)
    }
  }

  private mutating func know(_ longer: TradingCalendar) {
    let known = calendar.lastDay
    calendar = longer
    guard known < longer.lastDay else { return }
    pending.commit.reference.sessions += (known.advanced(by: 1)...longer.lastDay).map(session(on:))
      .filter(\.trades)
  }

  /// The sessions that show whether the weeks and months around a day are whole.
  func sessions(around day: TradingDay) -> [MarketSession] {
    (day.advanced(by: -Self.sessionDaysShown)...day.advanced(by: Self.sessionDaysShown))
      .map(session(on:)).filter { $0.trades && $0.grade != .supposed }
  }

  /// The longest month, and the rest of a week.
  private static let sessionDaysShown = 37

  private func session(on day: TradingDay) -> MarketSession {
    MarketSession(of: day, by: calendar)
  }
}

extension MarketSession {
  /// Of a day of Shanghai, by what was observed, or else by the exchange's calendar. One that was
  /// declared, and observed to be so, stays declared.
  init(of day: TradingDay, by calendar: TradingCalendar) {
    var calendar = calendar
    calendar.overrides = [:]
    let (reading, declaration) = (
      calendar.reading(of: day), calendar.exchangeDeclaration(of: day)
    )
    let hours = TradingHours.mainlandChina(on: day)
    let opens = Timestamp(day: day, secondOfDay: hours.opens)
    let isAsDeclared = declaration.grade == .declared && declaration.trades == reading.trades
    self.init(
      exchange: .shanghai, day: day, opens: opens,
      closes: reading.trades ? Timestamp(day: day, secondOfDay: hours.closes) : opens,
      grade: isAsDeclared ? .declared : reading.grade)
  }
}

extension PendingRows {
  /// - Parameter calendar: that has what was observed.
  mutating func contradict(_ day: TradingDay, of series: Source, by calendar: TradingCalendar) {
    commit.reference.contradictions.append(
      DayContradiction(
        day: day, trades: calendar.reading(of: day).trades,
        symbol: SourceRegistry.quotes(of: series).referenceSymbol, source: series))
  }
}
