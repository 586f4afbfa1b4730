import Market
import TestExchange
import TestSupport
import Testing

@testable import ExchangeSimulator
@testable import Ledgers
@testable import TestExchange

/// Many days of one market, and what lies behind a moment of them.
@Suite struct HistoryTests {
  static func history(_ seed: UInt64 = 21, days: Int = 4, instruments: Int = 45) throws
    -> SimulatedHistory
  {
    SimulatedHistory(
      seed: seed, instruments: instruments, through: try #require(TradingDay("2026-07-11")),
      days: days, earlierDays: 1200)
  }

  @Test func `the first day is the market of its seed and day`() throws {
    var history = try HistoryTests.history()
    let day = history.days[0]
    var market = SimulatedMarket(seed: 21, day: day, instruments: 45)
    let recorder = DayRecorder(market)
    market.advance(to: Timestamp(day: day, secondOfDay: Grid.dayEnd), watchedBy: recorder)
    #expect(history.trueLedger(on: day).minutes == recorder.trueLedger().minutes)
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func `a day that was simulated live is the day of the history`(_ seed: UInt64) throws {
    let history = try HistoryTests.history(seed, days: 3, instruments: 45)
    var timeline = MarketTimeline(
      history,
      beginning: SimulatedMarket(
        seed: seed, day: history.days[0], instruments: 45))
    let observers = DayObservers(DayRecorder.everyDay(true))
    observers.begin(timeline.front)
    for day in history.days {
      for second in [36_000, 50_000, Grid.dayEnd] {
        timeline.show(at: Timestamp(day: day, secondOfDay: second), watchedBy: observers) { _ in }
        let truth = timeline.history.trueLedger(
          on: day, until: Timestamp(day: day, secondOfDay: second))
        let recorder = observers.byDay[day] as? DayRecorder
        #expect(recorder?.trueLedger().minutes == truth.minutes, "seed \(seed)")
      }
    }
  }

  @Test func `what a moment knows does not depend on what was asked before`() throws {
    var asked = try HistoryTests.history(5, days: 2)
    let day = asked.days[1]
    _ = asked.trueLedger(on: day)
    for second in [50_000, 36_001, 36_000, 34_000, 53_999] {
      let moment = Timestamp(day: day, secondOfDay: second)
      var fresh = try HistoryTests.history(5, days: 2)
      #expect(
        asked.trueLedger(on: day, until: moment).minutes
          == fresh.trueLedger(on: day, until: moment).minutes)
    }
  }

  @Test func `closes become previous closes, less the dividend on a day ex`() throws {
    var history = try HistoryTests.history(3, days: 8)
    var exDays = 0
    for (day, next) in zip(history.days, history.days.dropFirst()) {
      var market = history.market(on: day)
      market.advance(to: Timestamp(day: day, secondOfDay: Grid.dayEnd))
      let tomorrow = history.market(on: next)
      for place in market.symbols.indices where market.traits[place].behaviour != .delisted {
        let close = market.states[place].anchor
        guard close > 0 else { continue }
        let dividend = tomorrow.dividend(at: place, close: close)
        #expect(tomorrow.traits[place].previousClose == dividend?.reference ?? close)
        if dividend != nil { exDays += 1 }
      }
    }
    #expect(exDays > 0)
  }

  @Test func `the next morning shows yesterday's lines under yesterday's date`() throws {
    var history = try HistoryTests.history(4, days: 2)
    var first = history.market(on: history.days[0])
    first.advance(to: Timestamp(day: first.day, secondOfDay: Grid.dayEnd))
    var second = history.market(on: history.days[1])
    let place = try Fixture.place(first, Fixture.symbol("sh600000"))
    #expect(try first.line(first.symbols[place]).fields == second.line(first.symbols[place]).fields)
    second.advance(to: Timestamp(day: second.day, secondOfDay: Grid.dayReset))
    let line = try second.line(first.symbols[place])
    #expect(line.text(30) == history.days[1].description)
    #expect(try line.number(2) == second.listings[place].previousClose)
  }

  @Test func `every later day is another one, and no price runs away`() throws {
    var history = try HistoryTests.history(6, days: 22)
    let first = history.market(on: history.days[0])
    var digests: Set<[TrueLedger.Minute]> = []
    for day in history.days {
      let ledger = history.trueLedger(on: day)
      digests.insert(ledger.symbols.indices.map { ledger.sum(at: $0) })
    }
    #expect(digests.count == 22)
    let last = history.market(on: try #require(history.days.last))
    for place in last.traits.indices {
      let (was, now) = (first.traits[place].previousClose, last.traits[place].previousClose)
      #expect(now > was / 3 && now < was * 3, "\(last.symbols[place]) \(was) \(now)")
    }
  }

  @Test func `earlier day bars join the first simulated day without a jump`() throws {
    let history = try HistoryTests.history(7)
    let market = SimulatedMarket(seed: 7, day: history.days[0], instruments: 45)
    for (place, traits) in market.traits.enumerated() where traits.behaviour == .active {
      let earlier = EarlierDays(seed: 7, place: place, traits: traits, days: history.earlierDays)
      #expect(earlier.bars.count == history.earlierDays.count)
      #expect(earlier.bars.last?.close == traits.previousClose)
      #expect(
        earlier.bars.filter { $0.volume > 0 }.allSatisfy {
          $0.low > 0 && $0.low <= min($0.open, $0.close) && $0.high >= max($0.open, $0.close)
            && $0.volume * $0.low <= $0.turnover && $0.turnover <= $0.volume * $0.high
        })
      #expect(earlier.exDays.count > 0)
    }
  }

  @Test func `the server reports to each day's recorder what it served`() throws {
    let history = try HistoryTests.history(8, days: 3)
    let server = try ExchangeServer(history: history, recordsEveryDay: true)
    defer { server.stop() }
    let client = try RawClient(port: server.port)
    defer { client.close() }
    for day in history.days {
      for second in stride(from: 34_200, through: 34_500, by: 3) {
        let moment = Timestamp(day: day, secondOfDay: second)
        _ = client.get(Fixture.path(history.symbols, at: moment))
      }
    }
    for day in history.days {
      let candles = server.withRecorder(of: day) { recorder in
        recorder.observableLedger().candles(of: history.symbols[0])
      }
      #expect(candles?.count == 5 && candles?.first?.tradingDay == day)
    }
  }

  @Test func `a day that has passed is served as it was`() throws {
    let history = try HistoryTests.history(9, days: 3)
    let server = try ExchangeServer(history: history)
    defer { server.stop() }
    let client = try RawClient(port: server.port)
    defer { client.close() }
    let moments = [(0, 36_000), (0, 53_000), (1, 36_000), (2, 50_000)].map {
      Timestamp(day: history.days[$0.0], secondOfDay: $0.1)
    }
    let first = moments.map { client.get(Fixture.path(history.symbols, at: $0)).body }
    #expect(Set(first).count == 4)
    for place in [1, 0, 2, 3] {
      #expect(client.get(Fixture.path(history.symbols, at: moments[place])).body == first[place])
    }
  }
}
