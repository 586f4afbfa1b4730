import Market
import Operations
import Polling

/// What a reload changes of a running engine.
package struct EngineUpdate: Sendable {
  var poller: PollerConfiguration
  var schedule: PollSchedule
  /// Without those of the universe.
  var symbols: [Symbol]
  var limits: EngineLimits
  var workers: WorkerConfiguration
  var credentials: SourceCredentials
}

extension Engine {
  /// Takes up a new configuration between two turns: slots go on, what is in flight is answered.
  /// Workers whose keys or instruments changed begin anew, as after a restart.
  package func update(_ update: EngineUpdate) {
    guard !isStopping else { return }
    limits.journalBytesMax = update.limits.journalBytesMax
    limits.journalDaysMax = update.limits.journalDaysMax
    limits.quotesStaleSecondsMax = update.limits.quotesStaleSecondsMax
    perform(
      poller.reconfigured(
        update.poller, schedule: update.schedule, symbols: polled(update.symbols), at: now))
    let workers = parts.workers.renewed(update.workers, credentials: update.credentials)
    workersToReopen.formUnion(workers.namesChanged(from: parts.workers))
    parts.workers = workers
    // Not at the next turn: answers that wait for it would be asked on with the old keys.
    reopenWorkers()
    inbox.yield(.woke(for: nil))
  }

  private func polled(_ symbols: [Symbol]) -> [Symbol] {
    guard limits.followsUniverse else { return symbols }
    let gone = Set(pipeline.universe.members.filter(\.isDelisted).map(\.instrument.symbol))
    return symbols.filter { !gone.contains($0) }
      + pipeline.universe.listedSymbols(beside: symbols)
  }

  /// Not before the tail is interpreted: a worker is made from what the pipeline knows of its keys.
  /// Until then the one there is goes on, with the keys it was made with.
  func reopenWorkers() {
    guard !workersToReopen.isEmpty, areWorkersOpen, isInterpreting, !isStopping else { return }
    let made = parts.workers.make(for: pipeline)
    for name in workersToReopen.sorted() {
      let place = workerSlots.firstIndex { $0.worker.name == name }
      let worker = made.first { $0.name == name }
      if let place { close(place) }
      if let worker { open(worker, at: place) }
    }
    workersToReopen = []
    parts.workers.forgetEarlierKeys()
  }

  /// Answers that are under way belong to nobody any more, and nothing is wrong with who is not
  /// asked.
  private func close(_ place: Int) {
    for request in workerSlots[place].inFlight.values { request.cancel() }
    workerSlots[place].inFlight = [:]
    workerSlots[place].wake = nil
    workerSlots[place].round += 1
    workerSlots[place].isClosed = true
    if workerSlots[place].health == nil { return }
    workerSlots[place].health = SourceState(.ok, since: now)
    commitState.staleHealth.insert(place)
  }

  private func open(_ worker: any SourceWorker, at place: Int?) {
    let place = place ?? workerSlots.count
    if place == workerSlots.count { workerSlots.append(WorkerSlot(worker: worker)) }
    workerSlots[place].worker = worker
    workerSlots[place].isClosed = false
    workerSlots[place].health = nil
    notify(place, .started)
  }
}
