import Glibc
import Ingest
import Market
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
    #expect(unsaved == 0)
    let tables = await sink.tables
    #expect(tables.candles.count > 60 && tables.candlesTwice.isEmpty)
    #expect(tables.differences(from: try run.replay()) == [])
  }

  @Test func `commits refused for a while are made later, each once`() async throws {
    let run = try EngineRun()
    let sink = MemorySink(fate: { attempt in
      attempt % 25 == 3
        ? .refused(.connectionLost) : attempt % 25 == 4 ? .refused(.transient) : .taken
    })
    let unsaved = try await run.engine(sink).run()
    let tables = await sink.tables
    #expect(unsaved == 0 && tables.candlesTwice.isEmpty)
    #expect(tables.differences(from: try run.replay()) == [])
  }

  @Test func `a commit whose answer was lost is recognised and not made again`() async throws {
    let run = try EngineRun()
    let sink = MemorySink(fate: { attempt in
      attempt == 10
        ? .takenUnheard(.connectionLost) : attempt == 11 ? .refused(.positionConflict) : .taken
    })
    let unsaved = try await run.engine(sink).run()
    let tables = await sink.tables
    #expect(unsaved == 0 && tables.candlesTwice.isEmpty)
    #expect(await sink.loads == 1)
    #expect(tables.differences(from: try run.replay()) == [])
  }

  @Test func `another daemon on the same database stops this one`() async throws {
    let run = try EngineRun()
    let sink = MemorySink(fate: { attempt in attempt >= 10 ? .refused(.positionConflict) : .taken })
    let engine = try run.engine(sink)
    await #expect { try await engine.run() } throws: { error in
      (error as? EngineError)?.code == .anotherWriter
    }
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
    #expect(unsaved == 0)
    let tables = await sink.tables
    #expect(await sink.commits < 100)
    #expect(tables.differences(from: try run.replay()) == [])
  }

  @Test func `a store away for longer than memory holds is caught up with from the journal`()
    async throws
  {
    var run = try EngineRun()
    run.limits.pendingCandlesMax = 8
    run.limits.catchUpEntriesMax = 5
    let sink = MemorySink(
      loadsRefused: 1,
      fate: { attempt in
        // The first candles fall due while these are refused.
        (30..<33).contains(attempt) ? .refused(.connectionLost) : .taken
      })
    let unsaved = try await run.engine(sink).run()
    let tables = await sink.tables
    #expect(unsaved == 0 && tables.candlesTwice.isEmpty)
    #expect(tables.differences(from: try run.replay()) == [])
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
    #expect(unsaved == 0 && !tables.candles.isEmpty)
    #expect(tables.differences(from: try run.replay()) == [])
    #expect(await engine.status.journalFault == nil)
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
    #expect(await engine.status.sweeps > 15)
    #expect(await sink.commits <= 3)
  }
}

/// An engine to be stopped from inside its own store.
private final class EngineHolder: Sendable {
  let engine = Mutex<Engine?>(nil)
}
