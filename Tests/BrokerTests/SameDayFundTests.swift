import AppStore
import Broker
import Market
import PaperTrading
import TestSupport
import TestTraits
import Testing

/// Funds that are listed, by candled or by an operator: what is bought of them may be sold on the
/// same day.
@Suite(.ownThread) struct SameDayFundTests {
  private typealias Row = PaperExchange.Row
  /// Of shares, so that candled does not list it.
  private static let fund = "sh510300"
  private static let gold = "sh518880"

  /// An exchange whose gateway lists funds.
  private func exchange(listing funds: String...) async throws -> PaperExchange {
    let exchange = try await PaperExchange()
    exchange.kill(sameDayFunds: Set(funds.compactMap { Symbol($0) }))
    try exchange.deposit(100_000)
    return exchange
  }

  private func rows(
    _ exchange: PaperExchange, of fund: String, on day: TradingDay, from second: Int,
    volume: Int64
  ) async throws {
    for step in 0..<2 {
      try await exchange.row(
        Row(
          symbol: fund, day: day, second: second + step * 3,
          volume: volume + Int64(step) * 100, bids: [(1000, 100)], asks: [(1001, 5_000)]))
    }
  }

  /// Buys 1,000 of them, and offers as many.
  private func round(
    _ exchange: PaperExchange, of fund: String = fund, on day: TradingDay = PaperExchange.day
  ) async throws -> CommandOutcome {
    try await rows(exchange, of: fund, on: day, from: 34_500, volume: 100)
    try exchange.order(.buy, 1_000, at: 1001, symbol: fund)
    try await rows(exchange, of: fund, on: day, from: 34_510, volume: 300)
    let offered = try exchange.order(.sell, 1_000, at: 1050, symbol: fund)
    #expect(try exchange.findings() == [])
    #expect(try LedgerReplay(exchange.apps).differences() == [])
    return offered
  }

  @Test func `a fund on the list is sold on the day of its purchase`() async throws {
    let exchange = try await exchange(listing: Self.fund)
    let offered = try await round(exchange)
    #expect(offered.isDone && offered.answer == "order=2", "\(offered)")
    #expect(try exchange.fills() == ["1/1 1000@10.01"])
    exchange.kill()
    let more = try exchange.order(.sell, 100, at: 1050, symbol: Self.fund)
    #expect(!more.isDone, "all of it is offered")
  }

  @Test func `a fund that is not on the list waits for the next day`() async throws {
    let offered = try await round(try await exchange())
    #expect(!offered.isDone && offered.answer.hasPrefix("sellable"), "\(offered)")
  }

  @Test func `a fund that candled lists needs no operator`() async throws {
    #expect(try await round(try await exchange(), of: Self.gold).isDone)
  }

  @Test func `an order keeps what the list said when it was accepted`() async throws {
    let exchange = try await exchange()
    _ = try await round(exchange)
    exchange.kill(sameDayFunds: [try #require(Symbol(Self.fund))])
    let next = try #require(TradingCalendar.shanghai.next(after: PaperExchange.day))
    exchange.setClock(day: next, second: 100)
    try exchange.look()
    _ = try await round(exchange, on: next)
    let settles = "select settles_same_day from candled_app.paper_order order by id"
    #expect(try exchange.database.execute(settles).map { $0[0] } == ["f", "t", "t"])
  }
}
