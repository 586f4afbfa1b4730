/// A candle as the database's function `candles` gives it.
package struct CandleRecord: Sendable, Hashable {
  package var openedAt: Timestamp
  package var closedAt: Timestamp
  package var tradingDay: TradingDay
  /// The prices; nil on days no adjustment factor is known for.
  package var open: ExactDecimal?
  package var high: ExactDecimal?
  package var low: ExactDecimal?
  package var close: ExactDecimal?
  package var volume: ExactDecimal
  package var turnover: ExactDecimal?
  package var trades: Int64?
  package var vwap: ExactDecimal?
  package var flags: CandleFlags
  package var revision: Int16
  /// When these values became known.
  package var knownFrom: Timestamp
  package var source: String

  package init(
    openedAt: Timestamp, closedAt: Timestamp, tradingDay: TradingDay, open: ExactDecimal?,
    high: ExactDecimal?, low: ExactDecimal?, close: ExactDecimal?, volume: ExactDecimal,
    turnover: ExactDecimal?, trades: Int64?, vwap: ExactDecimal?, flags: CandleFlags,
    revision: Int16, knownFrom: Timestamp, source: String
  ) {
    self.openedAt = openedAt
    self.closedAt = closedAt
    self.tradingDay = tradingDay
    self.open = open
    self.high = high
    self.low = low
    self.close = close
    self.volume = volume
    self.turnover = turnover
    self.trades = trades
    self.vwap = vwap
    self.flags = flags
    self.revision = revision
    self.knownFrom = knownFrom
    self.source = source
  }

  /// Not over yet.
  package var isOpen: Bool { flags.contains(.notOver) }
}

extension CandleFlags {
  /// Of no stored candle: one that is not over, as SQL marks it.
  package static let notOver = CandleFlags(rawValue: 32)

  /// As the function `flag_names` calls them.
  package var names: [String] {
    let all: [(CandleFlags, String)] = [
      (.noTrade, "no_trade"), (.partial, "partial"), (.extremeAmbiguous, "extreme_ambiguous"),
      (.outsideRange, "outside_range"), (.filled, "filled"), (.coarse, "coarse"),
    ]
    return all.filter { contains($0.0) }.map(\.1)
  }
}
