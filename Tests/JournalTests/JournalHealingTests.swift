import Glibc
import Market
import TestSupport
import Testing

@testable import Journal

/// A journal whose disk fails and comes back.
@Suite struct JournalHealingTests {
  private let disk = FaultyDisk()

  private func writer(in folder: TemporaryFolder, segmentBytes: Int64 = 64 << 20) throws
    -> JournalWriter
  {
    var options = disk.options
    options.segmentBytes = segmentBytes
    let writer = try JournalWriter(directory: folder.path, options: options)
    disk.attach(to: writer)
    return writer
  }

  private func numbered(_ range: Range<Int>) -> [JournalEntry] { range.map { timer("\($0)") } }

  /// Appends what the writer refuses to know of until it does.
  private func failSync(_ writer: JournalWriter) throws {
    disk.order(syncError: EIO)
    try writer.append(timer("suspect"))
    let error = #expect(throws: JournalError.self) { try writer.sync() }
    #expect(error?.code == .syncFailed)
  }

  @Test func `after a failed sync nothing is taken until it can be brought to the disk`() throws {
    let folder = try TemporaryFolder()
    let writer = try writer(in: folder)
    for entry in numbered(0..<5) { try writer.append(entry) }
    try writer.sync()
    try failSync(writer)
    let error = #expect(throws: JournalError.self) { try writer.append(timer("refused")) }
    #expect(error?.code == .syncFailed)
    #expect(writer.lastPosition == JournalPosition(6))
    disk.heal()
    #expect(try writer.append(timer("healed")) == JournalPosition(7))
    try writer.sync()
    #expect(writer.syncedPosition == JournalPosition(7))
    #expect(writer.healing == JournalHealing(times: 1, rewritten: 1))
    let entries = try JournalReader(directory: folder.path).all()
    #expect(entries == numbered(0..<5) + [timer("suspect"), timer("healed")])
  }

  @Test func `what a failed sync left suspect may be gone from the old segment`() throws {
    let folder = try TemporaryFolder()
    let writer = try writer(in: folder)
    for entry in numbered(0..<5) { try writer.append(entry) }
    try writer.sync()
    let old = try #require(folder.segmentNames.first)
    let durable = try folder.bytes(of: old).count
    try failSync(writer)
    disk.heal()
    try writer.append(timer("healed"))
    // What a power cut may leave of pages that never reached the disk.
    var bytes = try folder.bytes(of: old)
    for index in durable..<bytes.count { bytes[index] = 0 }
    folder.write(bytes, to: old)
    let expected = numbered(0..<5) + [timer("suspect"), timer("healed")]
    #expect(try JournalReader(directory: folder.path).all() == expected)
    let reader = try JournalReader(directory: folder.path, after: JournalPosition(5))
    #expect(try reader.all() == Array(expected.suffix(2)))
  }

  @Test func `a reader that was inside the suspect part goes on in the copy`() throws {
    let folder = try TemporaryFolder()
    let writer = try writer(in: folder)
    let reader = try JournalReader(directory: folder.path)
    // All of the segment is suspect: its copy takes its place.
    try failSync(writer)
    #expect(try reader.all() == [timer("suspect")])
    disk.heal()
    try writer.append(timer("healed"))
    #expect(folder.segmentNames.count == 1)
    #expect(try reader.all() == [timer("healed")])
  }

  @Test func `a failed sync over several segments heals each of them`() throws {
    let folder = try TemporaryFolder()
    let writer = try writer(in: folder, segmentBytes: 1)
    disk.order(syncError: EIO)
    for entry in numbered(0..<3) { _ = try? writer.append(entry) }
    let taken = Int(writer.lastPosition.sequence)
    disk.heal()
    for entry in numbered(taken..<6) { try writer.append(entry) }
    try writer.sync()
    #expect(try JournalReader(directory: folder.path).all() == numbered(0..<6))
  }

  @Test func `a journal removed under its writer is made again with what is still open`() throws {
    let folder = try TemporaryFolder()
    let writer = try writer(in: folder)
    for entry in numbered(0..<4) { try writer.append(entry) }
    try writer.sync()
    folder.empty()
    rmdir(folder.path)
    try writer.append(timer("into nothing"))
    #expect(throws: JournalError.self) { try writer.sync() }
    try writer.append(timer("healed"))
    try writer.sync()
    #expect(
      try JournalReader(directory: folder.path).all()
        == numbered(0..<4) + [timer("into nothing"), timer("healed")])
    // The lock is held again as well.
    let error = #expect(throws: JournalError.self) { try JournalWriter(directory: folder.path) }
    #expect(error?.code == .locked)
  }

  @Test func `a full disk costs old segments before it costs an entry`() throws {
    let folder = try TemporaryFolder()
    var options = JournalOptions()
    options.segmentBytes = 1
    let writer = try JournalWriter(directory: folder.path, options: options)
    for body in ["a", "b", "c", "d"] { _ = try writer.append(response(body)) }
    try writer.sync()
    let first = folder.segmentNames
    writer.systemWrite = { file, bytes, offset in
      guard folder.segmentNames.count > 3 else {
        return pwrite(file, bytes.baseAddress, bytes.count, offset)
      }
      errno = ENOSPC
      return -1
    }
    var gone: [String] = []
    let refused = #expect(throws: JournalError.self) {
      _ = try writer.append(response("e"), makingRoomUpTo: JournalPosition(0)) {
        gone.append($0.name)
      }
    }
    #expect(refused?.code == .full && gone.isEmpty)
    _ = try writer.append(response("e"), makingRoomUpTo: writer.lastPosition) {
      gone.append($0.name)
    }
    #expect(!gone.isEmpty && gone == Array(first.prefix(gone.count)))
    #expect(folder.segmentNames.count == 3)
  }

  @Test(arguments: [ENOSPC, EDQUOT, EIO, EROFS])
  func `a segment that cannot be begun is begun when it can`(error: Int32) throws {
    let folder = try TemporaryFolder()
    let writer = try writer(in: folder, segmentBytes: 1)
    try writer.append(timer("0"))
    disk.order(writeError: error, after: 7)
    let thrown = #expect(throws: JournalError.self) { try writer.append(timer("refused")) }
    #expect(thrown?.code == (error == ENOSPC || error == EDQUOT ? .full : .system))
    #expect(folder.segmentNames.count == 1)
    disk.heal()
    #expect(try writer.append(timer("1")) == JournalPosition(2))
    #expect(try JournalReader(directory: folder.path).all() == numbered(0..<2))
  }

  @Test func `a disk that is full while healing leaves the journal as it was`() throws {
    let folder = try TemporaryFolder()
    let writer = try writer(in: folder)
    try writer.append(timer("0"))
    try writer.sync()
    try failSync(writer)
    disk.order(writeError: ENOSPC, after: 30)
    let error = #expect(throws: JournalError.self) { try writer.append(timer("refused")) }
    #expect(error?.code == .full)
    #expect(folder.names.allSatisfy { $0 != "journal.healing" })
    disk.heal()
    try writer.append(timer("1"))
    #expect(
      try JournalReader(directory: folder.path).all()
        == [timer("0"), timer("suspect"), timer("1")])
  }

  @Test func `unreadable entries are reported missing and their positions stay used`() throws {
    let folder = try TemporaryFolder()
    let writer = try writer(in: folder)
    try writer.append(timer("0"))
    try writer.sync()
    let name = try #require(folder.segmentNames.first)
    let durable = try folder.bytes(of: name).count
    try failSync(writer)
    truncate(folder.path + "/" + name, off_t(durable))
    disk.heal()
    #expect(try writer.append(timer("healed")) == JournalPosition(3))
    #expect(writer.healing.lost == 1)
    let reader = try JournalReader(directory: folder.path, after: JournalPosition(1))
    let error = #expect(throws: JournalError.self) { try reader.all() }
    #expect(error?.code == .missing)
    #expect(try reader.skipDamage() == JournalPosition(3))
    #expect(try reader.all() == [timer("healed")])
  }

  @Test(arguments: 0..<40)
  func `every entry that was taken is read back once, in order`(seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    let folder = try TemporaryFolder()
    var run: FaultyRun? = try FaultyRun(
      folder, disk, segmentBytes: Int64.random(in: 200...4_000, using: &random))
    var taken: [JournalEntry] = []
    for number in 0..<150 {
      switch Int.random(in: 0..<20, using: &random) {
      case 0:
        disk.order(
          writeError: [ENOSPC, EIO, EDQUOT].randomElement(using: &random) ?? EIO,
          after: Int.random(in: 0...200, using: &random))
      case 1: disk.order(syncError: EIO)
      case 2, 3, 4: disk.heal()
      case 5: try? run?.writer.sync()
      case 6:
        disk.heal()
        run = nil
        run = try FaultyRun(folder, disk, segmentBytes: 1_000)
      default:
        let entry =
          Bool.random(using: &random)
          ? response(String(repeating: "line \(number % 7)\n", count: number % 13))
          : timer("\(number)")
        if (try? run?.writer.append(entry)) != nil { taken.append(entry) }
      }
    }
    #expect(run?.writer.healing.lost == 0, "seed \(seed)")
    let read = try JournalReader(directory: folder.path).all()
    #expect(read == taken, "seed \(seed)")
  }
}

private struct FaultyRun {
  let writer: JournalWriter

  init(_ folder: TemporaryFolder, _ disk: FaultyDisk, segmentBytes: Int64) throws {
    var options = disk.options
    options.segmentBytes = segmentBytes
    writer = try JournalWriter(directory: folder.path, options: options)
    disk.attach(to: writer)
  }
}
