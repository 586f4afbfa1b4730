import Glibc
import Market
import TestSupport
import Testing

@testable import Journal

@Suite struct JournalDamageTests {
  let folder: TemporaryFolder
  let entries = assortment()
  /// Where each entry ends in the one segment that holds them all.
  let ends: [Int]
  let whole: [UInt8]
  let name = JournalSegment.name(first: 1)

  init() throws {
    folder = try TemporaryFolder()
    var ends: [Int] = []
    do {
      let writer = try JournalWriter(directory: folder.path)
      for entry in entries {
        try writer.append(entry)
        ends.append(Int(try #require(writer.segment).bytes))
      }
    }
    self.ends = ends
    whole = try folder.bytes(of: name)
  }

  /// Opening and appending must give back exactly the entries that end within `length` and then
  /// the new one.
  private func expectRecovery(of bytes: [UInt8], length: Int, _ comment: Comment) throws {
    folder.empty()
    folder.write(bytes, to: name)
    let kept = ends.count { $0 <= length }
    #expect(try JournalReader(directory: folder.path).all() == Array(entries[..<kept]), comment)
    let writer = try JournalWriter(directory: folder.path)
    #expect(writer.recovery.damage == nil, comment)
    #expect(try writer.append(timer("next")).sequence == Int64(kept + 1), comment)
    let read = try JournalReader(directory: folder.path).all()
    #expect(read == Array(entries[..<kept]) + [timer("next")], comment)
  }

  @Test func `a tail torn at any byte is cut off and no whole entry is lost`() throws {
    for length in 0...whole.count {
      try expectRecovery(of: Array(whole[..<length]), length: length, "cut at \(length)")
    }
  }

  @Test func `a tail of zeros after any byte is cut off`() throws {
    for length in 0..<whole.count {
      let zeros = [UInt8](repeating: 0, count: 200)
      // A last byte that is zero anyway makes the entry whole.
      let missing = whole[length...].prefix { $0 == 0 }.count
      try expectRecovery(
        of: whole[..<length] + zeros, length: length + missing, "zeros from \(length)")
    }
  }

  @Test func `garbage after any byte is cut off`() throws {
    let seed = UInt64.random(in: .min ... .max)
    var generator = SplitMix(seed: seed)
    for length in 0..<whole.count {
      let garbage = (0..<60).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
      let lucky = zip(whole[length...], garbage).prefix { $0 == $1 }.count
      try expectRecovery(
        of: whole[..<length] + garbage, length: length + lucky,
        "garbage from \(length), seed \(seed)")
    }
  }

  @Test func `a flipped bit anywhere is found, and nothing before or behind it is lost`() throws {
    let seed = UInt64.random(in: .min ... .max)
    var generator = SplitMix(seed: seed)
    for index in whole.indices {
      let comment: Comment = "byte \(index), seed \(seed)"
      var bytes = whole
      bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
      folder.empty()
      folder.write(bytes, to: name)
      let before = index < SegmentHeader.byteCount ? 0 : ends.count { $0 <= index }
      let reader = try JournalReader(directory: folder.path)
      for entry in entries[..<before] { #expect(try reader.next()?.entry == entry, comment) }
      let isLast = before == entries.count - 1
      let writer = try JournalWriter(directory: folder.path)
      if isLast {
        #expect(try reader.next() == nil, comment)
        #expect(try writer.append(timer("x")).sequence == Int64(before + 1), comment)
        continue
      }
      let start = index < SegmentHeader.byteCount ? 0 : ([SegmentHeader.byteCount] + ends)[before]
      let error = #expect(throws: JournalError.self, comment) { try reader.next() }
      #expect(error?.code == .damaged && writer.recovery.damage == error, comment)
      #expect(error?.sentence == "Segment \(name) is damaged at byte \(start).", comment)
      #expect(try reader.skipDamage() == nil, comment)
      #expect(try writer.append(timer("x")).sequence == Int64(entries.count + 1), comment)
      #expect(try reader.skipDamage() == JournalPosition(Int64(entries.count + 1)), comment)
      #expect(try reader.next()?.entry == timer("x"), comment)
    }
  }

  @Test func `a segment of a later format is refused by name`() throws {
    folder.empty()
    var header = SegmentHeader(firstSequence: 1).encoded
    header[12] = 9
    header.withUnsafeMutableBytes { bytes in
      bytes.store(checksum(UnsafeRawBufferPointer(rebasing: bytes[12...])), at: 8)
    }
    folder.write(header, to: name)
    let error = #expect(throws: JournalError.self) { try JournalWriter(directory: folder.path) }
    #expect(error?.code == .unsupportedVersion)
    #expect(error?.sentence.contains(name) == true)
  }

  @Test func `a disk that fills up at any byte leaves the journal as it was`() throws {
    folder.empty()
    let writer = try JournalWriter(directory: folder.path)
    let real = writer.systemWrite
    var room = 0
    writer.systemWrite = { file, bytes, offset in
      let count = min(room, bytes.count)
      guard count > 0 else {
        errno = ENOSPC
        return -1
      }
      room -= count
      return real(file, UnsafeRawBufferPointer(rebasing: bytes[..<count]), offset)
    }
    for (index, entry) in entries.enumerated() {
      let size = index == 0 ? ends[0] : ends[index] - ends[index - 1]
      for space in 0..<size {
        room = space
        let error = #expect(throws: JournalError.self) { try writer.append(entry) }
        #expect(error?.code == .full)
        #expect(try JournalReader(directory: folder.path).all() == Array(entries[..<index]))
        if index == 0 { break }
      }
      room = .max
      #expect(try writer.append(entry).sequence == Int64(index + 1))
    }
    #expect(try folder.bytes(of: name) == whole)
  }

  @Test func `a whole frame from an earlier life of the file does not count`() throws {
    folder.empty()
    do {
      let other = try JournalWriter(directory: folder.path)
      for entry in entries.reversed() { try other.append(entry) }
    }
    let reader = try JournalReader(directory: folder.path)
    let first = try #require(try reader.next()).entry
    let stale = try folder.bytes(of: name)
    // The first entry of one life, then the second of the other: sequence and checksums fit.
    let other = try SegmentScanner(
      JournalSegment(name: name, first: 1, bytes: 0), in: JournalDirectory(path: folder.path))
    _ = try other.step()
    let head = Array(stale[..<Int(other.offset)])
    folder.write(head + Array(whole[ends[0]..<ends[1]]), to: name)
    let mixed = try JournalReader(directory: folder.path)
    #expect(try mixed.next()?.entry == first)
    #expect(try mixed.next() == nil)
    #expect(try JournalWriter(directory: folder.path).recovery.tornBytes > 0)
  }

  @Test func `a failed sync is not tried again on the same file`() throws {
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    defer { close(ends[0]) }
    let sync = BackgroundSync(
      directory: JournalDirectory(path: folder.path), intervalMilliseconds: 1, synced: 0)
    defer { sync.stop() }
    // A pipe cannot be synced.
    try sync.adopt(Descriptor(ends[1]), first: 1, isNew: false)
    sync.appended(1)
    for _ in 0..<2 {
      let error = #expect(throws: JournalError.self) { try sync.sync() }
      #expect(error?.code == .syncFailed)
    }
    #expect(sync.syncedSequence == 0)
    #expect(sync.failedWith?.code == .syncFailed)
  }

  @Test func `checksums are Castagnoli's, with and without the instruction`() {
    let digits = Array("123456789".utf8)
    #expect(digits.withUnsafeBytes { checksum($0) } == 0xE306_9283)
    #expect([UInt8](repeating: 0, count: 32).withUnsafeBytes { checksum($0) } == 0x8A91_36AA)
  }
}
