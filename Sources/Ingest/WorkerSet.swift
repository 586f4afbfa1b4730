import Feeds
import Market
import Polling

/// The workers of an engine, by their places, and what the engine keeps for them.
struct WorkerSet {
  var slots: [WorkerSlot]
  /// Live quotes are requested.
  var isLiveStarted = false
  /// The others are there, too: the journal's tail is interpreted.
  var areOpen = false
  /// The names of workers whose configuration changed.
  var toReopen: Set<String> = []
  /// Questions to the store that are under way.
  var lookups = 0
  /// What no worker has been told of yet.
  var exRights = ExRights()
  var logThrottle = SourceLogThrottle()
  /// Which source of each series with live quotes serves.
  var failovers: [Source: Failover] = [:]

  /// Whose request it was: an answer to an earlier worker at a place is not this one's.
  struct WorkerID: Sendable, Hashable {
    var place: Int
    var round: Int
  }

  /// - Parameter live: those of live quotes, of each series in the order of preference.
  init(_ live: [any SourceWorker], failoverMilliseconds: Int64, at now: Timestamp) {
    slots = live.map { WorkerSlot(worker: $0) }
    for (series, sources) in liveSources {
      failovers[series] = Failover(sources, milliseconds: failoverMilliseconds, at: now)
    }
  }

  var wake: Timestamp? {
    (slots.compactMap(\.wake) + failovers.values.compactMap(\.wake)).min()
  }

  /// Rows of live quotes are on their way.
  var isSweeping: Bool { slots.contains { isServing($0) && !$0.inFlight.isEmpty } }

  var isBusy: Bool { lookups > 0 || slots.contains { !$0.inFlight.isEmpty } }

  var liveSymbols: [Symbol] {
    slots.filter(isServing).flatMap { ($0.worker as? QuotesWorker)?.poller.symbols ?? [] }
  }

  /// Symbols that are left out of their batches now.
  var quarantinedCount: Int {
    slots.filter(isServing)
      .reduce(0) { $0 + (($1.worker as? QuotesWorker)?.poller.quarantined.count ?? 0) }
  }

  func cancelRequests() {
    for request in slots.flatMap(\.inFlight.values) { request.cancel() }
  }

  /// - Parameter stamp: the newest credible one of a row that trades, in an answer of that source.
  mutating func quoted(_ source: Source, through stamp: Timestamp?) {
    guard let stamp,
      let place = slots.firstIndex(where: { $0.worker.isLive && $0.worker.source == source })
    else { return }
    let known = slots[place].account.quotedThrough
    slots[place].account.quotedThrough = max(known ?? stamp, stamp)
  }

  /// The newest stamp of any source of a series.
  func quotedThrough(_ series: Source) -> Timestamp? {
    slots.filter { $0.worker.isLive && $0.worker.source.instruments == series }
      .compactMap(\.account.quotedThrough).max()
  }

  /// Dividends wait for the worker that asks for their factors; whatever else was found is old.
  mutating func keep(_ events: [MarketEvent]) { exRights.add(events) }

  /// What was kept, each symbol once.
  mutating func takeKept() -> [MarketEvent] {
    defer { exRights = ExRights() }
    return exRights.events
  }
}

/// A worker with what the engine keeps for it.
struct WorkerSlot {
  var worker: any SourceWorker
  var wake: Timestamp?
  var account = EndpointAccount()
  var inFlight: [PollRequestID: Task<Void, Never>] = [:]
  /// Counts the workers that had this place.
  var round = 0
  /// The configuration has no such worker any more.
  var isClosed = false

  func healthRow(at now: Timestamp) -> SourceHealthRow? {
    guard let health = account.health else { return nil }
    let fault = health.condition == .ok ? nil : account.fault
    var row = SourceHealthRow(
      source: worker.source, endpoint: worker.name, state: health.condition.word,
      since: health.since, lastSuccessAt: account.lastSuccessAt,
      requests: Int64(account.requests), failures: Int64(account.failures),
      detail: isClosed
        ? "no longer configured" : fault?.sentence(at: now) ?? "\(health.condition)")
    row.updatedAt = now
    return row
  }
}

/// How one endpoint is doing.
struct EndpointAccount: Sendable {
  /// nil before the first answer.
  var health: SourceState?
  var requests = 0
  /// The requests that failed; of live quotes, those of a sweep that brought nothing in its time.
  var failures = 0
  var lastSuccessAt: Timestamp?
  /// The fault since its last good response; of live quotes, since their last sweep without a
  /// failure.
  var fault: SourceFault?
  /// Answers, by the outcome's name.
  var outcomes: [String: Int] = [:]
  /// The newest moment that the exchange stamped into an answer with quotes.
  var quotedThrough: Timestamp?

  mutating func sweepCompleted(failed: Int) {
    failures += failed
    if failed == 0 { fault = nil }
  }
}
