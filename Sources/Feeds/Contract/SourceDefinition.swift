/// What a source of market data declares: everything that the rest of candled knows of it.
///
/// A source is one value. It says who it is, what it has and how it wants to be asked; with the
/// protocols of `SourceRequest.swift` it turns requests into endpoints and answers into market
/// events. All of that is pure: hosts, keys, time and the wire are elsewhere. To add a source,
/// write a folder like the others and name its value in `SourceRegistry.candled`;
/// `docs/adding-a-source.md` goes through it.

import Market

package protocol SourceDefinition: Sendable {
  /// The section of its settings and its word on the command line: `alpaca`.
  var name: String { get }
  /// Its name in sentences: `Alpaca`.
  var title: String { get }
  var market: MarketDefinition { get }
  var settings: SettingSection { get }
  /// The series it has, at least one. The first has its reference data, too.
  var series: [SourceSeries] { get }
  /// The rank among the sources of a market that have the same data: the lowest is requested.
  var priority: Int { get }
  /// nil for a source that asks for no key.
  var credentials: CredentialDeclaration? { get }
  /// What its worker is called in health and metrics: `history`.
  var workerName: String { get }
  var pace: RequestPace { get }

  /// nil for a source without live quotes.
  var quotes: QuotesDeclaration? { get }
  /// nil for a source without lists of instruments.
  var lists: ListsDeclaration? { get }
  /// nil for a source that has no ready-made bars.
  var bars: BarsDeclaration? { get }

  /// All its hosts but that of live quotes.
  var hosts: [HostSetting] { get }
  /// Reads what the text of one of its requests writes; nil for anything else.
  func query(reading words: [Substring], from source: Source) -> FeedQuery?
}

/// What most sources have in common.
extension SourceDefinition {
  package var priority: Int { 0 }
  package var credentials: CredentialDeclaration? { nil }
  package var quotes: QuotesDeclaration? { nil }
  package var lists: ListsDeclaration? { nil }
  package var bars: BarsDeclaration? { nil }

  package func query(reading words: [Substring], from source: Source) -> FeedQuery? { nil }

  /// Whether it has anything beside live quotes, for which it needs a worker.
  package var hasMoreThanQuotes: Bool {
    lists != nil || bars != nil || hasTradingDays || hasNames
  }

  /// The series whose requests are for no series in particular.
  package var mainSeries: Source { series[0].source }
}

/// One series of a source, as it is stored.
package struct SourceSeries: Sendable, Hashable {
  package let source: Source
  /// `alpaca_iex`.
  package let name: String
  /// Whose instruments it speaks of: a source may list what another one quotes.
  package let instruments: Source

  package init(_ source: Source, name: String, instruments: Source? = nil) {
    self.source = source
    self.name = name
    self.instruments = instruments ?? source
  }
}

/// The setting that names the hosts of an endpoint.
package enum HostSetting: Sendable {
  case one(Setting<String>)
  /// Several hosts, in the order they are tried.
  case several(Setting<[String]>)

  package var key: String {
    switch self {
    case .one(let setting): setting.key
    case .several(let setting): setting.key
    }
  }

  package func origins(in settings: some SettingValues) -> [String] {
    switch self {
    case .one(let setting): [settings[setting]]
    case .several(let setting): settings[setting]
    }
  }
}

/// The key of a source, in a file of its own.
package struct CredentialDeclaration: Sendable {
  /// The setting that names the file.
  package let file: Setting<String?>
  /// Words of a key: one, or an id and a secret.
  package let words: Int
  /// The setting with the requests that each key has a day; the file then holds as many keys as
  /// one likes, a line each. nil: the file holds one key.
  package var requestsPerDay: Setting<Int>?
  /// What the keys are called in sentences: `licence`.
  package var noun = "key"
  /// The setting with the last day of the key that ends first; nil: none ends.
  package var ends: Setting<TradingDay?>?
}

/// How a source wants to be asked.
package struct RequestPace: Sendable {
  /// The requests that may go out in a minute; nil: as many as the most.
  package let requestsPerMinute: Setting<Int>?
  /// More get an address banned, or are beyond the account.
  package let requestsPerMinuteMax: Int
  /// How many may go out at once.
  package let burst: Int
  package let inFlightMax: Int
}

/// Live quotes: a whole market in a few answers, every few seconds.
package struct QuotesDeclaration: Sendable {
  package let base: Setting<String>
  package let batchSymbols: Setting<Int>
  package let requestsPerMinute: Setting<Int>
  /// Goes with every batch to date it.
  package let referenceSymbol: Symbol
  package let bodyBytesMax: Int
  /// Whether a line is stamped when it is written, and not when its instrument last changed: a new
  /// stamp alone then says nothing new.
  package var hasRefreshStamps = false
  package let isRequestable: @Sendable (Symbol) -> Bool
  /// What is requestable, where that is not all of the market: what is not is served by the other
  /// live sources alone.
  package var kinds: [InstrumentKind: Set<Exchange>]?
  /// How many fields a line has, and what stands between them; nil where they are named.
  package var fields: (separator: UInt8, counts: Set<Int>)?
  /// Asks for symbols, in their order; the moment goes against caches between here and there.
  package let endpoint: @Sendable ([Symbol], Timestamp) -> Endpoint
  /// By the rules of a day; nil: today's.
  package let makeDecoder: @Sendable (TradingDay?) -> any QuoteDecoder
}

/// Lists of the instruments of a market.
package struct ListsDeclaration: Sendable {
  package let parts: [ListPart]
  /// Rows of a full page; nil for lists that come in one answer.
  package var pageRows: Int?
  /// What a key for trials is answered with in place of any list.
  package var sampleRows: [Symbol] = []
}

/// Ready-made bars, and how they are asked for.
package struct BarsDeclaration: Sendable {
  package let form: BarsForm
  /// What is recorded of bars in stretches of time.
  package var recording: BarsRecording?
  /// Whether it also has factors for adjusted prices.
  package var hasFactors = false
  package let timeframes: Set<Timeframe>
  package let isRequestable: @Sendable (Symbol) -> Bool
}

/// Which bars are recorded while they come about.
package struct BarsRecording: Sendable {
  package let symbols: Setting<[Symbol]>
  /// How far behind to stay.
  package let delay: Setting<Duration>
  /// When there are bars, on the market's clock.
  package let hours: SessionHours
  /// Which of the source's series.
  package let series: @Sendable (any SettingValues) -> Source
}
