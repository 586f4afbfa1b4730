/// Prices as one line of block characters, oldest first: the shape of what a table lists.

import Market

package enum Sparkline {
  private static let blocks: [Character] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]

  /// One character a value; of more values than columns, the last of each stretch.
  package static func text(of values: [ExactDecimal], columns: Int) -> String {
    guard columns > 0, let low = values.min(), let high = values.max() else { return "" }
    let count = min(values.count, columns)
    return String(
      (0..<count).map { column in
        blocks[level(of: values[(column + 1) * values.count / count - 1], from: low, to: high)]
      })
  }

  /// The lowest is 0, the highest 7; where nothing moves, in the middle.
  private static func level(
    of value: ExactDecimal, from low: ExactDecimal, to high: ExactDecimal
  ) -> Int {
    guard low < high, let height = try? value - low, let range = try? high - low,
      let level = try? (height * ExactDecimal(7)).divided(by: range, scale: 0)
    else { return 3 }
    return Int(level.units)
  }
}
