/// How a source hands out ready-made bars.

package enum BarsForm: Sendable, Hashable {
  /// The newest bars of one symbol, at most so many; they heal and confirm what was booked.
  case newest(barsMax: Int)
  /// A stretch of time of many symbols, in pages; nothing is booked beside them.
  case window(symbolsMax: Int, pageBarsMax: Int)
}
