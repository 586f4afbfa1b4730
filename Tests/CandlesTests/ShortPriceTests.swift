import Market
import Testing

@testable import Candles

/// An index has four decimals at one source and two at another.
@Suite struct ShortPriceTests {
  private let long = ExactDecimal(units: 39_565_749, scale: 4)

  @Test func `a price with fewer decimals is the one that it is rounded from`() {
    for short in [ExactDecimal(units: 395_657, scale: 2), long] {
      #expect(long.isSame(as: short) && short.isSame(as: long))
    }
    for other in [
      ExactDecimal(units: 395_658, scale: 2), ExactDecimal(units: 39_565_750, scale: 4),
    ] {
      #expect(!long.isSame(as: other) && !other.isSame(as: long))
    }
  }

  @Test func `an exact extreme after its rounded one contradicts nothing`() {
    let rules = CandleRules()
    func row(_ high: ExactDecimal, _ low: ExactDecimal) -> Quote {
      var quote = Quote(
        symbol: Symbol("sh000001") ?? Symbol(low: 0, high: 0),
        tradingDay: TradingDay(daysSince1970: 20_640), secondOfDay: 36_000)
      (quote.high, quote.low) = (high, low)
      (quote.volume, quote.turnover) = (ExactDecimal(100), ExactDecimal(1_000))
      return quote
    }
    let short = RunningTotals(
      row(ExactDecimal(units: 395_658, scale: 2), ExactDecimal(units: 395_650, scale: 2)))
    let high = ExactDecimal(units: 39_565_760, scale: 4)
    #expect(
      short.isContinued(by: row(high, ExactDecimal(units: 39_565_040, scale: 4)), rules: rules))
    let fallen = ExactDecimal(units: 39_565_740, scale: 4)
    #expect(
      !short.isContinued(by: row(fallen, ExactDecimal(units: 39_565_040, scale: 4)), rules: rules))
  }
}
