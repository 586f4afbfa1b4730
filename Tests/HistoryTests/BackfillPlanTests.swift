import History
import Market
import TestSupport
import Testing

@Suite struct BackfillPlanTests {
  private func plan(
    _ source: Source, _ symbols: Int, _ timeframe: Timeframe, from: String, to: String,
    on today: String = "2026-07-06", isOver: Bool = true
  ) throws -> BackfillPlan {
    let list = try (0..<symbols).map { try #require(Symbol("sh\(600_000 + $0)")) }
    let order = BackfillOrder(
      source: source, name: source == .sina ? "sina" : "alpaca_iex",
      form: source == .sina
        ? .newest(barsMax: 1_970) : .window(symbolsMax: 500, pageBarsMax: 10_000),
      symbols: list, timeframe: timeframe, from: try day(from), to: try day(to))
    let today = try day(today)
    return BackfillPlan(order, today: today, lastOver: today.advanced(by: isOver ? 0 : -1)) {
      TradingCalendar.shanghai.isTradingDay($0)
    }
  }

  /// All of it stored, as a run without faults leaves it.
  private func done(_ plan: BackfillPlan) -> [String: TradingDay] {
    let asked = plan.rounds(leavingOut: [:]).first
    return Dictionary(uniqueKeysWithValues: asked.map { ($0.name, plan.through($0)) })
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
    #expect(plan.chunks.map(\.requests) == [1, 1, 1])
  }

  @Test func `what is out of Sina's reach is reported`() throws {
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
    #expect(Set(plan.chunks.map(\.name)).count == plan.chunks.count)
  }

  @Test func `an order is named by what it asks, in whatever order its symbols come`() throws {
    let symbols = try ["AAPL", "MSFT", "NVDA"].map { try #require(Symbol($0)) }
    func order(_ symbols: [Symbol], _ to: String) throws -> BackfillOrder {
      BackfillOrder(
        source: .alpacaIEX, name: "alpaca_iex",
        form: .window(symbolsMax: 500, pageBarsMax: 10_000), symbols: symbols, timeframe: .day1,
        from: try day("2026-01-01"), to: try day(to))
    }
    let name = try order(symbols, "2026-02-01").name
    #expect(name.hasPrefix("alpaca_iex-1d-2026-01-01-"))
    #expect(try order(symbols.reversed(), "2026-02-01").name == name)
    #expect(try order(symbols, "2026-02-02").name == name)
    #expect(try order([symbols[0]], "2026-02-01").name == "alpaca_iex-1d-2026-01-01-AAPL")
    #expect(try order([symbols[1], symbols[2]], "2026-02-01").name != name)
  }

  @Test func `what is stored is left out, on another day and beside a new instrument too`() throws {
    let noon = try plan(.sina, 3, .day1, from: "2021-07-06", to: "2026-07-06", isOver: false)
    #expect(noon.rounds(leavingOut: [:]).first == noon.chunks)
    let stored = done(noon)
    // A day that is not over adds nothing, and neither does a weekend.
    for (from, to, isOver) in [
      ("2026-07-06", "2026-07-06", false), ("2026-07-03", "2026-07-05", true),
    ] {
      let earlier = try done(
        plan(.sina, 3, .day1, from: "2021-07-06", to: from, on: from, isOver: isOver))
      let more = try plan(.sina, 4, .day1, from: "2021-07-06", to: to, on: to, isOver: isOver)
      let left = more.rounds(leavingOut: earlier)
      #expect(
        left.first.map(\.symbols) == [[try #require(Symbol("sh600003"))]] && left.second == [])
    }
    let evening = try plan(.sina, 4, .day1, from: "2021-07-06", to: "2026-07-06")
    let left = evening.rounds(leavingOut: stored)
    #expect(left.first == [evening.chunks[3]] && left.second == Array(evening.chunks[..<3]))
    let all = evening.rounds(leavingOut: done(evening))
    #expect(all.first.isEmpty && all.second.isEmpty)
  }

  @Test func `Sina's reach moves from day to day, and what is stored is known by its order`() throws
  {
    let monday = try plan(.sina, 2, .minute1, from: "2026-01-05", to: "2026-07-06")
    let tuesday = try plan(
      .sina, 2, .minute1, from: "2026-01-05", to: "2026-07-07", on: "2026-07-07")
    #expect(monday.chunks[0].from != tuesday.chunks[0].from)
    #expect(tuesday.rounds(leavingOut: done(monday)).first.isEmpty)
    #expect(tuesday.rounds(leavingOut: done(monday)).second == tuesday.chunks)
  }

  @Test func `an order that reaches into the future is fulfilled as its days come`() throws {
    let order = { on, isOver in
      try plan(
        .alpacaSIP, 2, .minute1, from: "2026-01-05", to: "2026-12-31", on: on, isOver: isOver)
    }
    let noon = try order("2026-07-06", false)
    #expect(noon.rounds(leavingOut: [:]).first.map(\.from).max() == noon.chunks[1].from)
    #expect(noon.chunks.count == 3)
    let evening = try order("2026-07-06", false).rounds(leavingOut: done(noon))
    #expect(evening.first.isEmpty && evening.second == [noon.chunks[1]], "today goes on")
    let later = try order("2026-12-31", true).rounds(leavingOut: done(noon))
    #expect(later.first == [noon.chunks[2]] && later.second == [noon.chunks[1]])
    let ended = try order("2027-01-04", false)
    let nothing = ended.rounds(leavingOut: done(ended))
    #expect(nothing.first.isEmpty && nothing.second.isEmpty)
  }

  @Test(arguments: [
    (Timeframe.week1, "2026-07-05", "2026-06-28"), (.week1, "2026-07-06", "2026-07-05"),
    (.week1, "2026-07-10", "2026-07-05"), (.month1, "2026-07-06", "2026-06-30"),
    (.month1, "2026-07-31", "2026-06-30"), (.month1, "2026-08-01", "2026-07-31"),
    (.day1, "2026-07-10", "2026-07-10"),
  ])
  func `a week or a month is whole when the next has begun`(
    _ timeframe: Timeframe, _ today: String, _ whole: String
  ) throws {
    let plan = try plan(.sina, 1, timeframe, from: "2026-01-05", to: "2026-12-31", on: today)
    #expect(try plan.through(plan.chunks[0]) == day(whole))
  }
}
