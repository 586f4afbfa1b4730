/// One request to one source: what is wanted, without the words a source has for it.
///
/// Plans make requests, the source that is asked spells them: as a line of the journal, as an
/// endpoint, and as what an answer is read by. No request holds a secret; those join it only in
/// `endpoint(credentials:)`.

import Market

package struct FeedRequest: Sendable, Hashable {
  /// Whose journal series it is.
  package let source: Source
  package let query: FeedQuery

  package init(_ query: FeedQuery, to source: Source) {
    self.query = query
    self.source = source
  }
}

/// What can be wanted of a source. A source supports some of it.
package enum FeedQuery: Sendable, Hashable {
  /// The live quotes of many symbols.
  case quotes(QuotesQuery)
  /// A list of instruments in one answer.
  case list(ListPart)
  /// How many instruments a list holds: pages are asked for until they are all there.
  case listCount(ListPart)
  /// One page of a list, counted from 1.
  case listPage(ListPart, page: Int)
  /// The names of all instruments there are, of which those that are recorded take theirs.
  case names
  /// The bars of many symbols in a stretch of time, page by page.
  case bars(BarsQuery)
  /// The newest bars of a symbol, the forming one included.
  case newestBars(Symbol, Timeframe, count: Int)
  case factors(Symbol, AdjustmentFactor.Kind)
  /// The trading days of the market since its first.
  case tradingDays
  /// The sessions of the market, both days included.
  case sessions(from: TradingDay, to: TradingDay)
}

/// Live quotes of many symbols in one answer.
package struct QuotesQuery: Sendable, Hashable {
  /// The symbols in the order they are requested, the reference symbol first.
  package let symbols: [Symbol]
  /// Stable as long as the symbols are: the series of the journal.
  package let group: UInt16
  /// Goes against caches between here and there; the moment at which it is sent.
  package var askedAt: Timestamp
  /// An answer that comes later is not waited for; of the daemon's time.
  package var deadlineMilliseconds: Int

  /// The group of a request that finds out how a source does while another one serves: its answer
  /// is in the journal, its rows are not booked.
  package static let probeGroup = UInt16.max

  package init(
    symbols: [Symbol], group: UInt16 = 0, askedAt: Timestamp, deadlineMilliseconds: Int = 5_000
  ) {
    self.symbols = symbols
    self.group = group
    self.askedAt = askedAt
    self.deadlineMilliseconds = deadlineMilliseconds
  }

  /// The symbols as the journal keeps them: joined by commas.
  package var text: [UInt8] {
    var list: [UInt8] = []
    list.reserveCapacity(symbols.count * 9)
    for symbol in symbols {
      if !list.isEmpty { list.append(UInt8(ascii: ",")) }
      list += symbol.bytes
    }
    return list
  }
}

/// Bars of many symbols. A page token belongs to its parameters, so it lives in the query.
package struct BarsQuery: Sendable, Hashable {
  /// The symbols in ascending order, each once.
  package let symbols: [Symbol]
  package let timeframe: Timeframe
  /// Bars that start at or after this …
  package let start: Timestamp
  /// … and before this.
  package let end: Timestamp
  /// The token as the page before gave it; nil requests the first.
  package var pageToken: String?

  package init(
    symbols: [Symbol], timeframe: Timeframe, start: Timestamp, end: Timestamp,
    pageToken: String? = nil
  ) {
    self.symbols = Set(symbols).sorted()
    self.timeframe = timeframe
    self.start = start
    self.end = end
    self.pageToken = pageToken
  }
}

extension FeedRequest {
  /// The same request, sent at `moment`.
  /// - Parameter deadlineMilliseconds: of quotes; as it was if nil.
  package func sent(at moment: Timestamp, deadlineMilliseconds: Int? = nil) -> FeedRequest {
    guard case .quotes(var quotes) = query else { return self }
    quotes.askedAt = moment
    quotes.deadlineMilliseconds = deadlineMilliseconds ?? quotes.deadlineMilliseconds
    return FeedRequest(.quotes(quotes), to: source)
  }

  /// The source that is asked.
  package var definition: any SourceDefinition { SourceRegistry.definition(of: source) }

  /// As the source spells it.
  /// - Precondition: the source supports the query, which is not one of live quotes.
  var sourceRequest: SourceRequest {
    guard let request = definition.request(for: query, from: source) else {
      preconditionFailure("\(source.name) has no requests of this kind")
    }
    return request
  }

  /// The name of its journal series, at most 64 bytes: `list/hslt`, `bars/1m`. Answers of one
  /// series resemble each other. The journal remembers an answer of each series, so a night of
  /// K-lines is one series and not one an instrument: neighbours have the same stamps, and nobody
  /// asks for the same instrument again while it is remembered.
  package var journalKey: String {
    if case .quotes(let quotes) = query { return "\(Self.quotesSeries)/\(quotes.group)" }
    return sourceRequest.journalKey
  }

  /// The first word of the series of live quotes; behind it stands the group.
  package static let quotesSeries = "quotes"

  /// The request as the line the journal keeps: printable ASCII, words between single spaces. The
  /// spelling is on disk: a word may be added, none may change its meaning.
  package var text: String {
    if case .quotes(let quotes) = query { return String(decoding: quotes.text, as: UTF8.self) }
    return sourceRequest.text()
  }

  /// The request's text as bytes, as the journal has it.
  package var bytes: [UInt8] {
    if case .quotes(let quotes) = query { return quotes.text }
    return Array(text.utf8)
  }

  /// Reads what `text` writes; nil for anything else, other spellings of a request included.
  package init?(text: String, source: Source) {
    guard let definition = SourceRegistry.known(source),
      let query = definition.query(reading: text.split(separator: " "), from: source)
    else { return nil }
    self.init(query, to: source)
    guard self.text == text else { return nil }
  }

  /// - Precondition: `credentials` are those of the source, and the source supports the query.
  package func endpoint(credentials: FeedCredentials?) -> Endpoint {
    if case .quotes(let quotes) = query {
      return SourceRegistry.quotes(of: source).endpoint(quotes.symbols, quotes.askedAt)
    }
    return sourceRequest.endpoint(credentials)
  }

  /// The setting with the hosts that answer it.
  package var hosts: HostSetting {
    if case .quotes = query { return .one(SourceRegistry.quotes(of: source).base) }
    return sourceRequest.hosts
  }

  package var bodyBytesMax: Int {
    if case .quotes = query { return SourceRegistry.quotes(of: source).bodyBytesMax }
    return sourceRequest.bodyBytesMax
  }
}
