// A source that serves is swept; one that stands by gets at most a probe.
//
// A probe is one batch, another group each time, so that a batch that a source refuses is found,
// too. After a ban the first is the breaker's: a single symbol. Probes are within the slots of the
// day, and obey gate, budget and breaker as sweeps do.
import Market

extension Poller {
  /// What a source is asked for.
  package enum Role: Sendable, Hashable {
    /// Everything, in every slot.
    case serving
    /// One batch now and then.
    case probed
    /// The same, and one at once: the serving source stands still.
    case compared
    /// Nothing.
    case resting
  }

  /// Why a source is not asked for a while.
  package struct Refusal: Sendable, Hashable {
    /// The words stand in the journal.
    package enum Kind: String, Sendable, Hashable { case banned, unauthorised, throttled }

    package let kind: Kind
    /// The time that is left from now on.
    package let microseconds: Int64

    package init(_ kind: Kind, microseconds: Int64) {
      self.kind = kind
      self.microseconds = microseconds
    }
  }

  /// Whether it serves or is probed, and since when.
  struct RoleState: Sendable {
    var phase = Phase.idle
    var role = Role.serving
    /// The moment of the last probe, on the steady axis.
    var probedAt: Timestamp?
    var probes = 0
  }

  static let probeSeconds: Int64 = 30
  /// A shorter wait is no refusal.
  static let throttleMicrosecondsMin: Int64 = 12_000_000

  var phase: Phase {
    get { roleState.phase }
    set { roleState.phase = newValue }
  }

  package var role: Role { roleState.role }

  /// Whether today is only watched.
  func isWatching(_ now: Timestamp) -> Bool {
    schedule.isWatched(schedule.zone.day(at: now))
  }

  /// How many requests a sweep has.
  package var batchCount: Int { batching.plan.groups.count }

  /// Why and for how long the host is left alone; nil while it may be asked.
  package var refusal: Refusal? { gate.refusal }

  /// What is in flight is forgotten by whoever stands down: its answers count for nobody.
  mutating func take(_ role: Role, at now: Timestamp) {
    guard role != roleState.role else { return }
    let before = roleState.role
    roleState.role = role
    if before == .serving {
      gate.probed(.none)
      pending = []
      inFlight = [:]
      sweeps.open = [:]
      groups.bisections = [:]
      roleState.probedAt = steady
    } else if role == .compared {
      roleState.probedAt = nil
    }
    if role == .serving { sweeps.isOwed = true }
    if phase == .running { advanceSlots(now) }
  }

  /// Probes, in a slot of a source that does not serve, or of a day that is only watched.
  mutating func probe() {
    slot.wasAnswered = true
    let isDue = roleState.probedAt.map { steady >= $0.adding(seconds: Self.probeSeconds) } ?? true
    let isUnderWay = inFlight.values.contains { $0.pendingRequest.isProbe }
    guard role != .resting, isDue, !isUnderWay else { return }
    pending.removeAll { $0.isProbe }
    switch gate.admit() {
    case .open:
      let group = roleState.probes % batching.plan.groups.count
      roleState.probes += 1
      pending.append(pendingRequest(.sample, group: UInt16(group)))
    case .probe: pending.append(pendingRequest(.probe, group: 0))
    case .refused: return
    }
    roleState.probedAt = steady
  }
}

extension Poller.Refusal.Kind {
  package var sentence: String {
    switch self {
    case .banned: "it banned this address"
    case .unauthorised: "it does not authorise requests"
    case .throttled: "it limits requests"
    }
  }
}
