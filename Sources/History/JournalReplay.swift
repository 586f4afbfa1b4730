import Commits
import Ingest
import Journal
import Market

/// A journal read again from its first entry: into commits, or compared with tables. The rows that
/// the daemon wrote are a function of its journal; this makes them once more.
package struct JournalReplay {
  /// As far as it has come.
  package private(set) var pipeline: Pipeline
  private let journals: [String]
  private var order: ReplayOrder
  /// Read, and not yet processed.
  private var held: (position: JournalPosition, entry: JournalEntry)?
  private var spanStart: Timestamp?

  /// Entries received within so long share a commit: about a sweep, as in the daemon.
  private static let commitSpanMicroseconds: Int64 = 1_000_000

  /// - Parameters:
  ///   - pipeline: as it was before the first entry.
  ///   - journals: the folders, one of each daemon that led.
  ///   - begin: entries up to this one are not read.
  /// - Throws: `HistoryError`, `JournalError`.
  package init(
    _ pipeline: Pipeline, of journals: [String], after begin: JournalPosition = .start
  ) throws {
    self.pipeline = pipeline
    self.journals = journals
    order = try ReplayOrder(journals, from: begin)
  }

  /// - Returns: the rows of the next entries; nil at the end.
  package mutating func nextCommit() throws -> Commit? {
    while let (position, entry) = try nextEntry() {
      let start = spanStart ?? entry.receivedAt
      let span = entry.receivedAt.microseconds(since: start)
      if span >= Self.commitSpanMicroseconds, let commit = pipeline.takeCommit() {
        spanStart = nil
        held = (position, entry)
        return commit
      }
      spanStart = start
      pipeline.process(entry, at: position)
    }
    return pipeline.takeCommit()
  }

  private mutating func nextEntry() throws -> (position: JournalPosition, entry: JournalEntry)? {
    guard let next = held else { return try order.next() }
    held = nil
    return next
  }

  /// Compares what it makes with `tables`, up to the entry that they stand at.
  /// - Throws: `HistoryError`, `JournalError`, `StoreError`.
  package mutating func differences(
    from tables: some ReplayedTables, at stored: JournalPosition
  ) throws -> ReplayDifferences {
    var verification = try ReplayVerification(tables)
    while pipeline.position < stored, let (position, entry) = try order.next() {
      if verification.isEmpty {
        pipeline.know(try tables.serving().filter { $0.since < entry.receivedAt })
      }
      pipeline.process(entry, at: position)
      try verification.record(entry.receivedAt)
      if let commit = pipeline.takeCommit() { try verification.add(commit) }
    }
    guard pipeline.position == stored else {
      throw HistoryError(
        .journalMismatch,
        sentence: "the database stands at journal entry \(stored.sequence), "
          + "\(journals.joined(separator: ", ")) ends at \(pipeline.position.sequence): "
          + "this is another journal, or entries were lost")
    }
    try verification.finish()
    return verification.differences
  }
}
