/// Which known name somebody meant.

/// The least insertions, deletions, substitutions and swaps of neighbours that make `left` into
/// `right` (optimal string alignment).
package func editDistance(_ left: String, to right: String) -> Int {
  let left = Array(left.utf8)
  let right = Array(right.utf8)
  var beforePrevious = [Int](repeating: 0, count: right.count + 1)
  var previous = Array(0...right.count)
  for row in left.indices {
    var current = [row + 1]
    for column in right.indices {
      let isSame = left[row] == right[column]
      var best = min(
        previous[column] + (isSame ? 0 : 1), previous[column + 1] + 1, current[column] + 1)
      if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
        best = min(best, beforePrevious[column - 1] + 1)
      }
      current.append(best)
    }
    (beforePrevious, previous) = (previous, current)
  }
  return previous[right.count]
}

/// The known name nearest to `name`, if any is near enough to be meant: a third of it wrong at
/// most, or the same last part under another section.
func nearestName(to name: String, among known: [String]) -> String? {
  let scored = known.map { (name: $0, distance: editDistance(name, to: $0)) }
  let best = scored.min { $0.distance < $1.distance }
  if let best, best.distance <= max(2, name.utf8.count / 3) { return best.name }
  let last = name.split(separator: ".").last
  return known.first { $0.split(separator: ".").last == last }
}
