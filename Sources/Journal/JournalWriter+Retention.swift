/// Forgetting: whole segments go, the oldest first, and never one that holds an entry the store
/// has not committed. Where that rule and a limit on bytes collide, the rule wins and the caller
/// is told by how much.

import Glibc
import Market

package struct JournalRetention: Sendable, Hashable {
  /// What went, the oldest first.
  package var deleted: [JournalSegment] = []
  /// What the journal takes now.
  package var bytes: Int64 = 0
  /// How much that is over `bytesMax`: segments still needed, or the one being written.
  package var bytesOver: Int64 = 0
  /// The segment being written.
  package var bytesWriting: Int64 = 0
}

extension JournalWriter {
  /// Deletes the oldest segments while the journal is larger than `bytesMax` or they are older
  /// than `daysMax` calendar days before `today`, but only those whose entries are all at or
  /// before `committed`, and never the one being written. nil is no limit.
  package func retain(
    committed: JournalPosition, bytesMax: Int64?, daysMax: Int?, today: TradingDay
  ) throws(JournalError) -> JournalRetention {
    let segments = try directory.segments()
    var retention = JournalRetention()
    retention.bytes = segments.reduce(0) { $0 + $1.bytes }
    for segment in forgettable(segments, upTo: committed) {
      let isTooMuch = bytesMax.map { retention.bytes > $0 } ?? false
      let isTooOld = try daysMax.map { (days) throws(JournalError) in
        try directory.day(of: segment).map { $0.distance(to: today) > days } ?? false
      }
      guard isTooMuch || isTooOld == true, isSynced(segment) else { break }
      try delete(segment)
      retention.deleted.append(segment)
      retention.bytes -= segment.bytes
    }
    if !retention.deleted.isEmpty { try directory.sync() }
    retention.bytesOver = bytesMax.map { max(0, retention.bytes - $0) } ?? 0
    retention.bytesWriting = segment?.bytes ?? 0
    return retention
  }

  /// Appends as `append` does. Where the disk is full the oldest segments that are not needed go
  /// first, whatever the limits allow: recording goes before history.
  /// - Parameters:
  ///   - committed: up to here nothing is needed.
  ///   - deleted: called with each segment that was deleted.
  package func append(
    _ entry: JournalEntry, makingRoomUpTo committed: JournalPosition,
    deleted: (JournalSegment) -> Void
  ) throws(JournalError) -> JournalPosition {
    while true {
      do throws(JournalError) {
        return try append(entry)
      } catch {
        guard error.code == .full, let segment = try? makeRoom(committed: committed) else {
          throw error
        }
        deleted(segment)
      }
    }
  }

  /// nil if all that is there is needed.
  private func makeRoom(
    committed: JournalPosition
  ) throws(JournalError) -> JournalSegment? {
    guard let oldest = forgettable(try directory.segments(), upTo: committed).first,
      isSynced(oldest)
    else { return nil }
    try delete(oldest)
    return oldest
  }

  /// The segments whose entries are all committed, oldest first; never the one being written.
  private func forgettable(
    _ segments: [JournalSegment], upTo committed: JournalPosition
  ) -> [JournalSegment] {
    zip(segments, segments.dropFirst()).prefix { segment, next in
      next.first - 1 <= committed.sequence && segment.first != self.segment?.first
    }.map(\.0)
  }

  /// Whether no sync will look for it: to one, a file without a name is a failure. The sync is
  /// waited for where a segment that shall go was written only just now.
  private func isSynced(_ segment: JournalSegment) -> Bool {
    if !backgroundSync.isOpen(segment) { return true }
    try? sync()
    return !backgroundSync.isOpen(segment)
  }

  private func delete(_ segment: JournalSegment) throws(JournalError) {
    let path = directory.path(of: segment.name)
    _ = try checked("delete \(path)") { unlink(path) }
  }
}

extension JournalDirectory {
  /// The Shanghai day of the segment's first entry, nil when that cannot be read.
  func day(of segment: JournalSegment) throws(JournalError) -> TradingDay? {
    let scanner = try SegmentScanner(segment, in: self)
    guard case .frame = try scanner.step() else { return nil }
    return scanner.withPayload { EntryMeta($0)?.receivedAt.shanghaiDay }
  }
}
