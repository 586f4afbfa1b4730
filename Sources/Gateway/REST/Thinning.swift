/// Fewer candles for a first, coarse picture: the highest high and the lowest low of every stretch
/// stay, so that the picture has the same extremes as the full one.

import Reader

extension [CandleRecord] {
  /// At most `count` of them, in order, the first and the last among them.
  /// - Precondition: `count` is at least 4.
  func thinned(to count: Int) -> [CandleRecord] {
    precondition(count >= 4)
    guard self.count > count else { return self }
    let stretches = (count - 2) / 2
    let inner = self.count - 2
    var kept = [0]
    for stretch in 0..<stretches {
      let range = (1 + stretch * inner / stretches)..<(1 + (stretch + 1) * inner / stretches)
      kept += Set(extremes(in: range)).sorted()
    }
    kept.append(self.count - 1)
    return kept.map { self[$0] }
  }

  /// A candle without prices has none; a stretch of such is shown by its first.
  private func extremes(in range: Range<Int>) -> [Int] {
    let priced = range.filter { self[$0].high != nil && self[$0].low != nil }
    let highest = priced.max { left, right in
      guard let one = self[left].high, let other = self[right].high else { return false }
      return one < other
    }
    let lowest = priced.min { left, right in
      guard let one = self[left].low, let other = self[right].low else { return false }
      return one < other
    }
    return [highest ?? range.lowerBound, lowest ?? range.lowerBound]
  }
}
