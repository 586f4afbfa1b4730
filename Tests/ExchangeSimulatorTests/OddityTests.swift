import Market
import Testing

@testable import ExchangeSimulator
@testable import Ledgers
@testable import TestExchange

@Suite struct OddityTests {
  private func day(
    _ seed: UInt64, _ prepare: (inout SimulatedMarket) -> Void
  ) throws -> (recorder: DayRecorder, market: SimulatedMarket) {
    var market = try Fixture.market(seed, instruments: 45)
    prepare(&market)
    let recorder = DayRecorder(market)
    for second in stride(from: 32_401, through: 56_401, by: 3) {
      market.advance(to: Timestamp(day: market.day, secondOfDay: second), watchedBy: recorder)
      recorder.observedAll(of: market)
    }
    market.advance(to: Timestamp(day: market.day, secondOfDay: Grid.dayEnd), watchedBy: recorder)
    return (recorder, market)
  }

  @Test(arguments: [(36_000, 100), (54_030, 100), (40_000, 5_000_000)])
  func `what the exchange takes back is in every later line and in no certificate`(
    _ second: Int, _ shares: Int64
  ) throws {
    let symbol = try Fixture.symbol("sh600000")
    var plain = try Fixture.market(3, instruments: 45)
    var market = plain
    market.takeBack(shares: shares, of: symbol, at: second)
    for moment in [second - 1, Grid.dayEnd] {
      let moment = Timestamp(day: market.day, secondOfDay: moment)
      plain.advance(to: moment)
      market.advance(to: moment)
      let fewer = try plain.line(symbol).number(8) - market.line(symbol).number(8)
      if market.second < second {
        #expect(fewer.isZero)
      } else {
        #expect(fewer.isPositive && fewer <= ExactDecimal(shares))
        #expect(try market.line(symbol).number(9) < plain.line(symbol).number(9))
      }
    }
    let (recorder, _) = try day(3) { $0.takeBack(shares: shares, of: symbol, at: second) }
    let ledger = recorder.observableLedger()
    let certificate = try #require(ledger.certificate(of: symbol))
    #expect(try certificate.exchangeVolume == market.line(symbol).number(8))
    #expect(recorder.trueLedger().differences(certificates: [certificate]) == [])
    #expect(ledger.hidden == [symbol])
  }

  @Test func `a part of the volume can be taken back`() throws {
    let symbol = try Fixture.symbol("sz000001")
    var market = try Fixture.market(3, instruments: 45)
    market.takeBack(perMille: 300, of: symbol, at: 40_000)
    market.advance(to: Timestamp(day: market.day, secondOfDay: 39_999))
    let before = try market.line(symbol).number(8)
    market.advance(to: Timestamp(day: market.day, secondOfDay: 40_300))
    let after = try market.line(symbol).number(8)
    #expect(try after * ExactDecimal(10) < before * ExactDecimal(9))
  }

  @Test func `a late publisher shows what it was, and ends with the same minutes`() throws {
    let symbol = try Fixture.symbol("sh600000")
    var market = try Fixture.market(5, instruments: 45)
    var late = market
    late.delay(symbol, bySeconds: 200)
    let moment = try Fixture.moment(10, 0)
    late.advance(to: moment)
    market.advance(to: moment.adding(seconds: -200))
    #expect(late.body(for: [symbol]) == market.body(for: [symbol]))
    market.advance(to: moment)
    let other = try Fixture.symbol("sz000001")
    #expect(late.body(for: [other]) == market.body(for: [other]))
    let plain = try day(5) { _ in }.recorder.observableLedger()
    let delayed = try day(5) { $0.delay(symbol, bySeconds: 200) }.recorder.observableLedger()
    #expect(delayed.candles(of: symbol) == plain.candles(of: symbol))
    #expect(delayed.gaps(of: symbol).isEmpty)
    #expect(delayed.certificate(of: symbol) == plain.certificate(of: symbol))
  }

  @Test func `a relisted instrument trades beyond the band of its name`() throws {
    let symbol = try Fixture.symbol("sh600000")
    let (recorder, market) = try day(7) { $0.relist(symbol, aroundPercent: 160) }
    let listing = try #require(market.listing(of: symbol))
    #expect(listing.limitUp == nil && listing.name.first != UInt8(ascii: "N"))
    let candles = recorder.observableLedger().candles(of: symbol)
    let bound = try listing.previousClose * ExactDecimal("1.2")
    #expect(candles.count == 240 && candles.allSatisfy { $0.low > bound })
  }

  @Test func `a fund has its limits from the first day on`() throws {
    let market = try Fixture.market(5, instruments: 5_400)
    let funds = market.symbols.compactMap(market.listing(of:)).filter { $0.kind == .fund }
    #expect(funds.count > 100)
    #expect(funds.allSatisfy { $0.limitUp != nil })
  }
}
