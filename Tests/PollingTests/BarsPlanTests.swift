import Market
import Polling
import TestSupport
import Testing

@Suite struct BarsPlanTests {
  private let monday = TradingDay(daysSince1970: 20_640)  // 2026-07-06

  private func moment(_ day: Int, _ hour: Int, _ minute: Int, _ second: Int = 0) -> Timestamp {
    Timestamp(
      day: monday.advanced(by: day), newYorkSecondOfDay: hour * 3600 + minute * 60 + second)
  }

  private func plan(
    _ names: [String] = ["AAPL", "MSFT"], delay: Int64 = 0, through: [String: Timestamp] = [:]
  ) throws -> BarsPlan {
    let hours = BarsHours(
      zone: .newYork, span: SessionHours(opens: 4 * 3_600, closes: 20 * 3_600), isEveryDay: false)
    return BarsPlan(
      try names.map { try #require(Symbol($0)) }, hours: hours, delaySeconds: delay,
      chunkSymbolsMax: 2, through: through)
  }

  @Test func `each minute asks for the minute that ended and again for the two before`() throws {
    var plan = try plan()
    for window in plan.due(at: moment(0, 10, 0, 5)) { plan.completed(window) }
    #expect(plan.due(at: moment(0, 10, 1, 4)).isEmpty)
    #expect(plan.nextWake(after: moment(0, 10, 0, 30)) == moment(0, 10, 1, 5))
    let windows = plan.due(at: moment(0, 10, 1, 5))
    #expect(windows.map(\.from) == [moment(0, 9, 58)])
    #expect(windows.map(\.to) == [moment(0, 10, 1)])
  }

  @Test func `a window that is under way is not asked for twice, and one that failed is`() throws {
    var plan = try plan()
    let first = plan.due(at: moment(0, 10, 0, 5))
    #expect(plan.due(at: moment(0, 10, 1, 5)).isEmpty)
    for window in first { plan.failed(window) }
    let again = plan.due(at: moment(0, 10, 2, 5))
    #expect(again.map(\.from) == first.map(\.from))
    #expect(again.first?.to == moment(0, 10, 2))
  }

  @Test func `a plan that stays behind never asks for what is younger`() throws {
    var plan = try plan(delay: 16 * 60)
    let windows = plan.due(at: moment(0, 10, 0, 5)).filter { $0.timeframe == .minute1 }
    #expect(windows.map(\.to).max() == moment(0, 9, 44))
    #expect(plan.nextWake(after: moment(0, 10, 0, 5)) == moment(0, 10, 1, 5))
  }

  @Test func `symbols are asked for in chunks, a refused one no more`() throws {
    var plan = try plan(["MSFT", "AAPL", "NVDA"])
    #expect(plan.symbols(of: 0).map(\.description) == ["AAPL", "MSFT"])
    plan.drop(try #require(Symbol("NVDA")))
    #expect(Set(plan.due(at: moment(0, 10, 0, 5)).map(\.chunk)) == [0])
  }

  @Test func `is read as far as the last chunk, without those that never were`() throws {
    let read = ["AAPL…MSFT/2": moment(0, 12, 0), "NVDA…TSLA/2": moment(0, 10, 0)]
    let all = try plan(["AAPL", "MSFT", "NVDA", "TSLA", "ZZZZ"], through: read)
    #expect(all.through == moment(0, 10, 0))
    // Asked for no more.
    #expect(try plan(through: read).through == moment(0, 12, 0))
  }

  @Test func `holidays and half days come from the calendar`() throws {
    var plan = try plan()
    let days = [0, 2, 3, 4].map { monday.advanced(by: $0) }
    plan.learn(
      days.map { day in
        MarketSession(
          exchange: .unitedStates, day: day,
          opens: Timestamp(day: day, newYorkSecondOfDay: 34_200),
          closes: Timestamp(day: day, newYorkSecondOfDay: 57_600))
      })
    for window in plan.due(at: moment(0, 20, 6)) { plan.completed(window) }
    let tuesday = plan.due(at: moment(1, 10, 0, 5))
    #expect(tuesday.allSatisfy { $0.from < moment(1, 0, 0) })
  }

  @Test func `a session that its calendar withdraws is none any more`() throws {
    var plan = try plan()
    let sessions = (0..<5).map { monday.advanced(by: $0) }.map { day in
      MarketSession(
        exchange: .unitedStates, day: day,
        opens: Timestamp(day: day, newYorkSecondOfDay: 34_200),
        closes: Timestamp(day: day, newYorkSecondOfDay: 57_600))
    }
    plan.learn(sessions)
    plan.learn(sessions.filter { $0.day != monday.advanced(by: 1) })
    for window in plan.due(at: moment(0, 20, 6)) { plan.completed(window) }
    #expect(plan.due(at: moment(1, 10, 0, 5)).allSatisfy { $0.from < moment(1, 0, 0) })
    plan.learn([])
    #expect(plan.knownThrough == monday.advanced(by: 4))
  }

  @Test func `a weekday behind the calendar's end is requested like a session`() throws {
    var plan = try plan()
    plan.learn(
      (0..<4).map { monday.advanced(by: $0) }.map { day in
        MarketSession(
          exchange: .unitedStates, day: day,
          opens: Timestamp(day: day, newYorkSecondOfDay: 34_200),
          closes: Timestamp(day: day, newYorkSecondOfDay: 57_600))
      })
    completeAll(&plan, at: moment(3, 20, 6))
    #expect(plan.due(at: moment(4, 10, 0, 5)).contains { $0.to == moment(4, 10, 0) })
  }

  private func completeAll(_ plan: inout BarsPlan, at now: Timestamp) {
    for window in plan.due(at: now) { plan.completed(window) }
  }

  @Test func `goes on after an absence that is longer than it reads back`() throws {
    var plan = try plan()
    completeAll(&plan, at: moment(0, 20, 6))
    let back = moment(9, 10, 0, 5)
    let minutes = plan.due(at: back).filter { $0.timeframe == .minute1 }
    #expect(minutes.map(\.from).min() == moment(2, 10, 0))
    for window in minutes { plan.completed(window) }
    #expect(plan.due(at: moment(9, 10, 1, 5)).map(\.from) == [moment(9, 9, 58)])
  }

  @Test func `a day read again does not stand for the absence before it`() throws {
    var plan = try plan()
    completeAll(&plan, at: moment(0, 20, 6))
    let due = plan.due(at: moment(9, 10, 0, 5)).filter { $0.timeframe == .minute1 }
    let absence = try #require(due.first)
    plan.failed(absence)
    for day in due.dropFirst() { plan.completed(day) }
    let again = plan.due(at: moment(9, 10, 1, 5))
    #expect(again.map(\.from).min() == moment(2, 10, 1))
  }

  @Test func `a calendar that lacks many known days closes none of them`() throws {
    var plan = try plan()
    let sessions = (0..<19).map { monday.advanced(by: $0) }.filter { !$0.isWeekend }.map { day in
      MarketSession(
        exchange: .unitedStates, day: day,
        opens: Timestamp(day: day, newYorkSecondOfDay: 34_200),
        closes: Timestamp(day: day, newYorkSecondOfDay: 57_600))
    }
    plan.learn(sessions)
    plan.learn([sessions[0], sessions[14]])
    completeAll(&plan, at: moment(0, 20, 6))
    #expect(plan.due(at: moment(1, 10, 0, 5)).contains { $0.to == moment(1, 10, 0) })
  }

  @Test func `reads a day again that a clock ahead of it took for over`() throws {
    var plan = try plan()
    completeAll(&plan, at: moment(1, 5, 0))
    // It was noon of the day before.
    completeAll(&plan, at: moment(0, 12, 0, 5))
    let evening = plan.due(at: moment(0, 20, 5)).filter { $0.timeframe == .minute1 }
    #expect(evening.map(\.from).contains(moment(0, 4, 0)))
  }

  private func days(in windows: [BarsWindow]) -> Set<TradingDay> {
    Set(
      windows.filter { $0.timeframe == .day1 }.flatMap { window in
        (window.from.newYorkDay...window.to.newYorkDay.advanced(by: -1)).filter { !$0.isWeekend }
      })
  }

  @Test(arguments: [2, 3, 6])
  func `after days away the bar of each day of them is asked for`(away: Int) throws {
    for hour in [10, 21] {
      var plan = try plan()
      completeAll(&plan, at: moment(0, 20, 4))
      // It first comes to nothing, and the daemon is not there for the evening's bars either.
      for window in plan.due(at: moment(away, hour, 0)) { plan.failed(window) }
      let asked = days(in: plan.due(at: moment(away, hour, 5)))
      let missed = (0..<away).map { monday.advanced(by: $0) }.filter { !$0.isWeekend }
      #expect(asked.isSuperset(of: missed), "\(missed) of \(asked)")
    }
  }

  @Test func `the bar of a day that is not over is not asked for`() throws {
    var plan = try plan()
    #expect(!days(in: plan.due(at: moment(2, 20, 4))).contains(monday.advanced(by: 2)))
    #expect(days(in: plan.due(at: moment(2, 20, 5))).contains(monday.advanced(by: 2)))
  }

  @Test func `after any outage every minute and the bar of every day is read`() throws {
    let seed = UInt64.random(in: .min ... .max)
    var random = SplitMix(seed: seed)
    var plan = try plan(["AAPL"])
    var read: Set<Int64> = []
    var wholeDays: Set<TradingDay> = []
    var now = moment(0, 4, 0, 30)
    let end = moment(8, 4, 40)
    while now < end {
      let isDown = Int.random(in: 0..<400, using: &random) == 0
      if isDown { now = now.adding(seconds: Int64.random(in: 60...90_000, using: &random)) }
      for window in plan.due(at: now) {
        #expect(window.timeframe == .day1 || window.to <= now, "seed \(seed)")
        if Int.random(in: 0..<10, using: &random) == 0 {
          plan.failed(window)
          continue
        }
        plan.completed(window)
        wholeDays.formUnion(days(in: [window]))
        guard window.timeframe == .minute1 else { continue }
        for minute in stride(from: window.from.seconds, to: window.to.seconds, by: 60) {
          read.insert(minute)
        }
      }
      let wake = plan.nextWake(after: now)
      #expect(wake > now, "seed \(seed)")
      now = wake
    }
    let week = (0...4).map { monday.advanced(by: $0) }
    for day in week {
      let opens = Timestamp(day: day, newYorkSecondOfDay: 4 * 3600).seconds
      for minute in stride(from: opens, to: opens + 57_600, by: 60) where !read.contains(minute) {
        Issue.record("seed \(seed): \(Timestamp(seconds: minute)) was never read")
        return
      }
    }
    #expect(wholeDays.isSuperset(of: week), "seed \(seed)")
  }
}

@Suite struct PageWalkTests {
  @Test func `only a missing token ends a walk, a short or empty page does not`() {
    var walk = PageWalk(rows: 100, pageRows: 10)
    #expect(walk.received(rows: 3, token: "a") == .next(token: "a"))
    #expect(walk.received(rows: 0, token: "b") == .next(token: "b"))
    #expect(walk.received(rows: 10, token: nil) == .complete)
  }

  @Test func `a walk that would not end is broken off`() {
    var repeated = PageWalk(rows: 100, pageRows: 10)
    _ = repeated.received(rows: 10, token: "a")
    #expect(repeated.received(rows: 10, token: "a") == .broken(.tokenRepeated))
    var empty = PageWalk(rows: 100, pageRows: 10)
    _ = empty.received(rows: 0, token: "a")
    #expect(empty.received(rows: 0, token: "b") == .broken(.emptyPages))
    var endless = PageWalk(rows: 100, pageRows: 10)
    var last = PageWalk.Step.complete
    for page in 1...30 { last = endless.received(rows: 10, token: "\(page)") }
    #expect(last == .broken(.tooManyPages))
  }
}
