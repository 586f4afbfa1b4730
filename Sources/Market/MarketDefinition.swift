/// A market as data: what everything that is not a rule of one exchange asks of it.
///
/// The values of the markets that candled records stand here, in the rules and in the table
/// `market`; a source declares which one it speaks of.

public struct MarketDefinition: Sendable, Hashable {
  /// Stored, and never given to another market.
  public let code: Int16
  /// `cn`, `us`.
  public let name: String
  public let zone: MarketZone
  /// ISO 4217; a quantity of another kind has its usual code.
  public let currency: String
  /// What its volumes count: `shares` (of funds, units).
  public private(set) var units = "shares"
  /// Where instruments are listed whose code does not say it.
  public private(set) var exchange: Exchange?
  /// The hours of trading, on the market's clock, in order.
  public let sessions: [SessionHours]
  /// The opening auction takes orders from `opens` and makes a price at `closes`.
  public private(set) var auction: SessionHours?
  /// A session after the close that trades at its price, apart from the day's totals.
  public private(set) var afterHours: SessionHours?
  public let tradingDays: TradingDays
  /// Whose days its calendar lists; nil for a market without one.
  public private(set) var calendar: Exchange?
  /// When a candle of a day, a week or a month opens, in seconds since midnight.
  public private(set) var dayOpens = 0
  /// Whether each minute of a session has a candle, so that one that lacks is missing …
  public private(set) var hasEveryMinute = false
  /// … but for these, by their opening in seconds since midnight: an auction is being collected.
  public private(set) var silentMinutes: [Int] = []

  /// The date on the market's clock.
  public func day(at moment: Timestamp) -> TradingDay { zone.day(at: moment) }

  /// Those that candled has rules for.
  package static let names = ["cn", "us"]

  /// Shanghai, Shenzhen and Beijing: one calendar, one session. With today's hours.
  public static var mainlandChina: MarketDefinition { RuleBook.current.mainlandChina }

  /// The regular session; bars exist for the hours around it. With today's hours.
  public static var unitedStates: MarketDefinition { RuleBook.current.unitedStates }

  /// With the hours of a day, where rules have them.
  package func on(_ day: TradingDay) -> MarketDefinition {
    switch name {
    case Self.names[0]: RuleBook.current.mainlandChina(on: day)
    case Self.names[1]: RuleBook.current.unitedStates(on: day)
    default: self
    }
  }
}

/// A stretch of trading, in seconds since midnight.
public struct SessionHours: Sendable, Hashable {
  public let opens: Int
  /// 86,400 for a session that goes on into the next day.
  public let closes: Int

  public init(opens: Int, closes: Int) {
    precondition(0 <= opens && opens < closes && closes <= 86_400)
    self.opens = opens
    self.closes = closes
  }
}

/// On which days a market trades.
public enum TradingDays: String, Sendable, Hashable {
  /// On those that its calendar lists.
  case listed
  /// On all of them, weekends included.
  case everyDay = "every_day"
}

/// A clock on a wall, by its name in the time zone database. No such database is read: a server
/// without one must not store other candles.
public enum MarketZone: String, Sendable, Hashable {
  case shanghai = "Asia/Shanghai"
  case newYork = "America/New_York"
  case utc = "UTC"

  /// nil where it is put forward in summer.
  var clock: LocalClock? {
    switch self {
    case .shanghai: .mainlandChina
    case .newYork: nil
    case .utc: LocalClock(offsetSeconds: 0)
    }
  }

  /// The date there.
  public func day(at moment: Timestamp) -> TradingDay { wallClock(at: moment).day }

  /// The moment the clock there shows `secondOfDay` on `day`.
  public func moment(on day: TradingDay, secondOfDay: Int) -> Timestamp {
    clock?.moment(on: day, secondOfDay: secondOfDay)
      ?? Timestamp(day: day, newYorkSecondOfDay: secondOfDay)
  }

  /// The date and the second of the day there.
  package func wallClock(at moment: Timestamp) -> (day: TradingDay, second: Int) {
    let clock = clock ?? NewYork.clock(at: moment)
    return (clock.day(at: moment), clock.secondOfDay(at: moment))
  }
}
