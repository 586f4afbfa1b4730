/// What a writer does with what it finds: the last segment is walked to its end, a torn tail is
/// cut off, and damage in front of whole entries is left where it is, for a reader to report. No
/// whole entry is ever removed.

import Glibc
import Market

package struct JournalRecovery: Sendable, Hashable {
  /// The last entry in the journal, or the last position that the store had committed, should a
  /// power cut have taken that from the journal.
  package private(set) var lastPosition: JournalPosition = .start
  /// Bytes of an entry that a crash interrupted, cut off.
  package private(set) var tornBytes: Int64 = 0
  /// The file they were cut off from.
  package private(set) var tornPath: String?
  /// What is named like a segment and is none, a sentence each, with its path.
  package private(set) var ignored: [String] = []
  /// Damage in the last segment with whole entries behind it. Writing goes on in a new segment.
  package private(set) var damage: JournalError?
  /// The segment to go on in, if any.
  private(set) var tail: Tail?

  struct Tail: Sendable, Hashable {
    var segment: JournalSegment
    var bytes: Int64
    var link: UInt32
    var day: TradingDay?
  }

  static func run(in directory: JournalDirectory) throws(JournalError) -> JournalRecovery {
    var recovery = JournalRecovery()
    let listing = try directory.listing()
    let segments = listing.segments
    recovery.ignored = listing.ignored
    guard let last = segments.last else { return recovery }
    try recovery.examine(last, in: directory)
    // A crash may have come before the background sync reached the end of the segment before.
    for segment in segments.suffix(2) { try sync(segment, in: directory) }
    try directory.sync()
    return recovery
  }

  /// Continues numbering behind `committed` if the journal ends before it.
  mutating func skip(to committed: JournalPosition) {
    guard committed > lastPosition else { return }
    lastPosition = committed
    tail = nil
  }

  private mutating func examine(
    _ segment: JournalSegment, in directory: JournalDirectory
  ) throws(JournalError) {
    let scanner = try SegmentScanner(segment, in: directory)
    var day: TradingDay?
    while true {
      switch try scanner.step() {
      case .frame:
        day = day ?? scanner.withPayload { EntryMeta($0)?.receivedAt.shanghaiDay }
      case .end:
        lastPosition = JournalPosition(scanner.expected - 1)
        tail = Tail(segment: segment, bytes: scanner.offset, link: scanner.link, day: day)
        return
      case .broken(let offset):
        if let highest = try scanner.highestSequence(after: offset) {
          lastPosition = JournalPosition(highest)
          damage = .damage(in: segment, at: offset)
          return
        }
        try cut(segment, at: offset, in: directory)
        return try examine(segment, in: directory)
      }
    }
  }

  /// Removes what stands behind the last whole entry; a segment whose very header is torn gets a
  /// new one.
  private mutating func cut(
    _ segment: JournalSegment, at offset: Int64, in directory: JournalDirectory
  ) throws(JournalError) {
    let path = directory.path(of: segment.name)
    let file = Descriptor(try checked("open \(path)") { open(path, O_RDWR | O_CLOEXEC) })
    tornBytes = segment.bytes - offset
    tornPath = path
    _ = try checked("truncate a torn entry of \(path)") {
      ftruncate(file.number, off_t(offset))
    }
    guard offset == 0 else { return }
    let header = SegmentHeader(firstSequence: segment.first).encoded
    let written = try checked("write the header of \(path)") {
      pwrite(file.number, header, header.count, 0)
    }
    guard written == header.count else {
      throw .systemCall("write the header of \(path)", number: ENOSPC)
    }
  }

  private static func sync(
    _ segment: JournalSegment, in directory: JournalDirectory
  ) throws(JournalError) {
    let path = directory.path(of: segment.name)
    let file = Descriptor(try checked("open \(path)") { open(path, O_RDWR | O_CLOEXEC) })
    _ = try checked("sync \(path)") { fdatasync(file.number) }
  }
}

extension JournalError {
  static func damage(in segment: JournalSegment, at offset: Int64) -> JournalError {
    JournalError(.damaged, sentence: "Segment \(segment.name) is damaged at byte \(offset).")
  }
}
