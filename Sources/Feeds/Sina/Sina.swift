/// Sina: live quotes of the mainland exchanges, K-lines, factors, lists and trading days, without a
/// key (docs/sources/sina.md).

import Market

package struct Sina: NewestBarSource, PagedListSource, CalendarSource {
  static let source = Source.live

  package let name = "sina"
  package let title = "Sina"
  package let market = MarketDefinition.mainlandChina
  package let settings = SinaSettings.section
  package let series = [SourceSeries(Sina.source, name: "sina")]
  package let priority = 1
  package let workerName = "history"
  /// More than 30 get an address banned (docs/sources/sina.md#rate-limits); one at a time for the
  /// same reason.
  package let pace = RequestPace(
    requestsPerMinute: SinaSettings.historyRequestsPerMinute, requestsPerMinuteMax: 30, burst: 1,
    inFlightMax: 1)
  package let quotes: QuotesDeclaration? = QuotesDeclaration(
    base: SinaSettings.base, batchSymbols: SinaSettings.batchSymbols,
    requestsPerMinute: SinaSettings.requestsPerMinute, referenceSymbol: SinaQuotes.referenceSymbol,
    bodyBytesMax: SinaQuotes.bodyBytesMax, isRequestable: SinaQuotes.isRequestable,
    fields: (UInt8(ascii: ","), [33, 34, 39]), endpoint: SinaQuotes.endpoint,
    makeDecoder: { SinaQuoteDecoder(on: $0) })
  package let lists: ListsDeclaration? = ListsDeclaration(
    parts: SinaNode.allCases.map(\.part), pageRows: SinaNode.pageRows)
  package let bars: BarsDeclaration? = BarsDeclaration(
    form: .newest(barsMax: SinaKline.barsMax), hasFactors: true,
    timeframes: SinaKline.timeframes, isRequestable: SinaHistory.isRequestable)

  package let hosts: [HostSetting] = [
    .one(SinaSettings.historyBase), .one(SinaSettings.listBase),
    .one(SinaSettings.referenceBase),
  ]

  package func query(reading words: [Substring], from source: Source) -> FeedQuery? {
    switch (words.first, words.count) {
    case ("kline", 4): newestBars(words)
    case ("factors", 3):
      AdjustmentFactor.Kind.allCases.first { $0.name == words[1] }.flatMap { kind in
        SinaHistory.symbol(words[2]).map { .factors($0, kind) }
      }
    case ("node-count", 2): SinaNode(rawValue: String(words[1])).map { .listCount($0.part) }
    case ("node", 3):
      SinaNode(rawValue: String(words[1])).flatMap { node in
        Int(words[2]).flatMap { $0 >= 1 ? .listPage(node.part, page: $0) : nil }
      }
    case ("calendar", 2): .tradingDays
    default: nil
    }
  }

  private func newestBars(_ words: [Substring]) -> FeedQuery? {
    guard let timeframe = Int16(words[1]).flatMap(Timeframe.init(rawValue:)),
      SinaKline.timeframes.contains(timeframe), let symbol = SinaHistory.symbol(words[2]),
      let count = Int(words[3]), (1...SinaKline.barsMax).contains(count)
    else { return nil }
    return .newestBars(symbol, timeframe, count: count)
  }

  /// `kline 1 sh600519 1970`
  package func newestBarsRequest(
    of symbol: Symbol, timeframe: Timeframe, count: Int
  ) -> SourceRequest {
    SourceRequest(
      hosts: .one(SinaSettings.historyBase), journalKey: "kline/\(timeframe.rawValue)",
      text: { "kline \(timeframe.rawValue) \(symbol) \(count)" },
      endpoint: { _ in SinaKline.endpoint(symbol: symbol, timeframe: timeframe, bars: count) },
      decode: { (body, status, calendar) throws(FeedRefusal) -> FeedResponse in
        .candles(
          try SinaKline.decode(
            body, status: status, symbol: symbol, timeframe: timeframe, calendar: calendar))
      })
  }

  /// `factors qfq sh600519`
  package func factorsRequest(of symbol: Symbol, kind: AdjustmentFactor.Kind) -> SourceRequest {
    SourceRequest(
      hosts: .one(SinaSettings.referenceBase), journalKey: "factors/\(kind.name)",
      text: { "factors \(kind.name) \(symbol)" },
      endpoint: { _ in SinaFactors.endpoint(symbol: symbol, kind: kind) },
      decode: { (body, status, _) throws(FeedRefusal) -> FeedResponse in
        .factors(try SinaFactors.decode(body, status: status, symbol: symbol, kind: kind))
      })
  }

  /// `node-count hs_a`
  package func listCountRequest(of part: ListPart) -> SourceRequest {
    SourceRequest(
      hosts: .one(SinaSettings.listBase), journalKey: "node-count/\(part.node)",
      text: { "node-count \(part.node)" },
      endpoint: { _ in SinaNodes.countEndpoint(of: .known(part)) },
      decode: { (body, status, _) throws(FeedRefusal) -> FeedResponse in
        .listCount(try SinaNodes.decodeCount(body, status: status))
      })
  }

  /// `node hs_a 3`
  package func listPageRequest(of part: ListPart, page: Int) -> SourceRequest {
    SourceRequest(
      hosts: .one(SinaSettings.listBase), journalKey: part.name,
      text: { "node \(part.node) \(page)" },
      endpoint: { _ in SinaNodes.pageEndpoint(of: .known(part), page: page) },
      decode: { (body, status, _) throws(FeedRefusal) -> FeedResponse in
        .list(try SinaNodes.decodePage(body, status: status))
      })
  }

  /// `calendar sh`
  package var tradingDaysRequest: SourceRequest {
    SourceRequest(
      hosts: .one(SinaSettings.referenceBase), journalKey: "calendar", text: { "calendar sh" },
      endpoint: { _ in SinaCalendar.endpoint },
      decode: { (body, status, _) throws(FeedRefusal) -> FeedResponse in
        .calendar(try SinaCalendar.decode(body, status: status))
      })
  }
}

extension SinaNode {
  /// `hs_a` is all of Shanghai and Shenzhen but the depositary receipts.
  package var part: ListPart {
    ListPart(name: "node/\(rawValue)", allOf: self == .aShares ? [.shanghai, .shenzhen] : [])
  }

  fileprivate static func known(_ part: ListPart) -> SinaNode {
    guard let node = SinaNode(rawValue: part.node) else {
      preconditionFailure("\(part.name) is no list of Sina's")
    }
    return node
  }
}

extension ListPart {
  /// `hs_a` of `node/hs_a`.
  fileprivate var node: String { String(name.dropFirst("node/".utf8.count)) }
}
