import Market
import Testing

@testable import ExchangeSimulator

@Suite struct DeterminismTests {
  @Test func `the same seed and day give the same bytes`() throws {
    let day = try #require(TradingDay("2026-07-07"))
    var one = SimulatedMarket(seed: 7, day: day, instruments: 100)
    var other = SimulatedMarket(seed: 7, day: day, instruments: 100)
    for clock in [8 * 3600, 33_300, 34_203, 36_000, 41_000, 54_003, 56_700] {
      let moment = Timestamp(day: day, secondOfDay: clock)
      one.advance(to: moment)
      other.advance(to: moment)
      #expect(one.bodyOfAll() == other.bodyOfAll())
    }
  }
}
