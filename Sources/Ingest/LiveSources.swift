import Feeds
import Logging
import Market
import Polling

/// Which of the live sources of a series serves: the engine takes what became of their requests to
/// the `Failover` of the series, and gives the workers the roles that follow.

extension WorkerSet {
  /// The live sources that are configured, by series, each in order of the workers' places.
  var liveSources: [(series: Source, sources: [Source])] {
    Self.bySeries(slots.filter { $0.worker.isLive && !$0.isClosed }.map(\.worker.source))
  }

  static func bySeries(_ sources: [Source]) -> [(series: Source, sources: [Source])] {
    sources.reduce(into: []) { all, source in
      if let place = all.firstIndex(where: { $0.series == source.instruments }) {
        all[place].sources.append(source)
      } else {
        all.append((source.instruments, [source]))
      }
    }
  }

  func isServing(_ slot: WorkerSlot) -> Bool {
    slot.worker.isLive && !slot.isClosed
      && failovers[slot.worker.source.instruments]?.serving == slot.worker.source
  }

  /// Forgets what is in flight: its answers count for no worker.
  mutating func cancelRequests(of place: Int) {
    for request in slots[place].inFlight.values { request.cancel() }
    slots[place].inFlight = [:]
  }
}

extension Engine {
  /// A request for live quotes leaves.
  func followRequest(_ query: QuotesQuery, at place: Int) {
    guard let worker = workers.slots[place].worker as? QuotesWorker else { return }
    follow(.asked(worker.source, batch: query.group, of: worker.poller.batchCount))
  }

  /// What became of it.
  func followAnswer(_ answer: WorkerResponse, to query: FeedQuery, at place: Int) {
    guard let worker = workers.slots[place].worker as? QuotesWorker,
      case .quotes(let query) = query
    else { return }
    let (source, batch) = (worker.source, query.group)
    if let refusal = worker.poller.refusal { return follow(.refused(source, refusal)) }
    // Its rows are not looked at where the journal did not take them.
    let through = answer.response == nil ? nil : workers.slots[place].account.quotedThrough
    switch answer.outcome {
    case .ok, .unchanged: follow(.answered(source, batch: batch, through: through))
    // One symbol voids a batch: it is searched for once the source serves.
    case .poisoned:
      let isServing = worker.poller.role == .serving
      follow(.answered(source, batch: batch, through: isServing ? through : nil))
    default: follow(.failed(source))
    }
  }

  /// Takes an event of a source to the series it is of.
  func follow(_ event: Failover.Event) {
    guard !waiting.isStopping, let series = event.source?.instruments else { return }
    take(event, to: series)
    if case .asked = event { return }
    assignRoles()
  }

  private func take(_ event: Failover.Event, to series: Source) {
    let isInSession = pipeline.place(of: series).map { pipeline.stages[$0].isInSession(now) }
    let change = workers.failovers[series]?.received(
      event, at: now, isInSession: isInSession ?? false)
    finish(change, of: series)
  }

  /// Silence that has lasted long enough.
  func runFailovers(at now: Timestamp) {
    for (series, failover) in workers.failovers {
      guard let wake = failover.wake, wake <= now else { continue }
      take(.woke, to: series)
      assignRoles()
    }
  }

  func failoversJumped(by microseconds: Int64) {
    for series in workers.failovers.keys {
      take(.clockJumped(microseconds: microseconds), to: series)
    }
    assignRoles()
  }

  func finish(_ change: Failover.Change?, of series: Source) {
    guard let change else { return }
    status.quotes.failovers[change.to, default: 0] += 1
    let isFirst = workers.failovers[series]?.sources.first == change.to
    parts.log.log(
      level: isFirst ? .notice : .warning, "another source serves live quotes",
      metadata: [
        "from": "\(change.from.name)", "to": "\(change.to.name)", "reason": "\(change.reason)",
      ])
  }

  /// Whoever stands down does so first: two sources are never requested at full cadence. While a
  /// day that was to trade seems to be closed none rests: any may have rows of it.
  func assignRoles() {
    var taking: [Int] = []
    for place in workers.slots.indices where !workers.slots[place].isClosed {
      guard let worker = workers.slots[place].worker as? QuotesWorker,
        var role = workers.failovers[worker.source.instruments]?.role(of: worker.source)
      else { continue }
      if role == .resting, let stage = pipeline.place(of: worker.source),
        pipeline.stages[stage].dateKept(on: now.shanghaiDay) != nil
      {
        role = .probed
      }
      if role == worker.poller.role { continue }
      if role == .serving {
        taking.append(place)
        continue
      }
      if worker.poller.role == .serving { workers.cancelRequests(of: place) }
      notify(place, event: .roleChanged(role))
    }
    for place in taking { notify(place, event: .roleChanged(.serving)) }
  }

  /// Other sources, another order, other bounds: who stays goes on with its slots.
  func reconfigureLive(_ configuration: WorkerConfiguration) {
    if configuration.quotes.isEmpty { return }
    for place in workers.slots.indices where workers.slots[place].worker.isLive {
      let source = workers.slots[place].worker.source
      if !configuration.quotes.contains(where: { $0.source == source }) {
        forgetCoolDown(of: place)
        close(place)
      }
    }
    for quotes in configuration.quotes { reconfigure(quotes) }
    for (series, sources) in WorkerSet.bySeries(configuration.quotes.map(\.source)) {
      finish(
        workers.failovers[series]?.reconfigured(
          sources, milliseconds: configuration.failoverMilliseconds, at: now), of: series)
    }
    assignRoles()
  }

  private func reconfigure(_ quotes: QuotesConfiguration) {
    let place = workers.slots.firstIndex {
      $0.worker.isLive && $0.worker.source == quotes.source
    }
    if let place, !workers.slots[place].isClosed,
      var worker = workers.slots[place].worker as? QuotesWorker
    {
      let actions = worker.reconfigured(
        quotes, following: pipeline.universe, calendar: pipeline.calendar, at: now)
      workers.slots[place].worker = worker
      _ = perform(actions, of: place)
      return
    }
    var worker = QuotesWorker(
      quotes, following: pipeline.universe, calendar: pipeline.calendar)
    _ = worker.received(.roleChanged(.resting), at: now)
    open(worker, at: place, isStarted: workers.isLiveStarted)
  }
}

extension Failover.Event {
  /// nil where it is about no source in particular.
  fileprivate var source: Source? {
    switch self {
    case .asked(let source, _, _), .answered(let source, _, _), .failed(let source),
      .refused(let source, _):
      source
    case .woke, .clockJumped: nil
    }
  }
}
