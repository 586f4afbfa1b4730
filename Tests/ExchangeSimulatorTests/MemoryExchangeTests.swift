import Market
import TestExchange
import Testing

@testable import ExchangeSimulator
@testable import Ledgers
@testable import TestExchange

@Suite struct MemoryExchangeTests {
  private static let referer = ["referer": "https://finance.sina.com.cn/"]

  @Test func `memory and socket give the same bytes`() throws {
    let history = try HistoryTests.history(17, days: 2)
    var memory = MemoryExchange(history: history, mairui: MairuiOptions(licences: ["a": .expired]))
    let server = try ExchangeServer(
      history: history, mairui: MairuiOptions(licences: ["a": .expired]))
    defer { server.stop() }
    let client = try RawClient(port: server.port)
    defer { client.close() }
    let moment = Timestamp(day: history.days[1], secondOfDay: 36_017)
    let time = "_=\(moment.microseconds / 1000)"
    let targets = [
      Fixture.path(history.symbols, at: moment), "/realstock/company/sh600000/qfq.js?\(time)",
      "/cn/api/jsonp_v2.php/=/CN_MarketDataService.getKLineData?symbol=sh600000&scale=1&\(time)",
      "/hslt/list/a?\(time)", "/nothing", "/\(time)&q=sh600000,sz000001,bj920000",
    ]
    for target in targets {
      let remembered = memory.response(target, headers: MemoryExchangeTests.referer, at: moment)
      let response = client.get(target)
      #expect(
        remembered?.body == response.body && remembered?.status == response.status, "\(target)")
    }
    #expect(memory.mairuiLedger.requests("a", on: history.days[1]) == 1)
  }

  @Test func `a response that never arrived was never observed`() throws {
    let history = try HistoryTests.history(18, days: 1)
    var memory = MemoryExchange(history: history, recordsEveryDay: true)
    let day = history.days[0]
    memory.order(
      Fault(
        .reset, from: Timestamp(day: day, secondOfDay: 34_230),
        to: Timestamp(day: day, secondOfDay: 34_400)))
    for second in stride(from: 34_200, through: 34_500, by: 3) {
      let moment = Timestamp(day: day, secondOfDay: second)
      let remembered = memory.response(
        Fixture.path(history.symbols, at: moment), headers: MemoryExchangeTests.referer,
        at: moment)
      #expect((remembered == nil) == (34_230..<34_400).contains(second))
    }
    let ledger = try #require(memory.recorder(of: day)).observableLedger()
    #expect(ledger.gaps(of: history.symbols[0]).count == 2)
  }
}
