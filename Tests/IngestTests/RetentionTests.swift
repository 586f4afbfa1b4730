import Commits
import ExchangeSimulator
import Glibc
import Ingest
import Ledgers
import Market
import Operations
import Platform
import Postgres
import Store
import TestExchange
import TestSupport
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
    #expect(await engine.status.journal.bytesOver == 0)
  }

  @Test(arguments: [nil, 80_000] as [Int64?])
  func `commits without a row free no segment that a restart would read`(_ diskBytes: Int64?)
    async throws
  {
    var run = try EngineRun()
    run.journal.segmentBytes = 20_000
    run.limits.journalBytesMax = 60_000
    let stored = Locked(Int64(0))
    let missing = Locked(0)
    let sink = MemorySink(
      inspect: { [path = run.folder.path] commit in
        let first = (try? JournalDirectory(path: path).segments())?.first?.first ?? 1
        if first > stored.withLock({ $0 }) + 1 { missing.withLock { $0 += 1 } }
        if commit.storesPosition { stored.withLock { $0 = commit.position.sequence } }
      }, fate: { _ in .withoutRows })
    let engine = try run.engine(sink) { journal in
      if let diskBytes { journal.limitDisk(to: diskBytes) }
    }
    _ = try await engine.run()
    #expect(missing.withLock { $0 } == 0)
    // Nor does a segment wait for ever.
    let kept = try JournalDirectory(path: run.folder.path).segments()
    #expect(try #require(kept.first).first > 1)
    let status = await engine.status.journal
    #expect(status.committed.sequence == stored.withLock { $0 } && status.responsesDropped == 0)
    #expect(await sink.commits < 40)
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
    withExtendedLifetime((run, calm)) {}
    let status = await engine.status
    #expect(status.journal.segmentsDeletedForRoom > 0 && status.journal.responsesDropped == 0)
    #expect(status.journal.fault == nil)
    let tables = await sink.tables
    #expect(tables.differences(from: await undisturbed.tables) == [])
  }

  @Test func `uncommitted entries are kept beyond the limit, which is logged once`()
    async throws
  {
    let (run, lines) = try awayRun()
    let kept = Segments([])
    let sink = away(run, kept) { $0.count > 6 }
    let engine = try run.engine(sink)
    await sink.stop(engine, afterLoads: 0, andCommits: 3)
    let unsaved = try await engine.run()
    // Its journal's folder goes with it.
    withExtendedLifetime(run) {}
    let segments = kept.withLock { $0 }
    #expect(segments.first?.first == 1 && segments.count > 6)
    #expect(segments.reduce(0) { $0 + $1.bytes } > 12_000)
    #expect(lines.count("the journal exceeds its size limit") == 1, "\(lines.lines)")
    let status = await engine.status
    #expect(unsaved.isNone && status.journal.responsesDropped == 0 && status.store.fault == nil)
    // Of what is deleted in the end the store has all.
    #expect(await sink.tables.stored.position == status.journal.committed)
    #expect(status.journal.committed.sequence > 20)
  }

  @Test func `a full disk takes nothing from a store that is away`() async throws {
    let (run, lines) = try awayRun()
    let refusals = Locked(0)
    let kept = Segments([])
    let sink = away(run, kept) { _ in refusals.withLock { $0 > 8 } }
    let engine = try run.engine(sink) { journal in
      journal.limitDisk(to: 16_000) { refusals.withLock { $0 += 1 } }
    }
    await sink.stop(engine, afterLoads: 0, andCommits: 3)
    let unsaved = try await engine.run()
    withExtendedLifetime(run) {}
    let status = await engine.status
    // No room is made of what is not saved: what comes is dropped, counted and told of.
    #expect(kept.withLock { $0.first?.first } == 1)
    #expect(status.journal.responsesDropped > 0 && unsaved.isNone && status.store.fault == nil)
    // A second in which nothing comes, but for an entry that just fits, is the end of a refusal.
    #expect((1...2).contains(lines.count("cannot write to the journal")), "\(lines.lines)")
    #expect(status.journal.committed.sequence > 20)
  }

  private typealias Segments = Locked<[JournalSegment]>

  /// A store that is away until the journal has come to something.
  /// - Parameter kept: the journal at the last try, before which nothing was committed.
  private func away(
    _ run: EngineRun, _ kept: Segments,
    until isOver: @escaping @Sendable ([JournalSegment]) -> Bool
  ) -> MemorySink {
    let isBack = Locked(false)
    return MemorySink(fate: { [path = run.folder.path] _ in
      if isBack.withLock({ $0 }) { return .taken }
      let segments = (try? JournalDirectory(path: path).segments()) ?? []
      kept.withLock { $0 = segments }
      guard isOver(segments) else { return .refused(.transient) }
      isBack.withLock { $0 = true }
      return .taken
    })
  }

  /// Ends when the store has taken its commits, or with the morning: slow machines see less of it.
  private func awayRun() throws -> (EngineRun, LogLines) {
    let lines = LogLines()
    var run = try EngineRun()
    run.lines = lines
    run.speed = 60
    run.end = 11 * 3600 + 29 * 60
    run.journal.segmentBytes = 4_000
    run.limits.journalBytesMax = 12_000
    return (run, lines)
  }

  @Test func `a disk without room for anything costs answers and nothing else`() async throws {
    var run = try EngineRun()
    run.journal.segmentBytes = 20_000
    let sink = MemorySink()
    // The first segment is the one being written: there is nothing to delete.
    let engine = try run.engine(sink) { $0.limitDisk(to: 15_000) }
    let unsaved = try await engine.run()
    let status = await engine.status
    #expect(unsaved.isNone && status.journal.responsesDropped > 0 && status.quotes.sweeps > 100)
    #expect(status.journal.fault == .full)
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
  fileprivate func limitDisk(
    to bytesMax: Int64, refused: @escaping @Sendable () -> Void = {}
  ) {
    let write = systemWrite
    let directory = directory
    systemWrite = { file, bytes, offset in
      let used = (try? directory.segments().reduce(0) { $0 + $1.bytes }) ?? 0
      guard used + Int64(bytes.count) <= bytesMax else {
        refused()
        errno = ENOSPC
        return -1
      }
      return write(file, bytes, offset)
    }
  }
}
