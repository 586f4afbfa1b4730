import Feeds
import Market

/// What holds for every bar that may go into the ledger.
extension Probe.Verdict {
  mutating func check(_ page: CandlePage, of request: FeedRequest) {
    rows = page.candles.count
    check(page.refused, beside: page.candles.count)
    expect(page.nextPageToken != "", "an empty token asks for the first page again")
    switch request.query {
    case .newestBars(let symbol, let timeframe, _): checkSina(page.candles, symbol, timeframe)
    case .bars(let query): checkAlpaca(page.candles, query, request.source)
    default: expect(false, "bars in answer to \(request.text)")
    }
    for candle in page.candles { checkNumbers(candle) }
  }

  private mutating func checkNumbers(_ candle: Candle) {
    let prices = [candle.open, candle.high, candle.low, candle.close]
    let name = "\(candle.symbol) at \(candle.openedAt.microseconds)"
    expect(prices.allSatisfy(\.isPositive), "\(name): a price that is not positive")
    expect(candle.low <= candle.high, "\(name): low above high")
    expect(!candle.volume.isNegative, "\(name): volume below zero")
    expect(!(candle.turnover?.isNegative ?? false), "\(name): turnover below zero")
    expect(!(candle.vwap?.isNegative ?? false), "\(name): an average below zero")
    expect(candle.trades ?? 0 >= 0, "\(name): fewer trades than none")
    expect(candle.openedAt < candle.closedAt, "\(name): ends before it begins")
  }

  private mutating func checkSina(
    _ candles: [Candle], _ symbol: Symbol, _ timeframe: Timeframe
  ) {
    for candle in candles {
      let name = "\(candle.symbol) of \(candle.tradingDay)"
      expect(
        candle.symbol == symbol && candle.timeframe == timeframe && candle.source == .live,
        "\(name): not what was asked for")
      expect(
        (candle.low...candle.high).contains(candle.open)
          && (candle.low...candle.high).contains(candle.close), "\(name): open or close outside")
      expect(
        TradingCalendar.shanghai.isTradingDay(candle.tradingDay) == true,
        "\(name): no trading day")
      expect(candle.closedAt.shanghaiDay == candle.tradingDay, "\(name): ends on another day")
    }
    for (candle, next) in zip(candles, candles.dropFirst()) {
      expect(candle.closedAt < next.closedAt, "\(candle.closedAt) stands before \(next.closedAt)")
    }
  }

  private mutating func checkAlpaca(_ candles: [Candle], _ query: BarsQuery, _ source: Source) {
    for candle in candles {
      let name = "\(candle.symbol) at \(candle.openedAt.microseconds)"
      expect(
        query.symbols.contains(candle.symbol) && candle.timeframe == query.timeframe
          && candle.source == source, "\(name): not what was asked for")
      guard candle.low <= candle.high else { continue }
      let range = candle.low...candle.high
      let isOutside = !range.contains(candle.open) || !range.contains(candle.close)
      expect(candle.flags.contains(.outsideRange) == isOutside, "\(name): a wrong mark")
      expect(candle.openedAt.newYorkDay == candle.tradingDay, "\(name): begins on another day")
    }
  }
}
