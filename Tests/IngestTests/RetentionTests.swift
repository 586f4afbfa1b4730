import ExchangeSimulator
import Glibc
import Ingest
import Market
import Testing

@testable import Journal

@Suite struct RetentionTests {
  @Test func `the journal of days gone by goes`() async throws {
    var run = try EngineRun()
    run.start = Session.afternoonClose - 60
    run.end = Session.afterHoursClose + 420
    run.limits.journalDaysMax = 0
    try appendEntry(of: run.market.day.advanced(by: -3), to: run.folder)
    _ = try await run.engine(MemorySink()).run()
    let kept = try #require(try JournalReader.positions(in: run.folder.path))
    #expect(kept.lowerBound == JournalPosition(2))
    #expect(kept.upperBound > JournalPosition(2))
  }

  @Test func `the journal stays within a segment of its limit`() async throws {
    var run = try EngineRun()
    run.journal.segmentBytes = 20_000
    run.limits.journalBytesMax = 60_000
    let engine = try run.engine(MemorySink())
    _ = try await engine.run()
    let kept = try JournalDirectory(path: run.folder.path).segments()
    #expect(try #require(kept.first).first > 1)
    // A segment is begun once the last is full, and its entries are a few kilobytes.
    #expect(kept.reduce(0) { $0 + $1.bytes } < 60_000 + 20_000 + 10_000)
    #expect(await engine.status.journalBytesOver == 0)
  }

  @Test func `a full disk costs old segments before it costs an answer`() async throws {
    let calm = try EngineRun()
    let undisturbed = MemorySink()
    _ = try await calm.engine(undisturbed).run()
    var run = try EngineRun()
    run.journal.segmentBytes = 20_000
    let sink = MemorySink()
    let engine = try run.engine(sink) { $0.limitDisk(to: 80_000) }
    _ = try await engine.run()
    let status = await engine.status
    #expect(status.journalSegmentsSacrificed > 0 && status.answersDropped == 0)
    #expect(status.journalFault == nil)
    let tables = await sink.tables
    #expect(tables.differences(from: await undisturbed.tables) == [])
  }

  @Test func `a disk without room for anything costs answers and nothing else`() async throws {
    var run = try EngineRun()
    run.journal.segmentBytes = 20_000
    let sink = MemorySink()
    // The first segment is the one being written: there is nothing to delete.
    let engine = try run.engine(sink) { $0.limitDisk(to: 15_000) }
    let unsaved = try await engine.run()
    let status = await engine.status
    #expect(unsaved.isNone && status.answersDropped > 0 && status.sweeps > 100)
    #expect(status.journalFault == .full)
    let tables = await sink.tables
    #expect(tables.differences(from: try run.replay()) == [])
  }

  /// An entry of an earlier day is a segment of its own.
  private func appendEntry(of day: TradingDay, to folder: JournalFolder) throws {
    let journal = try JournalWriter(directory: folder.path)
    let noon = Timestamp(day: day, secondOfDay: 12 * 3600)
    try journal.append(.timer(at: noon))
  }
}

extension JournalWriter {
  /// A disk of so many bytes, all of them this journal's.
  fileprivate func limitDisk(to bytesMax: Int64) {
    let write = systemWrite
    let directory = directory
    systemWrite = { file, bytes, offset in
      let used = (try? directory.segments().reduce(0) { $0 + $1.bytes }) ?? 0
      guard used + Int64(bytes.count) <= bytesMax else {
        errno = ENOSPC
        return -1
      }
      return write(file, bytes, offset)
    }
  }
}
