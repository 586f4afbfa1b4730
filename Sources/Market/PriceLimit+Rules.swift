/// Which limit applies to an instrument on a day. How far it may move is data (`config/rules.csv`);
/// here is what a row means.

enum LimitRule: Sendable, Hashable {
  case unlimited
  /// How far from the previous close, in tenths of a percent.
  case move(up: Int64, down: Int64)
  /// Neither code nor name shows it; so many tenths of a percent at most.
  case unknown(most: Int64)

  /// The rule of the first days of a listing is that of its first day: who listed just before a
  /// reform does not gain unlimited days by it.
  static func of(
    _ instrument: Instrument, on day: TradingDay, specialTreatment: Bool, age: Int,
    rules: RuleBook
  ) -> LimitRule {
    let limits = rules.mainland.limits
    guard let usual = limits.usual.value(of: instrument, on: day) else { return .unlimited }
    if age <= daysOfListingMax {
      let listed = listingDay(age: age, on: day)
      if let first = limits.firstDays.value(of: instrument, on: listed), age < first.count {
        return first.limit
      }
    }
    let special = specialTreatment ? limits.special.value(of: instrument, on: day) : nil
    return special ?? usual
  }

  private static func listingDay(age: Int, on day: TradingDay) -> TradingDay {
    (0..<max(age, 0)).reduce(day) { day, _ in
      TradingCalendar.shanghai.previous(before: day) ?? day
    }
  }

  /// No exchange has more first days.
  private static let daysOfListingMax = 20
}
