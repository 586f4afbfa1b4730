import Feeds
import Market

/// What shows that a rule is another than the rows of docs/rules.md say: a change that nobody
/// entered. The name is the metric's label.
package enum RuleBreach: String, Sendable, CaseIterable {
  /// Volume that grew while nothing trades. The row counts.
  case outsideHours = "outside_hours"
  /// A price that is no multiple of the tick. The row counts.
  case offTick = "off_tick"
  /// A price beyond the legal band. The row is held.
  case outsideBand = "outside_band"
  /// A response whose money fits its volumes in another unit alone. None of it counts.
  case volumeUnit = "volume_unit"
  /// A code of no kind. The row counts, without band and tick.
  case unknownPrefix = "unknown_prefix"
  /// A response whose lines have another number of fields. What can be read counts.
  case fieldCount = "field_count"
}

extension QuoteBatch {
  /// Whether a line has another number of fields than the source declares: the first row and the
  /// last stand for all of their form.
  func hasOtherFields(
    than declared: (separator: UInt8, counts: Set<Int>)?, body: UnsafeRawBufferPointer
  ) -> Bool {
    guard let declared else { return false }
    return [quotes.first, quotes.last].compactMap { $0 }.contains { row in
      !declared.counts.contains(1 + body[row.line].count { $0 == declared.separator })
    }
  }
}
