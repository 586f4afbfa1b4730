import AppStore
import Market
import PaperTrading
import TestSupport
import TestTraits
import Testing

/// Limits that a source states prevail over our own table, and make known what that does not know.
@Suite(.ownThread) struct StatedLimitTests {
  private typealias Row = PaperExchange.Row
  private static let morning = 34_500

  private static func band(_ lower: Int64, _ upper: Int64) -> StatedLimits {
    .band(PriceBand(lower: PaperExchange.price(lower), upper: PaperExchange.price(upper)))
  }

  private func code(_ outcome: CommandOutcome) -> String {
    outcome.isDone ? "done" : String(outcome.answer.prefix { $0 != ":" })
  }

  @Test func `a fund has the limits that a source states, and may be bought at limit-up`()
    async throws
  {
    let (fund, quantity) = ("sh510300", ExactDecimal(100))
    let purchase = CommandRequest.arm(
      PurchaseRequest(
        symbol: try #require(Symbol(fund)), quantity: quantity,
        terms: PurchaseTerms(triggers: [.near(permille: 0)])))
    func answers(_ limits: StatedLimits) async throws -> [String] {
      let exchange = try await PaperExchange()
      try await exchange.row(
        Row(
          symbol: fund, second: Self.morning, volume: 100, bids: [(999, 100)],
          asks: [(1000, 100)], limits: limits))
      try exchange.deposit(100_000)
      exchange.setClock(second: 33_400)
      return [
        code(try exchange.order(.buy, 100, at: 1101, symbol: fund)),
        code(try exchange.send(purchase)),
      ]
    }
    #expect(try await answers(.unstated) == ["done", "band"])
    #expect(try await answers(Self.band(900, 1100)) == ["band", "done"])
  }

  @Test func `on a day without limits by statement an order is not held to the table's`()
    async throws
  {
    let next = try #require(TradingCalendar.shanghai.next(after: PaperExchange.day))
    func answer(_ limits: StatedLimits, day: TradingDay) async throws -> String {
      let exchange = try await PaperExchange()
      try await exchange.row(
        Row(
          second: Self.morning, volume: 100, bids: [(999, 100)], asks: [(1000, 100)],
          limits: limits))
      try exchange.deposit(100_000)
      exchange.setClock(day: day, second: 33_400)
      return code(try exchange.order(.buy, 100, at: 1300))
    }
    #expect(try await answer(.unstated, day: PaperExchange.day) == "band")
    #expect(try await answer(.none, day: PaperExchange.day) == "done")
    #expect(try await answer(Self.band(500, 1500), day: PaperExchange.day) == "done")
    // Stated of a day that is over.
    #expect(try await answer(.none, day: next) == "band")
  }

  @Test func `a queue at the stated limit is one that nothing passes`() async throws {
    let exchange = try await PaperExchange()
    func row(_ step: Int, _ volume: Int64) async throws {
      try await exchange.row(
        Row(
          second: Self.morning + step * 3, volume: volume, cents: 1050, bids: [(1050, 1_000)],
          limits: Self.band(950, 1050)))
    }
    try await row(0, 100)
    try exchange.deposit(100_000)
    #expect(try exchange.order(.buy, 1_000, at: 1050).isDone)
    // The last of them confirms the interval before it.
    for step in 1...5 { try await row(step, 100 + Int64(step) * 500) }
    // 1,500 were sold behind the queue of 1,000: whole, not by half.
    #expect(try exchange.fills() == ["1/1 500@10.5"])
  }

  @Test func `an order beyond new limits ends once its fill is decided`() async throws {
    let exchange = try await PaperExchange()
    func row(_ step: Int, asks: [(Int64, Int64)], upTo limit: Int64) async throws {
      try await exchange.row(
        Row(
          second: Self.morning + step * 3, volume: 100 + Int64(step) * 10, cents: 1030,
          bids: [(1030, 100)], asks: asks, limits: Self.band(900, limit)))
    }
    try await row(0, asks: [(1060, 100)], upTo: 1100)
    try exchange.deposit(100_000)
    #expect(try exchange.order(.buy, 300, at: 1050).isDone)
    try await row(1, asks: [(1060, 100)], upTo: 1100)
    try await row(2, asks: [(1050, 100)], upTo: 1100)
    try await row(3, asks: [(1040, 0)], upTo: 1040)
    #expect(try exchange.states() == ["partially_filled"])
    try await row(4, asks: [(1040, 0)], upTo: 1040)
    #expect(try exchange.states() == ["expired"])
    #expect(try exchange.fills() == ["1/1 100@10.5"])
    #expect(try exchange.findings() == [])
  }
}
