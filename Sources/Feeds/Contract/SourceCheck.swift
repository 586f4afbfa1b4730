/// What `candled doctor` requests of a source: the daemon's own requests, each once, and what the
/// daemon's own decoders read in the responses.
///
/// Three comparisons are added, none of which knows a format: stamps with the clock, the order of
/// quotes with that of the request, and how many rows are refused. Sans-IO: whoever runs it sends
/// the requests in their order and hands in what came back.

import Market

package struct SourceCheck: Sendable {
  package let source: any SourceDefinition
  /// The series of the source that is recorded.
  package let series: Source
  /// The requests, each once, in the order to send them.
  package let requests: [FeedQuery]
  /// Whether to send the source nothing more: that would make it worse.
  package private(set) var isEnded = false
  /// With weekdays beyond its end: nothing is refused because a release is old.
  private let calendar: TradingCalendar
  /// By place in `requests`.
  private var verdicts: [Int: CheckVerdict] = [:]

  /// What a person's visit amounts to.
  package static let requestsMax = 15
  /// A bad row now and then is routine.
  private static let refusedPerMilleMax = 10
  /// The difference of two clocks that are kept by NTP, at most.
  private static let clockSecondsMax: Int64 = 5
  /// How old the newest quote may be in a session …
  private static let quoteLagSecondsMax: Int64 = 20
  /// … and how long ago the newest bar of the reference symbol may have ended.
  private static let barLagSecondsMax: Int64 = 90
  /// Around the beginning and the end of a session the service may be early or late.
  private static let sessionMarginSeconds = 240

  /// - Parameters:
  ///   - symbols: instruments that are polled.
  ///   - batchSymbols: symbols of a full batch of live quotes.
  package init(
    _ source: any SourceDefinition, series: Source, now: Timestamp, symbols: [Symbol],
    batchSymbols: Int = 0, calendar: TradingCalendar = .shanghai
  ) {
    self.source = source
    self.series = series
    self.calendar = calendar.supposingWeekdays(through: source.market.day(at: now))
    let choice = CheckedSymbols(configured: symbols)
    requests =
      source.quoteChecks(at: now, of: choice, batchSymbols: batchSymbols)
      + source.barChecks(at: now, of: choice) + source.referenceChecks(at: now)
    precondition(requests.count <= Self.requestsMax, "too many requests for a check of a source")
  }

  /// - Parameters:
  ///   - place: in `requests`.
  ///   - request: as it was sent.
  package mutating func receive(
    _ place: Int, request: FeedRequest, status: Int, body: [UInt8], receivedAt: Timestamp
  ) {
    var batch = QuoteBatch()
    let calendar = calendar
    let response = body.withUnsafeBytes { bytes -> FeedResponse in
      guard case .quotes = request.query else {
        return FeedResponse.decode(request, status: status, body: bytes, calendar: calendar)
      }
      var decoder = SourceRegistry.quotes(of: request.source).makeDecoder(nil)
      batch.begin(body: bytes)
      return .quotes(decoder.decode(bytes, status: status, into: &batch))
    }
    isEnded = isEnded || response.endsRequests
    if let refusal = response.refusal {
      verdicts[place] = .broken("\(refusal) (HTTP status \(status))")
      return
    }
    switch response {
    case .quotes: verdicts[place] = verdict(on: batch, of: request.query, at: receivedAt)
    case .candles(let page): verdicts[place] = verdict(on: page, at: receivedAt)
    case .list(let list): verdicts[place] = verdict(on: list)
    case .calendar(let days): verdicts[place] = verdict(on: days, at: receivedAt)
    case .factors(let factors) where factors.isEmpty: verdicts[place] = .broken("no factors")
    case .sessions(let sessions) where sessions.isEmpty:
      verdicts[place] = .broken("no sessions")
    default: verdicts[place] = .holds(refusals: nil)
    }
  }

  /// - Parameter reason: for people.
  package mutating func fail(_ place: Int, because reason: String) {
    verdicts[place] = .unreachable(reason)
  }

  package var findings: [CheckFinding] {
    requests.indices.map { place in
      CheckFinding(
        source: source.name, request: FeedRequest(requests[place], to: series).journalKey,
        verdict: verdicts[place] ?? .untried("an earlier request was refused"))
    }
  }
}

// MARK: - Verdicts

extension SourceCheck {
  private func verdict(
    on batch: QuoteBatch, of query: FeedQuery, at moment: Timestamp
  ) -> CheckVerdict {
    guard case .quotes(let query) = query, let newest = batch.quotes.map(\.quote.at).max() else {
      return .broken("no quotes")
    }
    if let symbol = Self.misplaced(in: batch, of: query) {
      return .broken("\(symbol) is not in the order of the request")
    }
    if let reason = fault(
      from: newest, through: newest, lagSecondsMax: Self.quoteLagSecondsMax, at: moment)
    {
      return .broken(reason)
    }
    var answered = Set(batch.unknown)
    answered.formUnion(batch.quotes.map(\.quote.symbol))
    answered.formUnion(batch.refused.compactMap(\.symbol))
    answered.formUnion(batch.overview.map(\.symbol))
    let refused = batch.refused.map { "\($0.symbol?.description ?? "a line"): \($0.detail)" }
    let missing = query.symbols.filter { !answered.contains($0) }.map { "\($0): no line" }
    return Self.verdict(refused: refused + missing, of: query.symbols.count)
  }

  private func verdict(on page: CandlePage, at moment: Timestamp) -> CheckVerdict {
    guard let newest = page.candles.max(by: { $0.closedAt < $1.closedAt }) else {
      return .broken("no bars")
    }
    // It trades all day: its newest bar is the market's.
    let isReference = newest.symbol == source.quotes?.referenceSymbol
    if let reason = fault(
      from: newest.openedAt, through: newest.closedAt,
      lagSecondsMax: isReference ? Self.barLagSecondsMax : nil, at: moment)
    {
      return .broken(reason)
    }
    return Self.verdict(
      refused: page.refused.map(\.detail), of: page.candles.count + page.refused.count)
  }

  private func verdict(on list: InstrumentList) -> CheckVerdict {
    if let sample = source.lists?.sampleRows, !sample.isEmpty, list.rows.map(\.symbol) == sample {
      return .broken("the key is a sample: it gets the same rows for any request")
    }
    if list.rows.isEmpty, list.refused.isEmpty { return .broken("no rows") }
    return Self.verdict(
      refused: list.refused.map(\.detail), of: list.rows.count + list.refused.count)
  }

  private func verdict(on days: [TradingDay], at moment: Timestamp) -> CheckVerdict {
    guard let last = days.last, last >= source.market.day(at: moment) else {
      return .broken("the calendar ends on \(days.last?.description ?? "no day")")
    }
    return .holds(refusals: nil)
  }

  private static func verdict(refused details: [String], of rows: Int) -> CheckVerdict {
    guard let first = details.first else { return .holds(refusals: nil) }
    let refusals = "\(details.count) of \(counted(rows, "row")) refused, the first: \(first)"
    return details.count * 1_000 > rows * refusedPerMilleMax
      ? .broken(refusals) : .holds(refusals: refusals)
  }

  /// The first quote behind one that was requested after it.
  private static func misplaced(in batch: QuoteBatch, of query: QuotesQuery) -> Symbol? {
    var rest = query.symbols[...]
    for row in batch.quotes {
      guard let place = rest.firstIndex(of: row.quote.symbol) else { return row.quote.symbol }
      rest = rest[(place + 1)...]
    }
    return nil
  }

  /// - Parameter lagSecondsMax: how far behind it may be in a session; nil for any.
  private func fault(
    from begin: Timestamp, through end: Timestamp, lagSecondsMax: Int64?, at moment: Timestamp
  ) -> String? {
    let ahead = begin.seconds - moment.seconds
    if ahead > Self.clockSecondsMax { return "stamped \(ahead) s ahead of this machine's clock" }
    guard let lagSecondsMax, isInSession(moment) else { return nil }
    let behind = moment.seconds - end.seconds
    return behind > lagSecondsMax ? "stamped \(behind) s behind this machine's clock" : nil
  }

  /// Whether the market trades at `moment`, and did and will for some minutes; false where it is
  /// not known.
  private func isInSession(_ moment: Timestamp) -> Bool {
    let market = source.market
    let day = market.day(at: moment)
    let mayTrade = market.calendar == .shanghai && calendar.mayTrade(day)
    guard let hours = TradingHours(market), market.tradingDays == .everyDay || mayTrade else {
      return false
    }
    let second = hours.clock.second(of: moment, on: day)
    return market.sessions.contains { session in
      session.opens + Self.sessionMarginSeconds <= second
        && second <= session.closes - Self.sessionMarginSeconds
    }
  }
}

extension FeedResponse {
  /// Why the response was refused as a whole; nil if it was not.
  fileprivate var refusal: String? {
    switch self {
    case .refused(let refusal): "refused as \(refusal.kind.name): \(refusal.sentence)"
    case .quotes(.ok): nil
    case .quotes(let outcome): "refused as \(outcome.name)"
    default: nil
    }
  }

  fileprivate var endsRequests: Bool {
    switch self {
    case .quotes(.banned), .quotes(.throttled), .quotes(.unauthorised): true
    case .refused(let refusal):
      switch refusal.kind {
      case .throttled, .banned, .unauthorised, .quotaExhausted, .entitlement: true
      default: false
      }
    default: false
    }
  }
}

package enum CheckVerdict: Sendable, Hashable {
  /// - refusals: what was refused of the rows, few as they are.
  case holds(refusals: String?)
  /// What was found.
  case broken(String)
  /// Why it could not be tried.
  case untried(String)
  /// Why there was no response.
  case unreachable(String)

  /// The verdict in a word, for people and JSON.
  package var name: String {
    switch self {
    case .holds: "ok"
    case .broken: "broken"
    case .untried: "not tried"
    case .unreachable: "no response"
    }
  }

  package var detail: String? {
    switch self {
    case .holds(let refusals): refusals
    case .broken(let text), .untried(let text), .unreachable(let text): text
    }
  }
}

/// One row of the result.
package struct CheckFinding: Sendable, Hashable {
  /// The source's name.
  package let source: String
  /// The request in the words of the journal: `kline/15`.
  package let request: String
  package let verdict: CheckVerdict

  package init(source: String, request: String, verdict: CheckVerdict) {
    self.source = source
    self.request = request
    self.verdict = verdict
  }
}
