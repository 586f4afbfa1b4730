import Candles
import Feeds
import Market
import Store

/// From a page of ready-made bars to what the store makes of them: an A-share's minutes are held
/// against its day's account, everything else is delivered as it is.
extension BarBatch {
  /// A bar younger than this may still be written by its source.
  private static let unfinishedSeconds: Int64 = 5

  /// The finished bars of a page, one batch a series, or a day of minutes.
  static func batches(
    of page: CandlePage, _ question: FeedRequest, days: ClosedRange<TradingDay>? = nil,
    rules: CandleRules, receivedAt: Timestamp
  ) -> [BarBatch] {
    let known = receivedAt.adding(seconds: -unfinishedSeconds)
    let bars = page.candles.filter { $0.isOver(at: known) && days?.contains($0.tradingDay) ?? true }
    if case .sinaKline(let symbol, .minute1, _) = question {
      return repairs(of: symbol, bars, rules, receivedAt)
    }
    let bySymbol = Dictionary(grouping: bars, by: \.symbol)
    return bySymbol.keys.sorted().compactMap { symbol in
      guard let bars = bySymbol[symbol], let first = bars.first else { return nil }
      return BarBatch(
        symbol: symbol, source: first.source, timeframe: first.timeframe, candles: bars,
        receivedAt: receivedAt)
    }
  }

  /// Days whose certificate is due, each on its own.
  private static func repairs(
    of symbol: Symbol, _ bars: [Candle], _ rules: CandleRules, _ receivedAt: Timestamp
  ) -> [BarBatch] {
    let byDay = Dictionary(grouping: bars, by: \.tradingDay)
    return byDay.keys.sorted().compactMap { day in
      let over = Timestamp(day: day, secondOfDay: rules.dayEndSecondOfDay)
      guard receivedAt >= over, let bars = byDay[day] else { return nil }
      return BarBatch(
        symbol: symbol, source: .sina, timeframe: .minute1, candles: bars,
        receivedAt: receivedAt, role: .repair(day))
    }
  }
}

extension Candle {
  /// A week's or a month's bar is stamped with its latest day, and moves until the next begins.
  fileprivate func isOver(at moment: Timestamp) -> Bool {
    guard closedAt <= moment else { return false }
    switch timeframe {
    case .week1: return moment.shanghaiDay.weekNumber > openedAt.shanghaiDay.weekNumber
    case .month1:
      let (now, then) = (moment.shanghaiDay.civil, openedAt.shanghaiDay.civil)
      return (now.year, now.month) > (then.year, then.month)
    default: return true
    }
  }
}

extension TradingDay {
  /// Counts weeks from Monday to Sunday.
  fileprivate var weekNumber: Int32 { (daysSince1970 + 3) / 7 }
}
