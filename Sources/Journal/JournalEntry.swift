/// What the journal holds: one upstream response, one timer decision or one control event, as it
/// was before anybody interpreted it. Everything candled writes is a function of these entries, so
/// an entry carries all that interpretation may look at, the moments included.

import Market

/// What an entry records. The raw value is on disk: never renumber.
package enum EntryKind: UInt8, Sendable, CaseIterable {
  /// The answer of an upstream, of whatever status.
  case response = 1
  /// A decision taken because time passed and no answer came: it changes candles too.
  case timer = 2
  /// Anything else that steers the pipeline: the use of a key, the start of a term of leading.
  case control = 3
}

package struct JournalEntry: Sendable, Hashable {
  package var kind: EntryKind
  package var source: Source
  /// ASCII name of the series this entry belongs to, such as `quotes/3`. Successive entries of one
  /// series are stored as differences, so give each batch its own.
  package var key: String
  package var requestedAt: Timestamp
  package var receivedAt: Timestamp
  /// The HTTP status of a response; the caller's own number otherwise.
  package var status: Int32
  /// What was asked for, such as the comma list of symbols.
  package var request: [UInt8]
  package var body: [UInt8]

  package init(
    kind: EntryKind, source: Source, key: String, requestedAt: Timestamp, receivedAt: Timestamp,
    status: Int32, request: [UInt8], body: [UInt8]
  ) {
    self.kind = kind
    self.source = source
    self.key = key
    self.requestedAt = requestedAt
    self.receivedAt = receivedAt
    self.status = status
    self.request = request
    self.body = body
  }
}

/// The bounds of one entry. A whole-market answer in batches of 800 is 0.2 MB an entry.
enum EntryLimits {
  static let keyBytesMax = 64
  /// Request and body together.
  static let payloadBytesMax = 32 << 20
}
