/// The newest state of every series, as JSON that is ready to send. Quotes are state: whoever
/// missed some needs only the newest of each, and that is here, also while PostgreSQL is away.
///
/// A value: the feed follower makes the next one and publishes it; requests read the one there is.
/// It must never be changed in place once it is published.

import AppStore
import Market
import Reader

/// A series as apps know it: an instrument of one source. Its place never changes while the process
/// runs, so that sets of series are sets of small numbers.
package struct SeriesPlace: Hashable, Comparable, Sendable {
  package let index: Int

  package init(index: Int) { self.index = index }

  package static func < (one: SeriesPlace, other: SeriesPlace) -> Bool { one.index < other.index }
}

/// One object of the API's type `Stock`, encoded once for all who get it, and the quote that it
/// shows.
package struct EncodedStock: Sendable {
  package let place: SeriesPlace
  /// The change that wrote it.
  package let seq: Int64
  private let content: Content

  /// Behind one reference: streams copy stocks for each follower.
  private final class Content: Sendable {
    let json: [UInt8]
    let latest: LatestQuote
    let figures: StockFigures
    let band: PriceBand?
    let isStale: Bool

    init(
      json: [UInt8], latest: LatestQuote, figures: StockFigures, band: PriceBand?, isStale: Bool
    ) {
      self.json = json
      self.latest = latest
      self.figures = figures
      self.band = band
      self.isStale = isStale
    }
  }

  /// - Parameter band: the prices between which it may trade; nil: any.
  init(
    place: SeriesPlace, json: [UInt8], latest: LatestQuote, figures: StockFigures,
    band: PriceBand?, isStale: Bool
  ) {
    self.place = place
    seq = latest.seq
    content = Content(
      json: json, latest: latest, figures: figures, band: band, isStale: isStale)
  }

  /// A JSON object in UTF-8.
  package var json: [UInt8] { content.json }
  package var latest: LatestQuote { content.latest }
  var quote: Quote { content.latest.quote }
  var figures: StockFigures { content.figures }
  /// nil before the first trade of the day.
  var currentPrice: ExactDecimal? { content.figures.price }
  var limitUp: ExactDecimal? { content.band?.upper }
  /// Newer values may exist that cannot be had now.
  var isStale: Bool { content.isStale }
}

extension EncodedStock: Equatable {
  package static func == (one: EncodedStock, other: EncodedStock) -> Bool {
    one.place == other.place && one.seq == other.seq && one.json == other.json
  }
}

package struct MarketState: Sendable {
  /// The life of the database; another one means that seqs start anew.
  package var epoch: Int64
  /// The last change that is in `stocks`.
  package var seq: Int64
  /// By place; nil for a series that is listed and has no quote.
  package var stocks: [EncodedStock?]
  package var directory = InstrumentDirectory()
  /// Another one means that other instruments are listed, or under other names.
  package var listVersion = 0
  /// The mainland's trading days: beyond the table of the program those that the daemon has learnt.
  package var calendar = TradingCalendar.shanghai
  /// Those of the United States that are stored; nil where none are.
  package var americanCalendar: TradingCalendar?
  /// World indexes, as they were read last.
  package var overview: [OverviewRow] = []
  /// Sources that the feed said are silent, and since when.
  package var stalled: [String: Timestamp] = [:]
  /// When the connection to PostgreSQL was lost; nil while it is there.
  package var lostAt: Timestamp?
  /// When the last change was committed, by the server's clock; nil before the first.
  package var committedAt: Timestamp?
  /// The same by the daemon's clock, which shows another day where it replays one.
  package var knownAt: Timestamp?
  /// In which epoch numbers of users' orders were given; `MarketMemory` keeps it.
  package var epochs = AppEpochs.none

  /// Whether anything was read yet.
  package var isLoaded: Bool { epoch != 0 }

  /// The newest trading day of any quote.
  package var quoteDay: TradingDay? { stocks.lazy.compactMap { $0?.figures.tradingDay }.max() }

  /// nil for a series without a quote.
  func stock(at place: SeriesPlace) -> EncodedStock? {
    stocks.indices.contains(place.index) ? stocks[place.index] : nil
  }

  /// What lists are ordered by.
  func figures(of place: SeriesPlace) -> StockFigures? { stock(at: place)?.figures }

  /// What the daemon's clock shows.
  /// - Parameter now: by this machine's clock.
  package func clock(at now: Timestamp) -> Timestamp {
    guard let knownAt, let committedAt else { return now }
    return Timestamp(microseconds: now.microseconds + knownAt.microseconds(since: committedAt))
  }

  package init(
    epoch: Int64 = 0, seq: Int64 = 0, stocks: [EncodedStock?] = [], lostAt: Timestamp? = nil
  ) {
    self.epoch = epoch
    self.seq = seq
    self.stocks = stocks
    self.lostAt = lostAt
  }
}

extension MarketState {
  /// The first day of a week or month on which its market trades: beyond what its calendar knows a
  /// weekday counts as one.
  /// - Parameters:
  ///   - day: the first of its days.
  ///   - last: the newest that it has a price of.
  func firstTradingDay(from day: TradingDay, through last: TradingDay, in zone: MarketZone)
    -> TradingDay
  {
    let calendar: TradingCalendar? =
      switch zone {
      case .shanghai: self.calendar
      case .newYork: americanCalendar
      case .utc: .everyDay
      }
    var day = day
    while day < last, !(calendar?.isTradingDay(day) ?? !day.isWeekend) { day = day.advanced(by: 1) }
    return day
  }
}

extension MarketZone {
  /// The market on whose clock it is; nil where there are several.
  var market: MarketDefinition? {
    [MarketDefinition.mainlandChina, .unitedStates].first { $0.zone == self }
  }
}
