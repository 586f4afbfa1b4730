import Logging
import Market

/// What the wall clock did, and what the exchange said of it.
package struct ClockAccount: Sendable {
  /// Jumps of the wall clock seen, and how often our time moved by one or was corrected.
  package var jumps = 0
  package var corrections = 0
  /// The exchange contradicts the wall clock; time runs on without it.
  package var isRefused = false
  /// Answers not taken because their date contradicts our clock.
  package var responsesOutOfTime = 0
}

/// An engine's time: the steady clock, and what counts as the time of day. Durations (a retry, a
/// drain, a lag) are measured on the steady clock; what the market does, on the other.
struct EngineTime {
  let clock: EngineClock
  /// Where a stepped clock stands.
  var stepped: Timestamp
  var verifier: ClockVerifier

  init(_ clock: EngineClock) {
    self.clock = clock
    stepped = clock.now
    let steady = clock.isStepped ? stepped : EngineClock.steadyNow()
    let wall = clock.wall(atSteady: steady)
    verifier = ClockVerifier(offset: wall?.microseconds(since: steady) ?? 0, beganAt: steady)
  }

  /// The moment on the engine's axis of elapsed time: with a stepped clock that is the
  /// simulation's.
  var steady: Timestamp { clock.isStepped ? stepped : EngineClock.steadyNow() }

  var now: Timestamp { moment(at: steady) }

  /// A clock that nobody can set is right.
  var mayBeWrong: Bool { clock.wall(atSteady: steady) != nil }

  /// Whether something may be decided by `now` alone.
  var isTrusted: Bool { !mayBeWrong || verifier.isTrusted(at: steady) }

  func moment(at steady: Timestamp) -> Timestamp {
    clock.moment(atSteady: steady, offset: verifier.offset)
  }

  /// Moves a stepped clock forward to where it shows `moment`.
  mutating func step(to moment: Timestamp) {
    stepped = max(stepped, Timestamp(microseconds: moment.microseconds - verifier.offset))
  }

  /// When the engine must look at the clock again, in its own time. A running one is looked at
  /// with every turn of the loop.
  var due: Timestamp? {
    guard clock.isStepped, mayBeWrong else { return nil }
    let trusted = verifier.trustedFrom > stepped ? verifier.trustedFrom : nil
    return [verifier.doubtEndsAt, clock.nextJump(after: stepped), trusted].compactMap { $0 }.min()
      .map(moment(at:))
  }

  /// Whether a simulation's end has come; a jump of the wall clock does not bring it nearer.
  func isPast(_ end: Timestamp) -> Bool { (clock.isStepped ? stepped : now) >= end }

  func shows(end: Timestamp) -> Timestamp { clock.isStepped ? moment(at: end) : end }
}

extension Engine {
  /// Checks the clock with every turn of the loop.
  func checkClock() {
    let steady = time.steady
    guard let wall = parts.clock.wall(atSteady: steady) else { return }
    follow(time.verifier.looked(wall: wall, steady: steady))
  }

  /// What an answer's date says of our clock.
  /// - Returns: whether the answer may be taken.
  func checkDate(_ date: Timestamp?, askedSteady: Timestamp) -> Bool {
    let steady = time.steady
    guard parts.clock.wall(atSteady: steady) != nil else { return true }
    let (decision, isTakeable) = time.verifier.answered(
      date: date, askedSteady: askedSteady, steady: steady)
    follow(decision)
    if !isTakeable { status.clock.responsesOutOfTime += 1 }
    return isTakeable
  }

  private func follow(_ decision: ClockVerifier.Decision) {
    status.clock.isRefused = time.verifier.isWallRefused
    switch decision {
    case .unchanged: break
    case .doubted(let microseconds):
      status.clock.jumps += 1
      log(
        "the system clock jumped, the monotonic clock is used until the jump is confirmed",
        level: .warning, microseconds: microseconds)
      notifyWorkers(.responseWanted(withinSeconds: ClockVerifier.doubtSeconds))
    case .agreed: parts.log.notice("the system clock is right again")
    case .refused(let microseconds):
      log(
        "the system clock is wrong and not used: correct the clock of this machine",
        level: .critical,
        microseconds: microseconds)
    case .adopted(let microseconds):
      log(
        "the system clock's jump is confirmed and followed", level: .warning,
        microseconds: microseconds)
      clockJumped(by: microseconds)
    case .corrected(let microseconds):
      log(
        "both clocks were wrong, the exchange's time is used", level: .critical,
        microseconds: microseconds)
      clockJumped(by: microseconds)
    }
  }

  private func log(_ sentence: Logger.Message, level: Logger.Level, microseconds: Int64) {
    let seconds = ExactDecimal(units: microseconds, scale: 6)
    parts.log.log(level: level, sentence, metadata: ["seconds": "\(seconds)"])
  }

  /// Every absolute wake is off by so much; whoever asked for one plans anew.
  private func clockJumped(by microseconds: Int64) {
    status.clock.corrections += 1
    waiting.timerHeldUntil = nil
    failoversJumped(by: microseconds)
    notifyWorkers(.clockJumped(microseconds: microseconds))
  }
}
