/// A list of instruments, brought into the one order in which lists can be compared: sources send
/// theirs unsorted, repeat rows, and give no version (docs/sources/mairui.md#lists).
///
/// Whether a list is plausible is not judged here: that takes the last accepted one.

import Market

package struct InstrumentList: Sendable, Hashable {
  /// The rows by symbol, each once: of several the last one counts.
  package let rows: [ListedInstrument]
  package let refused: [RefusedRow]
  /// The members that were left out of `rows`.
  package let dropped: [DroppedMember]
  /// The hash of `rows`, names included: equal lists have equal hashes, whatever order they came
  /// in, on every machine and in every release.
  package let contentHash: UInt64

  /// - Parameter listed: in the order of the answer.
  package init(
    listed: [ListedInstrument], refused: [RefusedRow], dropped: [DroppedMember] = []
  ) {
    var last: [Symbol: ListedInstrument] = [:]
    last.reserveCapacity(listed.count)
    for row in listed { last[row.symbol] = row }
    rows = last.values.sorted { $0.symbol < $1.symbol }
    self.refused = refused
    self.dropped = dropped
    contentHash = InstrumentList.hash(of: rows)
  }

  /// The hash over symbol, exchange and name of each row.
  private static func hash(of rows: [ListedInstrument]) -> UInt64 {
    var hash = StableHash()
    for row in rows { hash.combine("\(row.symbol)\t\(row.exchange.rawValue)\t\(row.name)\n") }
    return hash.value
  }
}
