/// What sources say about instruments and days beside their prices: lists, factors and sessions.

/// One row of a list of instruments. The name is human text that changes often, never a key.
public struct ListedInstrument: Sendable, Hashable {
  /// Canonical: `sh600519`, `bj920000`, `AAPL`.
  public var symbol: Symbol
  /// As the source sends it: inner spaces, full-width letters and marks included.
  public var name: String
  public var exchange: Exchange

  public init(symbol: Symbol, name: String, exchange: Exchange) {
    self.symbol = symbol
    self.name = name
    self.exchange = exchange
  }
}

/// What a raw price of an instrument is divided by (qfq) or multiplied with (hfq) from a day on,
/// until the next factor's day (docs/sources/sina.md#factors).
public struct AdjustmentFactor: Sendable, Hashable {
  public enum Kind: Int16, Sendable, CaseIterable {
    /// Forward: today's prices stand, earlier ones are scaled to them.
    case qfq = 1
    /// Backward: the first prices stand, later ones are scaled to them.
    case hfq = 2

    public var name: String {
      switch self {
      case .qfq: "qfq"
      case .hfq: "hfq"
      }
    }
  }

  public var symbol: Symbol
  public var kind: Kind
  public var from: TradingDay
  /// Positive. Of a fund it says nothing.
  public var factor: ExactDecimal
  /// nil for shares.
  public var fund: FundTotals?

  public init(
    symbol: Symbol, kind: Kind, from: TradingDay, factor: ExactDecimal, fund: FundTotals? = nil
  ) {
    self.symbol = symbol
    self.kind = kind
    self.from = from
    self.factor = factor
    self.fund = fund
  }

  /// What a fund's file has beside, nil where that cannot be read.
  public struct FundTotals: Sendable, Hashable {
    /// The cash a unit was paid so far.
    public var cash: ExactDecimal?
    /// The product of its splits so far; which way they are written is not known.
    public var split: ExactDecimal?

    public init(cash: ExactDecimal?, split: ExactDecimal?) {
      self.cash = cash
      self.split = split
    }
  }
}

/// The regular session of a day of a market: [opens, closes). It is empty where the market is
/// closed on a day that was known to trade, or taken for one that does.
public struct MarketSession: Sendable, Hashable {
  public var exchange: Exchange
  public var day: TradingDay
  public var opens: Timestamp
  public var closes: Timestamp
  /// How it is known.
  public var grade: CalendarReading.Grade

  public init(
    exchange: Exchange, day: TradingDay, opens: Timestamp, closes: Timestamp,
    grade: CalendarReading.Grade = .declared
  ) {
    self.exchange = exchange
    self.day = day
    self.opens = opens
    self.closes = closes
    self.grade = grade
  }

  public var trades: Bool { opens < closes }

  /// What it says of its day.
  public var reading: CalendarReading { CalendarReading(trades: trades, grade: grade) }
}
