import AppStore
import Market
import PaperTrading

/// Inputs of the fill model that a start has to read: they are in no checkpoint.
struct UncoveredInputs: Sendable {
  /// Of each instrument the first one's.
  var places: [Symbol: Int64] = [:]
  /// So many may be behind the oldest before that is put into one.
  var inputsMax = BrokerOptions.uncoveredInputsMax

  mutating func add(_ place: Int64, of symbol: Symbol) {
    if places[symbol] == nil { places[symbol] = place }
  }

  /// The instruments whose inputs have waited the longest, if that is long enough.
  func due(behind newest: Int64, limit: Int) -> [Symbol] {
    places.filter { newest - $0.value >= inputsMax }.sorted { $0.value < $1.value }
      .prefix(limit).map(\.key)
  }
}

/// How much a start reads: the inputs of a day are many, what they come to is little.
extension BrokerState {
  /// Of a step: a part of its inputs, so that no step writes the checkpoints of a whole market.
  private static let inputsPerCheckpoint = 16
  private static let checkpointsMin = 16

  mutating func writeCheckpoints() {
    if step.inputs.isEmpty { return }
    let count = max(step.inputs.count / Self.inputsPerCheckpoint, Self.checkpointsMin)
    for symbol in uncovered.due(behind: newest.place, limit: count) {
      guard let trading = instruments[symbol] else { continue }
      step.checkpoints.append(
        CheckpointRow(symbol: symbol, place: newest.place, body: trading.checkpoint))
      uncovered.places[symbol] = nil
    }
    step.inputPlace = uncovered.places.values.min() ?? newest.place + 1
  }
}
