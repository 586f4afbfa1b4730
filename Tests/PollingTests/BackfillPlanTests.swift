import Market
import Polling
import Testing

@Suite struct BackfillPlanTests {
  private let today = TradingDay(daysSince1970: 20_640)  // 2026-07-06, a Monday

  private func plan(
    _ source: Source, _ symbols: Int, _ timeframe: Timeframe, from: String, to: String
  ) throws -> BackfillPlan {
    let list = try (0..<symbols).map { try #require(Symbol("sh\(600_000 + $0)")) }
    let order = BackfillOrder(
      source: source, symbols: list, timeframe: timeframe, from: try day(from), to: try day(to))
    return BackfillPlan(order, today: today) { TradingCalendar.shanghai.isTradingDay($0) }
  }

  private func day(_ text: String) throws -> TradingDay { try #require(TradingDay(text)) }

  @Test(arguments: [
    (Timeframe.minute1, "2026-07-01", 960), (.minute5, "2026-06-01", 1_200),
    (.hour1, "2026-01-05", 480), (.day1, "2021-07-06", 1_211), (.week1, "2021-07-06", 303),
  ])
  func `Sina is asked for as many of the newest bars as reach back`(
    _ timeframe: Timeframe, _ from: String, _ bars: Int
  ) throws {
    let plan = try plan(.sina, 3, timeframe, from: from, to: "2026-07-06")
    #expect(plan.reachesOnlyTo == nil)
    #expect(plan.chunks.map(\.newestBars) == [bars, bars, bars])
    #expect(plan.requests == 3)
  }

  @Test func `what is out of Sina's reach is said`() throws {
    let minutes = try plan(.sina, 1, .minute1, from: "2026-01-05", to: "2026-07-06")
    #expect(try minutes.reachesOnlyTo == day("2026-06-25"))
    #expect(minutes.chunks.map(\.from) == [minutes.reachesOnlyTo])
    #expect(minutes.chunks.map(\.newestBars) == [1_920])
    let past = try plan(.sina, 1, .minute1, from: "2026-01-05", to: "2026-01-09")
    #expect(past.chunks.isEmpty)
    #expect(past.reachesOnlyTo != nil)
  }

  @Test func `Alpaca's chunks cover every symbol and day once, in walks of some twenty pages`()
    throws
  {
    let plan = try plan(.alpacaSIP, 450, .minute1, from: "2026-01-01", to: "2026-01-31")
    var covered: [Symbol: Set<TradingDay>] = [:]
    for chunk in plan.chunks {
      #expect(chunk.symbols.count <= 200 && (1...25).contains(chunk.requests))
      for symbol in chunk.symbols {
        for day in chunk.from...chunk.to {
          #expect(covered[symbol, default: []].insert(day).inserted)
        }
      }
    }
    #expect(covered.count == 450 && covered.values.allSatisfy { $0.count == 31 })
    #expect(plan.chunks.map(\.index) == Array(plan.chunks.indices))
  }

  @Test func `an order is named by what it asks, in whatever order its symbols come`() throws {
    let symbols = try ["AAPL", "MSFT", "NVDA"].map { try #require(Symbol($0)) }
    func order(_ symbols: [Symbol], _ to: String) throws -> BackfillOrder {
      BackfillOrder(
        source: .alpacaIEX, symbols: symbols, timeframe: .day1, from: try day("2026-01-01"),
        to: try day(to))
    }
    let name = try order(symbols, "2026-02-01").name
    #expect(name.hasPrefix("alpaca_iex-1d-"))
    #expect(try order(symbols.reversed(), "2026-02-01").name == name)
    #expect(try order(symbols, "2026-02-02").name != name)
  }
}
