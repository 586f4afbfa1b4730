/// How far back a chart or a list of candles reaches, as people ask for it.

package enum HistoryPeriod: String, CaseIterable, Sendable {
  case day = "1d"
  case fiveDays = "5d"
  case week = "1wk"
  case month = "1mo"
  case threeMonths = "3mo"
  case sixMonths = "6mo"
  case year = "1y"
  case fiveYears = "5y"
  case yearToDate = "ytd"
  case max = "max"

  /// The first day of the period that ends with `day`; nil for all there is.
  package func begins(endingWith day: TradingDay) -> TradingDay? {
    switch self {
    case .day: day
    case .fiveDays:
      (0..<4).reduce(day) { day, _ in
        let earlier = (1...Self.closureDaysMax).lazy.map { day.advanced(by: -$0) }
        return earlier.first(where: TradingCalendar.shanghai.mayTrade) ?? day.advanced(by: -1)
      }
    case .week: day.advanced(by: -6)
    case .month: day.monthsEarlier(1)
    case .threeMonths: day.monthsEarlier(3)
    case .sixMonths: day.monthsEarlier(6)
    case .year: day.monthsEarlier(12)
    case .fiveYears: day.monthsEarlier(60)
    case .yearToDate: TradingDay(year: day.civil.year, month: 1, day: 1) ?? day
    case .max: nil
    }
  }

  /// Longer than any closure.
  private static let closureDaysMax = 31

  /// What is shown of a timeframe where nothing is asked: a picture of some hundred candles.
  package static func usual(for timeframe: Timeframe) -> HistoryPeriod {
    switch timeframe {
    case .week1, .month1: .max
    case .day1: .year
    default: .day
    }
  }

  /// What to show where one of the two is asked, or none.
  package static func range(
    timeframe: Timeframe?, period: HistoryPeriod?
  ) -> (Timeframe, HistoryPeriod) {
    let period = period ?? timeframe.map(usual) ?? .day
    return (timeframe ?? period.usualTimeframe, period)
  }

  /// The candles that show it where nothing is asked.
  package var usualTimeframe: Timeframe {
    switch self {
    case .day: .minute1
    case .fiveDays, .week: .minute5
    case .month, .threeMonths, .sixMonths, .year, .yearToDate: .day1
    case .fiveYears, .max: .week1
    }
  }
}

extension TradingDay {
  /// The day after the same date so many months earlier, or after that month's last.
  fileprivate func monthsEarlier(_ count: Int) -> TradingDay {
    let (year, month, day) = civil
    let months = year * 12 + month - 1 - count
    var date = day
    while date > 27 {
      if let found = TradingDay(year: months / 12, month: months % 12 + 1, day: date) {
        return found.advanced(by: 1)
      }
      date -= 1
    }
    return TradingDay(year: months / 12, month: months % 12 + 1, day: date)?.advanced(by: 1)
      ?? self
  }
}
