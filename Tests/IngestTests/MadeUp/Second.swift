import Market

@testable import Feeds

/// A made-up second source of the mainland's live quotes: it says what the first says, under a
/// name, a code and a host of its own, and has no instruments of Beijing.
struct Second: SourceDefinition {
  static let source = Source(rawValue: 92)
  static let base = SettingKey.origin(
    "second.base", default: "https://second.example", help: "Host for quotes.")

  let name = "second"
  let title = "Second"
  let market = MarketDefinition.mainlandChina
  let settings = SettingSection("second", Second.base.declaration)
  let series = [SourceSeries(Second.source, name: "second", instruments: .live)]
  let priority = 5
  let workerName = "second"
  let pace = RequestPace(
    requestsPerMinute: nil, requestsPerMinuteMax: 30, burst: 1, inFlightMax: 1)
  let hosts: [HostSetting] = []

  var quotes: QuotesDeclaration? {
    let first = SourceRegistry.quotes(of: .live)
    return QuotesDeclaration(
      base: Second.base, batchSymbols: first.batchSymbols,
      requestsPerMinute: first.requestsPerMinute, referenceSymbol: first.referenceSymbol,
      bodyBytesMax: first.bodyBytesMax, isRequestable: Second.isRequestable,
      endpoint: first.endpoint, makeDecoder: first.makeDecoder)
  }

  static func isRequestable(_ symbol: Symbol) -> Bool { !symbol.description.hasPrefix("bj") }

  func hosts(of query: FeedQuery) -> HostSetting { .one(Second.base) }

  func journalKey(of query: FeedQuery) -> String { preconditionFailure("it has quotes alone") }

  func text(of query: FeedQuery, from source: Source) -> String {
    preconditionFailure("it has quotes alone")
  }

  func query(reading words: [Substring], from source: Source) -> FeedQuery? { nil }

  func endpoint(
    of query: FeedQuery, from source: Source, credentials: FeedCredentials?
  ) -> Endpoint {
    preconditionFailure("it has quotes alone")
  }

  func decode(
    _ body: UnsafeRawBufferPointer, status: Int, of query: FeedQuery, from source: Source,
    calendar: TradingCalendar
  ) throws(FeedRefusal) -> FeedResponse {
    preconditionFailure("it has quotes alone")
  }
}
