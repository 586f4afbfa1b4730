/// A request as the line the journal keeps: printable ASCII, words between single spaces.
///
///     list hslt
///     bars iex 1m 2026-09-03T13:30:00Z 2026-09-03T20:00:00Z AAPL,MSFT QUFQTHxNfDE%3D
///     calendar us 2026-01-01 2026-12-31
///     assets us
///     kline 1 sh600519 1970
///     factors qfq sh600519
///     node-count hs_a
///     node hs_a 3
///     calendar sh
///
/// The spelling is on disk: a word may be added, none may change its meaning.

import Market

extension FeedRequest {
  package var text: String {
    switch self {
    case .mairuiList(let board): "list \(board.rawValue)"
    case .alpacaBars(let query): "bars \(query.text)"
    case .alpacaCalendar(let from, let to): "calendar us \(from) \(to)"
    case .alpacaAssets: "assets us"
    case .sinaKline(let symbol, let scale, let bars): "kline \(scale.rawValue) \(symbol) \(bars)"
    case .sinaFactors(let symbol, let kind): "factors \(kind.name) \(symbol)"
    case .sinaNodeCount(let node): "node-count \(node.rawValue)"
    case .sinaNodePage(let node, let page): "node \(node.rawValue) \(page)"
    case .sinaCalendar: "calendar sh"
    }
  }

  /// Reads what `text` writes; nil for anything else, other spellings of a request included.
  package init?(text: String) {
    let words = text.split(separator: " ")
    guard let request = FeedRequest.reading(words) ?? FeedRequest.readingSina(words),
      request.text == text
    else { return nil }
    self = request
  }

  private static func reading(_ words: [Substring]) -> FeedRequest? {
    switch (words.first, words.count) {
    case ("list", 2): MairuiBoard(rawValue: String(words[1])).map(FeedRequest.mairuiList)
    case ("bars", 6...7): AlpacaBarsQuery(words: words.dropFirst()).map(FeedRequest.alpacaBars)
    case ("calendar", 4):
      TradingDay(words[2]).flatMap { from in
        TradingDay(words[3]).map { .alpacaCalendar(from: from, to: $0) }
      }
    case ("assets", 2): .alpacaAssets
    default: nil
    }
  }

  private static func readingSina(_ words: [Substring]) -> FeedRequest? {
    switch (words.first, words.count) {
    case ("kline", 4): kline(words)
    case ("factors", 3):
      AdjustmentFactor.Kind.allCases.first { $0.name == words[1] }.flatMap { kind in
        SinaHistory.symbol(words[2]).map { .sinaFactors($0, kind) }
      }
    case ("node-count", 2): SinaNode(rawValue: String(words[1])).map(FeedRequest.sinaNodeCount)
    case ("node", 3):
      SinaNode(rawValue: String(words[1])).flatMap { node in
        Int(words[2]).flatMap { $0 >= 1 ? .sinaNodePage(node, page: $0) : nil }
      }
    case ("calendar", 2): .sinaCalendar
    default: nil
    }
  }

  private static func kline(_ words: [Substring]) -> FeedRequest? {
    guard let scale = Int(words[1]).flatMap(SinaKlineScale.init),
      let symbol = SinaHistory.symbol(words[2]), let bars = Int(words[3]),
      (1...SinaKline.barsMax).contains(bars)
    else { return nil }
    return .sinaKline(symbol, scale, bars: bars)
  }
}
