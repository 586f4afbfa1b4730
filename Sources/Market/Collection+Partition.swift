/// Binary search in what is in order.

extension RandomAccessCollection {
  /// The first index whose element `isBehind` holds for, as it does for all that follow, found by
  /// halving; `endIndex` where there is none.
  @inlinable
  package func partitioningIndex(where isBehind: (Element) -> Bool) -> Index {
    var (low, left) = (startIndex, count)
    while left > 0 {
      let middle = index(low, offsetBy: left / 2)
      if isBehind(self[middle]) {
        left /= 2
      } else {
        low = index(after: middle)
        left -= left / 2 + 1
      }
    }
    return low
  }
}
