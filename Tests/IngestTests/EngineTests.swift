import Commits
import Foundation
import Glibc
import Ingest
import Market
import Platform
import Postgres
import Store
import Synchronization
import Testing

@testable import Journal

/// The engine's promises, each with a store that breaks in its own way.
@Suite struct EngineTests {
  @Test func `what is committed is in the journal already`() async throws {
    let run = try EngineRun()
    let path = run.folder.path
    let sink = MemorySink(inspect: { commit in
      let held = try? JournalReader.positions(in: path)
      #expect(held.map { $0.upperBound >= commit.position } == true)
    })
    let unsaved = try await run.engine(sink).run()
    #expect(unsaved.isNone)
    let tables = await sink.tables
    #expect(tables.candles.count > 60 && tables.candlesTwice.isEmpty)
    let replayed = try run.replay()
    #expect(tables.differences(from: replayed) == [])
  }

  @Test func `commits refused for a while are made later, each once`() async throws {
    let run = try EngineRun()
    let sink = MemorySink(fate: { attempt in
      attempt % 25 == 3
        ? .refused(.connectionLost) : attempt % 25 == 4 ? .refused(.transient) : .taken
    })
    let unsaved = try await run.engine(sink).run()
    let tables = await sink.tables
    #expect(unsaved.isNone && tables.candlesTwice.isEmpty)
    let replayed = try run.replay()
    #expect(tables.differences(from: replayed) == [])
  }

  @Test func `a commit whose answer was lost is recognised and not made again`() async throws {
    let run = try EngineRun()
    let sink = MemorySink(fate: { attempt in
      attempt == 10
        ? .committedWithoutResponse(.connectionLost)
        : attempt == 11 ? .refused(.positionConflict) : .taken
    })
    let unsaved = try await run.engine(sink).run()
    let tables = await sink.tables
    #expect(unsaved.isNone && tables.candlesTwice.isEmpty)
    #expect(await sink.loads == 1)
    let replayed = try run.replay()
    #expect(tables.differences(from: replayed) == [])
  }

  @Test func `another daemon on the same database stops this one`() async throws {
    let run = try EngineRun()
    let sink = MemorySink(fate: { attempt in attempt >= 10 ? .refused(.positionConflict) : .taken })
    let engine = try run.engine(sink)
    await #expect { try await engine.run() } throws: { error in
      "\(error)".hasSuffix("another daemon uses the same database")
    }
  }

  @Test func `a restored store and another daemon's store give different errors`() async throws {
    let run = try EngineRun()
    let sink = MemorySink(fate: { attempt in attempt >= 10 ? .refused(.positionConflict) : .taken })
    await sink.putBack(to: Tables())
    let engine = try run.engine(sink)
    await #expect { try await engine.run() } throws: { error in
      "\(error)".contains("it was restored from a backup")
    }
  }

  @Test func `a store older than the journal gives an error that names the remedy`() async throws {
    var run = try EngineRun()
    run.journal.segmentBytes = 20_000
    _ = try await run.engine(MemorySink()).run()
    let segments = try JournalDirectory(path: run.folder.path).segments()
    let first = try #require(segments.count > 1 ? segments.first : nil)
    try FileManager.default.removeItem(atPath: "\(run.folder.path)/\(first.name)")
    let engine = try run.engine(MemorySink(), stored: Tables().stored)
    await #expect { try await engine.run() } throws: { error in
      "\(error)".contains("move the journal's folder away")
    }
  }

  @Test func `a lost lease ends the engine, and nothing of it is committed any more`()
    async throws
  {
    let run = try EngineRun()
    let attempts = Atomic<Int>(0)
    let sink = MemorySink(fate: { attempt in
      attempts.store(attempt, ordering: .relaxed)
      return attempt >= 10 ? .refused(.leaseLost) : .taken
    })
    let engine = try run.engine(sink)
    await #expect { try await engine.run() } throws: { error in
      (error as? EngineError)?.code == .leaseLost
    }
    #expect(attempts.load(ordering: .relaxed) == 10)
  }

  @Test func `a stop drains and leaves nothing unsaved`() async throws {
    let run = try EngineRun()
    let stopper = EngineHolder()
    let sink = MemorySink(fate: { attempt in
      if attempt == 40 { stopper.engine.withLock { $0?.stop() } }
      return .taken
    })
    let engine = try run.engine(sink)
    stopper.engine.withLock { $0 = engine }
    let unsaved = try await engine.run()
    #expect(unsaved.isNone)
    let tables = await sink.tables
    #expect(await sink.commits < 100)
    let replayed = try run.replay()
    #expect(tables.differences(from: replayed) == [])
  }

  /// An afternoon at twenty times its speed: only with a clock does time pass while the store is
  /// away. It ends once the store has been asked what it holds and has taken some more.
  private func runAfternoon(_ run: inout EngineRun, _ sink: MemorySink) async throws {
    run.speed = 20
    run.start = 13 * 3600 + 10
    run.end = 15 * 3600
    run.limits.pendingCandlesMax = 8
    run.limits.catchUpEntriesMax = 5
    let engine = try run.engine(sink)
    await sink.stop(engine, afterLoads: 2, andCommits: 10)
    _ = try await engine.run()
    await sink.stop(nil, afterLoads: 0, andCommits: 0)
    #expect(await sink.loads >= 2)
  }

  @Test func `a store away for longer than memory holds is caught up with from the journal`()
    async throws
  {
    var run = try EngineRun()
    let sink = MemorySink(
      loadsRefused: 1,
      fate: { attempt in (20..<30).contains(attempt) ? .refused(.connectionLost) : .taken })
    try await runAfternoon(&run, sink)
    try await run.finish(sink)
  }

  @Test func `a store that never answers costs no more memory than one that refuses`()
    async throws
  {
    var run = try EngineRun()
    let sink = MemorySink(loadsRefused: 1, slowAttempt: 20)
    try await runAfternoon(&run, sink)
    try await run.finish(sink)
  }

  @Test func `damage in the journal costs a gap and not the daemon`() async throws {
    var run = try EngineRun()
    _ = try await run.engine(MemorySink()).run()
    try run.folder.damage()
    // A new database: everything is to be read again, and most of it cannot be.
    run.start = run.end
    run.end += 300
    let sink = MemorySink()
    let unsaved = try await run.engine(sink).run()
    #expect(unsaved.isNone)
    let tables = await sink.tables
    #expect(tables.candlesTwice.isEmpty && !tables.candles.isEmpty)
    #expect(tables.gaps.contains { $0.cause == .outage })
  }

  @Test func `an answer the journal does not take is not interpreted`() async throws {
    let run = try EngineRun()
    let sink = MemorySink()
    let engine = try run.engine(sink) { journal in
      let write = journal.systemWrite
      var calls = 0
      journal.systemWrite = { file, bytes, offset in
        calls += 1
        if (60..<90).contains(calls) {
          errno = ENOSPC
          return -1
        }
        return write(file, bytes, offset)
      }
    }
    let unsaved = try await engine.run()
    let tables = await sink.tables
    #expect(unsaved.isNone && !tables.candles.isEmpty)
    let replayed = try run.replay()
    #expect(tables.differences(from: replayed) == [])
    #expect(await engine.status.journal.fault == nil)
  }

  @Test func `fifty identical sweeps commit nothing`() async throws {
    var run = try EngineRun()
    // Over lunch, when no minute falls due.
    run.frozenAt = 11 * 3600 + 50 * 60
    run.start = 12 * 3600 + 59 * 60
    run.end = 13 * 3600
    let sink = MemorySink()
    let engine = try run.engine(sink)
    _ = try await engine.run()
    #expect(await engine.status.quotes.sweeps > 15)
    #expect(await sink.commits <= 3)
  }
}

/// An engine to be stopped from inside its own store.
private final class EngineHolder: Sendable {
  let engine = Locked<Engine?>(nil)
}
