import Candles
import Feeds
import Journal
import Logging
import Market
import Platform
import Polling

/// The engine's account of itself, put together only when somebody asks.
extension Engine {
  /// The state of the engine and of some instruments, as of one moment.
  package func report(on symbols: [Symbol]) -> EngineReport {
    let now = now
    var report = EngineReport(now: now, status: status, counters: pipeline.counters)
    report.snapshots = symbols.compactMap { pipeline.snapshot(of: $0) }
    report.latestBars = pipeline.recorded.latest.values.sorted { $0.symbol < $1.symbol }
    report.sources = workers.slots.filter { !$0.isClosed }.map { sourceReport($0, at: now) }
    report.isStopping = waiting.isStopping
    report.backlog = backlog
    report.symbols = workers.liveSymbols.count
    report.quarantined = workers.quarantinedCount
    // Between sessions no answer may come that would clear them.
    for stage in pipeline.stages where stage.isInSession(now) {
      report.silentInstruments.merge(stage.silence.counts, uniquingKeysWith: +)
    }
    report.isOnFallback = workers.failovers.values.contains { $0.serving != $0.sources.first }
    report.keys = keys(at: now)
    report.calendar.nextSession = pipeline.calendar.nextSession(after: now)
    report.calendar.daysLeft = now.shanghaiDay.distance(to: pipeline.calendar.lastDay)
    report.calendar.newYorkEnd = pipeline.recorded.sessions.lazy.map(\.day).max()
    report.calendar.isTodaySupposed =
      pipeline.calendar.declaration(of: now.shanghaiDay).isSupposedToTrade
    report.calendar.dateKept = pipeline.stages[0].dateKept(on: now.shanghaiDay)
    report.isCertificateOverdue = pipeline.isCertificateOverdue(at: now)
    return report
  }

  private var backlog: EngineReport.Backlog {
    var backlog = EngineReport.Backlog()
    backlog.isCatchingUp = !isInterpreting
    backlog.lastPosition = parts.journal.lastPosition
    backlog.syncedPosition = parts.journal.syncedPosition
    let read = interpretation.isJournalOnly ? status.journal.committed : pipeline.position
    backlog.entries = max(backlog.lastPosition.sequence - read.sequence, 0)
    backlog.pendingCandles = pipeline.pendingCandles + commitState.unsavedCandles
    if commitState.isBusy {
      backlog.commitWaitMicroseconds = EngineClock.steadyNow().microseconds(
        since: commitState.startedAt)
    }
    return backlog
  }

  /// The ledger also knows those that were replaced, for ever.
  private func keys(at now: Timestamp) -> EngineReport.Keys {
    let labels = parts.workers.configuration.ringLabels
    var keys = EngineReport.Keys(configured: labels.count)
    for usage in labels.compactMap({ pipeline.keyUsage[$0] }) {
      guard let until = usage.parkedUntil, let reason = usage.parkedReason else { continue }
      if until > now { keys.parked[reason, default: 0] += 1 }
    }
    return keys
  }

  func sourceReport(_ slot: WorkerSlot, at now: Timestamp) -> SourceReport {
    var report = SourceReport(source: slot.worker.source, endpoint: slot.worker.name)
    report.state = slot.account.health
    report.requests = slot.account.requests
    report.failures = slot.account.failures
    report.lastSuccessAt = slot.account.lastSuccessAt
    report.fault = slot.account.health?.condition == .ok ? nil : slot.account.fault
    report.outcomes = slot.account.outcomes
    if let failover = workers.failovers[slot.worker.source.instruments], slot.worker.isLive {
      report.isStandby = failover.serving != slot.worker.source
      let isAlone = failover.sources.count == 1
      report.servingSince = report.isStandby || isAlone ? nil : failover.servingSince
    }
    switch slot.worker {
    case let quotes as QuotesWorker where !report.isStandby && !quotes.poller.symbols.isEmpty:
      report.freshness = freshness(of: quotes, health: slot.account.health, at: now)
    case let bars as BarsWorker: report.freshness = freshness(of: bars, at: now)
    default: break
    }
    return report
  }

  /// The newest row of the series counts, whichever source had it.
  private func freshness(
    of quotes: QuotesWorker, health: SourceState?, at now: Timestamp
  ) -> SourceReport.Freshness? {
    guard let place = pipeline.place(of: quotes.source) else { return nil }
    let (calendar, hours) = (
      pipeline.stages[place].book.calendar, pipeline.stages[place].book.rules.hours
    )
    let (through, today) = (
      workers.quotedThrough(quotes.source.instruments), hours.clock.day(at: now)
    )
    var freshness = SourceReport.Freshness(
      isInSession: calendar.isInSession(now, hours: hours),
      stalenessSeconds: through.map {
        calendar.tradingSeconds(from: $0, to: now, hours: hours)
      },
      limitSeconds: limits.quotesStaleSecondsMax)
    freshness.mayBeClosed =
      calendar.status(of: today) == .unknown && health?.condition == .ok
      && through.map { hours.clock.day(at: $0) < today } ?? false
    return freshness
  }

  private func freshness(of bars: BarsWorker, at now: Timestamp) -> SourceReport.Freshness {
    // The worker knows what it still asks for; watermarks of other symbols stay as they were.
    if bars.hours.isEveryDay {
      return SourceReport.Freshness(
        isInSession: true,
        stalenessSeconds: bars.barsThrough.map { now.microseconds(since: $0) / 1_000_000 },
        limitSeconds: bars.delaySeconds + barsStaleSecondsMax)
    }
    let today = now.newYorkDay
    let known = bars.barsThrough?.newYorkDay ?? today
    // Where the calendar is refused, bars that stand still must not pass for a market at rest.
    let sessions = pipeline.recorded.sessions.supposingWeekdays(
      of: min(max(known, today.advanced(by: -supposedDaysMax)), today)...today)
    return SourceReport.Freshness(
      isInSession: sessions.contains { $0.opens <= now && now < $0.closes },
      stalenessSeconds: bars.barsThrough.map { sessions.tradingSeconds(from: $0, to: now) },
      limitSeconds: bars.delaySeconds + barsStaleSecondsMax)
  }

  /// What a person has to know of an answer beside its outcome.
  /// - Parameter isReplayed: it came earlier, so that its silences are over or are found again.
  func report(_ digest: Digest, isReplayed: Bool = false) {
    let log = parts.log
    for dispute in digest.disputes {
      var metadata: Logger.Metadata = ["symbol": "\(dispute.symbol)", "at": "\(dispute.at)"]
      if isReplayed { metadata["replayed"] = "true" }
      log.warning("\(dispute.kind.sentence)", metadata: metadata)
    }
    if isReplayed { return }
    digest.days.log(to: log)
    for dropped in digest.dropped where loggedDrops.isNew(dropped.member.rawValue) {
      log.warning(
        "a member of a row has a new form and is left out, the row stands",
        metadata: [
          "member": "\(dropped.member.rawValue)", "symbol": "\(dropped.symbol?.description ?? "")",
          "detail": "\(dropped.detail)",
        ])
    }
    let silent = digest.silences.filter { $0.reason != nil }
    if !silent.isEmpty {
      log.warning("no row accepted \(SilenceMonitor.Change.silent(silent, at: now))")
    }
    let back = digest.silences.filter { $0.reason == nil }
    if !back.isEmpty { log.notice("rows accepted again: \(SilenceMonitor.Change.back(back))") }
  }
}

/// The age at which bars are stale: each minute the last three are requested, and by then the third
/// try has failed.
private let barsStaleSecondsMax: Int64 = 180

/// Whatever is a week late is late.
private let supposedDaysMax = 7

extension Pipeline {
  /// So long after a day's end the evening's retries are over: half past four.
  private static let certifiedAfterSeconds = 3_240

  /// Whether the last trading day that is wholly over lacks its certificates, or was not seen.
  func isCertificateOverdue(at now: Timestamp) -> Bool {
    guard let progress = stages[0].book.certification else { return false }
    let today = now.shanghaiDay
    let ends = TradingHours.mainlandChina(on: today).dayEnds
    let isOver = now.shanghaiSecondOfDay >= ends + Self.certifiedAfterSeconds
    // Beyond the calendar a day that has rows was a trading day.
    let isTradingDay = calendar.isTradingDay(today) ?? (progress.newest == today)
    let known = calendar.previous(before: min(today, calendar.lastDay.advanced(by: 1)))
    let earlier = [known, progress.newest].compactMap { $0 }.filter { $0 < today }.max()
    guard let ended = isTradingDay && isOver ? today : earlier else { return false }
    return progress.newest < ended || (progress.newest == ended && progress.closed == 0)
  }
}
