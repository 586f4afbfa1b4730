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
    gate.changeBudget(requestsPerMinute: configuration.requestsPerMinute)
    if symbols != self.symbols || batching.plan.symbolsMax != configuration.batchSymbolsMax {
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
    batching.isOld = true
    let isSlotUnderWay = pending.contains { $0.isBatch || $0.isPart }
    if !isSlotUnderWay { adoptSymbols(now) }
  }

  /// Adopts, between two slots, the symbols that a new configuration or list names.
  mutating func adoptSymbols(_ now: Timestamp) {
    guard batching.isOld else { return }
    dropPending(now, where: \.isPart)
    renewPlan()
    if batching.isQuarantineOver { quarantined = [] } else { quarantined.formIntersection(symbols) }
    batching.isQuarantineOver = false
  }

  mutating func renewPlan() {
    batching.isOld = false
    if batching.plan.symbolsMax == configuration.batchSymbolsMax {
      batching.plan.replace(with: symbols)
    } else {
      batching.plan = BatchPlan(
        symbols, referenceSymbol: batching.plan.referenceSymbol,
        symbolsMax: configuration.batchSymbolsMax)
      groups.failures = [:]
      groups.lastSent = [:]
    }
    batching.number += 1
    groups.bisections = [:]
  }
}
