import Market

/// The first days of rules: literals, so that a misprint ends the first test that reads the table.
extension TradingDay {
  /// - Precondition: a date.
  static func ruleBegin(_ year: Int, _ month: Int, _ day: Int) -> TradingDay {
    guard let day = TradingDay(year: year, month: month, day: day) else {
      preconditionFailure("a rule begins on a day that is no date")
    }
    return day
  }
}
