// Decides what to ask one source, and when: schedule, budget, backoff, breaker and bisection joined
// into one value.
//
// Sans-IO: an event and a wall-clock moment go in, actions come out; there is no task, no clock and
// no socket, so days of faults run in a test in a second. The shell performs each request and feeds
// its outcome back, and sends `woke` at the latest `wake`.
//
// What it must never do: exceed the budget, ask while banned, ask for a group that has not answered
// yet, replay missed slots, or sweep in the slots of a day that is known to be closed.
import Market

/// The state machine of one source.
package struct Poller: Sendable {
  package enum Event: Sendable, Hashable {
    case started
    /// The moment of the latest `wake` has come. Early or late does no harm.
    case woke
    /// Unknown ids are ignored.
    case answered(PollRequestID, RequestOutcome, retryAfterSeconds: Int?)
    /// The symbols to poll from the next slot on; what was quarantined gets another chance.
    case symbolsChanged([Symbol])
    /// The moments from here on are of a clock that was set, by so much. What is asked next is
    /// the next slot; no time has passed for budget, cool-downs and retries.
    case clockJumped(microseconds: Int64)
    /// An answer is wanted for its own sake: if no slot is due so soon, one sweep goes out now.
    case responseWanted(withinSeconds: Int64)
    /// What it is asked for from now on.
    case roleChanged(Role)
    /// No more requests; those in flight may still be answered.
    case stopping
  }

  package enum Action: Sendable, Hashable {
    case request(PollRequest)
    /// Replaces every earlier wake.
    case wake(at: Timestamp)
    /// Answered and failed are groups, and together all of them.
    case sweepCompleted(slot: Timestamp, answered: Int, failed: Int)
    /// The symbol voids every batch it is in and is left out from now on.
    case quarantined(Symbol)
    /// The health, on change only.
    case health(SourceState)
    /// The host refuses us, or does so no more: the next process must know.
    case coolDown(CoolDown)
  }

  enum Kind: Sendable {
    case batch
    /// The one request of a half-open breaker.
    case probe
    /// A batch of a source that stands by.
    case sample
    case part(Bisection.Part)
  }

  /// Something to ask for, waiting or in flight.
  struct PendingRequest: Sendable {
    let kind: Kind
    let group: UInt16
    let sweep: Int
    /// The list of symbols it was made from.
    let plan: Int
    var retries = 0
    var hasRetriedEmpty = false
    /// The earliest moment to send it, on the steady axis.
    var notBefore: Timestamp
  }

  struct InFlightRequest: Sendable {
    let pendingRequest: PendingRequest
    /// The symbols without the reference symbol.
    let symbols: ArraySlice<Symbol>
    /// The moment at which it counts as lost, on the steady axis.
    let expiresAt: Timestamp
    /// The number of the slot it was sent in.
    let sentInSlot: Int
  }

  /// The groups of one slot.
  struct Sweep: Sendable {
    let slot: Timestamp
    var outstanding: Int
    var answered = 0
    var failed = 0
  }

  /// What each group is asked for.
  struct Batching: Sendable {
    var plan: BatchPlan
    var number = 0
    /// The next slot makes the plan anew.
    var isOld = false
    /// Whether the quarantined symbols get another chance with the next plan.
    var isQuarantineOver = false
  }

  /// What is known of groups, by their number in the plan.
  struct Groups: Sendable {
    var failures: [UInt16: Int] = [:]
    /// The last request of each.
    var lastSent: [UInt16: UInt64] = [:]
    var bisections: [UInt16: Bisection] = [:]
    var bisectionLast = 0
  }

  /// The sweeps with groups outstanding, by number.
  struct Sweeps: Sendable {
    var open: [Int: Sweep] = [:]
    var last = 0
    /// One goes out as soon as it can, slot or not.
    var isOwed = true
  }

  /// The slot in force.
  struct CurrentSlot: Sendable {
    var grid: Timestamp?
    /// The slot's number, counted from 1.
    var number = 0
    /// When its retries must have begun, on the steady axis.
    var end: Timestamp?
    var wasAnswered = true
  }

  /// What comes next, on the wall clock.
  struct Upcoming: Sendable {
    var next: PollSlot?
    var recheckAt: Timestamp?
    var wakeAt: Timestamp?
  }

  enum Phase: Sendable { case idle, running, stopping }

  var configuration: PollerConfiguration
  package internal(set) var schedule: PollSchedule
  var arrivals = ArrivalLearner()
  /// The symbols as given, in order.
  package internal(set) var symbols: [Symbol]
  var roleState = RoleState()
  var gate: HostGate
  var batching: Batching
  var groups = Groups()
  var pending: [PendingRequest] = []
  var inFlight: [PollRequestID: InFlightRequest] = [:]
  var sweeps = Sweeps()
  var slot = CurrentSlot()
  var upcoming = Upcoming()
  /// The symbols that void every batch they are in; some of those polled, so that they are few.
  package internal(set) var quarantined: Set<Symbol> = []
  var actions: [Action] = []

  /// How often a schedule without a slot for a month is asked again.
  static let recheckSeconds: Int64 = 600
  /// A request counts as lost after its time and so many slots, because a clock stepped forward
  /// ages requests that are still under way.
  static let lostSlots = 4
  /// The failures after which a search for a bad symbol is given up; the next slot starts another.
  static let partRetriesMax = 8
  /// A sweep outside every window has this long for its retries.
  static let slotSecondsMax: Int64 = 60

  package init(
    _ configuration: PollerConfiguration, schedule: PollSchedule, symbols: [Symbol] = []
  ) {
    self.configuration = configuration
    self.schedule = schedule
    self.symbols = symbols
    batching = Batching(
      plan: BatchPlan(
        symbols, referenceSymbol: configuration.referenceSymbol,
        symbolsMax: configuration.batchSymbolsMax))
    gate = HostGate(
      requestsPerMinute: configuration.requestsPerMinute, burst: configuration.requestsBurst,
      retryMilliseconds: configuration.retryMilliseconds...configuration.retryMillisecondsMax,
      seed: configuration.seed)
  }

  /// Takes an event at a wall-clock moment; returns what to do, in order.
  package mutating func received(_ event: Event, at now: Timestamp) -> [Action] {
    actions = []
    if case .clockJumped(let microseconds) = event {
      gate.clockJumped(microseconds: microseconds)
    }
    advanceClock(now)
    switch event {
    case .started where phase == .idle:
      phase = .running
      advanceSlots(now)
    case .started: break
    case .woke where phase == .running:
      upcoming.wakeAt = nil
      advanceSlots(now)
    case .woke: break
    case .answered(let id, let outcome, let retryAfterSeconds):
      answered(id, outcome: outcome, retryAfterSeconds: retryAfterSeconds, at: now)
    case .symbolsChanged(let symbols):
      batching.isQuarantineOver = true
      replaceSymbols(symbols, at: now)
      if phase == .running { advanceSlots(now) }
    case .clockJumped:
      upcoming.wakeAt = nil
      if phase == .running { skipSlot(now) }
    case .responseWanted(let seconds):
      let isSoon = upcoming.next.map { $0.due <= now.adding(seconds: seconds) } ?? false
      if phase == .running, role == .serving, !isSoon, inFlight.isEmpty {
        sweeps.isOwed = true
        advanceSlots(now)
      }
    case .roleChanged(let role): take(role, at: now)
    case .stopping:
      phase = .stopping
      dropPending(now) { _ in true }
    }
    if let coolDown = gate.takeCoolDown() { actions.append(.coolDown(coolDown)) }
    if phase == .running {
      sendPending(now)
      armWake()
    }
    return actions
  }

  /// The current moment on the steady axis.
  var steady: Timestamp { gate.steady }

  mutating func advanceClock(_ now: Timestamp) {
    let isSteppedBack = gate.advance(to: now)
    if isSteppedBack, phase == .running { skipSlot(now) }
  }

  /// Slots come again, or were left out; the one in force counts as served, so that nothing is
  /// asked before the next is due.
  private mutating func skipSlot(_ now: Timestamp) {
    slot.grid = schedule.slot(at: now)?.grid
    findNext(now)
  }

  /// Takes in which rows the answer to a sweep's request held, ahead of its outcome.
  /// - Returns: the new phase, where sweeps begin later from here on.
  package mutating func arrived(_ rows: ArrivedRows, of id: PollRequestID) -> Int? {
    guard let request = inFlight[id], request.pendingRequest.isBatch else { return nil }
    return arrived(
      rows, for: [batching.plan.referenceSymbol] + request.symbols,
      group: request.pendingRequest.group)
  }

  mutating func arrived(_ rows: ArrivedRows, for symbols: [Symbol], group: UInt16) -> Int? {
    guard arrivals.received(rows, for: symbols, group: group), schedule.beginLater() else {
      return nil
    }
    return schedule.phaseMilliseconds
  }

  /// Other days, from the next slot on. Where today turns out to trade it is swept at once.
  package mutating func follow(_ calendar: TradingCalendar, at now: Timestamp) -> [Action] {
    actions = []
    advanceClock(now)
    let today = schedule.zone.day(at: now)
    let wasSwept = schedule.isTradingDay(today)
    schedule.isTradingDay = calendar.mayTrade
    schedule.isWatched = calendar.isClosedWeekday
    guard phase == .running, schedule.isTradingDay(today) != wasSwept else { return actions }
    if !wasSwept, role == .serving { sweeps.isOwed = true }
    advanceSlots(now)
    sendPending(now)
    armWake()
    return actions
  }
}
