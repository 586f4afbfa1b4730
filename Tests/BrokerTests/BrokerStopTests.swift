import AppStore
import Broker
import Market
import PaperTrading
import TestSupport
import TestTraits
import Testing

/// Stop orders over days, corrections and corporate actions.
@Suite(.ownThread) struct BrokerStopTests {
  private typealias Row = PaperExchange.Row
  private static let morning = 34_500

  private func nextDay() throws -> TradingDay {
    try #require(TradingCalendar.shanghai.next(after: PaperExchange.day))
  }

  /// A day of trades at one price, with a book beside it.
  private func trades(
    _ exchange: PaperExchange, _ seconds: [Int], _ volume: Int64, at cents: Int64,
    previous: Int64 = 1000, day: TradingDay = PaperExchange.day, corrects: Bool = false
  ) async throws {
    for (number, second) in seconds.enumerated() {
      try await exchange.row(
        Row(
          day: day, second: Self.morning + second, volume: volume + Int64(number), cents: cents,
          previous: previous, bids: [(cents - 1, 9_000)], asks: [(cents + 1, 9_000)],
          corrects: corrects && number == 0))
    }
  }

  @Test func `a stop-loss that waits for days sells below the price limit of its first day`()
    async throws
  {
    let exchange = try await PaperExchange()
    try await trades(exchange, [0], 1_000, at: 1000)
    try exchange.deposit(100_000)
    try exchange.order(.buy, 500, at: 1001)
    try await trades(exchange, [3, 6], 1_100, at: 1000)
    let second = try nextDay()
    try await trades(exchange, [0], 1_000, at: 1000, day: second)
    let placed = try exchange.order(
      .sell, 500, at: nil, kind: .stop, force: .goodTillCancelled, stop: 920)
    #expect(placed.isDone, "\(placed)")
    let refused = try exchange.order(
      .buy, 100, at: nil, kind: .stop, force: .goodTillCancelled, stop: 1050)
    #expect(refused.answer.hasPrefix("time_in_force: "), "\(refused)")
    try await trades(exchange, [3, 6], 1_100, at: 950, day: second)
    #expect(try exchange.states() == ["filled", "held"])
    exchange.setClock(day: second, second: 61_200)
    try exchange.look()
    let third = try #require(TradingCalendar.shanghai.next(after: second))
    // Its limits are 8.37 and 10.23.
    try await trades(exchange, [0, 3, 6, 9], 1_000, at: 880, previous: 930, day: third)
    #expect(try exchange.states() == ["filled", "filled"])
    #expect(try exchange.fills().last == "2/1 500@8.79")
    #expect(try exchange.findings() == [])
    #expect(try LedgerReplay(exchange.apps).differences() == [])
  }

  @Test func `a stop that only false rows released waits again, and on the next day, too`()
    async throws
  {
    let exchange = try await PaperExchange()
    try await trades(exchange, [0], 1_000, at: 1000)
    try exchange.deposit(100_000)
    #expect(
      try exchange.order(
        .buy, 500, at: 1060, kind: .stopLimit, force: .goodTillCancelled, stop: 1050
      ).isDone)
    try await trades(exchange, [3], 1_100, at: 1000)
    try await trades(exchange, [6, 9], 90_000, at: 1055)
    #expect(try exchange.states() == ["accepted"])
    try await trades(exchange, [12, 15], 1_200, at: 1000, corrects: true)
    #expect(try exchange.states() == ["held"])
    let kinds = try exchange.database.execute(
      "select kind from candled_app.order_event order by sequence")
    #expect(kinds.map { $0[0] } == ["accepted", "released", "held_again"])
    exchange.setClock(second: 61_200)
    try exchange.look()
    try await trades(exchange, [0, 3, 6, 9], 1_000, at: 1000, day: nextDay())
    #expect(try exchange.states() == ["held"] && exchange.fills() == [])
    #expect(try exchange.findings() == [])
  }

  @Test func `a stop-loss of before a bonus sells nothing behind it`() async throws {
    let exchange = try await PaperExchange()
    try await trades(exchange, [0], 1_000, at: 1000)
    try exchange.deposit(100_000)
    try exchange.order(.buy, 500, at: 1001)
    try await trades(exchange, [3, 6], 1_100, at: 1000)
    let second = try nextDay()
    try await trades(exchange, [0], 1_000, at: 1000, day: second)
    try exchange.order(.sell, 500, at: nil, kind: .stop, force: .goodTillCancelled, stop: 920)
    exchange.setClock(day: second, second: 61_200)
    try exchange.look()
    let third = try #require(TradingCalendar.shanghai.next(after: second))
    try await trades(exchange, [0, 3, 6], 1_000, at: 500, previous: 500, day: third)
    #expect(try exchange.states() == ["filled", "expired"] && exchange.fills().count == 1)
  }
}
