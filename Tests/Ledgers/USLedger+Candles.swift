import ExchangeSimulator
import Market
import TestExchange

/// The American bars as candles, and the comparison with what a daemon stored.
extension USLedger {
  /// The series of all exchanges; the other one is of a single exchange.
  static let wholeMarket = Source(rawValue: 4)

  /// The bars of one series that begin from `start` to `end`, both inclusive, as the source knows
  /// them at `now`, ascending. `source` is one of Alpaca's two. Empty for a symbol nobody knows.
  ///
  /// A minute or an hour closes its length after it opens; a day closes at the New York midnight
  /// behind it. The trading day is New York's.
  package func candles(
    of symbol: Symbol, _ timeframe: Timeframe, _ source: Source, from start: Timestamp,
    to end: Timestamp, at now: Timestamp
  ) -> [Candle] {
    let feed: USMarket.Feed = source == Self.wholeMarket ? .sip : .iex
    guard let length = AlpacaTimeframe(timeframe) else { return [] }
    let query = AlpacaQuery(symbol, timeframe: length, feed: feed, from: start, to: end)
    return page(query, at: now).rows.map { Candle($0.bar, symbol, timeframe, source) }
  }

  /// What differs between `candles` and the bars the source has at `now` for these series from
  /// `start` to `end`; empty if nothing does. Candles of other series or times are passed over.
  package func differences(
    candles: [Candle], of symbols: [Symbol], _ timeframe: Timeframe, _ source: Source,
    from start: Timestamp, to end: Timestamp, at now: Timestamp
  ) -> [String] {
    var differences = Differences()
    for symbol in symbols {
      let given = candles.filter {
        $0.symbol == symbol && $0.timeframe == timeframe && $0.source == source
          && start <= $0.openedAt && $0.openedAt <= end
      }
      var left = Dictionary(grouping: given, by: \.openedAt)
      let truth = self.candles(of: symbol, timeframe, source, from: start, to: end, at: now)
      for expected in truth {
        let found = left.removeValue(forKey: expected.openedAt) ?? []
        if found.count != 1 {
          differences.add("\(symbol) \(expected.openedAt): \(found.count) candles, expected one")
        } else if !found[0].hasNumbers(of: expected) {
          differences.add("\(symbol) \(expected.openedAt): \(found[0]), expected \(expected)")
        }
      }
      for moment in left.keys.sorted() {
        differences.add("\(symbol) \(moment): no candle expected")
      }
    }
    return differences.report
  }
}

extension Candle {
  /// Flags are the daemon's own.
  fileprivate func hasNumbers(of other: Candle) -> Bool {
    (open, high, low, close) == (other.open, other.high, other.low, other.close)
      && (volume, trades, vwap) == (other.volume, other.trades, other.vwap)
      && (closedAt, tradingDay) == (other.closedAt, other.tradingDay)
  }

  fileprivate init(
    _ bar: USMarket.Bar, _ symbol: Symbol, _ timeframe: Timeframe, _ source: Source
  ) {
    let day = bar.start.newYorkDay
    let close: Timestamp
    switch timeframe {
    case .day1: close = Timestamp(day: day.advanced(by: 1), newYorkSecondOfDay: 0)
    default: close = bar.start.adding(seconds: 60 * Int64(timeframe.rawValue))
    }
    let price = { ExactDecimal(units: $0, scale: 4) }
    self.init(
      symbol: symbol, timeframe: timeframe, tradingDay: day, openedAt: bar.start, closedAt: close,
      open: price(bar.open), high: price(bar.high), low: price(bar.low), close: price(bar.close),
      volume: ExactDecimal(bar.volume), turnover: nil, trades: bar.trades,
      vwap: ExactDecimal(units: bar.average, scale: 6), flags: [], source: source)
  }
}

extension AlpacaTimeframe {
  fileprivate init?(_ timeframe: Timeframe) {
    switch timeframe {
    case .minute1, .minute5, .minute15, .minute30, .hour1:
      self = .minutes(Int64(timeframe.rawValue))
    case .day1: self = .day
    case .week1, .month1, .afterHours: return nil
    }
  }
}
