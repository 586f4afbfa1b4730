/// What a writer does after a failed sync, or when its file was removed under it.
///
/// The kernel forgets what it could not write: the bytes may still be read from memory, but are
/// not known to be on the disk, and a second fsync of the same file may say they are. So whatever
/// was not synced before is suspect, and is copied out of the open file into a new one, which is
/// synced before it gets its name. A copy keeps its entries' positions: it begins inside the old
/// segment, or takes its place where all of it was suspect. `kill -9` at any point leaves each
/// entry in one of the two. What cannot even be read is lost as by a power cut; its positions are
/// not used again, and a reader reports them missing.

import CLinux
import Glibc
import Market
import Platform

package struct JournalHealing: Sendable, Hashable {
  package var times = 0
  /// Entries copied.
  package var rewritten: Int64 = 0
  /// Entries that could not be read any more.
  package var lost: Int64 = 0
}

extension JournalWriter {
  private static let temporaryName = "journal.healing"

  func healIfNeeded() throws(JournalError) {
    guard let failure = backgroundSync.failedWith else { return }
    let now = MonotonicClock.milliseconds()
    if let healTriedAt, now - healTriedAt < options.healPauseMilliseconds { throw failure }
    healTriedAt = now
    do throws(JournalError) {
      try heal()
    } catch {
      throw JournalError(
        error.code == .full ? .full : .syncFailed, sentence: error.sentence)
    }
    healTriedAt = nil
  }

  private func heal() throws(JournalError) {
    try directory.create()
    try retakeLock()
    var outcome = JournalHealing(times: 1)
    var synced = backgroundSync.syncedSequence
    let files = backgroundSync.unsyncedFiles
    var current: Copy?
    for (index, file) in files.enumerated() {
      let last = index + 1 < files.count ? files[index + 1].first - 1 : lastPosition.sequence
      let isGone = isRemoved(file.number)
      let wanted = (isGone ? file.first : max(file.first, synced + 1))..<(last + 1)
      synced = max(synced, last)
      guard !wanted.isEmpty else { continue }
      current = try copy(wanted, of: file)
      outcome.rewritten += current?.entries ?? 0
      outcome.lost += Int64(wanted.count) - (current?.entries ?? 0)
    }
    try directory.sync()
    try takeOver(current.flatMap { $0.last == lastPosition.sequence ? $0 : nil })
    healing.add(outcome)
  }

  /// Takes the lock anew: in a folder that was removed another process could begin.
  private func retakeLock() throws(JournalError) {
    if let number = lock?.number {
      if isRemoved(number) { lock = try directory.lock() }
    } else if let identity, identity.isRemoved {
      lock = try directory.lock()
      try identity.restore()
    }
  }

  /// A segment that is on the disk and has its name. Closes its file unless that is taken over.
  private final class Copy {
    var segment: OpenSegment
    var entries: Int64 = 0
    private var file: Descriptor?

    init(_ segment: OpenSegment, file: consuming Descriptor) {
      self.segment = segment
      self.file = consume file
    }

    var last: Int64 { segment.first + entries - 1 }

    func takeFile() -> Descriptor? { file.take() }
  }

  /// Copies what can still be read of `wanted`, without a break from its first; nil if nothing
  /// can.
  private func copy(
    _ wanted: Range<Int64>, of file: BackgroundSync.OpenFile
  ) throws(JournalError) -> Copy? {
    let old = JournalSegment(
      name: JournalSegment.name(first: file.first), first: file.first, bytes: 0)
    let decoder = try EntryDecoder()
    // Through the descriptor: the file may have no name any more.
    guard let scanner = try? SegmentScanner(old, at: "/proc/self/fd/\(file.number)") else {
      return nil
    }
    let path = directory.path(of: JournalWriter.temporaryName)
    let copy = try begin(wanted.lowerBound, at: path)
    do throws(JournalError) {
      while case .frame(let header)? = try? scanner.step(), header.sequence < wanted.upperBound,
        let entry = scanner.withPayload({ decoder.decode($0) })
      {
        guard header.sequence >= wanted.lowerBound else { continue }
        try put(entry, at: header.sequence, in: &copy.segment)
        copy.entries += 1
      }
      guard copy.entries > 0 else {
        _ = unlink(path)
        return nil
      }
      try finish(copy.segment, at: path)
    } catch {
      _ = unlink(path)
      throw error
    }
    return copy
  }

  private func begin(_ first: Int64, at path: String) throws(JournalError) -> Copy {
    let name = JournalSegment.name(first: first)
    let file = Descriptor(
      try checked("create \(path)") {
        open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o640)
      })
    let header = SegmentHeader(firstSequence: first)
    let number = file.number
    let copy = Copy(
      OpenSegment(name: name, first: first, file: number, bytes: 0, link: header.checksum),
      file: file)
    encoder.reset()
    do throws(JournalError) {
      try header.encoded.withUnsafeBytes { write($0, to: copy.segment) }.get()
    } catch {
      _ = unlink(path)
      throw error
    }
    copy.segment.bytes = Int64(SegmentHeader.byteCount)
    return copy
  }

  private func finish(_ segment: OpenSegment, at path: String) throws(JournalError) {
    _ = try checked("sync \(path)") { systemSync(segment.file) }
    _ = try checked("name \(path)") {
      rename(path, directory.path(of: segment.name))
    }
  }

  /// Everything suspect is copied or lost: goes on in the last copy, or in a new segment.
  private func takeOver(_ copy: Copy?) throws(JournalError) {
    backgroundSync.stop()
    backgroundSync = BackgroundSync(
      directory: directory, intervalMilliseconds: options.syncIntervalMilliseconds,
      synced: lastPosition.sequence, systemSync: systemSync)
    segment = nil
    if let copy, let file = copy.takeFile() {
      segment = copy.segment
      try backgroundSync.adopt(file, first: copy.segment.first, isNew: false)
    } else {
      // One that was begun and has no entry yet would be in the new one's way.
      _ = unlink(directory.path(of: JournalSegment.name(first: lastPosition.sequence + 1)))
    }
  }
}

extension JournalHealing {
  fileprivate mutating func add(_ other: JournalHealing) {
    times += other.times
    rewritten += other.rewritten
    lost += other.lost
  }
}
