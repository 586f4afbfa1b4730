/// Trading on paper beside a market of 5,400 instruments, one sweep a second: how long an order
/// takes to be answered, what a sweep costs the broker with 10,000 open orders, what the daemon's
/// commit costs beside it, when alerts are stored, and what is written while nothing happens. With
/// and without take turns in one run. There are two runs: in one the orders rest below the market,
/// in the other they stand at the best bid, and some are filled with each sweep. A scene before has
/// as many orders as an account may have in one share at limit-up.

import AppStore
import Broker
import Gateway
import Glibc
import Ingest
import Logging
import Market
import Operations
import PaperTrading
import Platform
import Postgres
import Reader
import TestSupport

let brokerSection = BenchSection(
  name: "broker", title: "paper orders beside a market of 5,400 instruments"
) { _ in
  let sealed = try await SealedShare.measured()
  report([sealed.looks])
  printLine(
    "  \(sealed.logBytes) bytes of WAL a look; of the place \(sealed.storedBytes) bytes are stored")
  check(
    "the place of 500 orders in one share at limit-up", Double(sealed.placeBytes), atMost: 100_000,
    "bytes")
  let idle = try await BrokerBench.bytesWhileIdle()
  check(
    "a minute with open orders and no rows writes", Double(idle), atMost: 0, "bytes of WAL")
  for place in BrokerBench.Place.allCases {
    let day = try SimulatedDay()
    defer { day.end() }
    try AppSchema.file.apply(url: day.database.url)
    var bench = try BrokerBench(day, place: place)
    try await bench.run(day)
    printLine("  \(bench.fills) fills in \(bench.looks.rounds.count) looks")
    printLine("  \(bench.alerts.rounds.count) alerts fired")
    report([bench.alone, bench.beside])
    report([bench.answers])
    report([bench.looks])
    report([bench.alerts])
    check("an order is answered after", bench.answers.median, atMost: 6, "ms p50")
    check("an order is answered after", bench.answers.quantile(0.99), atMost: 12, "ms p99")
    let sweep = "a sweep costs the broker beside 10,000 orders \(place.rawValue)"
    check(sweep, bench.looks.median, atMost: 15, "ms p50")
    check(sweep, bench.looks.quantile(0.99), atMost: 30, "ms p99")
    check("an alert is stored after", bench.alerts.quantile(0.99), atMost: 500, "ms p99")
    check(
      "the daemon's commit beside it", bench.beside.median / bench.alone.median, atMost: 1.05, "×")
  }
}

private struct BrokerBench {
  enum Place: String, CaseIterable {
    case below = "that rest 2 % below the bid"
    case best = "at the best bid"

    func price(_ bid: ExactDecimal) throws -> ExactDecimal {
      switch self {
      case .below: try (bid * ExactDecimal(units: 98, scale: 2)).rounded(places: 2)
      case .best: bid
      }
    }
  }

  private static let orders = 10_000
  private static let ordersOfAccount = 500
  private static let answersCount = 1_000
  private static let turns = 20
  private static let sweepsOfTurn = 10
  private static let sweepsOfAlerts = 20
  private static let idleSeconds: UInt32 = 60
  /// The server logs what runs 15 s behind the last that was written.
  private static let settleSeconds: UInt32 = 20
  private static let waitMilliseconds: Int32 = 60_000
  private static let opening = Session.morningOpen + 60

  var alone = BenchRow("the daemon's commit, no broker")
  var beside = BenchRow("the same beside the broker's orders")
  var answers = BenchRow("an order, sent → answered")
  var looks = BenchRow("the broker's look at a sweep")
  var alerts = BenchRow("an alert, commit → stored")
  var fills = ""
  private let prices: Place
  private let url: String
  private let accounts: [Int64]
  private let gateway: GatewayParts
  private let broker: BrokerThread

  init(_ day: SimulatedDay, place: Place) throws {
    prices = place
    url = day.database.url(role: DatabaseRole.app)
    let rows = try SQLProbe.run(
      """
      with owner as (
        insert into candled_app.app_user (name)
        select 'user ' || n from generate_series(1, \(Self.orders / Self.ordersOfAccount)) n
        returning id
      )
      insert into candled_app.account (user_id, name, market, currency)
      select id, 'bench', 'cn', 'CNY' from owner
      returning id
      """, url: day.database.url)
    accounts = rows.compactMap { $0[0].flatMap { Int64($0) } }
    gateway = try GatewayParts(url: url)
    broker = try BrokerThread(url: url, mailbox: gateway.mailbox)
  }

  mutating func run(_ day: SimulatedDay) async throws {
    defer {
      broker.stop()
      gateway.stop()
    }
    try await takeOrders(day)
    let sweeps = Self.turns * Self.sweepsOfTurn + Self.sweepsOfAlerts
    try await market(
      of: day, from: Self.opening, to: Self.opening + 3 * (sweeps + 60), speed: 3
    ) { engine in
      for turn in 0..<Self.turns {
        broker.isPaused = turn % 2 == 0
        _ = broker.taken()
        let commits = try await commits(of: engine, count: Self.sweepsOfTurn)
        if turn % 2 == 0 {
          alone.rounds += commits
        } else {
          beside.rounds += commits
          looks.rounds += broker.taken()
        }
      }
      broker.isPaused = false
      try AlertScene.arm(url: url, owner: day.database.url)
      _ = try await commits(of: engine, count: Self.sweepsOfAlerts)
    }
    alerts.rounds = try AlertScene.delays(url: day.database.url)
    if let failure = broker.failure { throw BenchFailure(description: failure) }
    let count = try SQLProbe.run(
      "select count(*) from candled_app.fill", url: day.database.url)
    fills = count.first?.first.flatMap { $0 } ?? ""
  }

  /// What the broker, alerts and webhooks write in a minute in which nothing happens. The server
  /// has no autovacuum: that would write its statistics.
  static func bytesWhileIdle() async throws -> Int64 {
    let day = try SimulatedDay(server: ["autovacuum": "off"])
    defer { day.end() }
    try AppSchema.file.apply(url: day.database.url)
    var bench = try BrokerBench(day, place: .below)
    defer {
      bench.broker.stop()
      bench.gateway.stop()
    }
    try await bench.takeOrders(day)
    try SQLProbe.run("checkpoint", url: day.database.url)
    sleep(settleSeconds)
    let before = try SQLProbe.logPosition(url: day.database.url)
    sleep(idleSeconds)
    return try SQLProbe.logPosition(url: day.database.url) - before
  }

  private mutating func takeOrders(_ day: SimulatedDay) async throws {
    // Prices first: without one no order is taken.
    try await market(of: day, from: Session.morningOpen - 3, to: Self.opening, speed: nil) { _ in }
    broker.isPaused = false
    try place(in: day)
  }

  private func market(
    of day: SimulatedDay, from start: Int, to stop: Int, speed: Int?,
    watch: (Engine) async throws -> Void
  ) async throws {
    var overrides = day.overrides(from: start, to: stop)
    if let speed { overrides += ["clock.mode=scaled", "clock.speed=\(speed)"] }
    let settings = try ConfigurationFile.load(nil, overrides: overrides, table: .candled)
    let daemon = try Daemon(
      settings: settings, log: Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() })
    let (ready, announce) = AsyncStream.makeStream(of: DaemonHandle.self)
    let running = Task {
      defer { announce.finish() }
      return try await daemon.run { announce.yield($0) }
    }
    for await handle in ready {
      defer { if speed != nil { handle.engine.stop() } }
      try await watch(handle.engine)
    }
    _ = try await running.value
  }

  /// What so many commits of sweeps took.
  private func commits(of engine: Engine, count: Int) async throws -> [Double] {
    var found: [Double] = []
    var last: Int64?
    while found.count < count {
      let commits = await engine.report(on: []).status.commits
      if let last, commits.sequence > last {
        found.append(Double(commits.duration.microseconds) / 1_000)
      }
      last = commits.sequence
      try await Task.sleep(for: .milliseconds(20))
    }
    return found
  }

  // MARK: Orders

  private mutating func place(in day: SimulatedDay) throws {
    let connection = try AppConnection(url: url, application: "bench")
    let commands = CommandTable(connection)
    try commands.listenForOutcomes()
    try send(
      accounts.map {
        KeyedRequest(
          accountID: $0, key: "money",
          request: .deposit(ExactDecimal(1_000_000_000), type: .bank, description: ""))
      }, by: commands)
    let prices = try SQLProbe.run(
      """
      select symbol, bid::text
      from candled.latest
      where bid > 0 and symbol ~ '^(sh60|sz00)' and trading = 'normal'
      order by symbol
      """, url: day.database.url)
    let requests = try (0..<Self.orders).compactMap { number -> KeyedRequest? in
      let row = prices[number % prices.count]
      guard let symbol = row[0].flatMap({ Symbol($0) }),
        let bid = row[1].flatMap({ try? ExactDecimal($0) })
      else { return nil }
      return KeyedRequest(
        accountID: accounts[number / Self.ordersOfAccount], key: "order \(number)",
        request: .order(
          OrderRequest(
            symbol: symbol, side: .buy, kind: .limit, quantity: ExactDecimal(100),
            limit: try self.prices.price(bid))))
    }
    for request in requests.prefix(Self.answersCount) {
      let start = milliseconds()
      try send([request], by: commands)
      answers.rounds.append(milliseconds() - start)
    }
    try send(Array(requests.dropFirst(Self.answersCount)), by: commands)
    let open = try SQLProbe.run(
      """
      select count(*) from candled_app.paper_order where state in ('accepted', 'partially_filled')
      """, url: day.database.url)
    printLine("  \(open.first?.first.flatMap { $0 } ?? "no") open orders")
  }

  private func send(_ requests: [KeyedRequest], by commands: CommandTable) throws {
    let ids = try commands.send(requests).compactMap {
      if case .command(let id, _) = $0 { id } else { nil }
    }
    let outcomes = try commands.wait(for: ids, milliseconds: Self.waitMilliseconds)
    guard outcomes.count == requests.count else {
      if let failure = broker.failure { throw BenchFailure(description: failure) }
      throw BenchFailure(description: "\(outcomes.count) of \(requests.count) orders were answered")
    }
  }
}

/// The broker as a gateway runs it, and what each of its looks at a sweep took.
private final class BrokerThread: Sendable {
  private struct State {
    var isPaused = true
    var isStopped = false
    var looks: [Double] = []
    var failure: String?
  }

  private let state = Locked(State())

  init(url: String, mailbox: FeedMailbox) throws {
    try DetachedThread.start(name: "broker") { [state] in
      var options = BrokerOptions(url: url, holder: "bench")
      options.followsDaemonClock = true
      options.mailbox = mailbox
      let broker = Broker(options, log: Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() })
      do {
        while !state.withLock({ $0.isStopped }) {
          let isPaused = state.withLock { $0.isPaused }
          guard !isPaused, try broker.lead() else {
            usleep(10_000)
            continue
          }
          let (start, steps) = (milliseconds(), broker.figures.steps.count)
          let hasMore = try broker.look()
          let took = milliseconds() - start
          if broker.figures.steps.count > steps { state.withLock { $0.looks.append(took) } }
          if !hasMore {
            _ = try broker.wait(milliseconds: 100, interrupt: mailbox.interrupt.descriptor)
          }
        }
      } catch {
        state.withLock { $0.failure = "the broker: \(error)" }
      }
    }
  }

  var isPaused: Bool {
    get { state.withLock { $0.isPaused } }
    set { state.withLock { $0.isPaused = newValue } }
  }

  var failure: String? { state.withLock { $0.failure } }

  func stop() { state.withLock { $0.isStopped = true } }

  func taken() -> [Double] {
    state.withLock { state in
      defer { state.looks = [] }
      return state.looks
    }
  }
}
