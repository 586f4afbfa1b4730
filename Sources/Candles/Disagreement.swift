import Market

/// What two sources, or two readings of one, say differently about a candle, and nothing here can
/// decide. It changes no candle; it is kept as a row until a later reading settles it.
package struct Disagreement: Sendable, Hashable {
  package enum Field: String, Sendable, CaseIterable {
    case open, high, low, close, volume, turnover
  }

  package var symbol: Symbol
  /// `minute1` for a minute or a span of minutes that begins there, `day1` for a day as a whole.
  package var timeframe: Timeframe
  package var openedAt: Timestamp
  package var tradingDay: TradingDay
  package var field: Field
  /// nil where one side has nothing.
  package var ours: ExactDecimal?
  package var theirs: ExactDecimal?
  package var ourSource: Source
  package var theirSource: Source
}
