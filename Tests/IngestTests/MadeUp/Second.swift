import Market

@testable import Feeds

/// A made-up second source of the mainland's live quotes: it says what the first says, under a
/// name, a code and a host of its own, and has no instruments of Beijing.
struct Second: LiveQuotesSource {
  static let source = Source(rawValue: 92)
  static let base = Setting.origin(
    "second.base", default: "https://second.example", help: "Host for quotes.")

  let name = "second"
  let title = "Second"
  let market = MarketDefinition.mainlandChina
  let settings = SettingSection("second", Second.base)
  let series = [SourceSeries(Second.source, name: "second", instruments: .live)]
  let priority = 5
  var hasRefreshStamps = false

  var quotes: QuotesDeclaration? {
    let first = SourceRegistry.quotes(of: .live)
    return QuotesDeclaration(
      base: Second.base, batchSymbols: first.batchSymbols,
      requestsPerMinute: first.requestsPerMinute, referenceSymbol: first.referenceSymbol,
      bodyBytesMax: first.bodyBytesMax, hasRefreshStamps: hasRefreshStamps,
      isRequestable: Second.isRequestable, endpoint: first.endpoint,
      makeDecoder: first.makeDecoder)
  }

  /// Runs work while the registry has it, too.
  static func registered(
    hasRefreshStamps: Bool = false, _ work: () async throws -> Void
  ) async throws {
    let second = Second(hasRefreshStamps: hasRefreshStamps)
    try await SourceRegistry.with(SourceRegistry.all + [second], work)
  }

  static func isRequestable(_ symbol: Symbol) -> Bool { !symbol.description.hasPrefix("bj") }
}
