import Journal
import Market

/// The first entry of a term that went on from another daemon's: what stands before it in its
/// journal and was not committed never will be, and what it began from is in the other journal.
/// Without it a replay would take the entries of two terms for one run.
package struct TermStart: Sendable, Hashable {
  package var term: Int64
  /// The identity of the journal whose position was stored.
  package var fromJournal: String
  package var fromPosition: JournalPosition

  package init(term: Int64, fromJournal: String, fromPosition: JournalPosition) {
    self.term = term
    self.fromJournal = fromJournal
    self.fromPosition = fromPosition
  }

  static let series = "term"

  /// `7 0123456789abcdef 84211`: the term, the journal, the position in it.
  var text: String { "\(term) \(fromJournal) \(fromPosition.sequence)" }

  init?(text: String) {
    let words = text.split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 3, let term = Int64(words[0]), let place = Int64(words[2]),
      place >= 0
    else { return nil }
    self.init(
      term: term, fromJournal: String(words[1]), fromPosition: JournalPosition(place))
  }
}

extension JournalEntry {
  static func termStart(_ start: TermStart, at moment: Timestamp) -> JournalEntry {
    control(start.text, of: .live, key: TermStart.series, at: moment)
  }

  /// nil for an entry of another kind.
  package var termStart: TermStart? {
    guard kind == .control, key == TermStart.series else { return nil }
    return TermStart(text: String(decoding: request, as: UTF8.self))
  }
}
