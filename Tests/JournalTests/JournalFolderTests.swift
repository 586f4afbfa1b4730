import Glibc
import Market
import Testing

@testable import Journal

/// What others may have put into a journal's folder.
@Suite struct JournalFolderTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func path(_ first: Int64) -> String {
    folder.path + "/" + JournalSegment.name(first: first)
  }

  @Test func `what is named like a segment and is no file is left alone and named`() throws {
    for entry in assortment() { _ = try JournalWriter(directory: folder.path).append(entry) }
    #expect(mkdir(path(500), 0o700) == 0)
    #expect(mkfifo(path(600), 0o600) == 0)
    #expect(symlink("/dev/zero", path(700)) == 0)
    let writer = try JournalWriter(directory: folder.path)
    #expect(
      writer.recovery.ignored == [
        "\(path(500)) is a folder", "\(path(600)) is a named pipe", "\(path(700)) is a device",
      ])
    let next = try writer.append(timer("next"))
    #expect(next.sequence == Int64(assortment().count + 1))
    #expect(try JournalReader(directory: folder.path).all() == assortment() + [timer("next")])
    #expect(try DiskUsage(directory: folder.path).segments == 1)
    let kept = try writer.retain(
      committed: next, bytesMax: 0, daysMax: 0, today: TradingDay(daysSince1970: 40_000))
    #expect(kept.deleted.isEmpty && access(path(500), F_OK) == 0)
  }

  @Test(arguments: [Int64.max, Int64.max - 1, JournalSegment.firstMax + 1])
  func `a segment's number that leaves no room to count on is none of ours`(
    first: Int64
  ) throws {
    for entry in assortment() { _ = try JournalWriter(directory: folder.path).append(entry) }
    let header = SegmentHeader(firstSequence: first).encoded
    folder.write(Array(header), to: JournalSegment.name(first: first))
    let writer = try JournalWriter(directory: folder.path)
    #expect(
      writer.recovery.ignored == ["\(path(first)) has a number too large for a journal"])
    try writer.append(timer("next"))
    #expect(try JournalReader(directory: folder.path).all() == assortment() + [timer("next")])
  }

  @Test func `what lies where the next segment belongs is set aside and kept`() throws {
    let entries = assortment()
    let writer = try JournalWriter(directory: folder.path)
    folder.write([1, 2, 3], to: JournalSegment.name(first: 1))
    for entry in entries { try writer.append(entry) }
    #expect(try JournalReader(directory: folder.path).all() == entries)
    #expect(access(path(1) + ".set-aside-1", F_OK) == 0)
  }

  @Test func `a sparse tail of 64 GiB is cut off without being read`() throws {
    for entry in assortment() { _ = try JournalWriter(directory: folder.path).append(entry) }
    let whole = Int64(try folder.bytes(of: JournalSegment.name(first: 1)).count)
    let bytes = Int64(64) << 30
    #expect(truncate(path(1), off_t(bytes)) == 0)
    #expect(try JournalReader(directory: folder.path).all() == assortment())
    let writer = try JournalWriter(directory: folder.path)
    #expect(writer.recovery.tornBytes == bytes - whole)
    #expect(writer.recovery.tornPath == path(1))
    try writer.append(timer("next"))
    #expect(try JournalReader(directory: folder.path).all() == assortment() + [timer("next")])
  }

  /// Behind a hole, too, nothing whole may be lost.
  @Test func `an entry behind a hole of 64 GiB is found`() throws {
    for entry in assortment() { _ = try JournalWriter(directory: folder.path).append(entry) }
    let bytes = try folder.bytes(of: JournalSegment.name(first: 1))
    let place = off_t(64) << 30
    let file = Descriptor(open(path(1), O_WRONLY))
    #expect(pwrite(file.number, bytes, bytes.count, place) == bytes.count)
    let scanner = try SegmentScanner(
      JournalSegment(name: JournalSegment.name(first: 1), first: 1, bytes: Int64(place)),
      at: path(1))
    // The copies' own sequences are whole frames, of no lower number than the first.
    #expect(
      try scanner.highestSequence(after: Int64(bytes.count)) == Int64(assortment().count))
  }
}
