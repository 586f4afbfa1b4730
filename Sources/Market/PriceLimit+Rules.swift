/// Which limit applied when: the rules change over the years, so each carries the day it began.
///
/// Sources: docs/exchange-rules.md#price-limits (for the change of 2026-07-06, SSE 上证发〔2026〕41号 and
/// SZSE 深证上〔2026〕551号). The dates before 2019, the capped first day (144 % and 64 % of the issue
/// price) and the convertible bonds' limits are general knowledge, not looked up in a rule book.

enum LimitRule {
  case unlimited
  /// How far from the previous close, in tenths of a percent.
  case move(up: Int64, down: Int64)
  /// Neither code nor name shows it; so many tenths of a percent at most.
  case unknown(most: Int64)

  static func percent(_ percent: Int64) -> LimitRule { .move(up: percent * 10, down: percent * 10) }

  static func of(
    _ instrument: Instrument, on day: TradingDay, specialTreatment: Bool, age: Int
  ) -> LimitRule {
    if day < Since.limits { return .unlimited }
    switch instrument.kind {
    case .index, .repo: return .unlimited
    case .fund: return fund(on: day)
    case .bShare: return mainBoard(on: day, specialTreatment: specialTreatment)
    case .convertibleBond: return bond(on: day, age: age)
    case .stock:
      return stock(instrument.board, on: day, specialTreatment: specialTreatment, age: age)
    }
  }

  private static func stock(
    _ board: Board, on day: TradingDay, specialTreatment: Bool, age: Int
  ) -> LimitRule {
    switch board {
    case .beijing: age < unlimitedDaysBeijing ? .unlimited : .percent(30)
    case .star: age < unlimitedDays ? .unlimited : .percent(20)
    case .chiNext:
      firstDays(age: age, on: day, unlimitedSince: Since.chiNextReform)
        ?? .percent(day < Since.chiNextReform ? 10 : 20)
    case .main:
      firstDays(age: age, on: day, unlimitedSince: Since.mainBoardReform)
        ?? mainBoard(on: day, specialTreatment: specialTreatment)
    }
  }

  private static func mainBoard(on day: TradingDay, specialTreatment: Bool) -> LimitRule {
    let marked = specialTreatment && day >= Since.specialTreatment
    return .percent(marked && day < Since.specialTreatmentEqual ? 5 : 10)
  }

  /// Funds move as far as what they track: 10 %, or 20 % where that is ChiNext or STAR, or 30 % in
  /// Beijing. None of it is in a code.
  private static func fund(on day: TradingDay) -> LimitRule {
    let widest = fundsMost.first { $0.since <= day }
    return widest.map { .unknown(most: $0.permille) } ?? .percent(10)
  }

  /// The newest first.
  private static let fundsMost = [
    (since: Since.beijingExchange, permille: Int64(300)),
    (since: Since.chiNextReform, permille: 200),
  ]

  private static func bond(on day: TradingDay, age: Int) -> LimitRule {
    if day < Since.bondLimits { return .unlimited }
    return age == 0 ? .move(up: 573, down: 433) : .percent(20)
  }

  /// nil once a stock is old enough for its board's usual rule. The rule of a listing is that of
  /// its first day: who listed just before a reform does not gain unlimited days by it.
  private static func firstDays(
    age: Int, on day: TradingDay, unlimitedSince reform: TradingDay
  ) -> LimitRule? {
    guard age < unlimitedDays else { return nil }
    if listingDay(age: age, on: day) >= reform { return .unlimited }
    guard age == 0 else { return nil }
    return day < Since.firstDayCap ? .unlimited : .move(up: 440, down: 360)
  }

  private static func listingDay(age: Int, on day: TradingDay) -> TradingDay {
    (0..<max(age, 0)).reduce(day) { day, _ in
      TradingCalendar.shanghai.previous(before: day) ?? day
    }
  }

  /// Days without limit at the start: N and C in the name.
  private static let unlimitedDays = 5
  private static let unlimitedDaysBeijing = 1
}

/// The first day of each rule.
private enum Since {
  static let limits = day(1996, 12, 16)
  static let specialTreatment = day(1998, 4, 22)
  static let firstDayCap = day(2014, 1, 1)
  static let chiNextReform = day(2020, 8, 24)
  static let beijingExchange = day(2021, 11, 15)
  static let bondLimits = day(2022, 8, 1)
  static let mainBoardReform = day(2023, 4, 10)
  /// ST and *ST move as far as any other stock of the main board.
  static let specialTreatmentEqual = day(2026, 7, 6)

  private static func day(_ year: Int, _ month: Int, _ day: Int) -> TradingDay {
    guard let day = TradingDay(year: year, month: month, day: day) else {
      preconditionFailure("a rule begins on a day that is no date")
    }
    return day
  }
}
