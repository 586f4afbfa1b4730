/// Candles as the library gets them: Unix seconds, a column a field.

import Market
import Reader

struct UDFResolution: Sendable {
  let timeframe: Timeframe

  static let names = ["1", "5", "15", "30", "60", "1D", "1W", "1M"]

  /// The library writes a day as `D` or `1D`.
  static let spellings = names + ["D", "W", "M"]

  init?(_ name: String) {
    let timeframes: [String: Timeframe] = [
      "1": .minute1, "5": .minute5, "15": .minute15, "30": .minute30, "60": .hour1,
      "1D": .day1, "D": .day1, "1W": .week1, "W": .week1, "1M": .month1, "M": .month1,
    ]
    guard let timeframe = timeframes[name] else { return nil }
    self.timeframe = timeframe
  }

  var isOfMinutes: Bool { timeframe.rawValue <= Timeframe.hour1.rawValue }

  /// Of stored minutes or days in a bar.
  var storedInBar: Int {
    Int(timeframe.rawValue / (isOfMinutes ? Timeframe.minute1 : .day1).rawValue)
  }

  /// The time of a candle: of days, weeks and months 00:00 UTC of the first trading day.
  func seconds(of candle: CandleRecord, in zone: MarketZone, _ state: MarketState) -> Int64 {
    if isOfMinutes { return candle.openedAt.seconds }
    // A week opens on Monday, a month on the first, also where nothing trades then.
    let day = state.firstTradingDay(
      from: zone.day(at: candle.openedAt), through: candle.tradingDay, in: zone)
    return Int64(day.daysSince1970) * 86_400
  }

  /// The moment from which on candles have a time of at least `seconds`, or an earlier one.
  func moment(of seconds: Int64, in zone: MarketZone) -> Timestamp {
    // No price is older, and calendars do not reach back to the year 1.
    let seconds = max(seconds, 0)
    guard !isOfMinutes else { return Timestamp(seconds: seconds) }
    let day = TradingDay(daysSince1970: Int32((seconds + 86_399) / 86_400))
    return zone.moment(on: day, secondOfDay: 0)
  }
}

/// Candles between two times of the library.
struct UDFBars: Sendable {
  let state: MarketState
  let series: SeriesRecord
  let resolution: UDFResolution
  var adjust = PriceAdjustment.raw

  struct Bar: Sendable {
    let seconds: Int64
    let open: ExactDecimal
    let high: ExactDecimal
    let low: ExactDecimal
    let close: ExactDecimal
    let volume: ExactDecimal
  }

  /// Of an answer: a chart shows a few thousand. The newest are given.
  static let countMax = 20_000
  /// Of New York's regular session, the longest.
  private static let minutesOfDay = 390

  /// Of a request, besides: by the stored candles that it reads.
  @Sendable static func cost(of values: [String: String]) -> Int {
    func number(_ name: String) -> Int? { values[name].flatMap { Int($0) } }
    guard let resolution = UDFResolution(values["resolution"] ?? ""), let from = number("from"),
      let to = number("to")
    else { return 0 }
    let days = max(to - from, 0) / 86_400 + 1
    let stored =
      number("countback").map { $0 * resolution.storedInBar }
      ?? min(
        days * (resolution.isOfMinutes ? minutesOfDay : 1), countMax * resolution.storedInBar)
    return stored / Route.rowsOfCost
  }

  /// - Parameters:
  ///   - from: nil for all before `to`.
  ///   - to: not inclusive.
  ///   - newest: so many at most.
  func read(
    _ reader: StoreReader, from: Int64?, to: Int64, newest: Int
  ) throws(StoreError) -> [Bar] {
    var query = CandleQuery(series.symbol, timeframe: resolution.timeframe)
    query.source = series.sourceName
    query.adjust = adjust
    // A week of `from` can have opened on a holiday before it.
    let slackSeconds: Int64 = resolution.isOfMinutes ? 0 : 31 * 86_400
    query.from = from.map { resolution.moment(of: $0 - slackSeconds, in: series.zone) }
    query.to = resolution.moment(of: to, in: series.zone)
    // The last may begin with a holiday before `to`, and with a trading day behind it.
    query.newest = Int32(newest + (resolution.isOfMinutes ? 0 : 1))
    let candles = try reader.page(query, forming: adjust.isOfNewest ? series.id : nil).candles
    let bars = candles.compactMap { candle -> Bar? in
      guard let open = candle.open, let high = candle.high, let low = candle.low,
        let close = candle.close
      else { return nil }
      return Bar(
        seconds: resolution.seconds(of: candle, in: series.zone, state), open: open, high: high,
        low: low, close: close, volume: candle.volume)
    }
    return Array(bars.filter { $0.seconds >= from ?? .min && $0.seconds < to }.suffix(newest))
  }
}
