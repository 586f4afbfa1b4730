/// Which of the daemon's requests `candled doctor` sends to a source: what it declares decides.

import Market

/// The instruments to request.
struct CheckedSymbols {
  let configured: [Symbol]

  /// Instruments that are there for sure, where none is configured that a source has.
  private static let known = ["sh600519", "sh601398", "sz000001", "AAPL", "MSFT"]
    .compactMap { Symbol($0) }

  /// Those that are there for sure first.
  func chosen(where isRequestable: (Symbol) -> Bool) -> [Symbol] {
    let known = Self.known.filter(isRequestable)
    let usable = configured.filter(isRequestable)
    if usable.isEmpty { return known }
    return known.filter(usable.contains) + usable.filter { !known.contains($0) }
  }
}

extension SourceDefinition {
  /// The largest batch.
  func quoteChecks(
    at now: Timestamp, of symbols: CheckedSymbols, batchSymbols: Int
  ) -> [FeedQuery] {
    guard let quotes else { return [] }
    let others = symbols.chosen {
      quotes.isRequestable($0) && $0 != quotes.referenceSymbol
    }
    let batch = [quotes.referenceSymbol] + Array(others.prefix(max(batchSymbols - 1, 0)))
    return [.quotes(QuotesQuery(symbols: batch, askedAt: now))]
  }

  func barChecks(at now: Timestamp, of symbols: CheckedSymbols) -> [FeedQuery] {
    guard let bars else { return [] }
    switch bars.form {
    case .newest(let barsMax):
      let count = min(60, barsMax)
      var queries: [FeedQuery] = []
      if let reference = quotes?.referenceSymbol, bars.isRequestable(reference) {
        queries += [Timeframe.minute15, .day1].filter(bars.timeframes.contains)
          .map { FeedQuery.newestBars(reference, $0, count: count) }
      }
      let stock = symbols.chosen {
        bars.isRequestable($0) && Instrument.classify($0)?.kind == .stock
      }.first
      guard let stock else { return queries }
      queries.append(.newestBars(stock, .minute1, count: count))
      if bars.hasFactors {
        queries += AdjustmentFactor.Kind.allCases.map { FeedQuery.factors(stock, $0) }
      }
      return queries
    case .window(let symbolsMax, _):
      let requested = symbols.chosen(where: bars.isRequestable).prefix(min(symbolsMax, 2))
      if requested.isEmpty { return [] }
      // Five days always have a session; the newest bars may be beyond the account.
      let query = BarsQuery(
        symbols: Array(requested),
        timeframe: bars.timeframes.contains(.minute15) ? .minute15 : .minute1,
        start: now.adding(seconds: -5 * 86_400), end: now.adding(seconds: -1_200))
      return [.bars(query)]
    }
  }

  /// Lists, trading days, sessions and names.
  func referenceChecks(at now: Timestamp) -> [FeedQuery] {
    var queries: [FeedQuery] = []
    for part in lists?.parts ?? [] {
      if lists?.pageRows == nil {
        queries.append(.list(part))
      } else {
        queries.append(.listCount(part))
        queries.append(.listPage(part, page: 1))
      }
    }
    if hasTradingDays { queries.append(.tradingDays) }
    if self is any SessionSource {
      let today = market.day(at: now)
      queries.append(.sessions(from: today.advanced(by: -13), to: today.advanced(by: 14)))
    }
    if hasNames { queries.append(.names) }
    return queries
  }
}
