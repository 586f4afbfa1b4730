import Market

/// What a chart shows of a series.
package struct ChartRows: Sendable {
  package var page: CandlePage
  package var gaps: [Gap]
}

extension StoreReader {
  /// The candles of a period, the one that is not over included, and the gaps between them.
  /// - Parameter lastDay: the day that the period ends with; nil for the newest that is stored.
  package func chart(
    of series: SeriesRecord, timeframe: Timeframe, period: HistoryPeriod, lastDay: TradingDay?
  ) throws(StoreError) -> ChartRows {
    var query = CandleQuery(series.symbol, timeframe: timeframe)
    query.source = series.sourceName
    var newest = lastDay
    if newest == nil { newest = try newestDay(of: series) }
    if let day = newest.flatMap({ period.begins(endingWith: $0) }) {
      query.from = series.zone.moment(on: day, secondOfDay: 0)
    }
    let page = try page(query, points: Self.chartCandlesMax, forming: series.id)
    guard let first = page.candles.first, let last = page.candles.last else {
      return ChartRows(page: page, gaps: [])
    }
    let end = series.zone.moment(on: last.tradingDay.advanced(by: 1), secondOfDay: 0)
    let gaps = try gaps(
      of: series.id, seen: first.openedAt..<max(end, last.closedAt), limit: Self.chartGapsMax)
    return ChartRows(page: page, gaps: gaps.map(\.row.gap))
  }

  /// Forty years of days: more are a coarse picture.
  private static let chartCandlesMax: Int32 = 10_000
  private static let chartGapsMax: Int32 = 1_000

  /// The day of the newest candle; nil where there is none.
  package func newestDay(of series: SeriesRecord) throws(StoreError) -> TradingDay? {
    var newest: TradingDay?
    for timeframe in [Timeframe.minute1, .day1] {
      var query = CandleQuery(series.symbol, timeframe: timeframe)
      query.source = series.sourceName
      query.newest = 1
      newest = [newest, try candles(query).last?.tradingDay].compactMap(\.self).max()
    }
    return newest
  }
}
