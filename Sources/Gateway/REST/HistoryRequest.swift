/// Which candles a request means: its period or its bounds as moments.

import Market
import Reader

struct HistoryRequest: Sendable {
  let series: SeriesRecord
  let interval: Timeframe
  /// nil where a picture of the whole range is asked for.
  let limit: Int?
  let points: Int?
  let hasColumns: Bool
  let fingerprint: String
  var query: CandleQuery

  static let intervals: [Timeframe] = [
    .minute1, .minute5, .minute15, .minute30, .hour1, .day1, .week1, .month1,
  ]
  static let limitMax = 10_000
  private static let limitDefault: Int64 = 5_000

  /// Of a request without a limit, besides: its rows, or all the minutes that a picture reads.
  @Sendable static func cost(of values: [String: String]) -> Int {
    guard values["limit"] == nil else { return 0 }
    guard values["points"] != nil else { return Int(limitDefault) / Route.rowsOfCost }
    let interval = values["interval"].flatMap { Timeframe(interval: $0) } ?? .day1
    let isOfMinutes = interval.rawValue <= Timeframe.hour1.rawValue
    return isOfMinutes && !isMonthAtMost(values, of: interval) ? costOfMinutes : 0
  }

  private static let costOfMinutes = 8

  private static func isMonthAtMost(_ values: [String: String], of interval: Timeframe) -> Bool {
    let hasBounds = values["from"] != nil || values["to"] != nil
    let asked = values["period"].flatMap { HistoryPeriod(rawValue: $0) }
    if let period = asked ?? (hasBounds ? nil : .usual(for: interval)) {
      return [.day, .fiveDays, .week, .month].contains(period)
    }
    let bounds = ["from", "to"].map { name in
      values[name].flatMap { Timestamp(rfc3339: $0, zone: .shanghai) }
    }
    guard let from = bounds[0] else { return false }
    return (bounds[1] ?? .now).microseconds(since: from) <= 31 * 86_400_000_000
  }

  /// - Parameter lastDay: the newest day that is known of the series.
  init(_ arguments: Arguments, series: SeriesRecord, lastDay: TradingDay) throws(Problem) {
    self.series = series
    interval = arguments["interval"].flatMap { Timeframe(interval: $0) } ?? .day1
    points = arguments.integer("points").map { Int($0) }
    limit = (arguments.integer("limit") ?? (points == nil ? Self.limitDefault : nil)).map {
      Int($0)
    }
    hasColumns = arguments["format"] == "columns"
    fingerprint = arguments.fingerprint(of: "history \(series.symbol) \(series.sourceName)")
    query = CandleQuery(series.symbol, timeframe: interval)
    query.source = series.sourceName
    // One more shows whether there is another page; a picture has none.
    query.newest = limit.map { Int32($0 + (points == nil ? 1 : 0)) }
    query.asOf = arguments.moment("asOf", zone: series.zone)
    let hasMinutes = interval.rawValue <= Timeframe.hour1.rawValue
    query.fill =
      hasMinutes ? arguments["fill"].flatMap { CandleFill(rawValue: $0) } ?? .none : .none
    query.adjust = arguments["adjust"].flatMap { PriceAdjustment(text: $0) } ?? .raw
    try setBounds(arguments, lastDay: lastDay)
  }

  /// All bounds hold: a period ends with the newest day, or that of `to`.
  private mutating func setBounds(
    _ arguments: Arguments, lastDay: TradingDay
  ) throws(Problem) {
    query.from = arguments.moment("from", zone: series.zone)
    query.to = arguments.moment("to", zone: series.zone)
    let hasBounds = query.from != nil || query.to != nil
    let asked = arguments["period"].flatMap { HistoryPeriod(rawValue: $0) }
    if let period = asked ?? (hasBounds ? nil : .usual(for: interval)) {
      // No calendar reaches back to the year 1, and no price.
      let until = query.to.map { to in
        series.zone.day(at: Timestamp(microseconds: max(to.microseconds - 1, 0)))
      }
      let begins = period.begins(endingWith: min(until ?? lastDay, lastDay)).map {
        series.zone.moment(on: $0, secondOfDay: 0)
      }
      query.from = [query.from, begins].compactMap(\.self).max()
    }
    if let before = try arguments.cursor(of: fingerprint, in: Self.cursorRange) {
      query.to = Timestamp(microseconds: before)
    }
  }

  /// Anybody can make a cursor: those of the years 1 to 9999 are times that the database knows.
  private static let cursorRange: ClosedRange<Int64> =
    -62_135_596_800_000_000...253_402_300_799_999_999

  /// The series whose candle that is not over belongs to it; nil for prices of another day, or as
  /// they were known.
  var formingSeries: Int32? {
    query.asOf == nil && query.adjust.isOfNewest ? series.id : nil
  }
}
