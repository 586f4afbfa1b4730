/// The one writer of a journal. An append is one write(2): once it returned, `kill -9` loses
/// nothing; a power cut loses at most what the background sync had not reached (`syncedPosition`).
///
/// Not Sendable: it belongs to one isolation domain, which is what keeps positions in order
/// without a lock. It must never leave the file with half an entry in front of a whole one: a
/// write that fails is cut off again before the error is thrown.

import Glibc
import Market

package struct JournalOptions: Sendable {
  /// A segment is closed once it has reached this size, and at a new Shanghai day.
  package var segmentBytes: Int64 = 64 << 20
  /// How long appends gather before the background sync brings them to the disk.
  package var syncIntervalMilliseconds = 200
  /// The pause from one attempt to heal a failed sync to the next.
  package var healPauseMilliseconds: Int64 = 1_000
  /// Replaced in tests, to fail at a chosen sync.
  var systemSync: BackgroundSync.SystemSync = { fdatasync($0) }

  package init() {}
}

package final class JournalWriter {
  /// What opening found and did.
  package let recovery: JournalRecovery
  /// The entry appended last, over the journal's whole life.
  package private(set) var lastPosition: JournalPosition

  let directory: JournalDirectory
  let options: JournalOptions
  /// nil where the journal's identity holds it.
  var lock: Descriptor?
  let identity: JournalIdentity?
  let encoder: EntryEncoder
  var backgroundSync: BackgroundSync
  var segment: OpenSegment?
  /// What failed syncs have cost so far.
  package internal(set) var healing = JournalHealing()
  var healTriedAt: Int64?
  /// Segments begun since it was opened: that the number moved says it is time to forget some.
  package internal(set) var segmentsBegun = 0
  /// The last entry of the finished segments: those may be deleted once the store has it.
  package var finishedPosition: JournalPosition {
    segment.map { JournalPosition($0.first - 1) } ?? .start
  }
  /// Replaced in tests, to run out of space at a chosen byte.
  var systemWrite: (Int32, UnsafeRawBufferPointer, off_t) -> Int = { file, bytes, offset in
    pwrite(file, bytes.baseAddress, bytes.count, offset)
  }
  var systemSync: BackgroundSync.SystemSync { options.systemSync }

  /// The segment that grows. Its descriptor belongs to the background sync.
  struct OpenSegment {
    var name: String
    var first: Int64
    var file: Int32
    var bytes: Int64
    /// What the next frame links to.
    var link: UInt32
    /// The day of its first entry; nil while it has none.
    var day: TradingDay?
  }

  /// Opens the journal in `directory` (made if it does not exist), cuts off a torn tail and takes
  /// the lock. `committed` is how far the store has come: should a power cut have taken entries
  /// the store has already seen, numbering goes on behind them and no position is used twice.
  /// `identity` is that of the folder if this process holds it already.
  /// Throws `locked`, `unsupportedVersion`, `system`, `full`.
  package init(
    directory path: String, options: JournalOptions = JournalOptions(),
    committed: JournalPosition = .start, identity: JournalIdentity? = nil
  ) throws(JournalError) {
    precondition(identity.map { $0.path == path } ?? true, "an identity is its folder's")
    directory = JournalDirectory(path: path)
    self.options = options
    try directory.create()
    self.identity = identity
    lock = identity == nil ? try directory.lock() : nil
    encoder = try EntryEncoder()
    var found = try JournalRecovery.run(in: directory)
    found.skip(to: committed)
    recovery = found
    lastPosition = found.lastPosition
    backgroundSync = BackgroundSync(
      directory: directory, intervalMilliseconds: options.syncIntervalMilliseconds,
      synced: found.lastPosition.sequence, systemSync: options.systemSync)
    if let tail = found.tail { try reopen(tail) }
  }

  deinit { backgroundSync.stop() }

  /// Everything up to here survives a power cut.
  package var syncedPosition: JournalPosition { JournalPosition(backgroundSync.syncedSequence) }

  /// Appends an entry and returns its position. Throws `full`, `system` and `invalidEntry` with the
  /// journal as it was, so that a later append can succeed; `syncFailed` likewise, and until what
  /// could not be synced is copied to where it can be.
  @discardableResult
  package func append(_ entry: JournalEntry) throws(JournalError) -> JournalPosition {
    try healIfNeeded()
    let sequence = lastPosition.sequence + 1
    var segment = try segmentForAppend(on: entry.receivedAt.shanghaiDay, sequence: sequence)
    try put(entry, at: sequence, in: &segment)
    self.segment = segment
    lastPosition = JournalPosition(sequence)
    backgroundSync.appended(sequence)
    return lastPosition
  }

  /// Waits until everything appended is on the disk. Throws `syncFailed`.
  package func sync() throws(JournalError) { try backgroundSync.sync() }

  /// Writes the entry at the segment's end, or nothing.
  func put(
    _ entry: JournalEntry, at sequence: Int64, in segment: inout OpenSegment
  ) throws(JournalError) {
    let link = try encoder.encode(entry, sequence: sequence, previous: segment.link)
    let target = segment
    try encoder.withFrame { frame in write(frame, to: target) }.get()
    encoder.commit()
    segment.bytes += Int64(encoder.frameBytes)
    segment.link = link
    segment.day = segment.day ?? entry.receivedAt.shanghaiDay
  }

  private func segmentForAppend(
    on day: TradingDay, sequence: Int64
  ) throws(JournalError) -> OpenSegment {
    if let segment {
      let isFull = segment.bytes >= options.segmentBytes
      if segment.day == nil || (segment.day == day && !isFull) { return segment }
    }
    return try createSegment(first: sequence)
  }

  private func createSegment(first: Int64) throws(JournalError) -> OpenSegment {
    let name = JournalSegment.name(first: first)
    let path = directory.path(of: name)
    setAside(path)
    let file = Descriptor(
      try checked("create \(path)") {
        open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o640)
      })
    let header = SegmentHeader(firstSequence: first)
    var created = OpenSegment(
      name: name, first: first, file: file.number, bytes: 0, link: header.checksum)
    do throws(JournalError) {
      try header.encoded.withUnsafeBytes { write($0, to: created) }.get()
    } catch {
      _ = unlink(path)
      throw error
    }
    created.bytes = Int64(SegmentHeader.byteCount)
    segment = created
    segmentsBegun += 1
    encoder.reset()
    try backgroundSync.adopt(file, first: first, isNew: true)
    return created
  }

  /// What lies where a new segment belongs was never written by this journal, whose lock keeps
  /// other writers out: it is kept under another name, or no append would ever succeed.
  private func setAside(_ path: String) {
    for number in 1...Self.setAsideMax {
      let other = "\(path).set-aside-\(number)"
      guard link(path, other) == 0 else {
        if errno == EEXIST { continue }
        return
      }
      unlink(path)
      return
    }
  }

  private static let setAsideMax = 100

  /// Goes on in the last segment, which recovery has made sound.
  private func reopen(_ tail: JournalRecovery.Tail) throws(JournalError) {
    let path = directory.path(of: tail.segment.name)
    let file = Descriptor(try checked("open \(path)") { open(path, O_RDWR | O_CLOEXEC) })
    segment = OpenSegment(
      name: tail.segment.name, first: tail.segment.first, file: file.number, bytes: tail.bytes,
      link: tail.link, day: tail.day)
    try backgroundSync.adopt(file, first: tail.segment.first, isNew: false)
  }

  /// All of the bytes at the segment's end, or none.
  func write(
    _ bytes: UnsafeRawBufferPointer, to segment: OpenSegment
  ) -> Result<Void, JournalError> {
    var done = 0
    while done < bytes.count {
      let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
      let count = uninterrupted { systemWrite(segment.file, rest, off_t(segment.bytes) + done) }
      if count <= 0 {
        let number = count == 0 ? ENOSPC : errno
        let error = JournalError.systemCall(
          "append to the journal's segment \(segment.name)", number: number)
        _ = ftruncate(segment.file, off_t(segment.bytes))
        return .failure(error)
      }
      done += count
    }
    return .success(())
  }
}
