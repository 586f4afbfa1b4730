// A new configuration while slots go on.
//
// What is in flight is answered as it was asked for, and the slot in force is finished with the
// symbols it began with: a reload costs no slot and asks nothing twice.
import Market

extension Poller {
  /// Takes other symbols, another schedule and other bounds; returns what to do, in order.
  /// Heartbeat and seed, budget spent, breaker and quarantine stay.
  package mutating func reconfigured(
    _ configuration: PollerConfiguration, schedule: PollSchedule, symbols: [Symbol],
    at now: Timestamp
  ) -> [Action] {
    actions = []
    advanceClock(now)
    var configuration = configuration
    configuration.referenceSymbol = self.configuration.referenceSymbol
    configuration.seed = self.configuration.seed
    self.configuration = configuration
    self.schedule = schedule.movedAs(self.schedule)
    budget.change(requestsPerMinute: configuration.requestsPerMinute, at: steady)
    if symbols != self.symbols || plan.symbolsMax != configuration.batchSymbolsMax {
      replaceSymbols(symbols, at: now)
    }
    if phase == .running {
      advanceSlots(now)
      sendPending(now)
      armWake()
    }
    return actions
  }

  /// Other symbols: at once between two slots, else with the next.
  mutating func replaceSymbols(_ symbols: [Symbol], at now: Timestamp) {
    self.symbols = symbols
    isPlanOld = true
    let isSlotUnderWay = pending.contains { $0.isBatch || $0.isPart }
    if !isSlotUnderWay { adoptSymbols(now) }
  }

  /// Between two slots: the symbols a new configuration or list names.
  mutating func adoptSymbols(_ now: Timestamp) {
    guard isPlanOld else { return }
    dropPending(now, where: \.isPart)
    renewPlan()
    if isQuarantineOver { quarantined = [] } else { quarantined.formIntersection(symbols) }
    isQuarantineOver = false
  }

  mutating func renewPlan() {
    isPlanOld = false
    if plan.symbolsMax == configuration.batchSymbolsMax {
      plan.replace(with: symbols)
    } else {
      plan = BatchPlan(
        symbols, referenceSymbol: plan.referenceSymbol, symbolsMax: configuration.batchSymbolsMax)
      failures = [:]
      lastSent = [:]
    }
    planNumber += 1
    bisections = [:]
  }
}
