import Market

@testable import Feeds

/// A made-up second source of the mainland's live quotes: the first one's answers under a code, a
/// name and a host of its own.
struct Understudy: SourceDefinition {
  static let source = Source(rawValue: 92)

  let name = "understudy"
  let title = "Understudy"
  let market = MarketDefinition.mainlandChina
  let settings = SettingSection(
    "understudy", UnderstudySettings.base.declaration,
    UnderstudySettings.batchSymbols.declaration,
    UnderstudySettings.requestsPerMinute.declaration)
  let series = [SourceSeries(Understudy.source, name: "understudy", instruments: .live)]
  let priority = 9
  let workerName = "understudy"
  let pace = RequestPace(
    requestsPerMinute: UnderstudySettings.requestsPerMinute, requestsPerMinuteMax: 6_000, burst: 10,
    inFlightMax: 2)
  let quotes: QuotesDeclaration? = {
    let first = SourceRegistry.quotes(of: .live)
    return QuotesDeclaration(
      base: UnderstudySettings.base, batchSymbols: UnderstudySettings.batchSymbols,
      requestsPerMinute: UnderstudySettings.requestsPerMinute,
      referenceSymbol: first.referenceSymbol, bodyBytesMax: first.bodyBytesMax,
      isRequestable: first.isRequestable, endpoint: first.endpoint,
      makeDecoder: first.makeDecoder)
  }()
  let hosts: [HostSetting] = [.one(UnderstudySettings.base)]

  func hosts(of query: FeedQuery) -> HostSetting { .one(UnderstudySettings.base) }

  func journalKey(of query: FeedQuery) -> String { noQueries() }

  func text(of query: FeedQuery, from source: Source) -> String { noQueries() }

  func query(reading words: [Substring], from source: Source) -> FeedQuery? { nil }

  func endpoint(
    of query: FeedQuery, from source: Source, credentials: FeedCredentials?
  ) -> Endpoint { noQueries() }

  func decode(
    _ body: UnsafeRawBufferPointer, status: Int, of query: FeedQuery, from source: Source,
    calendar: TradingCalendar
  ) throws(FeedRefusal) -> FeedResponse { noQueries() }

  private func noQueries() -> Never { preconditionFailure("it has live quotes alone") }
}

enum UnderstudySettings {
  static let base = SettingKey.origin(
    "understudy.base", default: "https://understudy.example", help: "Host for quotes.")
  static let batchSymbols = SettingKey.integer(
    "understudy.batch_symbols", default: 800, in: 2...800, help: "Symbols per request.")
  static let requestsPerMinute = SettingKey.integer(
    "understudy.requests_per_minute", default: 600, in: 1...6_000, help: "Rate limit.")
}
