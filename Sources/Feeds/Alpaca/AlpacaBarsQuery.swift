/// One page of Alpaca's bars of many symbols, `/v2/stocks/bars`.
///
/// Whatever the server would choose for us is said outright: feed, order, page size, `raw` because
/// adjusted prices are rounded and change with every dividend, and no mapping of renamed tickers
/// (`asof=-`), so that the same question has the same answer tomorrow (docs/sources/alpaca.md). A
/// page token belongs to its parameters: with others it silently gives other data, so it lives in
/// the query.

import Market

struct AlpacaBarsQuery {
  let query: BarsQuery
  let feed: AlpacaFeed

  /// 518 were accepted (docs/sources/alpaca.md#parameters); the path stays below 4 KB.
  static let symbolsMax = 500
  /// The server's own bound for one page.
  static let pageBarsMax = 10_000
  /// Tokens seen have 20 to 60 bytes.
  static let pageTokenBytesMax = 1024

  /// - Precondition: 1…`symbolsMax` symbols, each of which `isRequestable`, a timeframe that Alpaca
  ///   makes, and a start before the end.
  init(_ query: BarsQuery, from source: Source) {
    precondition(AlpacaBarsQuery.isSupported(query), "a query that Alpaca does not support")
    self.query = query
    feed = source == Alpaca.sip ? .sip : .iex
  }

  static func isSupported(_ query: BarsQuery) -> Bool {
    (1...symbolsMax).contains(query.symbols.count) && query.start < query.end
      && query.symbols.allSatisfy(isRequestable) && query.timeframe.alpacaName != nil
  }

  /// Whether market data knows symbols of this form: `^[A-Z][A-Z.\-]*$`. One of another form voids
  /// its whole request; assets have some.
  static func isRequestable(_ symbol: Symbol) -> Bool {
    let bytes = symbol.bytes
    let isUpper = { (byte: UInt8) in (65...90).contains(byte) }
    return bytes.first.map(isUpper) == true
      && bytes.allSatisfy { isUpper($0) || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-") }
  }
}

extension AlpacaBarsQuery {
  static let route = "/v2/stocks/bars"

  func endpoint(headers: [Endpoint.Header]) -> Endpoint {
    var items = [
      "symbols=\(symbolList)", "timeframe=\(query.timeframe.alpacaName ?? "")",
      "start=\(wire(query.start))",
      // Both ends are included there.
      "end=\(wire(query.end.adding(milliseconds: -1)))", "limit=\(AlpacaBarsQuery.pageBarsMax)",
      "adjustment=raw", "asof=-", "feed=\(feed.rawValue)", "sort=asc",
    ]
    if let pageToken = query.pageToken { items.append("page_token=\(pageToken.percentEncoded)") }
    return Endpoint(
      route: AlpacaBarsQuery.route,
      path: AlpacaBarsQuery.route + "?" + items.joined(separator: "&"), headers: headers)
  }

  private var symbolList: String { query.symbols.map(\.description).joined(separator: ",") }

  /// Days go as dates: a moment would be floored to the New York day it falls on.
  private func wire(_ moment: Timestamp) -> String {
    query.timeframe.minutes == nil
      ? moment.newYorkDay.description : moment.utcText.percentEncoded
  }
}

// MARK: - As words

extension AlpacaBarsQuery {
  /// `iex 1m 2026-09-03T13:30:00Z 2026-09-03T20:00:00Z AAPL,MSFT`, and the token where there is
  /// one.
  var text: String {
    let words = [
      feed.rawValue, query.timeframe.name, query.start.utcText, query.end.utcText, symbolList,
    ]
    return (words + [query.pageToken?.percentEncoded].compactMap(\.self)).joined(separator: " ")
  }

  init?(words: ArraySlice<Substring>) {
    let words = Array(words)
    guard (5...6).contains(words.count), let feed = AlpacaFeed(rawValue: String(words[0])),
      let timeframe = Timeframe(name: String(words[1])), let start = Timestamp(rfc3339: words[2]),
      let end = Timestamp(rfc3339: words[3])
    else { return nil }
    let symbols = words[4].split(separator: ",").compactMap { Symbol($0) }
    let token = words.count > 5 ? String(percentEncoded: words[5]) : nil
    let query = BarsQuery(
      symbols: symbols, timeframe: timeframe, start: start, end: end, pageToken: token)
    guard AlpacaBarsQuery.isSupported(query) else { return nil }
    self.init(query, from: feed == .sip ? Alpaca.sip : Alpaca.iex)
  }
}
