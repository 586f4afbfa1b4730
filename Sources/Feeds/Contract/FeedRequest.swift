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

/// What can be wanted of a source beside live quotes. A source supports some of it.
package enum FeedQuery: Sendable, Hashable {
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

/// Bars of many symbols. A page token belongs to its parameters, so it lives in the query.
package struct BarsQuery: Sendable, Hashable {
  /// Ascending, each once.
  package let symbols: [Symbol]
  package let timeframe: Timeframe
  /// Bars that start at or after this …
  package let start: Timestamp
  /// … and before this.
  package let end: Timestamp
  /// As the page before gave it; nil asks for the first.
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
  /// The source that is asked.
  package var definition: any SourceDefinition { SourceRegistry.definition(of: source) }

  /// The name of its journal series, at most 64 bytes: `list/hslt`, `bars/1m`. Answers of one
  /// series resemble each other. The journal remembers an answer of each series, so a night of
  /// K-lines is one series and not one an instrument: neighbours have the same stamps, and nobody
  /// asks for the same instrument again while it is remembered.
  package var journalKey: String { definition.journalKey(of: query) }

  /// The request as the line the journal keeps: printable ASCII, words between single spaces. The
  /// spelling is on disk: a word may be added, none may change its meaning.
  package var text: String { definition.text(of: query, from: source) }

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
    definition.endpoint(of: query, from: source, credentials: credentials)
  }
}
