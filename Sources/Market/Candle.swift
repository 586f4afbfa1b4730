/// A candle: what traded in one interval of one instrument.
public struct Candle: Sendable, Hashable {
  public var symbol: Symbol
  public var timeframe: Timeframe
  public var tradingDay: TradingDay
  public var openedAt: Timestamp
  public var closedAt: Timestamp
  public var open: ExactDecimal
  public var high: ExactDecimal
  public var low: ExactDecimal
  public var close: ExactDecimal
  /// Shares or units.
  public var volume: ExactDecimal
  /// Money, in the instrument's currency; nil where the source does not tell.
  public var turnover: ExactDecimal?
  /// How many trades; nil where the source does not tell.
  public var trades: Int64?
  /// Volume-weighted average price as the source reckons it; nil where it does not tell.
  public var vwap: ExactDecimal?
  public var flags: CandleFlags
  public var source: Source

  public init(
    symbol: Symbol, timeframe: Timeframe, tradingDay: TradingDay, openedAt: Timestamp,
    closedAt: Timestamp, open: ExactDecimal, high: ExactDecimal, low: ExactDecimal,
    close: ExactDecimal, volume: ExactDecimal, turnover: ExactDecimal?, trades: Int64? = nil,
    vwap: ExactDecimal? = nil, flags: CandleFlags, source: Source
  ) {
    self.symbol = symbol
    self.timeframe = timeframe
    self.tradingDay = tradingDay
    self.openedAt = openedAt
    self.closedAt = closedAt
    self.open = open
    self.high = high
    self.low = low
    self.close = close
    self.volume = volume
    self.turnover = turnover
    self.trades = trades
    self.vwap = vwap
    self.flags = flags
    self.source = source
  }
}

/// What a reader must know before trusting a candle. Stored as the bit mask `candle.flags`.
public struct CandleFlags: OptionSet, Sendable, Hashable {
  public let rawValue: Int16
  public init(rawValue: Int16) { self.rawValue = rawValue }

  /// Nothing traded and the feed was proven alive: flat at the last price, volume 0.
  public static let noTrade = CandleFlags(rawValue: 1)
  /// Part of the interval was not observed; its unseen volume is in `gap`.
  public static let partial = CandleFlags(rawValue: 2)
  /// The day's high or low moved between two snapshots on either side of the interval's start.
  public static let extremeAmbiguous = CandleFlags(rawValue: 4)
  /// The source's open or close lies outside its [low, high]: its own trade conditions update one
  /// and not the other (docs/sources/alpaca.md#bars). Kept as it was sent.
  public static let outsideRange = CandleFlags(rawValue: 8)
  /// There is no such candle: a question asked for flat ones in its place. Never stored.
  public static let filled = CandleFlags(rawValue: 16)
  /// Volume and turnover are between two totals of which one or both were rounded by the source:
  /// they may be off by what it rounds. 32 is taken: a bucket that is not over, in SQL alone.
  public static let coarse = CandleFlags(rawValue: 64)
}

/// How long a candle is. The raw value is what `candle.timeframe` stores.
public enum Timeframe: Int16, Sendable, CaseIterable {
  case minute1 = 1
  case minute5 = 5
  case minute15 = 15
  case minute30 = 30
  case hour1 = 60
  /// The 15:05–15:30 fixed-price session, a candle of its own.
  case afterHours = 90
  case day1 = 240
  case week1 = 1200
  case month1 = 7200

  /// The short name used in SQL views, on the command line and in JSON.
  public var name: String {
    switch self {
    case .minute1: "1m"
    case .minute5: "5m"
    case .minute15: "15m"
    case .minute30: "30m"
    case .hour1: "60m"
    case .afterHours: "after_hours"
    case .day1: "1d"
    case .week1: "1w"
    case .month1: "1mo"
    }
  }

  /// Minutes of trading in a candle of one length; nil of days and longer, and of after hours.
  package var minutes: Int? {
    self == .afterHours || rawValue >= Timeframe.day1.rawValue ? nil : Int(rawValue)
  }

  public init?(name: String) {
    guard let found = Timeframe.allCases.first(where: { $0.name == name }) else { return nil }
    self = found
  }
}
