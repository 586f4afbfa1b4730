/// What is known of a day of an exchange: whether it trades, and how that is known.
public struct CalendarReading: Sendable, Hashable {
  /// The raw values are stored.
  public enum Grade: Int16, Sendable, CaseIterable {
    /// A calendar of the exchange says so.
    case declared = 1
    /// Rows of that day came, or every source kept an earlier date to its end.
    case observed = 2
    /// Nothing is known: a weekday is requested like a trading day.
    case supposed = 3
  }

  public let trades: Bool
  public let grade: Grade

  public init(trades: Bool, grade: Grade) {
    self.trades = trades
    self.grade = grade
  }

  /// A weekday of which nothing is known.
  public var isSupposedToTrade: Bool { trades && grade == .supposed }
}

/// What became of a file that declares trading days.
public struct DayDeclaration: Sendable, Hashable {
  /// Known days, from today on, that it withdraws or adds.
  public internal(set) var changed: [TradingDay] = []
  /// Days that were observed to be otherwise: that stands.
  public internal(set) var contradicted: [TradingDay] = []
  /// It changes more known days than are announced at once, and nothing of it was taken.
  public internal(set) var isRefused = false

  public init() {}
}

extension TradingCalendar {
  /// A day is closed or opened by notice now and then, and never many at once.
  package static let changedDaysMax = 10
  /// A list counts up to a longer closure: the longest on record is ten weekdays.
  private static let closureDaysMax = 30
  /// A list that comes so near to the end of a year is of all of it.
  private static let yearEndDays = 6

  /// Takes in what a file lists, as far as it goes. Days that are over stay what they were: a file
  /// may lack one that traded (`TradingCalendar` names one).
  /// - Parameter days: the trading days, ascending.
  public mutating func declare(_ days: [TradingDay], on today: TradingDay) -> DayDeclaration {
    var declaration = DayDeclaration()
    guard let first = days.first, let last = days.last else { return declaration }
    let listed = Set(days)
    declaration.contradicted = observed.filter { day, trades in
      // A day that is not over is closed until a row of it comes.
      first <= day && day <= last && trades != listed.contains(day) && (trades || day < today)
    }.keys.sorted()
    let (start, end) = (max(first, today), min(last, lastDay))
    if start <= end {
      declaration.changed = (start...end).filter { day in
        observed[day] == nil && exchangeDeclaration(of: day).trades != listed.contains(day)
      }
    }
    guard declaration.changed.count <= Self.changedDaysMax else {
      declaration = DayDeclaration()
      declaration.isRefused = true
      return declaration
    }
    for day in declaration.changed { redeclared[day] = listed.contains(day) }
    extend(by: days)
    return declaration
  }

  /// Takes in that a day trades, or that it is over and did not.
  /// - Returns: whether that was not known.
  public mutating func observe(_ day: TradingDay, trades: Bool) -> Bool {
    let known = reading(of: day)
    observed[day] = trades
    return known.trades != trades || known.grade == .supposed
  }

  /// What rows and dates suggested of a day before it is over does not hold.
  package mutating func forgetObservation(of day: TradingDay) { observed[day] = nil }

  /// Declares the days behind those that are.
  private mutating func extend(by days: [TradingDay]) {
    var reach = lastDay
    for day in days where day > reach {
      if reach.distance(to: day) > Self.closureDaysMax { break }
      reach = day
    }
    guard reach > lastDay else { return }
    if let end = TradingDay(year: reach.civil.year, month: 12, day: 31),
      reach.distance(to: end) <= Self.yearEndDays
    {
      reach = end
    }
    let listed = Set(days)
    closures.formUnion(
      (lastDay.advanced(by: 1)...reach).filter { !$0.isWeekend && !listed.contains($0) })
    lastDay = reach
  }
}

// MARK: - As stored

extension TradingCalendar {
  /// This calendar, with what a daemon learnt of days and stored.
  package func extended(byStored sessions: [MarketSession]) -> TradingCalendar {
    let stored = sessions.filter { $0.exchange == .shanghai }.sorted { $0.day < $1.day }
    var longer = self
    longer.extend(by: stored.filter { $0.grade == .declared && $0.trades }.map(\.day))
    for session in stored where longer.reading(of: session.day) != session.reading {
      if session.grade == .observed {
        longer.observed[session.day] = session.trades
      } else {
        longer.redeclared[session.day] = session.trades
      }
    }
    return longer
  }

  /// Of an exchange, what a daemon learnt and stored; nil where that is nothing.
  package init?(of exchange: Exchange, stored sessions: [MarketSession]) {
    let days = Set(sessions.filter { $0.exchange == exchange && $0.trades }.map(\.day))
    guard let first = days.min(), let last = days.max() else { return nil }
    self.init(
      firstDay: first, lastDay: last,
      closures: Set((first...last).filter { !$0.isWeekend && !days.contains($0) }))
  }
}
