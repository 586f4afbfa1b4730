import Journal
import Market

/// What an engine leaves to the next start: all of it is in the journal.
///
/// An engine that lags behind the journal does not know how many candles the rest of it holds, for
/// they are not made yet; nor are candles all that is saved. So the entries are counted as well.
package struct Unsaved: Sendable, Hashable {
  /// Made, and not stored.
  package var candles = 0
  /// Entries of the journal that the store has not taken; 0 if there was nothing left in them.
  package var entries = 0

  package init() {}

  package var isNone: Bool { candles == 0 && entries == 0 }
}

extension Unsaved: CustomStringConvertible {
  package var description: String {
    "\(counted(candles, "candle")), and \(counted(entries, "entry", "entries")) of the journal"
  }
}

extension Engine {
  var unsaved: Unsaved {
    var unsaved = Unsaved()
    guard !isSaved else { return unsaved }
    unsaved.candles = commitState.unsavedCandles + pipeline.pendingCandles
    let behind = parts.journal.lastPosition.sequence - status.journal.committed.sequence
    unsaved.entries = Int(max(behind, 0))
    return unsaved
  }
}
