/// Which bars of an answer stand in order.
///
/// Bars come oldest first. One whose stamp was damaged would, taken for true, put all behind it in
/// the wrong; so the longest chain of ascending bars is kept and the rest refused. Of two bars of
/// one interval the first is kept.

import Market

enum SinaKlineOrder {
  /// The indexes of the rows to keep, ascending, and why each other one is refused.
  static func check(
    _ candles: [Candle]
  ) -> (kept: [Int], faults: [(index: Int, fault: RowFault)]) {
    let kept = longestChain(of: candles.map(\.openedAt))
    let intervals = Set(kept.map { candles[$0].openedAt })
    let faults = Set(candles.indices).subtracting(kept).sorted().map { index in
      (index, intervals.contains(candles[index].openedAt) ? duplicate : backward)
    }
    return (kept, faults)
  }

  /// Indexes of the longest strictly ascending chain: for each length the chain that ends lowest is
  /// remembered, and each moment extends the longest one that ends before it.
  private static func longestChain(of moments: [Timestamp]) -> [Int] {
    var ends: [Int] = []
    var previous = [Int?](repeating: nil, count: moments.count)
    for (index, moment) in moments.enumerated() {
      let length = ends.partitioningIndex { moments[$0] >= moment }
      previous[index] = length > 0 ? ends[length - 1] : nil
      if length == ends.count {
        ends.append(index)
      } else if moments[ends[length]] > moment {
        ends[length] = index
      }
    }
    var chain: [Int] = []
    var next = ends.last
    while let index = next {
      chain.append(index)
      next = previous[index]
    }
    return chain.reversed()
  }

  private static let duplicate = RowFault(
    .duplicate, detail: "day: a second bar for the same interval")
  private static let backward = RowFault(.backwardStamp, detail: "day: out of order")
}
