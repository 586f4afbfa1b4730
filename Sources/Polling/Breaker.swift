// Stops asking a host that has banned us, and finds out gently whether it still does.
//
//   closed ──ban──▶ open (1, 10, 60 min) ──time──▶ half-open: one request ──ok──▶ closed
//                     ▲                                   │
//                     └──────────── ban: next, longer ◀───┘   (no verdict: the shortest again)
//
// Asking while banned is what lengthens bans (docs/sources/sina.md#rate-limits), so in a cool-down
// there is no request at all, and after it a single one for a single symbol.
import Market

/// The state of one host. Moments are on a steady axis.
package struct Breaker: Sendable {
  package enum State: Sendable, Hashable {
    case closed
    case open(until: Timestamp)
    /// The one request is under way.
    case halfOpen
  }

  package enum Admission: Sendable, Hashable {
    case open
    /// Exactly one request, for one symbol.
    case probe
    case refused
  }

  /// What the probe found.
  package enum Verdict: Sendable, Hashable { case recovered, banned, none }

  package private(set) var state: State = .closed
  private(set) var level = 0
  private var closedAt: Timestamp?

  static let coolDownSeconds = [60, 600, 3_600]
  private static let levelMax = coolDownSeconds.count - 1

  package var isClosed: Bool { state == .closed }

  /// May a request go out? `probe` is given once a cool-down.
  package mutating func admit(at now: Timestamp) -> Admission {
    switch state {
    case .closed: return .open
    case .open(let until) where now >= until:
      state = .halfOpen
      return .probe
    case .open, .halfOpen: return .refused
    }
  }

  /// A ban arrived on an ordinary request. Bans that arrive while already open are those of
  /// requests sent before: they change nothing.
  package mutating func tripped(at now: Timestamp) {
    guard isClosed else { return }
    // A ban soon after the last one was over continues its escalation.
    let calmSeconds = Int64(Self.coolDownSeconds[Self.levelMax])
    let isRelapse = closedAt.map { now < $0.adding(seconds: calmSeconds) } ?? false
    level = isRelapse ? min(level + 1, Self.levelMax) : 0
    open(Self.coolDownSeconds[level], at: now)
  }

  /// The probe's verdict.
  package mutating func probed(_ verdict: Verdict, at now: Timestamp) {
    guard state == .halfOpen else { return }
    switch verdict {
    case .recovered:
      state = .closed
      closedAt = now
    case .banned:
      level = min(level + 1, Self.levelMax)
      open(Self.coolDownSeconds[level], at: now)
    // A lost probe says nothing of the ban: it must not cost another hour.
    case .none: open(Self.coolDownSeconds[0], at: now)
    }
  }

  private mutating func open(_ seconds: Int, at now: Timestamp) {
    state = .open(until: now.adding(seconds: Int64(seconds)))
  }

  // MARK: Restart

  /// Takes up a cool-down that began before the process did.
  mutating func restore(until: Timestamp, level: Int) {
    state = .open(until: until)
    self.level = min(max(level, 0), Self.levelMax)
  }

  /// Takes up a recovery: a ban soon after it continues the escalation.
  mutating func restore(closedAt: Timestamp, level: Int) {
    self.closedAt = closedAt
    self.level = min(max(level, 0), Self.levelMax)
  }
}
