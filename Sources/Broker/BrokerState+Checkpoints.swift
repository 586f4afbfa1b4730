import AppStore
import Market
import PaperTrading

/// How much a start reads: the inputs of a day are many, what they come to is little.
extension BrokerState {
  /// Of a step: a part of its inputs, so that no step writes the checkpoints of a whole market.
  private static let inputsPerCheckpoint = 16
  private static let checkpointsMin = 16

  /// Those of the instruments whose inputs have waited the longest, if that is long enough.
  mutating func writeCheckpoints() {
    if step.inputs.isEmpty { return }
    let due = uncovered.filter { newest.place - $0.value >= uncoveredInputsMax }
    let count = max(step.inputs.count / Self.inputsPerCheckpoint, Self.checkpointsMin)
    for (symbol, _) in due.sorted(by: { $0.value < $1.value }).prefix(count) {
      guard let trading = instruments[symbol] else { continue }
      step.checkpoints.append(
        CheckpointRow(symbol: symbol, place: newest.place, body: trading.checkpoint))
      uncovered[symbol] = nil
    }
    step.inputPlace = uncovered.values.min() ?? newest.place + 1
  }
}
