import Commits
import ExchangeSimulator
import Feeds
import Ingest
import Journal
import Ledgers
import Market
import Polling
import Store
import TestExchange
import TestSupport

/// A market day run in memory with every live source of the mainland: the daemon's own pollers,
/// failover and pipeline ask the simulated exchange, without a socket, a clock or a database
/// between them.
package struct FailoverDay {
  package struct Plan {
    package var seed: UInt64
    package var instruments = SimulatedMarket.instrumentsDefault
    package var day = TradingDay(daysSince1970: 20_640)  // 2026-07-06
    package var bans: BanPlan
    /// Seconds of the day.
    package var start = 9 * 3600
    package var end = 15 * 3600 + 45 * 60

    package init(seed: UInt64) {
      self.seed = seed
      bans = BanPlan(seed: seed)
    }
  }

  /// A source of the series and who asks it.
  private struct LiveSource {
    let source: Source
    var poller: Poller
    var wake: Timestamp?
    var quotedThrough: Timestamp?
    /// How often it stood down: what it had asked for before counts no more.
    var round = 0
    var coolDown = CoolDownVerifier()
  }

  /// What a poller wants, as of the round it wanted it in.
  private struct Wanted {
    var place: Int
    var round: Int
    var action: Poller.Action
  }

  package let plan: Plan
  private let end: Timestamp
  private var exchange: MemoryExchange
  private var sources: [LiveSource]
  private var failover: Failover
  private var pipeline = Pipeline()
  private var now: Timestamp
  private var position: Int64 = 0
  private var wanted: [Wanted] = []
  /// When rows were booked last, and between which answers that was long ago.
  private var bookedAt: Timestamp?
  package private(set) var silences: [(from: Timestamp, to: Timestamp)] = []
  package private(set) var rows = DayRows()
  package private(set) var changes: [Failover.Change] = []

  /// Longer silences may leave a gap.
  private static let silenceSecondsMax: Int64 = 15

  package init(_ plan: Plan) {
    self.plan = plan
    let market = SimulatedMarket(seed: plan.seed, day: plan.day, instruments: plan.instruments)
    var faults = FaultPlan(seed: plan.seed)
    for fault in plan.bans.faults(on: plan.day) + Fault.tencentOddities { faults.add(fault) }
    exchange = MemoryExchange(
      history: SimulatedHistory(market), faults: faults, recordsEveryDay: true)
    let now = Timestamp(day: plan.day, secondOfDay: plan.start)
    self.now = now
    end = Timestamp(day: plan.day, secondOfDay: plan.end)
    let definitions = SourceRegistry.liveSources(of: .live)
    sources = definitions.map { definition in
      let schedule = PollSchedule(
        windows: PollWindow.aShare(), seed: plan.seed,
        isTradingDay: TradingCalendar.shanghai.mayTrade)
      let configuration = PollerConfiguration(
        referenceSymbol: market.symbols[0], seed: plan.seed)
      let isRequestable = definition.quotes?.isRequestable
      return LiveSource(
        source: definition.mainSeries,
        poller: Poller(
          configuration, schedule: schedule,
          symbols: market.symbols.filter { isRequestable?($0) ?? false }))
    }
    failover = Failover(sources.map(\.source), milliseconds: 12_000, at: now)
  }

  /// Runs the day to its end.
  package mutating func run() {
    assignRoles()
    for place in sources.indices { notify(place, .started) }
    perform()
    while let due = nextDue, due <= end {
      now = max(now, due)
      if let deadline = pipeline.nextDeadline, deadline <= now { process(.timer(at: now)) }
      if let wake = failover.wake, wake <= now { follow(.woke) }
      for place in sources.indices {
        guard let wake = sources[place].wake, wake <= now else { continue }
        sources[place].wake = nil
        notify(place, .woke)
      }
      perform()
      if let commit = pipeline.takeCommit() { rows.take(commit) }
    }
    // The exchange's day happens to its end.
    if let ticket = exchange.response("/q=sh000001", at: end)?.ticket {
      recorder?.withdraw(ticket)
    }
  }

  private var nextDue: Timestamp? {
    (sources.map(\.wake) + [failover.wake, pipeline.nextDeadline]).compactMap { $0 }.min()
  }

  @discardableResult
  private mutating func process(_ entry: JournalEntry) -> Digest {
    position += 1
    return pipeline.process(entry, at: JournalPosition(position))
  }
}

// MARK: - Sources

extension FailoverDay {
  private mutating func notify(_ place: Int, _ event: Poller.Event) {
    let actions = sources[place].poller.received(event, at: now)
    let round = sources[place].round
    wanted += actions.map { Wanted(place: place, round: round, action: $0) }
  }

  private mutating func perform() {
    while !wanted.isEmpty {
      let next = wanted.removeFirst()
      switch next.action {
      case .request(let request):
        if next.round == sources[next.place].round { send(request, to: next.place) }
      case .wake(let moment): sources[next.place].wake = moment
      case .sweepCompleted, .quarantined, .health, .coolDown: break
      }
    }
  }

  private mutating func send(_ request: PollRequest, to place: Int) {
    let source = sources[place].source
    let isProbe = sources[place].poller.role != .serving
    let query = QuotesQuery(
      symbols: request.symbols, group: isProbe ? QuotesQuery.probeGroup : request.group,
      askedAt: now)
    let feedRequest = FeedRequest(.quotes(query), to: source)
    sources[place].coolDown.asked(source.name, at: now)
    follow(.asked(source, batch: query.group, of: sources[place].poller.batchCount))
    let endpoint = feedRequest.endpoint(credentials: nil)
    let headers = endpoint.headers.map { ($0.name.lowercased(), $0.value) }
    let response = exchange.response(
      endpoint.path, headers: Dictionary(uniqueKeysWithValues: headers), at: now)
    var outcome = RequestOutcome.transient
    if let response {
      if isProbe, let ticket = response.ticket {
        exchange.recorder(of: plan.day)?.withdraw(ticket)
      }
      let digest = process(
        .response(
          to: feedRequest, requestedAt: now, receivedAt: now, status: Int32(response.status),
          body: response.body))
      outcome = WorkerResponse(response: digest.response).outcome
      sources[place].quotedThrough = [sources[place].quotedThrough, digest.newestAt]
        .compactMap { $0 }.max()
      if outcome == .ok, !isProbe { noteBooked() }
    }
    sources[place].coolDown.answered(isRefused: outcome == .banned, at: now)
    notify(place, .answered(request.id, outcome, retryAfterSeconds: nil))
    followAnswer(outcome, batch: query.group, of: place)
  }

  private mutating func noteBooked() {
    if let bookedAt, bookedAt.adding(seconds: FailoverDay.silenceSecondsMax) < now {
      silences.append((bookedAt, now))
    }
    bookedAt = now
  }

  /// As the engine does.
  private mutating func followAnswer(_ outcome: RequestOutcome, batch: UInt16, of place: Int) {
    let source = sources[place].source
    if let refusal = sources[place].poller.refusal { return follow(.refused(source, refusal)) }
    switch outcome {
    case .ok, .unchanged:
      follow(.answered(source, batch: batch, through: sources[place].quotedThrough))
    default: follow(.failed(source))
    }
  }

  private mutating func follow(_ event: Failover.Event) {
    let isInSession = TradingCalendar.shanghai.isInSession(now)
    if let change = failover.received(event, at: now, isInSession: isInSession) {
      changes.append(change)
    }
    if case .asked = event { return }
    assignRoles()
  }

  /// Whoever stands down does so first.
  private mutating func assignRoles() {
    let roles = sources.map { failover.role(of: $0.source) }
    for isTaking in [false, true] {
      for place in sources.indices
      where (roles[place] == .serving) == isTaking && roles[place] != sources[place].poller.role {
        if sources[place].poller.role == .serving { sources[place].round += 1 }
        notify(place, .roleChanged(roles[place]))
      }
    }
  }
}

// MARK: - What came of it

extension FailoverDay {
  package var recorder: DayRecorder? { exchange.recorder(of: plan.day) }
  package var disputes: [DisputeEvent.Kind: Int] { pipeline.counters.disputes }
  package var coolDownComplaints: [String] { sources.flatMap(\.coolDown.complaints) }
}
