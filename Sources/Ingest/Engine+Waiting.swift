import Journal
import Market

/// All of the engine's waiting: until the next due moment, or, without a clock, straight to it.

/// How soon a decision the journal refused is tried again.
private let timerRetrySeconds: Int64 = 1

/// What an engine waits for.
struct EngineWaiting {
  var wakes = WakePlan()
  /// Set while the journal refuses a timer's decision.
  var timerHeldUntil: Timestamp?
  var isStopping = false
  var stopDeadline: Timestamp?
}

extension Engine {
  /// Nothing is under way; a stepped clock may move.
  var isIdle: Bool {
    !workers.isBusy && !commitState.isBusy && !commitState.hasUnsaved && isInterpreting
      && !waiting.isStopping
  }

  /// Everything in the journal is interpreted.
  var isInterpreting: Bool {
    interpretation.catchUp == nil && !interpretation.isJournalOnly
  }

  /// Whether all that the journal has is in the store.
  var isSaved: Bool {
    isInterpreting && !commitState.isBusy && !commitState.hasUnsaved && !pipeline.hasPendingRows
  }

  var isDrained: Bool {
    guard waiting.isStopping else { return false }
    let isLate = waiting.stopDeadline.map { EngineClock.steadyNow() >= $0 } ?? false
    return isLate || (!workers.isSweeping && (isSaved || interpretation.isJournalOnly))
  }

  /// Nothing new is begun while stopping: a moment that is past would only turn the loop.
  private var nextDue: Timestamp? {
    guard !waiting.isStopping else { return nil }
    // While the journal is ahead of what is made of it, its end is waited for first.
    let end = isInterpreting ? limits.stopAt.map(time.shows(end:)) : nil
    return [workers.wake, timerDue, end, time.due].compactMap { $0 }.min()
  }

  /// When the pipeline must be told the time.
  var timerDue: Timestamp? {
    guard isInterpreting, time.isTrusted, let deadline = pipeline.nextDeadline else { return nil }
    return waiting.timerHeldUntil.map { max($0, deadline) } ?? deadline
  }

  /// What has come due: timer decisions, which are journal entries too, and the workers' wishes.
  func runDue() {
    let now = now
    if let stopAt = limits.stopAt, time.isPast(stopAt) {
      return endSimulation(at: time.shows(end: stopAt))
    }
    if let deadline = timerDue, deadline <= now { decide(at: now) }
    runFailovers(at: now)
    wakeWorkers(at: now)
    logSettled(at: now)
  }

  /// A simulation ends when all that fell due before its end is decided, however late that is
  /// because interpretation lagged behind the journal.
  private func endSimulation(at end: Timestamp) {
    guard isInterpreting else { return }
    if let deadline = timerDue, deadline < end { decide(at: now) }
    beginStopping()
  }

  /// A decision the journal does not take is not made; it is tried again a little later.
  private func decide(at now: Timestamp) {
    let entry = JournalEntry.timer(at: now)
    if let position = append(entry) {
      waiting.timerHeldUntil = nil
      pipeline.process(entry, at: position)
    } else {
      waiting.timerHeldUntil = now.adding(seconds: timerRetrySeconds)
    }
  }

  /// Moves a stepped clock to the next due moment and does what falls due.
  func step() {
    guard let due = nextDue else { return beginStopping() }
    time.step(to: due)
    runDue()
  }

  /// Sees to it that the loop turns again in time. An earlier wake that is already on its way is
  /// left alone: waking early is harmless, and a cancelled sleep keeps its memory until its
  /// deadline.
  func scheduleWake() {
    let steady = EngineClock.steadyNow()
    var wait: UInt64?
    func consider(_ nanoseconds: UInt64) { wait = min(wait ?? .max, nanoseconds) }
    if !parts.clock.isStepped { consider(UInt64(limits.loopMillisecondsMax) * 1_000_000) }
    if !parts.clock.isStepped, let due = nextDue {
      consider(parts.clock.nanoseconds(until: due, from: now))
    }
    for moment in [commitState.retryAt, waiting.stopDeadline, commitState.commitDue] {
      if let moment { consider(UInt64(max(moment.microseconds(since: steady), 0)) * 1000) }
    }
    if interpretation.catchUp != nil, !isBehindStore { consider(0) }
    guard let wait else { return }
    let wakeAt = Timestamp(microseconds: steady.microseconds + Int64(wait / 1000))
    guard waiting.wakes.mustSleep(until: wakeAt, now: steady) else { return }
    let inbox = inbox
    // Unstructured: sleeps outlast the turn that began them, and a late one does no harm.
    Task {
      try? await Task.sleep(nanoseconds: wait)
      inbox.yield(.woke(for: wakeAt))
    }
  }

  func beginStopping() {
    guard !waiting.isStopping else { return }
    waiting.isStopping = true
    waiting.stopDeadline = EngineClock.steadyNow().adding(milliseconds: limits.drainMilliseconds)
    notifyWorkers(.stopping)
    workers.cancelRequests()
  }
}
