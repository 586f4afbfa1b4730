import Candles
import Commits
import Feeds
import Market
import Polling

/// What the store makes of a page of ready-made bars: an A-share's minutes are compared with its
/// day's certificate, everything else is delivered as it is.
extension BarBatch {
  /// A bar younger than this may still be written by its source.
  private static let unfinishedSeconds: Int64 = 5

  /// The finished bars of a page, one batch a series, or a day of minutes.
  package static func batches(
    of page: CandlePage, to feedRequest: FeedRequest, days: ClosedRange<TradingDay>? = nil,
    rules: CandleRules, calendar: TradingCalendar, receivedAt: Timestamp
  ) -> [BarBatch] {
    let known = receivedAt.adding(seconds: -unfinishedSeconds)
    let bars = page.candles.filter { $0.isOver(at: known) }
    let isWanted = { (day: TradingDay) in days?.contains(day) ?? true }
    if case .newestBars(let symbol, .minute1, let asked) = feedRequest.query {
      let isAll = page.candles.count + page.refused.count < asked
      return repairs(
        of: symbol, from: feedRequest.source, bars: bars, isAll: isAll, rules: rules,
        calendar: calendar,
        receivedAt: receivedAt
      ).filter { batch in
        if case .repair(let day) = batch.role { isWanted(day) } else { false }
      }
    }
    let bySymbol = Dictionary(grouping: bars.filter { isWanted($0.tradingDay) }, by: \.symbol)
    return bySymbol.keys.sorted().compactMap { symbol in
      guard let bars = bySymbol[symbol], let first = bars.first else { return nil }
      return BarBatch(
        symbol: symbol, source: first.source, timeframe: first.timeframe, candles: bars,
        receivedAt: receivedAt)
    }
  }

  /// Days whose certificate is due, each on its own. A trading day without bars behind one that has
  /// some has bars too, there were none; and if these are all bars there are, one ahead of them.
  private static func repairs(
    of symbol: Symbol, from source: Source, bars: [Candle], isAll: Bool, rules: CandleRules,
    calendar: TradingCalendar, receivedAt: Timestamp
  ) -> [BarBatch] {
    let byDay = Dictionary(grouping: bars, by: \.tradingDay)
    let today = receivedAt.shanghaiDay
    guard var first = byDay.keys.min(), first <= today else { return [] }
    if isAll {
      first = min(first, RepairPlan().firstDay(on: today) { calendar.isTradingDay($0) })
    }
    return (first...today).compactMap { day in
      let over = Timestamp(day: day, secondOfDay: rules.dayEndSecondOfDay)
      guard receivedAt >= over, byDay[day] != nil || calendar.isTradingDay(day) == true else {
        return nil
      }
      return BarBatch(
        symbol: symbol, source: source, timeframe: .minute1, candles: byDay[day] ?? [],
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

extension PageWalk {
  /// A walk through the pages of a query, bounded by the bars that its symbols can have.
  package init(_ query: BarsQuery, from source: Source) {
    let minutes = Int(query.end.seconds - query.start.seconds) / 60
    self.init(rows: minutes * query.symbols.count, pageRows: source.pageBarsMax)
  }
}
