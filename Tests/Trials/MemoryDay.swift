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

/// A market day run in memory: the daemon's own poller and pipeline, asking the simulator without
/// a socket, a clock or a database between them. A whole market's day takes seconds, so the
/// ledgers can judge many.
package struct MemoryDay {
  package struct Plan {
    package var seed: UInt64
    package var instruments = SimulatedMarket.instrumentsDefault
    /// Symbols of one request, the reference symbol included.
    package var batchSymbolsMax = BatchPlan.symbolsMaxDefault
    package var day = TradingDay(daysSince1970: 20_640)  // 2026-07-06
    /// Seconds of the day: when the daemon starts, and when the run ends.
    package var start = 9 * 3600
    package var end = 15 * 3600 + 45 * 60
    /// Seconds of the day during which nobody answers.
    package var outages: [Range<Int>] = []
    /// Seconds of the day during which a node answers that lags by `staleLagSeconds`.
    package var staleSpells: [Range<Int>] = []
    package var staleLagSeconds = 30
    /// How far behind the nodes are that answer in turn.
    package var nodeLagsSeconds = [0]
    /// Wrong rows that look right; none if nil.
    package var falseRows: FalseRowPlan?
    /// Fewer polls than the daemon's own, for speed; still within what may straddle a minute.
    package var cadenceSeconds: Int?
    /// What is asked for, where others than the market's are wanted.
    package var symbols: ([Symbol]) -> [Symbol] = { $0 }
    /// What becomes of an answer on its way: second of the day, group, body.
    package var damage: (inout [UInt8], Int, UInt16) -> Void = { _, _, _ in }
    /// What single instruments do, before the day begins.
    package var prepare: (inout SimulatedMarket) -> Void = { _ in }

    package init(seed: UInt64) { self.seed = seed }
  }

  package let plan: Plan
  package private(set) var market: SimulatedMarket
  /// The same day as seen from nodes that lag, by how much.
  private var nodes: [Int: SimulatedMarket] = [:]
  private var responses = 0
  package let recorder: DayRecorder
  private var poller: Poller
  package private(set) var pipeline = Pipeline()
  package private(set) var rows = DayRows()
  private var now: Timestamp
  private var wake: Timestamp?
  private var position: Int64 = 0
  private var witness: ((JournalEntry, Commit?) -> Void)?

  package init(_ plan: Plan) {
    self.plan = plan
    var market = SimulatedMarket(seed: plan.seed, day: plan.day, instruments: plan.instruments)
    plan.prepare(&market)
    self.market = market
    for lag in plan.nodeLagsSeconds + [plan.staleLagSeconds] where lag > 0 { nodes[lag] = market }
    recorder = DayRecorder(market, falseRows: plan.falseRows)
    now = Timestamp(day: plan.day, secondOfDay: plan.start)
    let windows = plan.cadenceSeconds.map { PollWindow.aShare(every: $0) } ?? PollWindow.aShare()
    let schedule = PollSchedule(
      windows: windows, seed: plan.seed, isTradingDay: TradingCalendar.shanghai.mayTrade)
    var configuration = PollerConfiguration(referenceSymbol: market.symbols[0], seed: plan.seed)
    configuration.batchSymbolsMax = plan.batchSymbolsMax
    poller = Poller(configuration, schedule: schedule, symbols: plan.symbols(market.symbols))
  }

  /// Runs the day to its end. `witness` takes each entry of the journal and what it made; then
  /// `rows` stays empty.
  package mutating func run(witness: ((JournalEntry, Commit?) -> Void)? = nil) {
    self.witness = witness
    defer { self.witness = nil }
    let end = Timestamp(day: plan.day, secondOfDay: plan.end)
    perform(poller.received(.started, at: now))
    while let due = [wake, pipeline.nextDeadline].compactMap({ $0 }).min(), due <= end {
      now = max(now, due)
      if let deadline = pipeline.nextDeadline, deadline <= now { process(.timer(at: now)) }
      if let wake, wake <= now {
        self.wake = nil
        perform(poller.received(.woke, at: now))
      }
      if let commit = pipeline.takeCommit() { rows.take(commit) }
    }
    market.advance(to: end, watchedBy: recorder)
  }

  private mutating func perform(_ first: [Poller.Action]) {
    var actions = first[...]
    while let action = actions.popFirst() {
      switch action {
      case .request(let request): actions += response(request)
      case .wake(let moment): wake = moment
      case .sweepCompleted, .quarantined, .health, .coolDown: break
      }
    }
  }

  private mutating func response(_ request: PollRequest) -> [Poller.Action] {
    let second = now.shanghaiSecondOfDay
    market.advance(to: now, watchedBy: recorder)
    if plan.outages.contains(where: { $0.contains(second) }) {
      return poller.received(.answered(request.id, .transient, retryAfterSeconds: nil), at: now)
    }
    let isStale = plan.staleSpells.contains { $0.contains(second) }
    let lag =
      isStale ? plan.staleLagSeconds : plan.nodeLagsSeconds[responses % plan.nodeLagsSeconds.count]
    responses += 1
    var body = body(for: request.symbols, behindBy: lag)
    plan.damage(&body, second, request.group)
    let query = QuotesQuery(symbols: request.symbols, group: request.group, askedAt: now)
    process(
      .response(
        to: FeedRequest(.quotes(query), to: .sina), requestedAt: now, receivedAt: now, status: 200,
        body: body))
    return poller.received(.answered(request.id, .ok, retryAfterSeconds: nil), at: now)
  }

  private mutating func body(for symbols: [Symbol], behindBy lag: Int) -> [UInt8] {
    guard var node = nodes.removeValue(forKey: lag) else {
      if plan.falseRows != nil { return recorder.serve(symbols, of: &market) }
      recorder.observed(symbols, of: market)
      return market.body(for: symbols)
    }
    defer { nodes[lag] = node }
    node.advance(to: now.adding(seconds: -Int64(lag)))
    recorder.observed(symbols, of: node)
    return node.body(for: symbols)
  }

  private mutating func process(_ entry: JournalEntry) {
    position += 1
    pipeline.process(entry, at: JournalPosition(position))
    witness?(entry, pipeline.takeCommit())
  }
}

/// What a day left in the tables: later rows replace earlier ones of the same key.
package struct DayRows: Sendable {
  package private(set) var candles: [CandleKey: Candle] = [:]
  package private(set) var gaps: [Gap] = []
  package private(set) var certificates: [Symbol: DayCertificate] = [:]
  package private(set) var rejections: [Rejection] = []
  package private(set) var revisions: [Revision] = []
  package private(set) var events: [(at: Timestamp, event: FeedEvent)] = []

  package struct CandleKey: Hashable, Sendable {
    package var symbol: Symbol
    package var timeframe: Timeframe
    package var openedAt: Timestamp
  }

  mutating func take(_ commit: Commit) {
    for candle in commit.candles {
      let key = CandleKey(candle)
      precondition(candles[key] == nil, "a final candle was handed out twice: \(candle)")
      candles[key] = candle
    }
    for revision in commit.revisions { candles[CandleKey(revision.candle)] = revision.candle }
    for gap in commit.closedGaps {
      if let place = gaps.lastIndex(of: gap) { gaps.remove(at: place) }
    }
    gaps += commit.gaps
    for certificate in commit.certificates { certificates[certificate.symbol] = certificate }
    rejections += commit.rejections
    revisions += commit.revisions
    events += commit.events.map { (commit.knownAt, $0) }
  }
}

extension DayRows {
  /// Where a certificate does not balance, or says other than the rows it certifies. Readable,
  /// empty if all is well.
  package func misstatements() throws(ExactDecimalError) -> [String] {
    // A late publisher's first row of the morning is yesterday's, whose day is another account.
    func isCertified(_ symbol: Symbol, _ day: TradingDay) -> Bool {
      certificates[symbol]?.tradingDay == day
    }
    var minutes: [Symbol: ExactDecimal] = [:]
    for candle in candles.values
    where candle.timeframe == .minute1 && isCertified(candle.symbol, candle.tradingDay) {
      minutes[candle.symbol] = try (minutes[candle.symbol] ?? .zero) + candle.volume
    }
    var unseen: [Symbol: ExactDecimal] = [:]
    for gap in gaps where isCertified(gap.symbol, gap.tradingDay) {
      unseen[gap.symbol] = try (unseen[gap.symbol] ?? .zero) + gap.volume
    }
    return certificates.values.flatMap { certificate in
      let isBacked =
        certificate.minuteVolume == minutes[certificate.symbol] ?? .zero
        && certificate.gapVolume == unseen[certificate.symbol] ?? .zero
      return
        (certificate.isBalanced
        ? [] : ["\(certificate.symbol): the certificate does not balance: \(certificate)"])
        + (isBacked
          ? [] : ["\(certificate.symbol): the rows do not back the certificate: \(certificate)"])
    }
  }
}

extension DayRows.CandleKey {
  init(_ candle: Candle) {
    self.init(symbol: candle.symbol, timeframe: candle.timeframe, openedAt: candle.openedAt)
  }
}
