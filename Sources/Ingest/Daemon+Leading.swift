import Commits
import Feeds
import Journal
import Logging
import Market
import Operations
import Platform
import Postgres
import Store
import Transport

/// One term after the other: stand by until the lease is ours, go on from what is stored, run the
/// engine, and when the lease is lost forget everything and stand by again, in the same process.
///
/// A standby asks no upstream: two daemons are one client to them. So what passes between the last
/// answer of one leader and the first of the next is what passes unseen in any outage: up to
/// `candles.max_silence` it goes to the minute, beyond that to a gap row.
extension Daemon {
  /// Everything between an open database and a drained engine.
  func serve(
    as identity: JournalIdentity, _ onReady: @escaping @Sendable (DaemonHandle) async -> Void
  ) async throws -> Unsaved {
    let client = try HTTPClient()
    state.client = client
    defer { client.shutdown() }
    let leadership = Leadership(
      url: storeURL, holder: identity.name, lease: settings[StoreSettings.lease], gate: gate,
      log: log)
    state.journalDirectory = settings.journalPath
    // What comes to an end leads no more.
    defer { state.role = .draining }
    var notifyReady = onReady
    while let lease = try await standBy(leadership) {
      let term = Term(lease: lease, identity: identity, client: client, onReady: notifyReady)
      notifyReady = { @Sendable _ in }
      if let unsaved = try await lead(term, leadership: leadership) { return unsaved }
    }
    return Unsaved()
  }

  private struct Term {
    var lease: Lease
    var identity: JournalIdentity
    var client: HTTPClient
    var onReady: @Sendable (DaemonHandle) async -> Void
  }

  /// - Returns: nil if told to stop; then nothing is waited for, neither the database.
  private func standBy(_ leadership: Leadership) async throws(StoreError) -> Lease? {
    let (outcomes, inbox) = AsyncStream.makeStream(of: Result<Lease?, StoreError>.self)
    stop.whenSet { _ in inbox.yield(.success(nil)) }
    let loop = state.heartbeats.begin("lease", ageSecondsMax: Self.loopSecondsMax)
    defer { state.heartbeats.end(loop) }
    // Unstructured: a database that hangs must not keep a stopped daemon waiting.
    let asking = Task { [log, state] in
      do throws(StoreError) {
        guard
          let (lease, before) = try await leadership.lead(
            loop, waiting: { state.role = .standby(leader: $0.host) },
            away: { state.isStoreAway = $0 })
        else { return }
        log.notice(
          "leading",
          metadata: [
            "term": "\(lease.term)", "holder": "\(lease.holder)", "before": "\(before.holder)",
          ])
        inbox.yield(.success(lease))
      } catch {
        inbox.yield(.failure(error))
      }
    }
    defer { asking.cancel() }
    for await outcome in outcomes { return try outcome.get() }
    return nil
  }

  /// Leads for a term.
  /// - Returns: what could not be saved; nil if the lease was lost and it may stand by.
  private func lead(_ term: Term, leadership: Leadership) async throws -> Unsaved? {
    let loss = Latch<StoreError>()
    // Unstructured, like all of a term: what asks a database that hangs is not waited for.
    let renewal = Task { [state] in
      let error = await leadership.keep(term.lease, away: { state.isStoreAway = $0 })
      if let error { loss.set(error) }
    }
    let loop = state.heartbeats.begin("engine", ageSecondsMax: Self.loopSecondsMax)
    defer {
      renewal.cancel()
      state.engine = nil
      state.heartbeats.end(loop)
    }
    let writer = StoreWriter(
      url: storeURL, lease: term.lease, gate: gate, confirmSeconds: settings.confirmSeconds,
      onReconnect: { [state] in state.storeConnected() })
    do {
      let engine = try await makeEngine(term, writer: writer, loop: loop)
      state.engine = engine
      // A reload that came while it was made has not reached it.
      await engine.update(engineUpdate)
      state.role = .leading(term: term.lease.term)
      stop.whenSet { _ in engine.stop() }
      loss.whenSet { engine.loseLeadership($0) }
      await term.onReady(
        DaemonHandle(engine: engine, storeURL: storeURL, psqlLine: psqlLine))
      // Unstructured, as the renewal.
      let watch = Task { await NotificationQueueMonitor(writer: writer, engine: engine).run() }
      defer { watch.cancel() }
      // Unstructured, as the renewal: a step that is under way ends without us.
      let idleWork = Task { await idleReclustering(engine).run() }
      defer { idleWork.cancel() }
      let unsaved = try await engine.run()
      renewal.cancel()
      await writer.disconnect()
      // What is unsaved is in this journal alone: who restarts it soon saves it.
      if unsaved.isNone { await releaseLease(term.lease, leadership: leadership) }
      return unsaved
    } catch let error as EngineError where error.code == .leaseLost {
      log.error("leadership lost", metadata: ["error": "\(error)"])
    } catch let error as StoreError where error.code == .leaseLost {
      log.error("leadership lost", metadata: ["error": "\(error)"])
    } catch let error as StoreError where error.isTransient && stop.isSet {
      log.notice("stopped before leading began", metadata: ["error": "\(error)"])
    } catch {
      // Whatever it fails of, it may fail of again as soon as it is restarted: a standby that can
      // lead must not wait for it.
      renewal.cancel()
      await releaseLease(term.lease, leadership: leadership)
      throw error
    }
    await writer.disconnect()
    state.role = .starting
    return stop.isSet ? Unsaved() : nil
  }

  /// Waits for it only so long: a database that hangs is no reason to stay.
  private func releaseLease(_ lease: Lease, leadership: Leadership) async {
    _ = await result(within: Self.releaseNanosecondsMax) { await leadership.release(lease) }
  }

  private static let releaseNanosecondsMax: UInt64 = 1_000_000_000

  /// Goes on from what is stored: in its own journal, or, if another daemon's entries were
  /// committed last, behind both that position and everything in its own journal. What that holds
  /// of an earlier term and is not committed is never read again, for the other leader has seen
  /// those moments, or has accounted for them as an outage; an entry says where this term begins.
  private func makeEngine(
    _ term: Term, writer: StoreWriter, loop: Heartbeat
  ) async throws -> Engine {
    var stored = try await patiently(writer, loop: loop, isConnected: false) {
      () async throws(StoreError) in try await writer.load()
    }
    let journal = try JournalWriter(
      directory: settings.journalPath, options: journalOptions, committed: stored.position,
      identity: term.identity)
    report(journal.recovery, stored: stored.position)
    var place = stored.position
    if !stored.journal.isEmpty, stored.journal != term.identity.name {
      let now = max(clock.now, stored.knownAt ?? clock.now)
      let start = TermStart(
        term: term.lease.term, fromJournal: stored.journal, fromPosition: stored.position)
      // All it holds of earlier terms may make room for this one.
      place = try journal.append(
        .termStart(start, at: now), makingRoomUpTo: journal.lastPosition,
        deleted: {
          log.error(
            "disk full, deleted an old segment of the journal", metadata: ["segment": "\($0.name)"])
        })
      try journal.sync()
      log.notice(
        "took over",
        metadata: [
          "journal": "\(stored.journal)", "at": "\(stored.position.sequence)",
          "goes_on_at": "\(place.sequence)",
        ])
    }
    try await begin(at: place, from: stored.position, term: term, writer: writer, loop: loop)
    stored.position = place
    return try makeEngine(
      stored: stored, journal: journal, store: writer, client: term.client, heartbeat: loop,
      workers: workerConfiguration)
  }

  var journalOptions: JournalOptions {
    var options = JournalOptions()
    options.segmentBytes = Int64(settings[JournalSettings.segmentBytes])
    return options
  }

  private func begin(
    at place: JournalPosition, from stored: JournalPosition, term: Term, writer: StoreWriter,
    loop: Heartbeat
  ) async throws(StoreError) {
    var isRepeated = false
    try await patiently(writer, loop: loop) { () async throws(StoreError) in
      if isRepeated {
        let found = try await writer.load()
        if place > stored, found.position == place, found.journal == term.identity.name { return }
      }
      isRepeated = true
      try await writer.record(SourceRegistry.rows)
      try await writer.record(RuleBook.current)
      try await writer.takeUp(at: place)
    }
  }

  /// The database may go away while a term begins: it is tried again for as long as the lease is
  /// not another's.
  private func patiently<Response: Sendable>(
    _ writer: StoreWriter, loop: Heartbeat, isConnected: Bool = true,
    _ work: () async throws(StoreError) -> Response
  ) async throws(StoreError) -> Response {
    var loggedFaults = Once<String>()
    var isConnected = isConnected
    while true {
      do throws(StoreError) {
        loop.rest()
        defer { loop.beat() }
        if !isConnected {
          try await writer.connect()
          state.storeConnected()
        }
        isConnected = true
        return try await work()
      } catch {
        guard error.isTransient, !stop.isSet else { throw error }
        if loggedFaults.isNew(error.description) {
          log.error("cannot begin to lead, will retry", metadata: ["error": "\(error)"])
        }
        isConnected = false
      }
      try? await Task.sleep(nanoseconds: Self.retryNanoseconds)
    }
  }

  private static let retryNanoseconds: UInt64 = 700_000_000
}
