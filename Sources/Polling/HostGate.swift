import Market

/// Whether one host may be asked now, and how it is doing: what its answers have in common for
/// everything that asks it.
///
///     throttled  → nothing for max(Retry-After, backoff)
///     refused    → the breaker: nothing at all, then one request as the probe
///     missed     → after so many in a row the host counts as silent
///
/// Moments that it is given are of the wall clock; those that it keeps are on the steady axis. It
/// never asks: who owns it does, and what it returns are changes of health to be passed on.
struct HostGate: Sendable {
  private var clock: SteadyClock?
  private(set) var breaker = Breaker()
  private var budget: RateBudget
  private var retryBackoff: Backoff
  private var throttleBackoff: Backoff
  private(set) var heldUntil: Timestamp?
  /// The throttles since a response last showed that the host is not throttling.
  private(set) var throttles = 0
  /// The misses in a row; what one is, the owner says.
  private(set) var misses = 0
  private var answeredAt: Timestamp?
  private var health: SourceState?
  private var requestLast: UInt64 = 0
  private var coolDownChanged: CoolDown?

  /// The misses in a row after which nothing but a single request at a time is worth sending. Five
  /// slots of 3 s are the 15 s a snapshot may straddle a minute.
  static let silentMisses = 5
  /// What a request gets beyond its deadline before it counts as lost by the shell.
  static let lostMilliseconds = 5_000

  init(
    requestsPerMinute: Int, burst: Int, retryMilliseconds: ClosedRange<Int>, seed: UInt64
  ) {
    budget = RateBudget(requestsPerMinute: requestsPerMinute, burst: burst)
    retryBackoff = Backoff(
      baseMilliseconds: retryMilliseconds.lowerBound, capMilliseconds: retryMilliseconds.upperBound,
      seed: seed)
    throttleBackoff = .throttled(seed: seed)
  }

  // MARK: Time

  /// The current moment on the steady axis.
  var steady: Timestamp { clock?.now ?? Timestamp(microseconds: 0) }

  /// Moves to a wall-clock moment. True if the wall clock was stepped back.
  mutating func advance(to now: Timestamp) -> Bool {
    var moved = clock ?? SteadyClock(at: now)
    defer { clock = moved }
    return moved.advance(to: now)
  }

  /// The wall clock was set, by so much: no time has passed.
  mutating func clockJumped(microseconds: Int64) { clock?.set(by: microseconds) }

  /// What the wall clock will show at a steady moment.
  func wall(at steady: Timestamp) -> Timestamp { clock?.wall(at: steady) ?? steady }

  // MARK: Going out

  var isHeld: Bool { heldUntil.map { steady < $0 } ?? false }
  var isSilent: Bool { misses >= Self.silentMisses }
  var isClosed: Bool { breaker.isClosed }

  /// When the budget has a request: now or later.
  var budgetedAt: Timestamp { mutating get { budget.availableAt(steady) } }

  /// When budget, hold and cool-down let a request go; nil while a probe is under way.
  var opensAt: Timestamp? {
    mutating get {
      let allowed = max(budgetedAt, heldUntil ?? steady)
      return switch breaker.state {
      case .closed: allowed
      case .open(let until): max(allowed, until)
      case .halfOpen: nil
      }
    }
  }

  /// May a request go out, its budget apart? A `probe` must be sent.
  mutating func admit() -> Breaker.Admission { isHeld ? .refused : breaker.admit(at: steady) }

  /// Takes a request out of the budget, or says no.
  mutating func takeBudget() -> Bool { budget.take(at: steady) }

  mutating func changeBudget(requestsPerMinute: Int) {
    budget.change(requestsPerMinute: requestsPerMinute, at: steady)
  }

  /// The number of the next request, and when it counts as lost.
  mutating func begin(
    deadlineMilliseconds: Int
  ) -> (id: PollRequestID, expiresAt: Timestamp) {
    requestLast += 1
    let lifetime = Int64(deadlineMilliseconds + Self.lostMilliseconds)
    return (PollRequestID(requestLast), steady.adding(milliseconds: lifetime))
  }

  // MARK: What came of it

  /// The host did its part.
  mutating func answered(at now: Timestamp) {
    misses = 0
    answeredAt = now
  }

  mutating func missed() { misses += 1 }

  /// What the one request of a half-open breaker found.
  mutating func probed(_ verdict: Breaker.Verdict) {
    let before = breaker.state
    breaker.probed(verdict, at: steady)
    if breaker.state != before { noteCoolDown() }
  }

  /// What is throttled together counts once, not once for each.
  mutating func throttled(retryAfterSeconds: Int?) {
    if isHeld, throttles > 0 { return wait(seconds: retryAfterSeconds ?? 0) }
    throttles += 1
    hold(
      milliseconds: throttleBackoff.delayMilliseconds(
        failures: throttles, retryAfterSeconds: retryAfterSeconds))
  }

  mutating func throttlingEnded() { throttles = 0 }

  /// The host refuses us: nothing goes out until the cool-down is over.
  mutating func refused(_ condition: SourceState.Condition, at now: Timestamp) -> SourceState? {
    let before = breaker.state
    breaker.tripped(at: steady)
    let change = changed(to: condition, since: now)
    if change != nil || breaker.state != before { noteCoolDown() }
    return change
  }

  /// Holds for the pause that a server asks for, within limits.
  mutating func wait(seconds: Int) {
    hold(milliseconds: min(max(seconds, 0), RetryAfter.secondsMax) * 1_000)
  }

  /// A pause after so many failures of one kind, for whoever shares the host.
  mutating func pause(failures: Int) {
    hold(milliseconds: retryBackoff.delayMilliseconds(failures: failures))
  }

  /// When to try again after so many failures.
  mutating func retryAt(failures: Int) -> Timestamp {
    steady.adding(milliseconds: Int64(retryBackoff.delayMilliseconds(failures: failures)))
  }

  /// Nothing goes out for so long, or longer if a longer hold is on.
  private mutating func hold(milliseconds: Int) {
    let until = steady.adding(milliseconds: Int64(milliseconds))
    if let heldUntil, heldUntil >= until { return }
    heldUntil = until
    if !isClosed || held >= Poller.throttleMicrosecondsMin { noteCoolDown() }
  }

  /// How long nothing goes out, the breaker apart.
  private var held: Int64 { heldUntil?.microseconds(since: steady) ?? 0 }

  /// Why and for how long nothing goes out; nil where it is not for long.
  var refusal: Poller.Refusal? {
    if case .open(let until) = breaker.state {
      return Poller.Refusal(refusalKind, microseconds: max(until.microseconds(since: steady), 0))
    }
    if held < Poller.throttleMicrosecondsMin { return nil }
    return Poller.Refusal(.throttled, microseconds: held)
  }

  private var refusalKind: Poller.Refusal.Kind {
    health?.condition == .unauthorised ? .unauthorised : .banned
  }

  // MARK: Restart

  /// What the next process must know, once for each change.
  mutating func takeCoolDown() -> CoolDown? {
    defer { coolDownChanged = nil }
    return coolDownChanged
  }

  private mutating func noteCoolDown() {
    let level = breaker.level
    switch breaker.state {
    case .open(let until):
      let left = max(until.microseconds(since: steady), held)
      coolDownChanged = CoolDown(refusalKind, microseconds: left, level: level)
    case .closed where held >= Poller.throttleMicrosecondsMin:
      coolDownChanged = CoolDown(.throttled, microseconds: held, level: level)
    case .closed: coolDownChanged = CoolDown(nil, microseconds: 0, level: level)
    case .halfOpen: break
    }
  }

  /// Takes up a cool-down of an earlier process.
  mutating func restored(_ coolDown: CoolDown, at now: Timestamp) -> SourceState? {
    let left = min(coolDown.microseconds, CoolDown.secondsMax * 1_000_000)
    let until = Timestamp(microseconds: steady.microseconds + left)
    switch coolDown.kind {
    case .throttled: heldUntil = until
    case nil: breaker.restore(closedAt: until, level: coolDown.level)
    case .banned, .unauthorised:
      breaker.restore(until: until, level: coolDown.level)
      return changed(to: coolDown.kind == .banned ? .banned : .unauthorised, since: now)
    }
    return nil
  }

  // MARK: Health

  /// How the host is doing where it does not refuse us; nil unless that changed.
  mutating func found(_ condition: SourceState.Condition, at now: Timestamp) -> SourceState? {
    guard isClosed else { return nil }
    return changed(to: condition, since: condition == .stalled ? answeredAt ?? now : now)
  }

  private mutating func changed(
    to condition: SourceState.Condition, since: Timestamp
  ) -> SourceState? {
    guard health?.condition != condition else { return nil }
    health = SourceState(condition, since: since)
    return health
  }
}
