// Which of the live sources of one series serves, and which are probed.
//
//   serving ──refused, silent──▶ the next in order that does not refuse serves
//   serving ──standing still──▶ one serves of which a probe has shown a newer stamp
//   earlier ──probed every 30 s, sound for 5 min──▶ serves again
//
// Sans-IO: what became of requests goes in, a change of the serving source comes out; the poller of
// each source is then given its role. Sources are named, not known: nothing here depends on whose
// they are. Only the serving one is asked at full cadence.
//
// Each batch counts for itself: the serving source is silent once half of those it is asked for
// have had no good answer for so long.
//
// Where all stand still it is the exchange that does, or it is closed: nothing changes. Where none
// does better otherwise, the trouble is the network's: after one round of all sources nothing
// changes for five minutes, unless a probe shows one that works.
import Market

/// The state machine of the live sources of one series.
package struct Failover: Sendable {
  package enum Event: Sendable, Hashable {
    /// A request left, for one of so many batches.
    case asked(Source, batch: UInt16, of: Int)
    /// It answered well; `through` is the newest stamp it ever showed, nil where nobody looked.
    case answered(Source, batch: UInt16, through: Timestamp?)
    /// A request came to nothing.
    case failed(Source)
    /// It refuses us, and is left alone for so long.
    case refused(Source, Poller.Refusal)
    case woke
    /// The moments from here on are of a clock that was set, by so much.
    case clockJumped(microseconds: Int64)
  }

  /// Another source serves from now on.
  package struct Change: Sendable, Hashable {
    package let from: Source
    package let to: Source
    package let reason: Reason
  }

  package enum Reason: Sendable, Hashable {
    case refused(Poller.Refusal.Kind)
    /// Nothing good for so long, for so many of its batches.
    case silent(seconds: Int64, batches: Int, of: Int)
    /// It answers, and its newest stamp is the same for so long.
    case standingStill(seconds: Int64)
    /// The earlier source does well again.
    case sound
    /// A round of all sources found none that is better.
    case noneBetter
    case reconfigured
  }

  /// The account of a source, on the steady axis.
  struct Account: Sendable {
    var refusedUntil: Timestamp?
    var refusal = Poller.Refusal.Kind.banned
    var answeredAt: Timestamp?
    /// The batches of the source that serves.
    var batches = BatchAccounts()
    var through: Timestamp?
    /// The moment since which its newest stamp is the same, in session.
    var stillSince: Timestamp?
    /// The moment since which every probe was good, of a source that does not serve.
    var soundSince: Timestamp?
    /// It stopped serving because of a fault, and no probe was good since.
    var isUnwell = false
  }

  /// One source after the other is tried.
  struct Round: Sendable {
    /// The sources that were tried, with whether each answers at all.
    var tried: [Source: Bool] = [:]
    /// The newest stamp of any source as the round began: a newer one ends it.
    var through: Timestamp?
    /// The last source that was tried began or was held.
    var since: Timestamp
    var heldUntil: Timestamp?
  }

  /// The sources in order, the first is preferred.
  package private(set) var sources: [Source]
  package private(set) var serving: Source
  /// The moment since which it serves, on the wall clock.
  package private(set) var servingSince: Timestamp
  private var milliseconds: Int64
  private var beganAt: Timestamp
  private var accounts: [Source: Account] = [:]
  private var round: Round?
  private var clock: SteadyClock

  static let soundSeconds: Int64 = 300
  /// Who served longer ago than this before a restart need not do so again.
  package static let holdSeconds: Int64 = 300
  /// Four probes; after a longer pause soundness is shown anew.
  static let probesApartSecondsMax: Int64 = 120

  /// - Parameter milliseconds: how long the serving source may be silent or stand still.
  /// - Precondition: at least one source, each once.
  package init(_ sources: [Source], milliseconds: Int64, at now: Timestamp) {
    precondition(!sources.isEmpty && Set(sources).count == sources.count)
    self.sources = sources
    self.milliseconds = milliseconds
    serving = sources[0]
    servingSince = now
    clock = SteadyClock(at: now)
    beganAt = now
  }

  private var steady: Timestamp { clock.now }

  /// What a source is asked for now.
  package func role(of source: Source) -> Poller.Role {
    if source == serving { return .serving }
    guard let place = sources.firstIndex(of: source) else { return .resting }
    let isEarlier = sources[..<place].contains(serving) == false
    let isUnwell = accounts[source]?.isUnwell ?? false
    if isPausing { return .compared }
    return isEarlier || isUnwell || trouble != nil ? .probed : .resting
  }

  /// When `woke` is due, on the wall clock; nil where only answers can change anything.
  package var wake: Timestamp? {
    guard sources.count > 1 else { return nil }
    return [silentAt, round?.heldUntil].compactMap { $0 }.filter { $0 > steady }.min()
      .map(clock.wall(at:))
  }

  /// Takes an event at a wall-clock moment.
  /// - Parameter isInSession: stamps advance.
  /// - Returns: the change of the serving source, if there is one.
  package mutating func received(
    _ event: Event, at now: Timestamp, isInSession: Bool
  ) -> Change? {
    if case .clockJumped(let microseconds) = event { clock.set(by: microseconds) }
    _ = clock.advance(to: now)
    if !isInSession {
      for source in sources { accounts[source]?.stillSince = nil }
    }
    switch event {
    case .asked(let source, let batch, let count):
      asked(source, batch: batch, of: count)
      return nil
    case .answered(let source, let batch, let through):
      answered(source, batch: batch, through: through, isInSession: isInSession)
      if let earlier = soundSource { return change(to: earlier, because: .sound, at: now) }
    case .failed(let source): accounts[source, default: Account()].soundSince = nil
    case .refused(let source, let refusal):
      let isNew = accounts[source]?.refusedUntil == nil
      refused(source, refusal)
      if source == serving, isNew { return leaveRefusing(at: now) }
    case .woke, .clockJumped: break
    }
    return leaveFailing(at: now)
  }

  /// Takes up another order and other bounds. Where the serving source is no more among them the
  /// first that does not refuse serves.
  package mutating func reconfigured(
    _ sources: [Source], milliseconds: Int64, at now: Timestamp
  ) -> Change? {
    precondition(!sources.isEmpty && Set(sources).count == sources.count)
    _ = clock.advance(to: now)
    self.milliseconds = milliseconds
    if self.sources != sources { round = nil }
    self.sources = sources
    accounts = accounts.filter { sources.contains($0.key) }
    guard !sources.contains(serving) else { return nil }
    let next = sources.first { accounts[$0]?.refusedUntil == nil } ?? sources[0]
    return change(to: next, because: .reconfigured, at: now)
  }
}

// MARK: - Restart

extension Failover {
  /// Goes on where an earlier process was, before anything is asked.
  /// - Parameters:
  ///   - serving: who served last; nil where that is long ago: the first serves.
  ///   - refusals: who is left alone, and for how much longer.
  package mutating func restored(
    serving: Source?, refusals: [Source: Poller.Refusal], at now: Timestamp
  ) -> Change? {
    _ = clock.advance(to: now)
    if let serving, sources.contains(serving) { self.serving = serving }
    (servingSince, beganAt) = (now, steady)
    for (source, refusal) in refusals { refused(source, refusal) }
    return leaveRefusing(at: now)
  }
}

// MARK: - How sources do

extension Failover {
  private mutating func asked(_ source: Source, batch: UInt16, of count: Int) {
    guard source == serving else { return }
    var account = accounts[source] ?? Account()
    account.batches.asked(batch, of: count, at: steady)
    accounts[source] = account
  }

  private mutating func answered(
    _ source: Source, batch: UInt16, through: Timestamp?, isInSession: Bool
  ) {
    guard sources.contains(source) else { return }
    var account = accounts[source] ?? Account()
    if source == serving { account.batches.answered(batch, at: steady) }
    let isAdvancing = through.map { $0 > account.through ?? Timestamp(microseconds: .min) } ?? false
    if source == serving {
      if through == nil || isAdvancing { account.stillSince = nil }
      if isInSession, through != nil, account.stillSince == nil { account.stillSince = steady }
    } else {
      let isLate = account.answeredAt.map {
        steady > $0.adding(seconds: Self.probesApartSecondsMax)
      }
      let isStill = isInSession && through != nil && !isAdvancing
      if account.soundSince == nil || isLate ?? true || isStill { account.soundSince = steady }
    }
    account.refusedUntil = nil
    account.answeredAt = steady
    account.isUnwell = false
    account.through = [account.through, through].compactMap { $0 }.max()
    accounts[source] = account
    guard source == serving, let round, account.batches.areAnswered(since: round.since) else {
      return
    }
    if isInSession, let known = round.through, through.map({ $0 <= known }) ?? true { return }
    self.round = nil
  }

  private mutating func refused(_ source: Source, _ refusal: Poller.Refusal) {
    guard sources.contains(source) else { return }
    var account = accounts[source] ?? Account()
    account.refusedUntil = Timestamp(microseconds: steady.microseconds + refusal.microseconds)
    account.refusal = refusal.kind
    account.batches.forgetAsked()
    account.soundSince = nil
    account.isUnwell = true
    accounts[source] = account
  }

  /// An earlier source that has done well for long enough.
  private var soundSource: Source? {
    sources.prefix { $0 != serving }.first { source in
      guard let account = accounts[source], let since = account.soundSince,
        let answeredAt = account.answeredAt
      else { return false }
      return answeredAt >= since.adding(seconds: Self.soundSeconds)
    }
  }

  /// When the serving source counts as silent.
  private var silentAt: Timestamp? {
    accounts[serving]?.batches.silentAt(milliseconds: milliseconds, beganAt: beganAt)
  }

  /// The serving source has stood still for half the time: by the end of it a probe must have shown
  /// what the others have.
  private var isPausing: Bool { standstill.map { $0 >= milliseconds / 2 * 1_000 } ?? false }

  /// For how many microseconds the serving source has stood still; nil while it does not.
  private var standstill: Int64? {
    guard let account = accounts[serving], let stillSince = account.stillSince else { return nil }
    return account.answeredAt?.microseconds(since: stillSince)
  }

  /// What is wrong with the serving source.
  private var trouble: Reason? {
    guard let account = accounts[serving] else { return nil }
    if account.refusedUntil != nil { return .refused(account.refusal) }
    if let silentAt, steady >= silentAt {
      let (batches, since) = account.batches.silent(
        at: steady, milliseconds: milliseconds, beganAt: beganAt)
      return .silent(
        seconds: steady.microseconds(since: since) / 1_000_000, batches: batches,
        of: account.batches.count)
    }
    guard let standstill, standstill >= milliseconds * 1_000 else { return nil }
    return .standingStill(seconds: standstill / 1_000_000)
  }
}

// MARK: - Changes

extension Failover {
  /// The serving source refuses since just now: the next that may be asked serves.
  private mutating func leaveRefusing(at now: Timestamp) -> Change? {
    guard let trouble else { return nil }
    let open = others.filter { accounts[$0]?.refusedUntil.map { $0 <= steady } ?? true }
    let untried = open.filter { round?.tried[$0] == nil }
    return (proven(for: trouble) ?? untried.first ?? open.first)
      .flatMap { change(to: $0, because: trouble, at: now) }
  }

  private mutating func leaveFailing(at now: Timestamp) -> Change? {
    guard sources.count > 1, let trouble else { return nil }
    if let proven = proven(for: trouble) { return change(to: proven, because: trouble, at: now) }
    guard case .silent = trouble else { return nil }
    if let heldUntil = round?.heldUntil {
      if steady < heldUntil { return nil }
      round = nil
    }
    let through = accounts.values.compactMap(\.through).max()
    var round = self.round ?? Round(through: through, since: steady)
    round.since = steady
    round.tried[serving] = !trouble.isWholeSilence
    self.round = round
    let open = others.filter { accounts[$0]?.refusedUntil.map { $0 <= steady } ?? true }
    if let next = open.first(where: { round.tried[$0] == nil }) {
      return change(to: next, because: trouble, at: now)
    }
    round.heldUntil = steady.adding(seconds: Self.holdSeconds)
    self.round = round
    let candidates = sources.filter { $0 == serving || open.contains($0) }
    let best = candidates.first { round.tried[$0] == true } ?? candidates.first
    return best.flatMap { $0 == serving ? nil : change(to: $0, because: .noneBetter, at: now) }
  }

  /// The sources behind the serving one in order, then those before it.
  private var others: [Source] {
    let place = sources.firstIndex(of: serving) ?? 0
    return Array(sources[(place + 1)...] + sources[..<place])
  }

  /// The first whose latest probe was good; where stamps stand still it must have a newer one. One
  /// good batch proves nothing where the serving source has some, too.
  private func proven(for trouble: Reason) -> Source? {
    if case .silent = trouble, !trouble.isWholeSilence { return nil }
    return sources.first { source in
      guard source != serving, let account = accounts[source], account.soundSince != nil,
        let answeredAt = account.answeredAt,
        steady <= answeredAt.adding(seconds: Self.probesApartSecondsMax)
      else { return false }
      guard case .standingStill = trouble, let through = accounts[serving]?.through else {
        return true
      }
      return account.through.map { $0 > through } ?? false
    }
  }

  private mutating func change(
    to next: Source, because reason: Reason, at now: Timestamp
  ) -> Change {
    let hadTrouble = trouble != nil
    for source in [serving, next] {
      accounts[source, default: Account()].batches = BatchAccounts()
      accounts[source]?.stillSince = nil
      accounts[source]?.soundSince = nil
    }
    if sources.contains(serving) { accounts[serving]?.isUnwell = hadTrouble }
    if !sources.contains(serving) { accounts[serving] = nil }
    accounts[next]?.refusedUntil = nil
    accounts[next]?.isUnwell = false
    if reason == .sound { round = nil }
    defer {
      serving = next
      servingSince = now
      beganAt = steady
    }
    return Change(from: serving, to: next, reason: reason)
  }
}

extension Failover.Reason {
  /// No batch has a good answer.
  fileprivate var isWholeSilence: Bool {
    if case .silent(_, let batches, let count) = self { batches == count } else { false }
  }
}

extension Failover.Reason: CustomStringConvertible {
  /// The reason for logs and status, about the source that served.
  package var description: String {
    switch self {
    case .refused(let kind): kind.sentence
    case .silent(let seconds, let batches, let count) where batches < count:
      "no usable response to \(batches) of \(count) batches for \(seconds) s"
    case .silent(let seconds, _, _): "no usable response for \(seconds) s"
    case .standingStill(let seconds): "its newest row is unchanged for \(seconds) s of trading"
    case .sound: "the preferred source works again, without a fault for 5 min"
    case .noneBetter: "no source works better"
    case .reconfigured: "the configuration changed"
    }
  }
}
