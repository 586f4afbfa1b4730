import Candles
import Feeds
import Journal
import Market
import Polling

/// The engine's account of itself, put together only when somebody asks.
extension Engine {
  /// The state of the engine and of some instruments, as of one moment.
  package func report(on symbols: [Symbol]) -> EngineReport {
    let now = now
    var report = EngineReport(now: now, status: status, counters: pipeline.counters)
    report.snapshots = symbols.compactMap { pipeline.snapshot(of: $0) }
    report.usEquities = pipeline.usBars.values.sorted { $0.symbol < $1.symbol }
    report.sources = [quotesReport(now)]
    report.sources += workerSlots.filter { !$0.isClosed }.map { workerReport($0, now) }
    report.isStopping = isStopping
    report.isCatchingUp = !isInterpreting
    report.lastPosition = parts.journal.lastPosition
    report.syncedPosition = parts.journal.syncedPosition
    let read = isJournalOnly ? status.committed : pipeline.position
    report.backlogEntries = max(report.lastPosition.sequence - read.sequence, 0)
    report.pendingCandles = pipeline.pendingCandles + commitState.unsavedCandles
    if commitState.isBusy {
      report.commitWaitMicroseconds = EngineClock.steadyNow().microseconds(
        since: commitState.startedAt)
    }
    report.symbols = poller.symbols.count
    // Between sessions no answer may come that would clear them.
    if pipeline.calendar.isInSession(now) { report.silentInstruments = pipeline.silence.counts }
    // The ledger also knows those that were replaced, for ever.
    let labels = parts.workers.configuration.ringLabels
    report.keys = labels.count
    for usage in labels.compactMap({ pipeline.keyUsage[$0] }) {
      guard let until = usage.parkedUntil, let reason = usage.parkedReason else { continue }
      if until > now { report.keysParked[reason, default: 0] += 1 }
    }
    report.nextSession = pipeline.calendar.nextSession(after: now)
    report.calendarDaysLeft = now.shanghaiDay.distance(to: pipeline.calendar.lastDay)
    report.isCertificateOverdue = pipeline.isCertificateOverdue(at: now)
    return report
  }

  private func quotesReport(_ now: Timestamp) -> SourceReport {
    var report = SourceReport(source: .live, endpoint: "quotes")
    report.state = status.source
    report.requests = status.requests
    report.failures = status.failedRequests
    report.lastSuccessAt = status.lastSuccessAt
    report.fault = status.source?.condition == .ok ? nil : status.fault
    report.outcomes = status.outcomes
    guard !poller.symbols.isEmpty else { return report }
    let calendar = pipeline.calendar
    report.freshness = SourceReport.Freshness(
      isInSession: calendar.isInSession(now),
      stalenessSeconds: status.quotedThrough.map { calendar.tradingSeconds(from: $0, to: now) },
      limitSeconds: limits.quotesStaleSecondsMax)
    return report
  }

  private func workerReport(_ workerSlot: WorkerSlot, _ now: Timestamp) -> SourceReport {
    var report = SourceReport(source: workerSlot.worker.source, endpoint: workerSlot.worker.name)
    report.state = workerSlot.health
    report.requests = workerSlot.requests
    report.failures = workerSlot.failures
    report.lastSuccessAt = workerSlot.lastSuccessAt
    report.fault = workerSlot.health?.condition == .ok ? nil : workerSlot.fault
    report.outcomes = workerSlot.outcomes
    // The worker knows what it still asks for; watermarks of other symbols stay as they were.
    guard let bars = workerSlot.worker as? BarsWorker else { return report }
    let today = now.newYorkDay
    let known = bars.barsThrough?.newYorkDay ?? today
    // Where the calendar is refused, bars that stand still must not pass for a market at rest.
    let sessions = pipeline.usSessions.supposingWeekdays(
      of: min(max(known, today.advanced(by: -supposedDaysMax)), today)...today)
    report.freshness = SourceReport.Freshness(
      isInSession: sessions.contains { $0.opens <= now && now < $0.closes },
      stalenessSeconds: bars.barsThrough.map { sessions.tradingSeconds(from: $0, to: now) },
      limitSeconds: bars.delaySeconds + barsStaleSecondsMax)
    return report
  }
}

/// Each minute the last three are asked for: so late the third try has failed.
private let barsStaleSecondsMax: Int64 = 180

/// Whatever is a week late is late.
private let supposedDaysMax = 7

extension Pipeline {
  /// After the evening's retries: half past four (`Session.afterHoursClose` and an hour).
  private static let certifiedSecondOfDay = Session.afterHoursClose + 3_600

  /// Whether the last trading day that is wholly over lacks its certificates, or was not seen.
  func isCertificateOverdue(at now: Timestamp) -> Bool {
    guard let progress = book.certification else { return false }
    let today = now.shanghaiDay
    let isOver = now.shanghaiSecondOfDay >= Self.certifiedSecondOfDay
    let ended =
      calendar.isTradingDay(today) == true && isOver ? today : calendar.previous(before: today)
    guard let ended else { return false }
    return progress.newest < ended || (progress.newest == ended && progress.closed == 0)
  }
}
