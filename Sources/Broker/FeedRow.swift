import Market
import PaperTrading
import Reader

/// A quote of the feed as orders are judged and filled by it.
struct FeedRow: Sendable {
  let symbol: Symbol
  let market: MarketRow
  /// Whether its name has the mark ST or *ST.
  let isSpecialTreatment: Bool

  var snapshot: Snapshot { market.snapshot }

  /// - Parameter day: of the orders. A row of an earlier day has its last price as the reference of
  ///   this one, and no book.
  init?(_ watched: WatchedQuote, on day: TradingDay) {
    var quote = watched.quote.quote
    guard let instrument = Instrument.classify(quote.symbol) else { return nil }
    if watched.isCoarse { quote.rounding = .coarsest }
    // Those of an earlier day are no limits of this one.
    let stated = quote.tradingDay == day ? quote.limits : .unstated
    var snapshot = Snapshot(quote, sequence: watched.quote.seq)
    if snapshot.stamp.day < day {
      if snapshot.last.isPositive { snapshot.previousClose = snapshot.last }
      (snapshot.bids, snapshot.asks) = ([], [])
    }
    symbol = quote.symbol
    let marks = NameMarks.parse(watched.quote.name ?? "")
    isSpecialTreatment = marks.contains(.specialTreatment)
    market = MarketRow(
      snapshot,
      band: stated.band(
        or: PriceLimit.band(
          for: instrument, marks: marks, previousClose: snapshot.previousClose, on: day)))
  }
}
