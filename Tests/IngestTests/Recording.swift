import ExchangeSimulator
import Ingest
import Journal
import Market
import Polling

/// A simulated day as a journal holds it, made by the daemon's own poller and pipeline, with the
/// rows an uninterrupted run makes of it.
struct Recording {
  struct Plan {
    var seed: UInt64
    var instruments = 40
    /// Small, so that a sweep is several answers and a stop can fall between them.
    var batchSymbolsMax = 16
    var day = TradingDay(daysSince1970: 20_640)  // 2026-07-06
    /// Seconds of the day.
    var start = 9 * 3600 + 14 * 60
    var end = 15 * 3600 + 37 * 60
    /// Fewer than the exchange's own, for speed; still within what may straddle a minute.
    var cadenceSeconds = 12
    var outages: [Range<Int>] = []
    /// What becomes of an answer on its way: second of the day, group, body.
    var damage: (inout [UInt8], Int, UInt16) -> Void = { _, _, _ in }
    /// An answer's lines, where others than the market's are wanted: nil for the market's.
    var symbols: ([Symbol]) -> [Symbol] = { $0 }

    init(seed: UInt64) { self.seed = seed }
  }

  let plan: Plan
  private(set) var entries: [JournalEntry] = []
  private(set) var tables = Tables()
  private(set) var pipeline = Pipeline()
  private(set) var market: SimulatedMarket
  private var poller: Poller
  private var now: Timestamp
  private var wake: Timestamp?

  init(_ plan: Plan) {
    self.plan = plan
    market = SimulatedMarket(seed: plan.seed, day: plan.day, instruments: plan.instruments)
    now = Timestamp(day: plan.day, secondOfDay: plan.start)
    let schedule = PollSchedule(
      windows: PollWindow.aShare(every: plan.cadenceSeconds), seed: plan.seed
    ) { TradingCalendar.shanghai.status(of: $0) == .trading }
    var configuration = PollerConfiguration(referenceSymbol: market.symbols[0], seed: plan.seed)
    configuration.batchSymbolsMax = plan.batchSymbolsMax
    poller = Poller(
      configuration, schedule: schedule, symbols: plan.symbols(market.symbols))
    run()
  }

  private mutating func run() {
    let end = Timestamp(day: plan.day, secondOfDay: plan.end)
    perform(poller.received(.started, at: now))
    while let due = [wake, pipeline.nextDeadline].compactMap({ $0 }).min(), due <= end {
      now = max(now, due)
      if let deadline = pipeline.nextDeadline, deadline <= now { take(.timer(at: now)) }
      if let wake, wake <= now {
        self.wake = nil
        perform(poller.received(.woke, at: now))
      }
    }
  }

  private mutating func perform(_ first: [Poller.Action]) {
    var actions = first[...]
    while let action = actions.popFirst() {
      switch action {
      case .request(let request): actions += response(request)
      case .wake(let moment): wake = moment
      case .sweepCompleted, .quarantined, .health, .calendarUnknown: break
      }
    }
  }

  private mutating func response(_ request: PollRequest) -> [Poller.Action] {
    let second = now.shanghaiSecondOfDay
    market.advance(to: now)
    if plan.outages.contains(where: { $0.contains(second) }) {
      return poller.received(.answered(request.id, .transient, retryAfterSeconds: nil), at: now)
    }
    var body = market.body(for: request.symbols)
    plan.damage(&body, second, request.group)
    take(.quotes(request, at: now, body: body))
    return poller.received(.answered(request.id, .ok, retryAfterSeconds: nil), at: now)
  }

  private mutating func take(_ entry: JournalEntry) {
    entries.append(entry)
    pipeline.process(entry, at: JournalPosition(Int64(entries.count)))
    if let commit = pipeline.takeCommit() { tables.take(commit) }
  }

  /// The number of the first entry received at or after a second of the day.
  func entry(at second: Int) -> Int {
    let moment = Timestamp(day: plan.day, secondOfDay: second)
    return entries.firstIndex { $0.receivedAt >= moment } ?? entries.count
  }
}
