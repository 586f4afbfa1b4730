import Commits
import ExchangeSimulator
import Feeds
import Journal
import Ledgers
import Market
import Polling
import Store
import TestExchange
import TestSupport
import Testing

@testable import Ingest

/// Which licence pays for which request, and what is written down before it.
@Suite struct `The worker for Mairui's lists` {
  private static let quota = 5

  private static func worker(
    _ labels: [String] = ["k1", "k2"], _ pipeline: Pipeline = Pipeline(), days: Int = 10,
    quota: Int = quota, parts: [ListPart] = [MairuiBoard.hslt.part], seed: UInt64 = 1
  ) -> HistoryWorker {
    let ring = KeyRing(
      labels, of: .mairui, dailyQuota: quota, seed: seed, usage: Array(pipeline.keyUsage.values))
    let line = PacedQueueConfiguration(
      requestsPerMinute: 10, burst: 2, inFlightMax: 1, seed: seed)
    return HistoryWorker(
      SourceRegistry.definition(of: .mairui),
      lists: ListPlans(
        parts, intervalDays: days, seed: seed, universe: pipeline.universe, calendar: .shanghai),
      repairs: RepairPlan(), calendar: .shanghai,
      ring: ring, hostCount: 3, requestQueue: line)
  }

  private static let limits: UniverseLimits = {
    var limits = UniverseLimits()
    limits.mainRowsMin = 10
    return limits
  }()

  static func list(_ codes: some Sequence<Int>) -> CannedResponse {
    let rows = codes.map { code in
      code % 2 == 0
        ? #"{"dm":"\#(600_000 + code).SH","mc":"股\#(code)","jys":"SH"}"#
        : #"{"dm":"\#(300_000 + code).SZ","mc":"股\#(code)","jys":"SZ"}"#
    }
    return .text("[\(rows.joined(separator: ","))]")
  }

  /// Begins on a Monday afternoon with no list known, so that one is wanted at once.
  private func driver(
    _ labels: [String] = ["k1", "k2"], responses: [CannedResponse?]
  ) throws -> WorkerDriver {
    var left = responses[...]
    var driver = WorkerDriver(
      Self.worker(labels), pipeline: Pipeline(limits: Self.limits),
      at: try shanghai("2026-07-06", 14)
    ) { _, _ in
      left.popFirst() ?? Self.list(0..<40)
    }
    driver.send(.started)
    return driver
  }

  @Test func `records a licence's use, then asks with it`() throws {
    let driver = try driver(responses: [])
    let use = KeyUsage(
      source: .mairui, label: "k1", day: driver.now.shanghaiDay, requests: 1)
    #expect(
      driver.steps == [.recorded(use), .asked(.mairuiList(.hslt), key: "k1", host: 0)])
    #expect(driver.entries.map(\.key) == ["key/mairui/k1", "list/hslt"])
  }

  @Test(arguments: [
    CannedResponse.mairuiQuotaBare, .mairuiQuotaNine, .mairuiQuotaText, .mairuiQuotaJSON,
  ])
  func `turns from a spent licence to the next at once`(spent: CannedResponse) throws {
    var driver = try driver(responses: [spent])
    #expect(driver.keys == ["k1@0", "k2@0"])
    #expect(driver.alarms.isEmpty && driver.tables.lists.map(\.verdict) == [.accepted])
    // Nobody asks it again today, whatever it is wanted for.
    let parked = driver.pipeline.keyUsage["k1"]
    #expect(parked?.parkedReason == .quota)
    driver.run(seconds: 8 * 3_600)
    #expect(driver.keys == ["k1@0", "k2@0"])
  }

  @Test func `reports an invalid licence once and tries it each hour`() throws {
    var driver = try driver(
      ["k1"], responses: Array(repeating: CannedResponse.mairuiInvalid, count: 4))
    driver.run(seconds: 4 * 3_600 + 60)
    #expect(driver.keys.count == 5)
    let invalid = driver.alarms.filter { $0.contains("licence k1") }
    #expect(invalid == ["the licence k1 is parked: invalid_licence"])
    let times = driver.times(of: .mairuiList(.hslt))
    for (earlier, later) in zip(times, times.dropFirst()) {
      #expect(later >= earlier.adding(seconds: 3_600))
    }
    #expect(driver.tables.lists.map(\.verdict) == [.accepted])
  }

  @Test func `knows the demonstration licence by its one row and believes the next`() throws {
    let demo = CannedResponse.text(#"[{"dm":"000001.SZ","mc":"平安银行","jys":"SZ"}]"#)
    let driver = try driver(responses: [demo])
    #expect(driver.keys == ["k1@0", "k2@0"])
    #expect(driver.alarms == ["the licence k1 is parked: demo_licence"])
    #expect(driver.tables.lists.map(\.verdict) == [.quarantined, .accepted])
  }

  @Test func `a sample that came while the store was behind hides no later list`() throws {
    let demo = CannedResponse.text(#"[{"dm":"000001.SZ","mc":"平安银行","jys":"SZ"}]"#)
    var answers = [demo]
    var driver = WorkerDriver(
      Self.worker(), pipeline: Pipeline(limits: Self.limits), at: try shanghai("2026-07-06", 14)
    ) { _, _ in answers.isEmpty ? Self.list(0..<40) : answers.removeFirst() }
    driver.isStoreBehind = { $0 == 1 }
    driver.send(.started)
    #expect(driver.keys == ["k1@0", "k2@0"])
    #expect(driver.tables.lists.map(\.verdict).last == .accepted)
    // Whoever did not hear that it was accepted would try again.
    driver.run(seconds: 86_400)
    #expect(driver.keys.count == 2)
  }

  @Test func `rests a licence seen from too many addresses for a minute`() throws {
    var driver = try driver(responses: [.mairuiAddresses, .mairuiAddresses])
    driver.run(seconds: 600)
    #expect(driver.keys == ["k1@0", "k2@0", "k1@0"])
    let times = driver.times(of: .mairuiList(.hslt))
    #expect(times[2] >= times[0].adding(seconds: 60))
    #expect(driver.tables.lists.count == 1 && driver.alarms.isEmpty)
  }

  @Test func `seeks at the next host what is not at this one`() throws {
    var driver = try driver(["k1"], responses: [.mairuiNotFound, nil])
    driver.run(seconds: 600)
    #expect(driver.keys == ["k1@0", "k1@1", "k1@2"])
  }

  @Test func `stays with a host that has too much load, later`() throws {
    var driver = try driver(["k1"], responses: [.mairuiOverloaded])
    driver.run(seconds: 600)
    #expect(driver.keys == ["k1@0", "k1@0"])
  }

  @Test func `alarms when a day's tries brought no list`() throws {
    var driver = try driver(
      ["k1"], responses: Array(repeating: CannedResponse.emptyList, count: 500))
    driver.run(until: try shanghai("2026-07-06", 19))
    #expect(driver.alarms == ["no list of instruments (hslt) received on 2026-07-06"])
    #expect(driver.keys.count <= Self.quota)
  }

  @Test func `a licence without Beijing's list has its quota left for the other`() throws {
    var driver = WorkerDriver(
      Self.worker(["k1"], quota: 50, parts: [MairuiBoard.hslt.part, MairuiBoard.bj.part]),
      pipeline: Pipeline(limits: Self.limits), at: try shanghai("2026-07-06", 0, 10)
    ) { request, _ in
      request.feedRequest == .mairuiList(.bj) ? .mairuiNotFound : Self.list(0..<40)
    }
    driver.send(.started)
    driver.run(until: try shanghai("2026-07-17", 0))
    let lists = driver.times(of: .mairuiList(.hslt))
    #expect(lists.map(\.shanghaiDay.description) == ["2026-07-06", "2026-07-16"])
    #expect(try lists.last.map { $0 < (try shanghai("2026-07-16", 16, 36)) } == true)
    let days = Dictionary(grouping: driver.times(of: .mairuiList(.bj)), by: \.shanghaiDay)
    let first = try #require(TradingDay("2026-07-06"))
    #expect(days[first, default: []].count <= 30)
    #expect(days.filter { $0.key > first }.allSatisfy { (1...19).contains($0.value.count) })
  }

  @Test(arguments: 1...12)
  func `a crash loop spends no licence beyond its quota`(seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    var spent: [String: Int] = [:]
    var pipeline = Pipeline(limits: Self.limits)
    var now = try shanghai("2026-07-06", 1)
    let end = try shanghai("2026-07-06", 23)
    while now < end {
      let responses: [CannedResponse?] = (0..<20).map { _ in
        [nil, .mairuiNotFound, .mairuiOverloaded, .mairuiInvalid, .emptyList][
          Int(random.next() % 5)]
      }
      var left = responses[...]
      var driver = WorkerDriver(
        Self.worker(["k1", "k2", "k3"], pipeline, seed: seed), pipeline: pipeline, at: now
      ) { request, _ in
        spent[request.key ?? "", default: 0] += 1
        return left.popFirst() ?? nil
      }
      driver.send(.started)
      driver.run(seconds: Int64(random.next() % 1_800))
      (pipeline, now) = (driver.pipeline, driver.now.adding(seconds: 1))
    }
    #expect(spent.values.allSatisfy { $0 <= Self.quota }, "seed \(seed): \(spent)")
    #expect(spent.values.contains(Self.quota), "seed \(seed): \(spent)")
  }

  @Test func `a restart asks no sooner than the next try, whatever became of the last`() throws {
    var driver = try driver(["k1"], responses: [.emptyList])
    let asked = driver.now
    #expect(driver.keys == ["k1@0"])
    for seconds in [2, 60, 600] as [Int64] {
      driver = WorkerDriver(
        try workerAsMade(for: driver.pipeline), pipeline: driver.pipeline,
        at: asked.adding(seconds: seconds)
      ) { _, _ in Self.list(0..<40) }
      driver.send(.started)
      #expect(driver.feedRequests.isEmpty, "after \(seconds) s")
    }
    driver.run(seconds: 1_800)
    #expect(driver.feedRequests == [.mairuiList(.hslt), .mairuiList(.bj)])
  }

  /// As the daemon makes it.
  private func workerAsMade(for pipeline: Pipeline) throws -> HistoryWorker {
    var sample = SampleWorkers()
    sample.wantsLists = true
    sample.licences = ["k1"]
    let world = SimulatedWorld(
      MemoryExchange(
        history: SimulatedHistory(
          seed: 1, instruments: 10, through: try #require(TradingDay("2026-07-06")), days: 1),
        mairui: MairuiOptions(licences: [:]), alpaca: AlpacaOptions(keys: [:])))
    let workers = SourceWorkers(try sample.configuration(), upstream: world).make(for: pipeline)
    return try #require(workers.first { $0.source == .mairui } as? HistoryWorker)
  }

  @Test func `asks at the next half past four when a symbol is unknown, and not before`() throws {
    var driver = try driver(responses: [])
    driver.run(until: try shanghai("2026-07-06", 18))
    let asked = driver.feedRequests.count
    driver.send(.found(.unknownSymbols([try #require(Symbol("sh609999"))])))
    driver.run(until: try shanghai("2026-07-07", 16))
    #expect(driver.feedRequests.count == asked)
    driver.run(until: try shanghai("2026-07-07", 17))
    #expect(driver.feedRequests.count == asked + 1)
    driver.run(until: try shanghai("2026-07-10", 18))
    #expect(driver.feedRequests.count == asked + 1)
  }

  @Test func `delists what three accepted lists in a row lack`() throws {
    var day = 0
    var driver = WorkerDriver(
      Self.worker(["k1"], days: 1), pipeline: Pipeline(limits: Self.limits),
      at: try shanghai("2026-07-06", 14)
    ) { _, _ in
      day += 1
      return Self.list(day == 1 ? 0..<100 : 0..<99)
    }
    let lost = try #require(Symbol("sz300099"))
    driver.send(.started)
    var missed: [Int16] = []
    for date in ["2026-07-07", "2026-07-08", "2026-07-09"] {
      driver.run(until: try shanghai(date, 20))
      missed.append(try #require(driver.tables.mark(lost)).missedLists)
    }
    #expect(missed == [1, 2, 3])
    #expect(driver.tables.mark(lost)?.delistedAt == TradingDay("2026-07-09"))
    #expect(driver.tables.lists.map(\.verdict) == Array(repeating: .accepted, count: 4))
    #expect(driver.pipeline.universe.listedSymbols(beside: []).contains(lost) == false)
  }

  @Test func `a list of 200 rows changes nothing and is on record`() throws {
    var lists = [Self.list(0..<5_000), Self.list(0..<200)][...]
    var driver = WorkerDriver(
      Self.worker(["k1"], days: 1), at: try shanghai("2026-07-06", 14)
    ) { _, _ in
      lists.popFirst()
    }
    driver.send(.started)
    let (marks, members) = (driver.tables.marks, driver.pipeline.universe.members)
    driver.run(until: try shanghai("2026-07-07", 16, 36))
    #expect(driver.tables.lists.map(\.verdict) == [.accepted, .quarantined])
    #expect(driver.tables.lists.last?.rows == 200)
    #expect(driver.tables.marks == marks && driver.pipeline.universe.members == members)
    #expect(driver.alarms.count == 1 && driver.alarms[0].contains("is implausible"))
  }
}
