/// Walks the frames of one segment, in order, from its start, using nothing whose checksums and
/// links do not say so. It never decides what a bad stretch means: a torn tail and damage look
/// alike from the front. `highestSequence(after:)` tells them apart: behind a torn tail there is
/// nothing, behind damage there are whole frames.

import CLinux
import Glibc

final class SegmentScanner {
  enum Step {
    /// A whole frame; its payload is in `withPayload`.
    case frame(FrameHeader)
    /// Nothing after the last frame.
    case end
    /// Bytes that are no frame, or not the one due here, from this offset on.
    case broken(offset: Int64)
  }

  let segment: JournalSegment
  /// Where the next frame is due.
  private(set) var offset: Int64 = 0
  /// The sequence it must have, and the checksum it must link to.
  private(set) var expected: Int64
  private(set) var link: UInt32 = 0
  private let file: Descriptor
  private var payload: [UInt8] = []
  private var payloadBytes = 0

  private static let searchChunkBytes = 1 << 20
  /// The size above which the buffer is given back before the next frame.
  private static let payloadBytesKept = 1 << 20

  convenience init(
    _ segment: JournalSegment, in directory: JournalDirectory
  ) throws(JournalError) {
    try self.init(segment, at: directory.path(of: segment.name))
  }

  init(_ segment: JournalSegment, at path: String) throws(JournalError) {
    self.segment = segment
    expected = segment.first
    file = Descriptor(try checked("open \(path)") { open(path, O_RDONLY | O_CLOEXEC) })
  }

  func step() throws(JournalError) -> Step {
    if offset == 0, try !readSegmentHeader() { return .broken(offset: 0) }
    let bytes = try read(FrameHeader.byteCount, at: offset)
    if bytes == 0 { return .end }
    let header = withPayload { FrameHeader($0) }
    guard let header, header.sequence == expected, header.previous == link else {
      return .broken(offset: offset)
    }
    guard try verifyPayload(of: header, at: offset) else { return .broken(offset: offset) }
    offset += Int64(FrameHeader.byteCount + header.payloadBytes)
    expected += 1
    link = header.checksum
    return .frame(header)
  }

  /// No name leads to the file any more: it was forgotten, or replaced by a copy.
  var isFileRemoved: Bool { isRemoved(file.number) }

  /// The payload of the frame that `step` returned last.
  func withPayload<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    payload.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[..<payloadBytes])) }
  }

  /// The highest sequence of a whole frame anywhere behind `broken`, nil if there is none. Each
  /// frame counts one, and none is shorter than a header and an entry's head: a sequence that
  /// leaves no room for those between is not ours, whatever its checksum says.
  func highestSequence(after broken: Int64) throws(JournalError) -> Int64? {
    var highest: Int64?
    var position = max(broken + 1, Int64(SegmentHeader.byteCount))
    while let candidate = try nextFrameStart(from: position) {
      position = candidate + 1
      guard try read(FrameHeader.byteCount, at: candidate) == FrameHeader.byteCount,
        let header = withPayload({ FrameHeader($0) }),
        isPlausible(header.sequence, at: candidate, behind: broken),
        try verifyPayload(of: header, at: candidate)
      else { continue }
      highest = max(highest ?? 0, header.sequence)
      position = candidate + Int64(FrameHeader.byteCount + header.payloadBytes)
    }
    return highest
  }

  private func isPlausible(_ sequence: Int64, at candidate: Int64, behind broken: Int64) -> Bool {
    let frameBytesMin = Int64(FrameHeader.byteCount + EntryMeta.byteCount)
    return sequence >= expected && sequence - expected <= (candidate - broken) / frameBytesMin
  }

  private func readSegmentHeader() throws(JournalError) -> Bool {
    guard try read(SegmentHeader.byteCount, at: 0) == SegmentHeader.byteCount,
      let header = withPayload({ SegmentHeader($0) }), header.firstSequence == segment.first
    else { return false }
    guard header.version == SegmentHeader.version else {
      throw JournalError(
        .unsupportedVersion,
        sentence: "Segment \(segment.name) has format version \(header.version).")
    }
    offset = Int64(SegmentHeader.byteCount)
    link = header.checksum
    return true
  }

  /// Reads the payload of a frame and says whether it is whole.
  private func verifyPayload(of header: FrameHeader, at start: Int64) throws(JournalError) -> Bool {
    let count = header.payloadBytes
    guard try read(count, at: start + Int64(FrameHeader.byteCount)) == count else { return false }
    return withPayload { checksum($0) } == header.payloadChecksum
  }

  /// Fills the buffer with up to `count` bytes of the file and returns how many there were.
  private func read(_ count: Int, at start: Int64) throws(JournalError) -> Int {
    if payload.count > SegmentScanner.payloadBytesKept { payload = [] }
    if payload.count < count { payload = [UInt8](repeating: 0, count: count) }
    payloadBytes = 0
    while payloadBytes < count {
      let done = payloadBytes
      let got = try checked("read segment \(segment.name)") {
        payload.withUnsafeMutableBytes {
          pread(file.number, $0.baseAddress.map { $0 + done }, count - done, off_t(start) + done)
        }
      }
      if got == 0 { break }
      payloadBytes += got
    }
    return payloadBytes
  }

  /// The next offset at which a frame header could begin.
  private func nextFrameStart(from start: Int64) throws(JournalError) -> Int64? {
    var position = start
    while let data = try nextData(from: position) {
      position = data
      let count = try read(SegmentScanner.searchChunkBytes, at: position)
      if count < FrameHeader.byteCount { return nil }
      if let found = withPayload({ FrameHeader.firstMagic(in: $0) }) {
        return position + Int64(found)
      }
      position += Int64(count - FrameHeader.magicBytes + 1)
    }
    return nil
  }

  /// The next offset that is not in a hole, nil if the rest of the file is one: a hole of any size
  /// is passed over at once. It holds zeros, and no frame begins in those.
  private func nextData(from start: Int64) throws(JournalError) -> Int64? {
    let found = uninterrupted { lseek(file.number, off_t(start), clinux_seek_data) }
    if found >= 0 { return Int64(found) }
    let number = errno
    if number == ENXIO { return nil }
    // A file system that does not know: all of it is data.
    guard number == EINVAL || number == EOPNOTSUPP else {
      throw .systemCall("read segment \(segment.name)", number: number)
    }
    return start
  }
}
