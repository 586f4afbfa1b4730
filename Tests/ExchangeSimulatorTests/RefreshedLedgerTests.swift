import Market
import Testing

@testable import ExchangeSimulator
@testable import Ledgers
@testable import TestExchange

/// What is observable of a day that one source showed for a while and another for the rest.
@Suite struct RefreshedLedgerTests {
  private static let referer = ["referer": "https://finance.sina.com.cn/"]

  /// A day polled every three seconds, of the second source where `isSecond` says so.
  private func day(
    seed: UInt64, isSecond: (Int) -> Bool
  ) throws -> (ledger: ObservableLedger, market: SimulatedMarket) {
    var market = try Fixture.market(seed, instruments: 60)
    var exchange = MemoryExchange(history: SimulatedHistory(market), recordsEveryDay: true)
    let list = market.symbols.map(\.description).joined(separator: ",")
    for second in stride(from: 32_400, through: 56_400, by: 3) {
      let moment = Timestamp(day: market.day, secondOfDay: second)
      let target = isSecond(second) ? "/q=\(list)" : "/list=\(list)"
      let answer = exchange.response(target, headers: RefreshedLedgerTests.referer, at: moment)
      #expect(answer?.status == 200)
    }
    market.advance(to: Timestamp(day: market.day, secondOfDay: Grid.dayEnd))
    let recorder = try #require(exchange.recorder(of: market.day))
    return (recorder.observableLedger(), market)
  }

  @Test(arguments: 1...3 as ClosedRange<UInt64>)
  func `a change of source and back moves no volume out of the day`(_ seed: UInt64) throws {
    let (ledger, market) = try day(seed: seed) { (36_000..<40_000).contains($0) }
    let (exact, _) = try day(seed: seed) { _ in false }
    var coarse = 0
    for (place, symbol) in market.symbols.enumerated() {
      guard let certificate = ledger.certificate(of: symbol) else { continue }
      #expect(certificate.exchangeVolume == ExactDecimal(market.states[place].volume))
      #expect(certificate.isBalanced && !certificate.isCoarse, "seed \(seed), \(symbol)")
      #expect(ledger.gaps(of: symbol).isEmpty, "seed \(seed), \(symbol)")
      let candles = ledger.candles(of: symbol)
      #expect(candles.map(\.openedAt) == exact.candles(of: symbol).map(\.openedAt))
      for candle in candles where candle.flags.contains(.coarse) {
        coarse += 1
        let opened = candle.openedAt.shanghaiSecondOfDay
        #expect((35_940...41_400).contains(opened) || !market.traits[place].isIndex)
      }
    }
    #expect(coarse > 100, "seed \(seed)")
  }

  @Test func `rounded totals are lower bounds and an exact line after them only adds`() throws {
    var totals = Totals()
    let market = try Fixture.market()
    let place = try Fixture.place(market, Fixture.symbol("sh600000"))
    let traits = market.traits[place]
    func frame(_ volume: Int64, _ turnover: Int64) -> DayTape.Frame {
      DayTape.Frame(
        stamp: 0, last: 1, high: 1, low: 1, volume: volume, turnover: turnover,
        suspension: .none, shownAt: 0)
    }
    totals = Totals(exact: frame(1_000, 5_000_400))
    totals = try #require(totals.after(rounded: frame(1_000, 5_000_400), traits))
    #expect(totals.volume == 1_000 && totals.turnover == 5_000_400 && totals.isRounded)
    totals = try #require(totals.after(rounded: frame(1_149, 6_000_600), traits))
    #expect(totals.volume == 1_050 && totals.turnover == 6_000_000 && totals.isRounded)
    #expect(totals.after(rounded: frame(949, 6_000_600), traits) == nil)
    #expect(totals.after(rounded: frame(1_149, 4_000_000), traits) == nil)
  }

  @Test func `a day that ends on rounded totals says so`() throws {
    let (ledger, market) = try day(seed: 5) { $0 >= 50_000 }
    var coarse = 0
    for (place, symbol) in market.symbols.enumerated() {
      guard let certificate = ledger.certificate(of: symbol) else { continue }
      let volume = try #require(certificate.exchangeVolume)
      let short = try ExactDecimal(market.states[place].volume) - volume
      #expect(!short.isNegative && short <= ExactDecimal(100), "\(symbol)")
      #expect(certificate.isBalanced)
      if certificate.isCoarse { coarse += 1 }
    }
    #expect(coarse > 30)
  }

  @Test func `other totals than the ledger's are accepted within what is rounded alone`() throws {
    let (ledger, _) = try day(seed: 6) { (36_000..<40_000).contains($0) }
    let candles = ledger.symbols.flatMap { ledger.candles(of: $0) }
    let gaps = ledger.symbols.flatMap { ledger.gaps(of: $0) }
    let certificates = ledger.symbols.compactMap { ledger.certificate(of: $0) }
    func differences(_ change: (inout Candle) -> Void, flagged: Bool) throws -> Int {
      var changed = candles
      let place = try #require(
        candles.firstIndex { $0.flags == (flagged ? .coarse : []) && $0.volume.isPositive })
      change(&changed[place])
      return ledger.differences(candles: changed, gaps: gaps, certificates: certificates).count
    }
    let lot = ExactDecimal(100)
    let more = { (candle: inout Candle) in
      candle.volume = (try? candle.volume + lot) ?? candle.volume
    }
    #expect(try differences({ _ in }, flagged: true) == 0)
    #expect(try differences(more, flagged: true) == 0)
    #expect(try differences(more, flagged: false) == 1)
    #expect(try differences({ $0.flags = [] }, flagged: true) == 1)
    let tooMuch = { (candle: inout Candle) in
      candle.volume = (try? candle.volume + lot + lot) ?? candle.volume
    }
    #expect(try differences(tooMuch, flagged: true) == 1)
  }
}
