// Slots: when one begins, what it asks for, and what becomes of the last one.
import Market

extension Poller {
  /// Serves the slot in force, or the sweep owed since the start, and finds the next.
  mutating func advanceSlots(_ now: Timestamp) {
    findNext(now)
    if role == .resting { return }
    let inForce = schedule.slot(at: now)
    if sweeps.isOwed, role == .serving, !batching.plan.groups.isEmpty {
      sweeps.isOwed = false
      begin(inForce?.grid ?? Timestamp(seconds: now.seconds), isOwed: true, at: now)
    } else if let inForce, slot.grid.map({ inForce.grid > $0 }) ?? true {
      begin(inForce.grid, at: now)
    }
  }

  mutating func findNext(_ now: Timestamp) {
    upcoming.next = role == .resting ? nil : schedule.nextSlot(after: now)
    let mustLookAgain = role != .resting && upcoming.next == nil
    upcoming.recheckAt = mustLookAgain ? now.adding(seconds: Poller.recheckSeconds) : nil
  }

  private mutating func begin(_ grid: Timestamp, isOwed: Bool = false, at now: Timestamp) {
    slot.grid = grid
    slot.number += 1
    slot.end = end(now)
    expireLost(now)
    dropPending(now, where: \.isBatch)
    adoptSymbols(now)
    guard !batching.plan.groups.isEmpty else { return }
    guard role == .serving, isOwed || !isWatching(now) else { return probe() }
    countMissed(now)
    switch gate.admit() {
    case .open: beginSweep(grid, at: now)
    case .probe: pending.append(pendingRequest(.probe, group: 0))
    case .refused: break
    }
  }

  private func end(_ now: Timestamp) -> Timestamp {
    let longest = Poller.slotSecondsMax * 1_000_000
    let left = upcoming.next.map { $0.due.microseconds(since: now) } ?? longest
    return Timestamp(microseconds: steady.microseconds + min(left, longest))
  }

  func pendingRequest(_ kind: Kind, group: UInt16) -> PendingRequest {
    PendingRequest(
      kind: kind, group: group, sweep: sweeps.last, plan: batching.number, notBefore: steady)
  }

  /// Every group that is not still in flight; while the source is silent, one alone, in turn.
  private mutating func beginSweep(_ grid: Timestamp, at now: Timestamp) {
    sweeps.last += 1
    sweeps.open[sweeps.last] = Sweep(slot: grid, outstanding: batching.plan.groups.count)
    let busy = Set(inFlight.values.map(\.pendingRequest).filter(\.isBatch).map(\.group))
    let all = batching.plan.groups.indices.map { UInt16($0) }
    // Those that waited longest go first, should the budget not reach for all.
    let waited = all.sorted { left, right in
      (groups.lastSent[left, default: 0], left) < (groups.lastSent[right, default: 0], right)
    }
    let requestsMax = gate.isSilent ? 1 : all.count
    var requests = 0
    for group in waited {
      guard !busy.contains(group), requests < requestsMax else {
        resolve(sweeps.last, isAnswered: false, at: now)
        continue
      }
      requests += 1
      pending.append(pendingRequest(.batch, group: group))
    }
  }

  /// A request whose answer the shell lost must not block its group for ever.
  private mutating func expireLost(_ now: Timestamp) {
    let lost = inFlight.filter { _, inFlightRequest in
      inFlightRequest.expiresAt <= steady
        && slot.number - inFlightRequest.sentInSlot >= Poller.lostSlots
    }
    for (id, inFlightRequest) in lost.sorted(by: { $0.key.number < $1.key.number }) {
      inFlight[id] = nil
      fail(inFlightRequest, outcome: .transient, retryAfterSeconds: nil, at: now)
    }
  }

  /// Gives up what waits and matches; its groups count as failed.
  mutating func dropPending(_ now: Timestamp, where matches: (PendingRequest) -> Bool) {
    let dropped = pending.filter(matches)
    pending.removeAll(where: matches)
    for pendingRequest in dropped {
      if pendingRequest.isBatch { resolve(pendingRequest.sweep, isAnswered: false, at: now) }
    }
  }

  mutating func resolve(_ number: Int, isAnswered: Bool, at now: Timestamp) {
    guard var sweep = sweeps.open[number] else { return }
    sweep.outstanding -= 1
    if isAnswered { sweep.answered += 1 } else { sweep.failed += 1 }
    sweeps.open[number] = sweep
    guard sweep.outstanding == 0 else { return }
    sweeps.open[number] = nil
    actions.append(
      .sweepCompleted(slot: sweep.slot, answered: sweep.answered, failed: sweep.failed))
    evaluate(sweep, at: now)
  }
}
