/// What `verify` asks of the checkpoints of a day.

import AppStore
import Market
import PaperTrading

extension BrokerTable {
  /// Derives the checkpoints of the fill model again, each from all inputs of its instrument, in
  /// one snapshot of the database: a day that begins empties both.
  /// - Returns: sentences, one for each that is not what its inputs come to.
  func checkpointDifferences() throws(AppStoreError) -> [String] {
    var waiting = try checkpoints().sorted { $0.place < $1.place }[...]
    var instruments: [Symbol: InstrumentTrading] = [:]
    var differences: [String] = []
    func compare(before place: Int64) {
      while let row = waiting.first, row.place < place {
        waiting.removeFirst()
        // One of another version is not read again: a start goes by all inputs of the day.
        guard InstrumentTrading.isCurrent(checkpoint: row.body),
          instruments[row.symbol]?.checkpoint != row.body
        else { continue }
        differences.append(
          "the checkpoint of \(row.symbol) is not what its inputs up to \(row.place) come to")
      }
    }
    func apply(_ row: FillInputRow) {
      compare(before: row.place)
      _ = instruments.apply(row.input, to: row.symbol)
    }
    try inputs(from: 0, beat: {}, body: apply)
    compare(before: .max)
    return differences
  }
}
