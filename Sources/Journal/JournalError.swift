/// The one error of the journal: a code to act on, a sentence to read, and where it happened.

import Market

package struct JournalError: Error, Sendable, Hashable {
  package enum Code: String, Sendable, CaseIterable {
    /// Another process writes this journal.
    case locked
    /// The positions asked for are not in the journal; `available` says which are.
    case missing
    /// Bytes inside the journal are not what was written; the sentence says where.
    case damaged
    /// Written by a version of candled that this one does not know.
    case unsupportedVersion = "unsupported_version"
    /// No space left on the device, or a quota is used up. The journal is as it was before.
    case full
    /// An entry outside the bounds of the format. The journal is as it was before.
    case invalidEntry = "invalid_entry"
    /// A system call failed.
    case system
    /// The background sync failed: what was appended since may not survive a power cut. Appends
    /// fail until the writer has copied it into a segment that can be trusted.
    case syncFailed = "sync_failed"
  }

  package var code: Code
  /// One sentence for people.
  package var sentence: String
  /// The positions that the journal holds, with `missing`; nil when it holds none.
  package var available: ClosedRange<JournalPosition>?

  init(
    _ code: Code, sentence: String, available: ClosedRange<JournalPosition>? = nil
  ) {
    self.code = code
    self.sentence = sentence
    self.available = available
  }
}

extension JournalError: CustomStringConvertible {
  package var description: String { "\(code.rawValue): \(sentence)" }
}
