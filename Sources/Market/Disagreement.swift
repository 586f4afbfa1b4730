/// What two sources, or two readings of one, say differently about a candle, and nothing here can
/// decide. It changes no candle; it is kept as a row until a later reading settles it.
public struct Disagreement: Sendable, Hashable {
  public enum Field: String, Sendable, CaseIterable {
    case open, high, low, close, volume, turnover
    /// The day's legal prices: by our own table, and as the exchange states them. nil is no limit.
    case limitUp = "limit_up"
    case limitDown = "limit_down"
  }

  public var symbol: Symbol
  /// `minute1` for a minute or a span of minutes that begins there, `day1` for a day as a whole.
  public var timeframe: Timeframe
  public var openedAt: Timestamp
  public var tradingDay: TradingDay
  public var field: Field
  /// nil where one side has nothing.
  public var ours: ExactDecimal?
  public var theirs: ExactDecimal?
  public var ourSource: Source
  public var theirSource: Source

  public init(
    symbol: Symbol, timeframe: Timeframe, openedAt: Timestamp, tradingDay: TradingDay,
    field: Field, ours: ExactDecimal?, theirs: ExactDecimal?, ourSource: Source,
    theirSource: Source
  ) {
    self.symbol = symbol
    self.timeframe = timeframe
    self.openedAt = openedAt
    self.tradingDay = tradingDay
    self.field = field
    self.ours = ours
    self.theirs = theirs
    self.ourSource = ourSource
    self.theirSource = theirSource
  }
}
