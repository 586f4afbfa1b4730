/// Why a backfill or a replay cannot begin, or did not come to its end.
package struct HistoryError: Error, Sendable, Hashable, CustomStringConvertible {
  package enum Code: Sendable, Hashable {
    /// No source has what is ordered.
    case invalidOrder
    /// The source wants a key, and none is configured.
    case keyMissing
    /// The source's pages do not end, or it refused the key.
    case sourceFailed
    /// The journals do not continue each other, or are not the database's.
    case journalMismatch
  }

  package let code: Code
  /// A sentence for people.
  package let description: String

  init(_ code: Code, sentence: String) {
    self.code = code
    description = sentence
  }
}
