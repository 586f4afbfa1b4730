import Ingest
import Journal
import Market

/// The entries of one or several journals in the order in which they became rows. Each term begins
/// with an entry that says where its leader found the database standing, in whose journal: so the
/// term before it ends there, and what that journal holds beyond was never committed.
package struct ReplayOrder {
  /// What one leader wrote without a break.
  private struct Part {
    var path: String
    /// Read behind it, up to `end`; nil is the journal's end.
    var begin: JournalPosition
    var end: JournalPosition?
  }

  private var parts: ArraySlice<Part>
  private var current: (part: Part, reader: JournalReader)?

  private struct Start {
    var path: String
    var position: JournalPosition
    var term: TermStart
  }

  /// - Throws: `journalMismatch` where a journal is needed that was not named; `JournalError`.
  package init(_ paths: [String], from begin: JournalPosition) throws {
    var starts: [Start] = []
    for path in paths {
      starts += try ReplayOrder.starts(in: path, from: begin)
    }
    starts.sort { $0.term.term < $1.term.term }
    guard let first = starts.first else {
      guard paths.count == 1 else {
        throw HistoryError(
          .journalMismatch,
          sentence: "none of these journals continues another one: name one journal")
      }
      parts = [Part(path: paths[0], begin: begin)]
      return
    }
    var byName: [String: String] = [:]
    for path in paths { byName[try JournalIdentity.name(in: path) ?? ""] = path }
    func path(_ name: String, term: Int64) throws -> String {
      if let path = byName[name] { return path }
      throw HistoryError(
        .journalMismatch,
        sentence:
          "term \(term) continues the journal \(name) of another daemon: name its folder, too")
    }
    var found = [
      Part(
        path: try path(first.term.fromJournal, term: first.term.term), begin: begin,
        end: first.term.fromPosition)
    ]
    for (place, start) in starts.enumerated() {
      // Its first entry included: a term may have come to nothing else.
      var part = Part(path: start.path, begin: JournalPosition(start.position.sequence - 1))
      if place + 1 < starts.count {
        let next = starts[place + 1].term
        guard try path(next.fromJournal, term: next.term) == start.path else {
          throw HistoryError(
            .journalMismatch,
            sentence: "term \(next.term) does not continue the journal of term "
              + "\(start.term.term): a journal is missing")
        }
        part.end = next.fromPosition
      }
      found.append(part)
    }
    parts = found[...]
  }

  private static func starts(
    in path: String, from begin: JournalPosition
  ) throws -> [Start] {
    let reader = try opened(path, after: begin)
    var starts: [Start] = []
    while let (position, entry) = try reader.nextOverSkips() {
      if let term = entry.termStart {
        starts.append(Start(path: path, position: position, term: term))
      }
    }
    return starts
  }

  /// A journal that begins later is that of a standby, or its oldest segments were deleted.
  private static func opened(
    _ path: String, after begin: JournalPosition
  ) throws -> JournalReader {
    do {
      return try JournalReader(directory: path, after: begin)
    } catch {
      guard error.code == .missing, let held = error.available else { throw error }
      let first = JournalPosition(held.lowerBound.sequence - 1)
      let reader = try JournalReader(directory: path, after: first)
      if let (_, entry) = try reader.next(), entry.termStart != nil {
        return try JournalReader(directory: path, after: first)
      }
      throw HistoryError(
        .journalMismatch,
        sentence: "\(path): \(error.sentence): use --from-position \(first.sequence)")
    }
  }

  /// - Throws: `JournalError`.
  package mutating func next() throws -> (position: JournalPosition, entry: JournalEntry)? {
    while true {
      if let (part, reader) = current {
        let found = try reader.next()
        // What comes next may be numbers that a takeover skipped.
        if found?.position == part.end { current = nil }
        if let found, part.end.map({ found.position <= $0 }) ?? true { return found }
        current = nil
      }
      guard let part = parts.popFirst() else { return nil }
      if let end = part.end, end <= part.begin { continue }
      current = (part, try JournalReader(directory: part.path, after: part.begin))
    }
  }
}
