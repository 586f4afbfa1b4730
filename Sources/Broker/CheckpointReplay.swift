import AppStore
import Market
import PaperTrading

/// Derives the checkpoints of the fill model again, each from all inputs of its instrument.
struct CheckpointReplay {
  private let table: BrokerTable

  init(_ connection: AppConnection) { table = BrokerTable(connection) }

  /// In one snapshot of the database: a day that begins empties both.
  /// - Returns: sentences, one for each that is not what its inputs come to.
  func differences() throws(AppStoreError) -> [String] {
    var waiting = try table.checkpoints().sorted { $0.place < $1.place }[...]
    var instruments: [Symbol: InstrumentTrading] = [:]
    var differences: [String] = []
    func compare(_ row: CheckpointRow) {
      // One of another version is not read again: a start goes by all inputs of the day.
      guard InstrumentTrading.isCurrent(checkpoint: row.body) else { return }
      if instruments[row.symbol]?.checkpoint != row.body {
        differences.append(
          "the checkpoint of \(row.symbol) is not what its inputs up to \(row.place) come to")
      }
    }
    var place: Int64 = 0
    while !waiting.isEmpty {
      let inputs = try table.inputs(behind: place, limit: BrokerState.inputsAtOnce)
      for input in inputs {
        while let row = waiting.first, row.place < input.place {
          compare(row)
          waiting.removeFirst()
        }
        guard let instrument = Instrument.classify(input.symbol) else { continue }
        var trading =
          instruments.removeValue(forKey: input.symbol) ?? InstrumentTrading(instrument)
        _ = trading.apply(input.input)
        instruments[input.symbol] = trading
      }
      guard let last = inputs.last else { break }
      place = last.place
    }
    for row in waiting { compare(row) }
    return differences
  }
}
