import Feeds
import Market

/// One of the daemon's decoders, asked the way the daemon asks it.
///
/// Whatever bytes come in, what comes out is a refusal with its class, or values that keep every
/// rule a market keeps. A probe says which, and complains of values that break one. The rules are
/// written down here a second time on purpose: nothing of the decoders' own checks is used.
package enum Probe: Sendable, Hashable {
  /// Live quotes, names included.
  case quotes(QuoteDialect)
  case feed(FeedRequest)

  /// What became of one body.
  package struct Verdict: Sendable, Hashable {
    /// `ok`, or the word of the refusal.
    package var word: String
    package var rows = 0
    package var refusedRows = 0
    /// Broken rules; none, ever.
    package var complaints: [String] = []

    init(_ word: String) { self.word = word }

    mutating func expect(_ holds: Bool, _ rule: @autoclosure () -> String) {
      if !holds { complaints.append(rule()) }
    }
  }

  /// - Parameter text: `quotes` or another dialect, or a request as the journal keeps it.
  package init?(_ text: String) {
    if let dialect = QuoteDialect(rawValue: text) {
      self = .quotes(dialect)
    } else {
      guard let request = FeedRequest(ofAnySource: text) else { return nil }
      self = .feed(request)
    }
  }

  package var name: String {
    switch self {
    case .quotes(let dialect): dialect.rawValue
    case .feed(let request): request.text
    }
  }

  /// Decodes `body` and looks at everything that comes out.
  package func classify(_ body: UnsafeRawBufferPointer, status: Int) -> Verdict {
    switch self {
    case .quotes(let dialect): return QuoteProbe.classify(body, status: status, as: dialect)
    case .feed(let request):
      return Probe.classify(FeedResponse.decode(request, status: status, body: body), to: request)
    }
  }

  package func classify(_ body: [UInt8], status: Int = 200) -> Verdict {
    body.withUnsafeBytes { classify($0, status: status) }
  }

  private static func classify(_ response: FeedResponse, to request: FeedRequest) -> Verdict {
    var verdict = Verdict("ok")
    switch response {
    case .quotes(let outcome): verdict.word = outcome.name
    case .refused(let refusal):
      verdict.word = refusal.kind.name
      verdict.expect(!refusal.sentence.isEmpty, "a refusal without a sentence")
    case .candles(let page): verdict.check(page, of: request)
    case .list(let list): verdict.check(list)
    case .sessions(let sessions): verdict.check(sessions)
    case .listCount(let count):
      verdict.rows = count
      verdict.expect((1...60_000).contains(count), "a list of \(count)")
    case .factors(let factors): verdict.check(factors, of: request)
    case .calendar(let days): verdict.check(days)
    }
    return verdict
  }
}

extension Probe.Verdict {
  mutating func check(_ refused: [RefusedRow], beside rows: Int) {
    refusedRows = refused.count
    expect(Set(refused.map(\.index)).count == refused.count, "two refused rows of one place")
    for row in refused {
      expect((0..<rows + refused.count).contains(row.index), "row \(row.index) is none")
      expect(!row.detail.isEmpty, "row \(row.index) is refused for nothing")
      expect(
        row.payload.count <= Rejection.payloadBytesMax, "row \(row.index) is kept too long")
    }
  }

  mutating func check(_ list: InstrumentList) {
    rows = list.rows.count
    refusedRows = list.refused.count
    for (row, next) in zip(list.rows, list.rows.dropFirst()) {
      expect(row.symbol < next.symbol, "\(row.symbol) stands before \(next.symbol)")
    }
    for row in list.rows {
      let symbol = row.symbol.description
      expect(symbol.hasPrefix(row.exchange.prefix), "\(symbol) of another exchange")
      let isMainland = row.exchange != .unitedStates
      let code = symbol.utf8.dropFirst(isMainland ? 2 : 0)
      let isCode =
        isMainland
        ? code.count == 6 && code.allSatisfy { (48...57).contains($0) }
        : code.allSatisfy { (65...90).contains($0) || $0 == 45 || $0 == 46 }
      expect(isCode && !code.isEmpty, "\(symbol) is no symbol")
    }
  }

  mutating func check(_ sessions: [MarketSession]) {
    rows = sessions.count
    for session in sessions {
      expect(session.opens < session.closes, "\(session.day) ends before it begins")
      expect(session.opens.newYorkDay == session.day, "\(session.day) opens on another day")
      expect(session.closes.newYorkDay == session.day, "\(session.day) closes on another day")
    }
    for (session, next) in zip(sessions, sessions.dropFirst()) {
      expect(session.day <= next.day, "\(session.day) stands before \(next.day)")
    }
  }

  mutating func check(_ factors: [AdjustmentFactor], of request: FeedRequest) {
    rows = factors.count
    for factor in factors {
      expect(factor.factor.isPositive, "the factor of \(factor.from) is not positive")
      expect(
        request.query == .factors(factor.symbol, factor.kind), "a factor of another instrument")
    }
    for (factor, next) in zip(factors, factors.dropFirst()) {
      expect(factor.from < next.from, "\(factor.from) stands before \(next.from)")
    }
  }

  mutating func check(_ days: [TradingDay]) {
    rows = days.count
    expect(days.allSatisfy { !$0.isWeekend }, "a weekend trades")
    for (day, next) in zip(days, days.dropFirst()) {
      expect(day < next, "\(day) stands before \(next)")
    }
    let calendar = TradingCalendar.shanghai
    let span = calendar.firstDay...calendar.lastDay
    let known = days.filter(span.contains)
    let closedDays = known.filter { calendar.isTradingDay($0) != true }
    expect(closedDays.count <= 10, "\(closedDays.count) holidays trade")
  }
}

extension FeedRequest {
  /// A request as the journal keeps it, of the source that has such.
  package init?(ofAnySource text: String) {
    let sources = SourceRegistry.series.map(\.source)
    guard let request = sources.lazy.compactMap({ FeedRequest(text: text, source: $0) }).first
    else { return nil }
    self = request
  }
}
