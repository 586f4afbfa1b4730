import Market

public struct ObservableLedger: Sendable {
  init(tape: DayTape, log: ObservationLog) {}
}
