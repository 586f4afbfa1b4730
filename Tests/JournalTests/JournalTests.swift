import Glibc
import Market
import TestSupport
import Testing

@testable import Journal

@Suite struct JournalTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test func `entries come back as they went in, numbered from 1`() throws {
    let writer = try JournalWriter(directory: folder.path)
    let entries = assortment()
    let positions = try entries.map { try writer.append($0).sequence }
    #expect(positions == Array(1...Int64(entries.count)))
    #expect(try JournalReader(directory: folder.path).all() == entries)
  }

  @Test func `the folders above it are made too`() throws {
    let directory = folder.path + "/backfill/sina-1d"
    for entry in assortment() { _ = try JournalWriter(directory: directory).append(entry) }
    #expect(try JournalReader(directory: directory).all() == assortment())
  }

  @Test func `numbering goes on after a restart`() throws {
    for entry in assortment() {
      _ = try JournalWriter(directory: folder.path).append(entry)
    }
    #expect(try JournalReader(directory: folder.path).all() == assortment())
    #expect(folder.segmentNames.count == 1)
  }

  @Test func `random entries of many series survive, more series than slots included`() throws {
    let seed = UInt64.random(in: .min ... .max)
    var generator = SplitMix(seed: seed)
    var options = JournalOptions()
    options.segmentBytes = 20_000
    let writer = try JournalWriter(directory: folder.path, options: options)
    var batches = (0..<Slots.countMax + 20).map { Batch(lines: 3, seed: seed &+ UInt64($0)) }
    var entries: [JournalEntry] = []
    for _ in 0..<600 {
      let series = Int.random(in: batches.indices, using: &generator)
      batches[series].change(perMille: 300)
      var entry = response("", key: "quotes/\(series)")
      entry.body = batches[series].body
      entries.append(entry)
      try writer.append(entry)
    }
    #expect(try JournalReader(directory: folder.path).all() == entries, "seed \(seed)")
    #expect(folder.segmentNames.count > 3)
  }

  @Test func `a repeated answer takes hardly any space`() throws {
    let writer = try JournalWriter(directory: folder.path)
    var entry = response("")
    entry.body = Batch(lines: 800, seed: 1).body
    try writer.append(entry)
    let once = try #require(writer.segment).bytes
    for _ in 0..<10 { try writer.append(entry) }
    #expect(try #require(writer.segment).bytes - once < 10 * 100)
  }

  @Test func `an answer that changed little takes little space`() throws {
    let writer = try JournalWriter(directory: folder.path)
    var batch = Batch(lines: 800, seed: 1)
    var entry = response("")
    entry.body = batch.body
    try writer.append(entry)
    let once = try #require(writer.segment).bytes
    batch.change(perMille: 100)
    entry.body = batch.body
    try writer.append(entry)
    let difference = try #require(writer.segment).bytes - once
    #expect(difference * 4 < once)
  }

  @Test func `a new Shanghai day begins a new segment`() throws {
    let writer = try JournalWriter(directory: folder.path)
    try writer.append(timer("a", at: morning))
    try writer.append(timer("b", at: morning.adding(seconds: 86_400)))
    #expect(
      folder.segmentNames == [JournalSegment.name(first: 1), JournalSegment.name(first: 2)])
  }

  @Test func `a full segment is followed by another, and each reads alone`() throws {
    var options = JournalOptions()
    options.segmentBytes = 400
    let writer = try JournalWriter(directory: folder.path, options: options)
    for _ in 0..<5 { for entry in assortment() { try writer.append(entry) } }
    let second = try #require(try JournalDirectory(path: folder.path).segments().dropFirst().first)
    unlink(folder.path + "/" + folder.segmentNames[0])
    let after = JournalPosition(second.first - 1)
    let reader = try JournalReader(directory: folder.path, after: after)
    #expect(try reader.all().count == 5 * assortment().count - Int(after.sequence))
  }

  @Test func `a reader starts behind any position and follows the writer`() throws {
    let writer = try JournalWriter(directory: folder.path)
    let entries = assortment()
    let reader = try JournalReader(directory: folder.path)
    #expect(try reader.next() == nil)
    for (index, entry) in entries.enumerated() {
      let position = try writer.append(entry)
      let read = try #require(try reader.next())
      #expect(read.entry == entry && read.position == position)
      #expect(try reader.next() == nil)
      let late = try JournalReader(directory: folder.path, after: JournalPosition(Int64(index)))
      #expect(try late.all() == [entry])
    }
  }

  @Test func `a reader beside a running writer sees every entry once, whole and in order`()
    async throws
  {
    let path = folder.path
    let count = 2_000
    let bodies = (0..<count).map { String(repeating: "\($0),", count: $0 % 200) }
    async let written: Void = {
      var options = JournalOptions()
      options.segmentBytes = 10_000
      let writer = try JournalWriter(directory: path, options: options)
      for body in bodies { try writer.append(response(body)) }
    }()
    let reader = try JournalReader(directory: path)
    for (index, body) in bodies.enumerated() {
      var read = try reader.next()
      while read == nil {
        await Task.yield()
        read = try reader.next()
      }
      #expect(read?.position.sequence == Int64(index + 1) && read?.entry == response(body))
    }
    try await written
  }

  @Test func `a position the journal does not reach is an error that names what it has`() throws {
    let writer = try JournalWriter(
      directory: folder.path, committed: JournalPosition(40))
    for entry in assortment() { try writer.append(entry) }
    let available = JournalPosition(41)...JournalPosition(48)
    #expect(try JournalReader.positions(in: folder.path) == available)
    for missing in [0, 39, 49] as [Int64] {
      let error = #expect(throws: JournalError.self) {
        try JournalReader(directory: folder.path, after: JournalPosition(missing))
      }
      #expect(error?.code == .missing)
      #expect(error?.available == available)
    }
    #expect(
      try JournalReader(directory: folder.path, after: JournalPosition(48)).next() == nil)
  }

  @Test func `a journal behind its store goes on behind the store`() throws {
    try JournalWriter(directory: folder.path).append(timer("1"))
    let writer = try JournalWriter(directory: folder.path, committed: JournalPosition(9))
    #expect(writer.recovery.lastPosition == JournalPosition(9))
    #expect(try writer.append(timer("10")) == JournalPosition(10))
    let reader = try JournalReader(directory: folder.path, after: JournalPosition(9))
    #expect(try reader.all() == [timer("10")])
    let whole = try JournalReader(directory: folder.path)
    #expect(try whole.next()?.entry == timer("1"))
    #expect(throws: JournalError.self) { try whole.next() }
    #expect(try whole.skipDamage() == JournalPosition(10))
    #expect(try whole.next()?.entry == timer("10"))
  }

  @Test func `a second writer is refused with the holder of the journal`() throws {
    let writer = try JournalWriter(directory: folder.path)
    let error = #expect(throws: JournalError.self) {
      try JournalWriter(directory: folder.path)
    }
    #expect(error?.code == .locked)
    #expect(error?.sentence.contains("process \(getpid())") == true)
    #expect(writer.lastPosition == .start)
  }

  @Test func `sync brings everything appended to the disk`() throws {
    var options = JournalOptions()
    options.segmentBytes = 400
    options.syncIntervalMilliseconds = 3_600_000
    let writer = try JournalWriter(directory: folder.path, options: options)
    for entry in assortment() { try writer.append(entry) }
    #expect(writer.syncedPosition < writer.lastPosition)
    try writer.sync()
    #expect(writer.syncedPosition == writer.lastPosition)
  }

  @Test func `an entry out of bounds is refused and the journal goes on`() throws {
    let writer = try JournalWriter(directory: folder.path)
    for key in [String(repeating: "k", count: 65), "行情"] {
      #expect(throws: JournalError.self) { try writer.append(response("", key: key)) }
    }
    #expect(try writer.append(timer("ok")) == JournalPosition(1))
  }

  @Test func `retention deletes the oldest segments but none the store still needs`() throws {
    var options = JournalOptions()
    // Whatever is deleted before an hour has passed was never synced by itself.
    options.syncIntervalMilliseconds = 3_600_000
    let writer = try JournalWriter(directory: folder.path, options: options)
    for day in 0..<6 {
      for entry in assortment() {
        var dated = entry
        dated.receivedAt = morning.adding(seconds: Int64(day) * 86_400)
        try writer.append(dated)
      }
    }
    let today = morning.shanghaiDay.advanced(by: 5)
    let aged = try writer.retain(
      committed: JournalPosition(47), bytesMax: nil, daysMax: 3, today: today)
    #expect(aged.deleted.map(\.first) == [1, 9])
    let sized = try writer.retain(
      committed: JournalPosition(32), bytesMax: 1, daysMax: nil, today: today)
    #expect(sized.deleted.map(\.first) == [17, 25])
    #expect(sized.bytesOver == sized.bytes - 1)
    let all = try writer.retain(
      committed: writer.lastPosition, bytesMax: 0, daysMax: 0, today: today.advanced(by: 9))
    #expect(all.deleted.map(\.first) == [33])
    #expect(folder.segmentNames == [JournalSegment.name(first: 41)])
    // No sync looks for what is gone.
    try writer.append(assortment()[0])
    try writer.sync()
  }
}
