import Market
import Operations
import Polling

/// What a reload changes of a running engine.
public struct EngineUpdate: Sendable {
  var poller: PollerConfiguration
  var schedule: PollSchedule
  /// Without those of the universe.
  var symbols: [Symbol]
  var limits: EngineLimits
  var desks: DeskConfiguration
  var credentials: SourceCredentials
}

extension Engine {
  /// Takes up a new configuration between two turns: slots go on, what is in flight is answered.
  /// Desks whose keys or instruments changed begin anew, as after a restart.
  public func update(_ update: EngineUpdate) {
    guard !isStopping else { return }
    limits.journalBytesMax = update.limits.journalBytesMax
    limits.journalDaysMax = update.limits.journalDaysMax
    limits.quotesStaleSecondsMax = update.limits.quotesStaleSecondsMax
    perform(
      poller.reconfigured(
        update.poller, schedule: update.schedule, symbols: polled(update.symbols), at: now))
    let desks = parts.desks.renewed(update.desks, credentials: update.credentials)
    desksToReopen.formUnion(desks.namesChanged(from: parts.desks))
    parts.desks = desks
    // Not at the next turn: answers that wait for it would be asked on with the old keys.
    reopenDesks()
    inbox.yield(.woke(for: nil))
  }

  private func polled(_ symbols: [Symbol]) -> [Symbol] {
    guard limits.followsUniverse else { return symbols }
    let gone = Set(pipeline.universe.members.filter(\.isDelisted).map(\.instrument.symbol))
    return symbols.filter { !gone.contains($0) }
      + pipeline.universe.listedSymbols(beside: symbols)
  }

  /// Not before the tail is interpreted: a desk is made from what the pipeline knows of its keys.
  /// Until then the one there is goes on, with the keys it was made with.
  func reopenDesks() {
    guard !desksToReopen.isEmpty, areDesksOpen, isInterpreting, !isStopping else { return }
    let made = parts.desks.make(for: pipeline)
    for name in desksToReopen.sorted() {
      let place = seats.firstIndex { $0.desk.name == name }
      let desk = made.first { $0.name == name }
      if let place { close(place) }
      if let desk { open(desk, at: place) }
    }
    desksToReopen = []
    parts.desks.forgetEarlierKeys()
  }

  /// Answers that are under way belong to nobody any more, and nothing is wrong with who is not
  /// asked.
  private func close(_ place: Int) {
    for request in seats[place].inFlight.values { request.cancel() }
    seats[place].inFlight = [:]
    seats[place].wake = nil
    seats[place].round += 1
    seats[place].isClosed = true
    if seats[place].health == nil { return }
    seats[place].health = SourceState(.ok, since: now)
    saving.staleHealth.insert(place)
  }

  private func open(_ desk: any Desk, at place: Int?) {
    let place = place ?? seats.count
    if place == seats.count { seats.append(DeskSeat(desk: desk)) }
    seats[place].desk = desk
    seats[place].isClosed = false
    seats[place].health = nil
    tell(place, .started)
  }
}
