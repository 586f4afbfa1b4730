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

/// What is asked for American bars, and what becomes of refusals, pages and outages.
@Suite struct `The worker for US bars` {
  static let ledger = USLedger(seed: 1)

  static func worker(
    _ pipeline: Pipeline = Pipeline(), symbols: [Symbol] = ledger.symbols,
    feed: String = "iex", delaySeconds: Int64 = 0
  ) throws -> BarsWorker {
    var sample = SampleWorkers()
    sample.alpacaDelaySeconds = delaySeconds
    sample.usEquities = symbols
    sample.alpacaKey = "alpaca-1"
    sample.alpacaFeed = feed
    let workers = SourceWorkers(
      try sample.configuration(), upstream: NoUpstream()
    ).make(for: pipeline)
    return workers.compactMap { $0 as? BarsWorker }[0]
  }

  /// The simulated Alpaca, with faults on order and answers of one's own in front of it.
  private static func driver(
    _ pipeline: Pipeline = Pipeline(), symbols: [Symbol] = ledger.symbols,
    feed: String = "iex", delaySeconds: Int64 = 0, faults: [Fault] = [], at now: Timestamp,
    instead: @escaping (FeedRequest, Timestamp) -> CannedResponse? = { _, _ in nil }
  ) throws -> WorkerDriver {
    let history = SimulatedHistory(
      seed: 3, instruments: 4, through: try #require(TradingDay("2026-07-10")), days: 1)
    var exchange = MemoryExchange(
      history: history, faults: FaultPlan(faults), alpaca: AlpacaOptions(keys: ["id": "secret"]))
    return WorkerDriver(
      try worker(pipeline, symbols: symbols, feed: feed, delaySeconds: delaySeconds),
      pipeline: pipeline, at: now
    ) { request, now in
      if let response = instead(request.feedRequest, now) { return response }
      let endpoint = request.feedRequest.endpoint(
        credentials: FeedCredentials(words: ["id", "secret"]))
      let headers = endpoint.headers.map { ($0.name.lowercased(), $0.value) }
      return exchange.response(
        endpoint.path, headers: Dictionary(uniqueKeysWithValues: headers), at: now
      ).map(CannedResponse.init)
    }
  }

  /// The minutes of a stretch differ from the truth as it is now in nothing.
  private func expectTruth(
    _ driver: WorkerDriver, from start: Timestamp, to end: Timestamp,
    symbols: [Symbol] = ledger.symbols, source: Source = .alpacaIEX
  ) {
    let held = symbols.flatMap { driver.tables.bars(of: $0) }
      .filter { start <= $0.openedAt && $0.openedAt < end }
    let differences = Self.ledger.differences(
      candles: held, of: symbols, .minute1, source, from: start,
      to: end.adding(milliseconds: -1), at: driver.now)
    #expect(differences == [] && !held.isEmpty)
  }

  private static func bars(_ driver: WorkerDriver) -> [BarsQuery] {
    driver.feedRequests.compactMap { if case .bars(let query) = $0.query { query } else { nil } }
  }

  @Test func `asks for the day so far, then each minute for the last three`() throws {
    var driver = try Self.driver(at: try newYork("2026-07-08", 11))
    driver.send(.started)
    driver.run(seconds: 300)
    let live = Self.bars(driver).filter { $0.start >= (driver.now.adding(seconds: -40_000)) }
    #expect(live.first?.start == (try newYork("2026-07-08", 4)))
    #expect(live.dropFirst().map { $0.end.seconds - $0.start.seconds }.allSatisfy { $0 == 180 })
    #expect(live.count == 6)
    expectTruth(
      driver, from: try newYork("2026-07-08", 4), to: driver.now.adding(seconds: -120))
  }

  @Test func `goes on after an outage from where it was`() throws {
    let (silent, answered) = (try newYork("2026-07-07", 11, 30), try newYork("2026-07-08", 10))
    var driver = try Self.driver(at: try newYork("2026-07-07", 11, 15)) { _, now in
      (silent..<answered).contains(now) ? .alpacaGatewayTimeout : nil
    }
    driver.send(.started)
    driver.run(until: try newYork("2026-07-08", 10, 20))
    expectTruth(
      driver, from: try newYork("2026-07-07", 4), to: driver.now.adding(seconds: -120))
  }

  @Test func `goes on after a restart from the stored watermark, page after page`() throws {
    var first = try Self.driver(
      feed: "sip", delaySeconds: 960, at: try newYork("2026-07-02", 19, 50))
    first.send(.started)
    first.run(seconds: 300)
    let stop = first.now.adding(seconds: -960)
    let pipeline = try Pipeline(stored: first.stored)
    var second = try Self.driver(
      pipeline, feed: "sip", delaySeconds: 960, at: try newYork("2026-07-08", 12))
    second.send(.started)
    second.run(seconds: 120)
    let queries = Self.bars(second)
    let resumed = try #require(queries.first)
    #expect(resumed.start <= stop && resumed.start >= stop.adding(seconds: -600))
    #expect(queries.count { $0.pageToken != nil && $0.end == resumed.end } >= 1)
    expectTruth(
      second, from: stop, to: second.now.adding(seconds: -1_080), source: .alpacaSIP)
  }

  @Test func `goes on after a week and more, minute by minute`() throws {
    var first = try Self.driver(at: try newYork("2026-06-26", 12))
    first.send(.started)
    let pipeline = try Pipeline(stored: first.stored)
    var second = try Self.driver(pipeline, at: try newYork("2026-07-08", 12))
    second.send(.started)
    second.run(seconds: 120)
    let latest = try #require(Self.bars(second).last)
    #expect(latest.end.seconds - latest.start.seconds == 180)
    #expect(second.tables.watermarks.values.map(\.through) == [latest.end])
    expectTruth(
      second, from: try newYork("2026-07-01", 12), to: second.now.adding(seconds: -120))
  }

  @Test func `one symbol more does not make the others forget an outage`() throws {
    let symbols = Self.ledger.symbols
    var first = try Self.driver(
      symbols: symbols.dropLast(), at: try newYork("2026-07-06", 12))
    first.send(.started)
    let pipeline = try Pipeline(stored: first.stored)
    var second = try Self.driver(
      pipeline, symbols: symbols, at: try newYork("2026-07-08", 12))
    second.send(.started)
    second.run(seconds: 60)
    expectTruth(
      second, from: try newYork("2026-07-06", 12), to: second.now.adding(seconds: -120))
  }

  /// A clock that was ahead until it showed 18:00, and is right from then on.
  private static func corrected(to now: Timestamp) throws -> WorkerDriver {
    var driver = try driver(at: try newYork("2026-07-08", 17, 50))
    driver.send(.started)
    driver.run(until: try newYork("2026-07-08", 18))
    driver.forgetSteps()
    driver.setClock(to: now)
    return driver
  }

  @Test func `follows a clock that was ahead and is put right`() throws {
    let now = try newYork("2026-07-08", 10)
    var driver = try Self.corrected(to: now)
    driver.run(seconds: 120)
    let windows = Self.bars(driver).filter { $0.timeframe == .minute1 }
    #expect(windows.map(\.end).max() == now.adding(seconds: 60))
    expectTruth(driver, from: try newYork("2026-07-08", 4), to: now)
    let stored = driver.tables.watermarks.values.map(\.through)
    #expect(stored == [now.adding(seconds: 60)])
  }

  @Test func `asks for the sessions of the day that a clock put right shows`() throws {
    let now = try newYork("2026-06-10", 10)
    let driver = try Self.corrected(to: now)
    #expect(driver.pipeline.recorded.sessions.contains { $0.day == now.newYorkDay })
  }

  @Test func `goes on from today where a clock that was ahead wrote the watermark`() throws {
    var first = try Self.driver(at: try newYork("2026-07-08", 18))
    first.send(.started)
    let pipeline = try Pipeline(stored: first.stored)
    let now = try newYork("2026-07-08", 10)
    var second = try Self.driver(pipeline, at: now)
    second.send(.started)
    #expect(Self.bars(second).contains { $0.end == now.adding(seconds: -60) })
    expectTruth(second, from: try newYork("2026-07-08", 4), to: now.adding(seconds: -120))
  }

  @Test func `nobody has read what is yet to come, whatever a clock that was ahead asked`() throws {
    let now = try newYork("2026-07-08", 10)
    let query = BarsQuery(
      symbols: Self.ledger.symbols, timeframe: .minute1, start: now.adding(seconds: -3_600),
      end: now.adding(seconds: 60))
    var pipeline = Pipeline()
    pipeline.process(
      .response(
        to: .alpacaBars(query), requestedAt: now, receivedAt: now, status: 200,
        body: Array(#"{"bars":{},"next_page_token":null}"#.utf8)),
      at: JournalPosition(1))
    #expect(pipeline.counters.entries == 1 && pipeline.recorded.through.isEmpty)
  }

  @Test func `reads what was corrected later and keeps it`() throws {
    var driver = try Self.driver(
      symbols: Array(Self.ledger.symbols.prefix(3)), at: try newYork("2026-07-07", 19, 40))
    driver.send(.started)
    driver.run(until: try newYork("2026-07-07", 19, 58))
    let before = driver.tables.revisions
    driver.run(until: try newYork("2026-07-09", 5))
    #expect(driver.tables.revisions > before)
    expectTruth(
      driver, from: try newYork("2026-07-07", 4), to: try newYork("2026-07-07", 20),
      symbols: Array(Self.ledger.symbols.prefix(3)))
  }

  @Test(arguments: [Fault.Kind.repeatedToken, .endlessPages])
  func `stops an endless walk through pages, reports it once, and tries again`(fault: Fault.Kind)
    throws
  {
    let start = try newYork("2026-07-08", 11)
    var driver = try Self.driver(
      faults: [Fault(fault, on: .alpaca, to: start.adding(seconds: 150))], at: start)
    driver.send(.started)
    driver.run(seconds: 140)
    #expect(driver.feedRequests.count < 100)
    #expect(driver.alarms.count == 1 && driver.alarms[0].contains("do not end"))
    driver.run(seconds: 240)
    #expect(driver.alarms.count == 1)
    expectTruth(
      driver, from: try newYork("2026-07-08", 4), to: driver.now.adding(seconds: -120))
  }

  @Test func `takes "bars":null for a minute without trades`() throws {
    let start = try newYork("2026-07-08", 11)
    var driver = try Self.driver(
      faults: [Fault(.nullBars, on: .alpaca, to: start.adding(seconds: 90))], at: start)
    driver.send(.started)
    driver.run(seconds: 80)
    #expect(driver.alarms.isEmpty && driver.tables.bars.isEmpty)
    #expect(driver.tables.watermarks.values.map(\.through) == [start.adding(seconds: 60)])
  }

  private static let voided = ["ZZZA", "ZZZB"].compactMap { Symbol($0) }

  /// Refuses whatever names one of `voided`.
  private static func refusing(named: Bool) -> (FeedRequest, Timestamp) -> CannedResponse? {
    { feedRequest, _ in
      guard case .bars(let query) = feedRequest.query,
        let culprit = query.symbols.first(where: voided.contains)
      else { return nil }
      return .text(
        #"{"message":"invalid symbol\#(named ? ": \(culprit)" : "")"}"#, status: 400)
    }
  }

  @Test(arguments: [true, false])
  func `leaves out the symbols that void a request and keeps the rest`(named: Bool) throws {
    var driver = try Self.driver(
      symbols: Self.ledger.symbols + Self.voided, at: try newYork("2026-07-08", 11),
      instead: Self.refusing(named: named))
    driver.send(.started)
    driver.run(seconds: 200)
    #expect(
      driver.alarms == Self.voided.map { "Alpaca does not know \($0): it is no longer requested" })
    let latest = try #require(Self.bars(driver).last)
    #expect(latest.symbols == Self.ledger.symbols)
    expectTruth(
      driver, from: try newYork("2026-07-08", 4), to: driver.now.adding(seconds: -120))
  }

  @Test func `leaves out nobody when the source refuses everybody`() throws {
    let start = try newYork("2026-07-08", 11)
    var driver = try Self.driver(at: start) { feedRequest, now in
      guard case .bars = feedRequest.query, now < start.adding(seconds: 150) else { return nil }
      return .text(#"{"message":"invalid symbol"}"#, status: 400)
    }
    driver.send(.started)
    driver.run(seconds: 400)
    #expect(driver.alarms == ["Alpaca refused every requested symbol"])
    expectTruth(
      driver, from: try newYork("2026-07-08", 4), to: driver.now.adding(seconds: -120))
  }

  @Test func `reports a refused key once, and a missing entitlement by another message`() throws {
    var refused = try Self.driver(at: try newYork("2026-07-08", 11)) { feedRequest, _ in
      if case .bars = feedRequest.query { .alpacaUnauthorized } else { nil }
    }
    refused.send(.started)
    refused.run(seconds: 300)
    #expect(refused.alarms == ["Alpaca refused the API key: check alpaca.key_file"])
    #expect(Self.bars(refused).count < 40)
    // The last quarter of an hour of the whole market, which the simulated plan lacks.
    var recent = try Self.driver(feed: "sip", at: try newYork("2026-07-08", 11))
    recent.send(.started)
    recent.run(seconds: 300)
    #expect(
      recent.alarms.allSatisfy {
        $0.hasPrefix("the Alpaca plan does not include recent alpaca_sip")
      })
    #expect(recent.alarms.count <= 2 && !recent.alarms.isEmpty)
  }

  @Test func `asks for the sessions of 400 days once a day`() throws {
    var driver = try Self.driver(at: try newYork("2026-07-08", 11), instead: Self.withoutBars)
    driver.send(.started)
    driver.run(until: try newYork("2026-07-10", 12))
    let asked = driver.feedRequests.compactMap { request -> [TradingDay]? in
      if case .sessions(let from, let to) = request.query { [from, to] } else { nil }
    }
    #expect(asked.count == 3 && asked.allSatisfy { $0[0].distance(to: $0[1]) == 410 })
  }

  @Test func `an empty calendar keeps no bars waiting, and is requested the next day`() throws {
    let start = try newYork("2026-07-08", 11)
    var driver = try Self.driver(at: start) { request, now in
      guard case .sessions = request.query, now < start.adding(seconds: 40_000) else { return nil }
      return .text("[]")
    }
    driver.send(.started)
    driver.run(seconds: 300)
    #expect(!Self.bars(driver).isEmpty)
    driver.run(until: try newYork("2026-07-09", 9))
    let asked = driver.feedRequests.count { if case .sessions = $0.query { true } else { false } }
    #expect(asked == 2 && !driver.pipeline.recorded.sessions.isEmpty)
  }

  @Test func `asks for sessions again the next day if it got none`() throws {
    var driver = try Self.driver(at: try newYork("2026-07-08", 11)) { feedRequest, now in
      if case .bars = feedRequest.query {
        .text(#"{"bars":{},"next_page_token":null}"#)
      } else {
        .alpacaForbidden
      }
    }
    driver.send(.started)
    driver.run(until: try newYork("2026-07-10", 12))
    let days = driver.feedRequests.count {
      if case .sessions = $0.query { true } else { false }
    }
    #expect(days == 3)
  }

  @Test func `learns the names of what is recorded`() throws {
    var driver = try Self.driver(at: try newYork("2026-07-08", 11))
    driver.send(.started)
    driver.run(seconds: 120)
    let names = driver.tables.instruments.values.filter { $0.source == .alpacaIEX }.map(\.name)
    #expect(names.count == Self.ledger.symbols.count && !names.contains(nil))
    #expect(driver.alarms.isEmpty)
  }

  /// How an earlier name is answered.
  private static func withoutBars(_ feedRequest: FeedRequest, _: Timestamp) -> CannedResponse? {
    guard case .bars = feedRequest.query else { return nil }
    return .text(#"{"bars":{},"next_page_token":null}"#)
  }

  @Test func `reports a delisted ticker once and goes on with the rest`() throws {
    let listed = Self.ledger.symbols[0]
    var driver = try Self.driver(
      symbols: [listed, try #require(Symbol("ZZZZ"))], at: try newYork("2026-07-02", 19, 50),
      instead: Self.withoutBars)
    driver.send(.started)
    driver.run(seconds: 60)
    // Over days without sessions to the next list.
    driver.setClock(to: try newYork("2026-07-11", 12))
    driver.run(until: try newYork("2026-07-13", 4, 10))
    let lists = driver.feedRequests.count { $0 == .alpacaAssets }
    #expect(lists == 2 && driver.alarms.count == 1)
    #expect(driver.alarms.first?.contains("lacks ZZZZ: ") == true, "\(driver.alarms)")
    #expect(Self.bars(driver).last?.symbols.contains(listed) == true)
  }

  @Test func `names but some of many tickers that are listed no more`() throws {
    let gone = (0..<25).compactMap { Symbol("ZZ" + String(UnicodeScalar(UInt8(65 + $0)))) }
    var driver = try Self.driver(
      symbols: gone, at: try newYork("2026-07-06", 11), instead: Self.withoutBars)
    driver.send(.started)
    driver.run(seconds: 60)
    #expect(driver.alarms.count == 1)
    #expect(driver.alarms.first?.contains("ZZT and 5 more: ") == true, "\(driver.alarms)")
  }
}

/// For sets of workers that are only made.
struct NoUpstream: Upstream {
  func response(to feedRequest: FeedRequest, key: String?, host: Int) async -> UpstreamResponse {
    .response(status: 503, body: [], retryAfter: nil)
  }
}
