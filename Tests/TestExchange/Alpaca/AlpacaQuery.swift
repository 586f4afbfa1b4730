import ExchangeSimulator
import FoundationEssentials
import Market

/// A question for bars, checked as the real server checks it (docs/sources/alpaca.md).
package struct AlpacaQuery {
  /// Ascending, each once.
  package let symbols: [Symbol]
  let timeframe: AlpacaTimeframe
  let feed: USMarket.Feed
  /// Both inclusive.
  let start: Timestamp
  package let end: Timestamp
  let limit: Int
  let page: AlpacaPageToken?

  private static let limitDefault = 1000
  private static let limitMax = 10_000
  private static let recentSeconds: Int64 = 15 * 60

  /// All bars of one share there are between two moments, both inclusive.
  package init(
    _ symbol: Symbol, timeframe: AlpacaTimeframe, feed: USMarket.Feed,
    from start: Timestamp, to end: Timestamp
  ) {
    symbols = [symbol]
    self.timeframe = timeframe
    self.feed = feed
    self.start = start
    self.end = end
    limit = Int.max
    page = nil
  }

  init(_ target: RequestTarget, permitsRecentSIP: Bool, at now: Timestamp)
    throws(AlpacaRefusal)
  {
    symbols = try AlpacaQuery.symbols(target["symbols"] ?? "")
    let name = target["timeframe"] ?? ""
    guard let timeframe = AlpacaTimeframe(name) else {
      throw AlpacaRefusal("invalid timeframe: \(name)")
    }
    self.timeframe = timeframe
    let asked = target["limit"] ?? "\(AlpacaQuery.limitDefault)"
    guard let limit = Int(asked), (1...AlpacaQuery.limitMax).contains(limit) else {
      throw AlpacaRefusal("invalid limit: \(asked)")
    }
    self.limit = limit
    guard let feed = USMarket.Feed(rawValue: target["feed"] ?? "sip") else {
      throw AlpacaRefusal("invalid feed: \(target["feed"] ?? "")")
    }
    self.feed = feed
    let isDelayed = feed == .sip && !permitsRecentSIP
    let newest = isDelayed ? now.adding(seconds: -AlpacaQuery.recentSeconds) : now
    end = try target.moment("end") ?? newest
    start = try target.moment("start") ?? Timestamp(day: newest.newYorkDay, newYorkSecondOfDay: 0)
    if end < start { throw AlpacaRefusal("end should not be before start") }
    // Keyed on the end alone, whatever the timeframe; a future end counts as recent.
    if isDelayed, end > newest { throw AlpacaRefusal(.alpacaRecentSIP) }
    page = try AlpacaQuery.page(target["page_token"])
  }

  private static func symbols(_ list: String) throws(AlpacaRefusal) -> [Symbol] {
    var symbols: Set<Symbol> = []
    for name in list.split(separator: ",", omittingEmptySubsequences: false) {
      guard let first = name.first, ("A"..."Z").contains(first),
        name.allSatisfy({ ("A"..."Z").contains($0) || $0 == "." || $0 == "-" }),
        let symbol = Symbol(name)
      else { throw AlpacaRefusal("invalid symbol: \(name)") }
      symbols.insert(symbol)
    }
    return symbols.sorted()
  }

  private static func page(_ token: String?) throws(AlpacaRefusal) -> AlpacaPageToken? {
    guard let token else { return nil }
    guard let page = AlpacaPageToken(token) else {
      throw AlpacaRefusal("invalid page_token: \(token)")
    }
    return page
  }
}

/// A question that was refused.
struct AlpacaRefusal: Error {
  let response: CannedResponse

  init(_ response: CannedResponse) { self.response = response }

  init(_ sentence: String) { response = .alpacaMessage(400, sentence: sentence) }

  /// In the words of the Go server.
  init(malformed name: String, value text: String) {
    self.init(
      "Invalid format for parameter \(name): error parsing '\(text)' as RFC3339 or 2006-01-02 "
        + "time: parsing time \"\(text)\" as \"2006-01-02\": cannot parse \"\(text)\" as \"2006\"")
  }
}

extension RequestTarget {
  /// New York's summer time needs a year that has months.
  private static let years = 1900...2200

  /// RFC 3339, or a date: midnight in New York.
  fileprivate func moment(_ name: String) throws(AlpacaRefusal) -> Timestamp? {
    guard let text = self[name] else { return nil }
    let date = TradingDay(text.prefix(10))
    guard let date, RequestTarget.years.contains(date.civil.year) else {
      throw AlpacaRefusal(malformed: name, value: text)
    }
    if text.utf8.count == 10 { return Timestamp(day: date, newYorkSecondOfDay: 0) }
    guard let moment = Timestamp(rfc3339: text) else {
      throw AlpacaRefusal(malformed: name, value: text)
    }
    return moment
  }
}

/// `5Min`, `1Hour`, `1Day` and their kin. Here are no weeks and no months.
package enum AlpacaTimeframe: Equatable {
  /// 1, 5, 15, 30, … and 60 for an hour.
  case minutes(Int64)
  case day

  init?(_ name: String) {
    let digits = name.prefix { ("0"..."9").contains($0) }
    guard let count = Int64(digits) else { return nil }
    switch (name.dropFirst(digits.count), count) {
    case ("Min", 1...59), ("T", 1...59): self = .minutes(count)
    case ("Hour", 1...23), ("H", 1...23): self = .minutes(60 * count)
    case ("Day", 1), ("D", 1): self = .day
    default: return nil
    }
  }
}

/// Where the next page begins: base64 of `SYM|M|<nanoseconds of its first bar>`.
package struct AlpacaPageToken: Equatable {
  let symbol: Symbol
  let start: Timestamp
  /// `M` for bars inside a day, `D` for days.
  let kind: Character

  /// 2200: nanoseconds in 64 bits end in 2262.
  package static let latest = Timestamp(seconds: 7_258_118_400)

  package init(symbol: Symbol, start: Timestamp, kind: Character) {
    self.symbol = symbol
    self.start = start
    self.kind = kind
  }

  init?(_ token: String) {
    guard let bytes = Data(base64Encoded: token) else { return nil }
    let parts = String(decoding: bytes, as: UTF8.self).split(separator: "|")
    guard parts.count == 3, let symbol = Symbol(parts[0]), let kind = parts[1].first,
      let nanoseconds = Int64(parts[2])
    else { return nil }
    self.init(symbol: symbol, start: Timestamp(microseconds: nanoseconds / 1000), kind: kind)
  }

  var text: String {
    Data("\(symbol)|\(kind)|\(start.microseconds * 1000)".utf8).base64EncodedString()
  }
}
