import Journal
import Market
import Polling
import Store

/// All of the engine's waiting: until the next due moment, or, without a clock, straight to it.
extension Engine {
  /// Nothing is under way; a stepped clock may move.
  var isIdle: Bool {
    inFlight.isEmpty && workerRequestsInFlight == 0 && lookups == 0 && !commitState.isBusy
      && !commitState.hasUnsaved && isInterpreting && !isStopping
  }

  /// Everything in the journal is interpreted.
  var isInterpreting: Bool { catchUp == nil && !isJournalOnly }

  /// All that the journal tells is in the store.
  var isSaved: Bool {
    isInterpreting && !commitState.isBusy && !commitState.hasUnsaved && !pipeline.hasPendingRows
  }

  var isDrained: Bool {
    guard isStopping else { return false }
    let isLate = stopDeadline.map { EngineClock.steadyNow() >= $0 } ?? false
    return isLate || (inFlight.isEmpty && isSaved)
  }

  /// Nothing new is begun while stopping: a moment that is past would only turn the loop.
  private var nextDue: Timestamp? {
    guard !isStopping else { return nil }
    // While the journal is ahead of what is made of it, its end is waited for first.
    let end = isInterpreting ? limits.stopAt.map(time.shows(end:)) : nil
    return [pollerWake, workerWake, timerDue, end, time.due].compactMap { $0 }.min()
  }

  /// When the pipeline must be told the time.
  var timerDue: Timestamp? {
    guard isInterpreting, time.isTrusted, let deadline = pipeline.nextDeadline else { return nil }
    return timerHeldUntil.map { max($0, deadline) } ?? deadline
  }

  /// Moves a stepped clock to the next due moment and does what falls due.
  func step() {
    guard let due = nextDue else { return beginStopping() }
    time.step(to: due)
    runDue()
  }

  /// Sees to it that the loop turns again in time. An earlier wake that is already on its way is
  /// left alone: waking early is harmless, cancelled sleeps cost memory (TOOLCHAIN §8.4).
  func scheduleWake() {
    let steady = EngineClock.steadyNow()
    var wait: UInt64?
    func consider(_ nanoseconds: UInt64) { wait = min(wait ?? .max, nanoseconds) }
    if !parts.clock.isStepped { consider(UInt64(limits.loopMillisecondsMax) * 1_000_000) }
    if !parts.clock.isStepped, let due = nextDue {
      consider(parts.clock.nanoseconds(until: due, from: now))
    }
    for moment in [commitState.retryAt, stopDeadline, commitState.commitDue] {
      if let moment { consider(UInt64(max(moment.microseconds(since: steady), 0)) * 1000) }
    }
    if catchUp != nil, !isBehindStore { consider(0) }
    guard let wait else { return }
    let wakeAt = Timestamp(microseconds: steady.microseconds + Int64(wait / 1000))
    guard wakes.mustSleep(until: wakeAt, now: steady) else { return }
    let inbox = inbox
    Task {
      try? await Task.sleep(nanoseconds: wait)
      inbox.yield(.woke(for: wakeAt))
    }
  }

  func beginStopping() {
    guard !isStopping else { return }
    isStopping = true
    stopDeadline = EngineClock.steadyNow().adding(milliseconds: limits.drainMilliseconds)
    perform(poller.received(.stopping, at: now))
    notifyWorkers(.stopping)
    for request in inFlight.values { request.cancel() }
    for request in workerSlots.flatMap(\.inFlight.values) { request.cancel() }
  }
}
