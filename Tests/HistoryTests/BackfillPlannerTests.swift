import Commits
import Feeds
import Glibc
import History
import Ingest
import Market
import Operations
import Polling
import TestSupport
import Testing

/// What is requested, in which order, and what is left after a kill: without network or database.
@Suite struct `A backfill's planner` {
  private static let symbols = (0..<3).map(StoreSamples.symbol)

  private func planner(
    _ overrides: [String] = [], at moment: String = "2026-07-06T18:00:00+08:00"
  ) throws -> BackfillPlanner {
    let settings = try ConfigurationFile.load(nil, overrides: overrides, table: .candled)
    return BackfillPlanner(
      settings, credentials: try SourceCredentials(settings), calendar: .shanghai,
      now: try #require(Timestamp(rfc3339: moment)))
  }

  private func day(_ text: String) throws -> TradingDay { try #require(TradingDay(text)) }

  private func order(
    _ planner: BackfillPlanner, symbols: [Symbol] = Self.symbols, source: Source? = nil,
    timeframe: Timeframe = .day1, from: String = "2026-06-01", to: String? = nil
  ) throws -> BackfillOrder {
    try planner.order(
      of: symbols, from: source, timeframe: timeframe, first: day(from), last: to.map(day))
  }

  /// Of which every part is done.
  private func stored(_ schedule: BackfillSchedule) -> [String: TradingDay] {
    let chunks = (schedule.tasks + schedule.later).compactMap(\.chunk)
    return Dictionary(uniqueKeysWithValues: chunks.map { ($0.name, $0.through) })
  }

  @Test func `takes the first source that has bars of the symbols, and ends today`() throws {
    let order = try order(planner())
    #expect(order.source == .sina && order.to == StoreSamples.day)
    let key = try keyFile()
    let american = try self.order(
      planner(["alpaca.key_file=\(key)"]), symbols: [try #require(Symbol("AAPL"))])
    #expect(american.source.hasBarsAlone && american.to == StoreSamples.day)
  }

  @Test func `refuses what no source has`() throws {
    let apple = try #require(Symbol("AAPL"))
    let planner = try planner()
    let backwards = #expect(throws: HistoryError.self) {
      try order(planner, from: "2026-07-06", to: "2026-07-01")
    }
    #expect(backwards?.code == .invalidOrder)
    #expect(backwards?.description == "--from 2026-07-06 is after --to 2026-07-01")
    let foreign = #expect(throws: HistoryError.self) {
      try order(planner, symbols: Self.symbols + [apple])
    }
    #expect(foreign?.code == .invalidOrder && foreign?.description == "sina does not know AAPL")
    let keyless = #expect(throws: HistoryError.self) { try order(planner, symbols: [apple]) }
    #expect(keyless?.code == .keyMissing)
    #expect(keyless?.description.hasSuffix("needs a key: set alpaca.key_file") == true)
    let misspelt = #expect(throws: HistoryError.self) { try BackfillPlanner.resolve("六〇〇") }
    #expect(misspelt?.code == .invalidOrder)
  }

  @Test(arguments: [("600519.SH", "sh600519"), ("SH600519", "sh600519"), ("aapl", "AAPL")])
  func `knows a symbol in any spelling`(_ spelling: String, _ symbol: String) throws {
    #expect(try "\(BackfillPlanner.resolve(spelling))" == symbol)
  }

  @Test func `requests the days of each instrument with their factors, one task each`() throws {
    let planner = try planner()
    let plan = try planner.plan(order(planner))
    let schedule = planner.schedule(plan, done: [:])
    #expect(schedule.tasks.count == 3 && schedule.later.isEmpty && schedule.requests == 9)
    for (task, symbol) in zip(schedule.tasks, Self.symbols) {
      #expect(task.days == (try day("2026-06-01"))...StoreSamples.day)
      #expect(task.chunk?.through == StoreSamples.day)
      let queries = task.feedRequests.map(\.query)
      // 25 trading days, and the Dragon Boat Festival.
      #expect(queries.first == .newestBars(symbol, .day1, count: 25))
      #expect(
        queries.dropFirst()
          == ArraySlice(
            AdjustmentFactor.Kind.allCases.map {
              FeedQuery.factors(symbol, $0)
            }))
    }
    let minutes = try planner.plan(order(planner, timeframe: .minute1, from: "2026-07-03"))
    let requests = planner.schedule(minutes, done: [:]).tasks.flatMap(\.feedRequests)
    #expect(requests.map(\.query) == Self.symbols.map { .newestBars($0, .minute1, count: 480) })
  }

  @Test func `requests no bar that the account's plan has not released`() throws {
    let key = try keyFile()
    let overrides = ["alpaca.key_file=\(key)", "alpaca.delay=960s"]
    let planner = try planner(overrides, at: "2026-07-06T23:00:00+08:00")
    let apple = try #require(Symbol("AAPL"))
    let plan = try planner.plan(
      order(planner, symbols: [apple], timeframe: .minute1, from: "2026-07-06", to: "2026-07-31"))
    let queries = planner.schedule(plan, done: [:]).tasks.flatMap(\.feedRequests).map(\.query)
    guard case .bars(let query) = try #require(queries.first) else {
      Issue.record("\(queries)")
      return
    }
    #expect(queries.count == 1 && query.end == Timestamp(rfc3339: "2026-07-06T22:44:00+08:00"))
  }

  @Test func `goes on after a kill with what was never stored`() throws {
    let planner = try planner()
    let plan = try planner.plan(order(planner))
    let all = planner.schedule(plan, done: [:])
    var done = stored(all)
    #expect(planner.schedule(plan, done: done).isEmpty)
    let lost = try #require(done.keys.sorted().dropFirst().first)
    done[lost] = nil
    let rest = planner.schedule(plan, done: done)
    #expect(rest.tasks.compactMap(\.chunk?.name) == [lost] && rest.later.isEmpty)
    #expect(rest.tasks.first?.feedRequests == all.tasks[1].feedRequests && rest.requests == 3)
  }

  @Test func `requests the days since an earlier run after what was never stored`() throws {
    let earlier = try planner(at: "2026-07-03T18:00:00+08:00")
    let done = try stored(
      earlier.schedule(
        earlier.plan(order(earlier, symbols: Array(Self.symbols.prefix(2)))), done: [:]))
    let planner = try planner()
    let schedule = try planner.schedule(planner.plan(order(planner)), done: done)
    #expect(schedule.tasks.flatMap(\.feedRequests).allSatisfy { $0.text.contains("sh600002") })
    #expect(schedule.tasks.count == 1 && schedule.later.count == 2)
  }

  @Test func `counts a day as over once its rows are`() throws {
    for (time, through) in [("15:20:00", "2026-07-05"), ("18:00:00", "2026-07-06")] {
      let planner = try planner(at: "2026-07-06T\(time)+08:00")
      let tasks = try planner.schedule(planner.plan(order(planner)), done: [:]).tasks
      #expect(try tasks.allSatisfy { $0.chunk?.through == (try day(through)) }, "at \(time)")
    }
  }

  @Test func `repairs the days that do not add up, and none that is still to come`() throws {
    let planner = try planner()
    #expect(planner.firstRepairDay < StoreSamples.day)
    let days = try [
      (0, "2026-07-02", RepairCandidate.Want.gap), (0, "2026-07-06", .unbalanced),
      (1, "2026-07-03", .confirmation), (2, "2026-07-07", .gap), (2, "2026-07-03", .gap),
    ].map { number, text, want in
      RepairCandidate(symbol: Self.symbols[number], day: try day(text), want: want)
    }
    let tasks = planner.repairs(days, of: nil).tasks
    #expect(tasks.map(\.days.lowerBound) == [try day("2026-07-02"), try day("2026-07-03")])
    #expect(tasks.allSatisfy { $0.chunk == nil && $0.days.upperBound == StoreSamples.day })
    let one = planner.repairs(days, of: Self.symbols[2]).tasks
    #expect(one.map(\.days.lowerBound) == [try day("2026-07-03")])
  }
}

/// A file that only its owner reads.
private func keyFile() throws -> String {
  let path = try PrivateCluster.freshDirectory() + "/key"
  let file = open(path, O_WRONLY | O_CREAT, 0o600)
  defer { close(file) }
  let text = "PKTEST0001 secret-0001\n"
  #expect(write(file, text, text.utf8.count) == text.utf8.count)
  return path
}
