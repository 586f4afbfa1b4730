import Commits
import ExchangeSimulator
import Feeds
import Journal
import Market
import Polling
import Store
import TestExchange
import TestSupport
import Testing

@testable import Ingest

/// What is asked of Sina beside the quotes, and when.
@Suite struct `The worker for Sina's history` {
  private static func worker(
    nodes: [SinaNode] = [], _ pipeline: Pipeline = Pipeline(),
    calendar: TradingCalendar = .shanghai, repairsPerNight: Int = 6_000,
    confirmSeconds: Int64 = 12 * 3_600
  ) -> HistoryWorker {
    var repairs = RepairPlan()
    repairs.requestsPerNight = repairsPerNight
    repairs.confirmSeconds = confirmSeconds
    return HistoryWorker(
      SourceRegistry.definition(of: .sina),
      lists: ListPlans(
        nodes.map(\.part), seed: 1, universe: pipeline.universe,
        calendar: calendar),
      repairs: repairs, calendar: calendar,
      requestQueue: PacedQueueConfiguration(
        requestsPerMinute: 20, burst: 1, inFlightMax: 1, seed: 1))
  }

  private static func symbol(_ number: Int) throws -> Symbol {
    try #require(Symbol("sh\(600_000 + number)"))
  }

  // MARK: - Repairs

  /// One bar of the day asked for.
  private static let kline = CannedResponse.text(
    #"[{"day":"2026-07-06 09:31:00","open":"10.000","high":"10.000","low":"10.000","#
      + #""close":"10.000","volume":"100","amount":"1000.0000"}]"#)

  private static func klines(_ driver: WorkerDriver) -> [Symbol] {
    driver.feedRequests.compactMap {
      if case .newestBars(let symbol, .minute1, _) = $0.query { symbol } else { nil }
    }
  }

  @Test func `asks after the certificates, the neediest first, within the night's budget`() throws {
    var driver = WorkerDriver(
      Self.worker(repairsPerNight: 3), at: try shanghai("2026-07-06", 15, 40)
    ) { _, _ in Self.kline }
    driver.send(.started)
    #expect(driver.feedRequests.isEmpty)
    let day = driver.now.shanghaiDay
    let wanting = try [
      (Self.symbol(1), RepairCandidate.Want.confirmation), (Self.symbol(2), .flagged),
      (Self.symbol(3), .gap), (Self.symbol(4), .unbalanced),
    ].map { RepairCandidate(symbol: $0.0, day: day, want: $0.1) }
    driver.candidates = { _ in wanting }
    driver.send(.certified)
    driver.run(seconds: 60)
    #expect(Self.klines(driver) == (try [3, 4, 2].map(Self.symbol)))
    let times = driver.times.suffix(3)
    for (earlier, later) in zip(times, times.dropFirst()) {
      #expect(later.microseconds(since: earlier) >= 3_000_000)
    }
  }

  @Test func `looks a second time for what it did not find, half a day later`() throws {
    let hole = try Self.symbol(7)
    var driver = WorkerDriver(Self.worker(), at: try shanghai("2026-07-06", 15, 40)) { _, _ in
      Self.kline
    }
    driver.send(.started)
    var asked: Timestamp?
    driver.candidates = { _ in
      [
        RepairCandidate(
          symbol: hole, day: TradingDay(daysSince1970: 20_640), want: .gap, lastCheckedAt: asked)
      ]
    }
    driver.send(.certified)
    asked = driver.now
    driver.run(seconds: 11 * 3_600)
    #expect(Self.klines(driver) == [hole])
    driver.run(seconds: 2 * 3_600)
    #expect(Self.klines(driver) == [hole, hole])
  }

  @Test func `asks the store again when it did not answer`() throws {
    var driver = WorkerDriver(Self.worker(), at: try shanghai("2026-07-06", 15, 40)) { _, _ in
      Self.kline
    }
    driver.send(.repairsFound(nil))
    driver.run(seconds: 1_200)
    let looks = driver.steps.count { if case .looked = $0 { true } else { false } }
    #expect(looks == 1)
  }

  @Test func `a new evening's order replaces what still waits of the last`() throws {
    var driver = WorkerDriver(
      Self.worker(), at: try shanghai("2026-07-06", 15, 40)
    ) { _, _ in Self.kline }
    let symbols = try (0..<40).map(Self.symbol)
    let monday = driver.now.shanghaiDay
    driver.candidates = { now in
      symbols.map { RepairCandidate(symbol: $0, day: monday, want: .gap) }
    }
    driver.send(.certified)
    driver.run(seconds: 9)
    driver.candidates = { _ in
      [RepairCandidate(symbol: symbols[39], day: monday.advanced(by: -3), want: .gap)]
    }
    driver.forgetSteps()
    driver.send(.certified)
    driver.run(seconds: 600)
    #expect(Self.klines(driver) == [symbols[39]])
  }

  // MARK: - Lists

  private static let rows = 200
  private static let limits: UniverseLimits = {
    var limits = UniverseLimits()
    limits.mainRowsMin = 100
    return limits
  }()

  private static func page(_ number: Int, rows: Int = rows) -> CannedResponse {
    let places = ((number - 1) * SinaNode.pageRows)..<min(number * SinaNode.pageRows, rows)
    let texts = places.map { place in
      let code = place % 2 == 0 ? "600\(100 + place)" : "300\(100 + place)"
      return #"{"symbol":"\#(place % 2 == 0 ? "sh" : "sz")\#(code)","code":"\#(code)","#
        + #""name":"N\#(place)"}"#
    }
    return .text("[" + texts.joined(separator: ",") + "]")
  }

  private static func response(_ feedRequest: FeedRequest) -> CannedResponse? {
    switch feedRequest.query {
    case .listCount: .text("\"\(rows)\"")
    case .listPage(_, let number): page(number)
    default: nil
    }
  }

  private func collector(
    _ pipeline: Pipeline, script: @escaping WorkerDriver.Script
  ) throws -> WorkerDriver {
    WorkerDriver(
      Self.worker(nodes: [.aShares], pipeline), pipeline: pipeline,
      at: try shanghai("2026-07-06", 12), script: script)
  }

  @Test func `collects a node's pages into one list`() throws {
    var driver = try collector(Pipeline(limits: Self.limits)) { request, _ in
      Self.response(request.feedRequest)
    }
    driver.send(.started)
    driver.run(seconds: 60)
    #expect(
      driver.feedRequests == [.sinaNodeCount(.aShares)]
        + (1...3).map { .sinaNodePage(.aShares, page: $0) })
    #expect(driver.tables.lists.map(\.rows) == [Self.rows])
    #expect(driver.tables.lists.map(\.verdict) == [.accepted])
    #expect(driver.pipeline.universe.members.count == Self.rows)
  }

  @Test func `takes null for a page that was throttled away and asks again`() throws {
    var refusals = 3
    var driver = try collector(Pipeline(limits: Self.limits)) { request, _ in
      if case .listPage(_, page: 2) = request.feedRequest.query, refusals > 0 {
        refusals -= 1
        return .null
      }
      return Self.response(request.feedRequest)
    }
    driver.send(.started)
    driver.run(seconds: 280)
    #expect(driver.times(of: .sinaNodePage(.aShares, page: 2)).count == 4)
    #expect(driver.tables.lists.map(\.rows) == [Self.rows])
  }

  @Test func `does not believe a list whose pages are cut short`() throws {
    var driver = try collector(Pipeline(limits: Self.limits)) { request, _ in
      if case .listPage(_, page: 2) = request.feedRequest.query { return Self.page(2, rows: 120) }
      return Self.response(request.feedRequest)
    }
    driver.send(.started)
    driver.run(seconds: 60)
    #expect(driver.tables.lists.map(\.verdict) == [.quarantined])
    #expect(driver.pipeline.universe.members.isEmpty)
  }

  @Test(arguments: 1...3)
  func `begins anew after a restart amid a list`(pagesRead: Int) throws {
    var left = pagesRead
    var first = try collector(Pipeline(limits: Self.limits)) { request, _ in
      if case .listPage = request.feedRequest.query {
        left -= 1
        if left < 0 { return nil }
      }
      return Self.response(request.feedRequest)
    }
    first.send(.started)
    first.run(seconds: 7)
    let pipeline = try Pipeline(limits: Self.limits, stored: first.stored)
    var second = try collector(pipeline) { request, _ in Self.response(request.feedRequest) }
    second.send(.started)
    second.run(seconds: 60)
    #expect(second.feedRequests.first == .sinaNodeCount(.aShares))
    #expect(second.tables.lists.map(\.rows) == [Self.rows])
  }

  @Test(arguments: 1...3)
  func `a list whose last pages are not stored yet is whole after a restart`(_ stored: Int)
    async throws
  {
    var driver = try collector(Pipeline(limits: Self.limits)) { request, _ in
      Self.response(request.feedRequest)
    }
    driver.send(.started)
    driver.run(seconds: 60)
    var run = try EngineRun()
    (run.start, run.end) = (12 * 3_600 + 60, 12 * 3_600 + 61)
    do {
      let journal = try JournalWriter(directory: run.folder.path)
      for entry in driver.entries { try journal.append(entry) }
      try journal.sync()
    }
    var state = Tables().stored
    state.position = JournalPosition(Int64(stored))
    state.knownAt = driver.entries[stored - 1].receivedAt
    let feeds = FeedSink()
    _ = try await run.engine(feeds.sink, stored: state).run()
    #expect(driver.entries.count == 4 && feeds.current.lists.map(\.rows) == [Self.rows])
  }

  @Test func `lists do not wait behind a night of repairs`() throws {
    var driver = try collector(Pipeline(limits: Self.limits)) { request, _ in
      Self.response(request.feedRequest) ?? Self.kline
    }
    let day = driver.now.shanghaiDay
    let wanting = try (0..<500).map {
      RepairCandidate(symbol: try Self.symbol($0), day: day, want: .gap)
    }
    driver.candidates = { _ in wanting }
    driver.send(.certified)
    driver.send(.started)
    driver.run(seconds: 30)
    #expect(driver.tables.lists.count == 1)
  }

  // MARK: - Factors

  private static func factors(_ symbol: Symbol, _ kind: AdjustmentFactor.Kind) -> CannedResponse {
    .text(
      "var \(symbol)\(kind.name)={\"total\":2,\"data\":[{\"d\":\"2026-07-06\", "
        + "\"f\":\"1.0000000000000000\"},\n{\"d\":\"1900-01-01\", "
        + "\"f\":\"1.2500000000000000\"}]}\n/* x */\n")
  }

  @Test func `asks for the factors of what went ex dividend, until it has them`() throws {
    let symbol = try Self.symbol(519)
    let hostIsBack = try shanghai("2026-07-06", 15)
    var driver = WorkerDriver(
      Self.worker(repairsPerNight: 0), at: try shanghai("2026-07-06", 9, 16)
    ) { request, now in
      guard case .factors(let symbol, let kind) = request.feedRequest.query, now >= hostIsBack
      else { return nil }
      return Self.factors(symbol, kind)
    }
    driver.send(.found(.exRights([symbol], isSupposed: false)))
    driver.run(until: try shanghai("2026-07-06", 15, 40))
    #expect(driver.tables.factors.isEmpty && !driver.feedRequests.isEmpty)
    driver.send(.certified)
    driver.run(seconds: 60)
    let found = driver.tables.factors
    #expect(found.count == 4 && Set(found.keys.map(\.kind)) == [.qfq, .hfq])
    driver.forgetSteps()
    driver.send(.certified)
    driver.run(seconds: 60)
    #expect(driver.feedRequests.isEmpty)
  }

  @Test func `factors that are only supposed to be wanted wait for all others`() throws {
    let (supposed, seen) = (try Self.symbol(519), try Self.symbol(520))
    var driver = WorkerDriver(
      Self.worker(repairsPerNight: 0), at: try shanghai("2026-07-06", 9, 16)
    ) { request, _ in
      guard case .factors(let symbol, let kind) = request.feedRequest.query else { return nil }
      return Self.factors(symbol, kind)
    }
    driver.send(
      .found(.exRights([supposed, try Self.symbol(521)], isSupposed: true)))
    driver.send(.found(.exRights([seen], isSupposed: false)))
    driver.run(seconds: 3_600)
    let asked = driver.feedRequests.compactMap { feedRequest -> Symbol? in
      if case .factors(let symbol, _) = feedRequest.query { symbol } else { nil }
    }
    #expect(asked.count == 6)
    let lastSeen = try #require(asked.lastIndex(of: seen))
    #expect(asked.suffix(from: lastSeen + 1).count >= 2, "\(asked)")
  }

  // MARK: - Calendar

  @Test func `asks for next year's days each hour until they are there, then keeps them`() throws {
    let published = try shanghai("2026-12-23", 7)
    var driver = WorkerDriver(
      Self.worker(), at: try shanghai("2026-12-20", 9)
    ) { _, now in
      .text(now < published ? CalendarFile.known : CalendarFile.withNextYear)
    }
    driver.send(.started)
    driver.run(until: try shanghai("2026-12-26", 9))
    let days = driver.times(of: .sinaCalendar).map { $0.shanghaiDay.description }
    let counts = Dictionary(grouping: days) { $0 }.mapValues(\.count)
    #expect(counts == ["2026-12-20": 15, "2026-12-21": 24, "2026-12-22": 24, "2026-12-23": 8])
    let monday = try #require(TradingDay("2027-01-04"))
    let calendar = try #require(driver.worker as? HistoryWorker).calendar
    #expect(calendar.isTradingDay(monday) == true)
    let restarted = try Pipeline(stored: driver.stored)
    #expect(restarted.calendar.isTradingDay(monday) == true)
    #expect(restarted.calendar.lastDay == calendar.lastDay)
  }

  @Test func `asks once a day from 1 November, and goes on where half a year came`() throws {
    let half = CalendarFile.nextYear.filter { $0.description < "2027-07-01" }
    var driver = WorkerDriver(Self.worker(), at: try shanghai("2026-10-30", 16)) { _, now in
      .text(CalendarFile.file(CalendarFile.days + (now.shanghaiDay.civil.year > 2026 ? half : [])))
    }
    driver.send(.started)
    driver.send(.certified)
    #expect(driver.feedRequests.isEmpty)
    driver.run(until: try shanghai("2026-11-02", 16))
    driver.send(.certified)
    driver.run(until: try shanghai("2026-11-05", 7))
    let wanted = try [("02", 16), ("03", 8), ("04", 8)].map { day, hour in
      try shanghai("2026-11-\(day)", hour)
    }
    #expect(driver.times(of: .sinaCalendar) == wanted)
    driver.run(until: try shanghai("2027-05-05", 7))
    let calendar = try #require(driver.worker as? HistoryWorker).calendar
    #expect(calendar.lastDay.description == "2027-06-30")
    driver.send(.certified)
    #expect(driver.times(of: .sinaCalendar).last == driver.now)
  }

  @Test func `asks every five minutes of a weekday that no calendar knows, until it is there`()
    throws
  {
    let published = try shanghai("2027-01-05", 9, 2)
    var driver = WorkerDriver(Self.worker(), at: try shanghai("2027-01-01", 23, 50)) { _, now in
      .text(now < published ? CalendarFile.known : CalendarFile.withNextYear)
    }
    driver.send(.started)
    // What asks for something else in between changes nothing.
    driver.run(until: try shanghai("2027-01-04", 9, 1))
    driver.send(.certified)
    driver.run(until: try shanghai("2027-01-08", 9))
    let times = driver.times(of: .sinaCalendar)
    let byDay = Dictionary(grouping: times) { $0.shanghaiDay.description }
    // The weekend is asked of each hour.
    #expect(byDay["2027-01-02"]?.count == 24 && byDay["2027-01-03"]?.count == 24)
    let monday = try #require(byDay["2027-01-04"])
    #expect(monday.count == 16 * 12)
    #expect(try monday.first.map { $0 >= (try shanghai("2027-01-04", 8)) } == true)
    for (earlier, later) in zip(monday, monday.dropFirst()) {
      #expect((300...303).contains(later.microseconds(since: earlier) / 1_000_000))
    }
    let last = try #require(times.last)
    #expect(last >= published && last <= published.adding(seconds: 303))
    let calendar = try #require(driver.worker as? HistoryWorker).calendar
    #expect(calendar.isTradingDay(try #require(TradingDay("2027-01-08"))) == true)
  }

  @Test func `a weekday that no calendar knows is alarmed once`() throws {
    var driver = WorkerDriver(Self.worker(), at: try shanghai("2027-01-03", 9)) { _, _ in
      .text(CalendarFile.known)
    }
    driver.send(.started)
    driver.run(until: try shanghai("2027-01-04", 23))
    let alarms = driver.alarms
    #expect(
      alarms == [
        "the trading calendar ended on 2026-12-31: 2027-01-04 is recorded as a trading day, and "
          + "the calendar is requested every five minutes"
      ], "\(alarms)")
  }
}
