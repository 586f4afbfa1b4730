import PaperTrading
import Testing

@testable import Market

@Suite struct TradedKindTests {
  @Test(arguments: InstrumentKind.allCases, Exchange.allCases)
  func `an order is refused for its instrument where that is not traded on paper`(
    kind: InstrumentKind, exchange: Exchange
  ) throws {
    let symbol = try #require(Symbol("sh600000"))
    let instrument = Instrument(symbol: symbol, exchange: exchange, kind: kind, board: .main)
    let order = Order(
      id: 1, account: 1, symbol: symbol, side: .buy, kind: .limit, timeInForce: .day,
      quantity: ExactDecimal(100), limit: ExactDecimal(10), stop: nil)
    let day = try #require(TradingDay("2026-07-06"))
    // Of what is traded it is refused for the price that it lacks.
    let refusal = #expect(throws: Refusal.self) {
      try OrderRules.judge(
        order, of: TradedInstrument(instrument), against: nil,
        at: TradingMoment(day: day, secondOfDay: 36_000))
    }
    #expect(refusal?.code == (instrument.isTradedOnPaper ? .halted : .instrument))
    let isMainland = [.shanghai, .shenzhen, .beijing].contains(exchange)
    let isTraded = isMainland && [.stock, .fund, .convertibleBond].contains(kind)
    #expect(instrument.isTradedOnPaper == isTraded)
  }
}
