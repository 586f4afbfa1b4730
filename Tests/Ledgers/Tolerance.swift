import Market

/// What a source that rounds leaves open, for one instrument.
struct Tolerance {
  /// An index of four decimals is shown with two: half of the last digit, in its units; 0 for all
  /// others and for who was never seen so.
  let priceError: ExactDecimal

  /// Half a lot, and a yuan, for each end between two totals that may be rounded.
  private static let volumeError: Int64 = 50
  private static let turnoverError: Int64 = 1

  init(_ page: ObservableLedger.Page?, isIndex: Bool) {
    let isShort = isIndex && page?.hasCoarse == true
    priceError = isShort ? ExactDecimal(units: 5, scale: 3) : .zero
  }

  /// A candle between rounded totals says so, and is off by no more than they can be.
  func accepts(_ found: Candle, _ expected: Candle) -> Bool {
    if found == expected { return true }
    let ends = expected.flags.contains(.coarse) ? 2 : 0
    guard ends > 0 || !priceError.isZero else { return false }
    return found.symbol == expected.symbol && found.openedAt == expected.openedAt
      && found.closedAt == expected.closedAt && found.tradingDay == expected.tradingDay
      && accepts(found.open, expected.open) && accepts(found.high, expected.high)
      && accepts(found.low, expected.low) && accepts(found.close, expected.close)
      && Tolerance.accepts(
        found.volume, expected.volume, found.turnover, expected.turnover, ends: ends)
      && accepts(found.flags, expected.flags) && found.source == expected.source
  }

  func accepts(_ found: ExactDecimal, _ expected: ExactDecimal) -> Bool {
    Tolerance.isWithin(priceError, found, expected)
  }

  /// Where prices are short, whether an extreme moved is not known either.
  private func accepts(_ found: CandleFlags, _ expected: CandleFlags) -> Bool {
    found == expected
      || !priceError.isZero
        && found.union(.extremeAmbiguous) == expected.union(.extremeAmbiguous)
  }

  static func accepts(
    _ volume: ExactDecimal, _ expectedVolume: ExactDecimal, _ turnover: ExactDecimal?,
    _ expectedTurnover: ExactDecimal?, ends: Int
  ) -> Bool {
    isWithin(ExactDecimal(Int64(ends) * volumeError), volume, expectedVolume)
      && isWithin(
        ExactDecimal(Int64(ends) * turnoverError), turnover ?? .zero, expectedTurnover ?? .zero)
  }

  private static func isWithin(
    _ error: ExactDecimal, _ found: ExactDecimal, _ expected: ExactDecimal
  ) -> Bool {
    if found == expected { return true }
    guard let apart = try? found - expected, let limit = try? ExactDecimal.zero - error else {
      return false
    }
    return limit <= apart && apart <= error
  }
}
