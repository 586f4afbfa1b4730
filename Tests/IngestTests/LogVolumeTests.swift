import Commits
import Glibc
import Ingest
import Market
import Postgres
import Store
import TestSupport
import Testing

@testable import Journal

/// The log tells changes: what goes on for an hour is not said with every try. Days of it at the
/// built daemon: `script/chaos logs`.
@Suite struct LogVolumeTests {
  /// A store that is away for some tries, each time with the next of its sentences.
  private actor AlternatingSink: CommitSink {
    private let faults: [StoreError]
    private(set) var attempts = 0

    init(_ faults: [StoreError]) { self.faults = faults }

    func commit(_ commit: Commit) throws(StoreError) -> CommitReceipt {
      attempts += 1
      if attempts <= faults.count { throw faults[attempts - 1] }
      return CommitReceipt(seq: Int64(attempts))
    }

    func load() throws(StoreError) -> StoredState {
      throw StoreError(.connectionLost, message: "on order", context: "load")
    }

    func repairCandidates(from day: TradingDay) -> [RepairCandidate] { [] }
  }

  @Test func `two alternating faults of the store are logged once each`() async throws {
    let gone = StoreError(.transient, message: "gone", context: "commit")
    let starting = StoreError(.transient, message: "starting", context: "commit")
    let sink = AlternatingSink([gone, starting, gone, starting, gone])
    let lines = LogLines()
    var run = try EngineRun()
    run.lines = lines
    let engine = try run.engine(sink)
    _ = try await engine.run()
    withExtendedLifetime(run) {}
    #expect(await sink.attempts > 5)
    #expect(lines.count("commit failed") == 2, "\(lines.lines)")
    #expect(lines.count("commits succeed again") == 1, "\(lines.lines)")
  }

  @Test func `a second outage of the store is logged like the first`() async throws {
    let lines = LogLines()
    var run = try EngineRun()
    run.lines = lines
    let sink = MemorySink(fate: { [2, 3, 6].contains($0) ? .refused(.transient) : .taken })
    _ = try await run.engine(sink).run()
    withExtendedLifetime(run) {}
    #expect(lines.count("commit failed") == 2, "\(lines.lines)")
    #expect(lines.count("commits succeed again") == 2, "\(lines.lines)")
  }

  @Test func `a disk with room for small entries only is full, which is logged once`()
    async throws
  {
    let lines = LogLines()
    var run = try EngineRun()
    run.lines = lines
    let engine = try run.engine(MemorySink()) { journal in
      // All but its beginning and some sweeps.
      journal.fillDisk { number, bytes in number > 20 && bytes > 128 }
    }
    _ = try await engine.run()
    withExtendedLifetime(run) {}
    #expect(await engine.status.journal.responsesDropped > 20)
    #expect(lines.count("cannot write to the journal") == 1, "\(lines.lines)")
    #expect(lines.count("writing to the journal works again") == 0, "\(lines.lines)")
  }

  @Test func `a disk that was full for a while is logged as full and as recovered`() async throws {
    let lines = LogLines()
    var run = try EngineRun()
    run.lines = lines
    let engine = try run.engine(MemorySink()) { journal in
      journal.fillDisk { number, _ in (40...120).contains(number) }
    }
    _ = try await engine.run()
    withExtendedLifetime(run) {}
    #expect(await engine.status.journal.fault == nil)
    #expect(lines.count("cannot write to the journal") == 1, "\(lines.lines)")
    #expect(lines.count("writing to the journal works again") == 1, "\(lines.lines)")
  }

  @Test func `a source that is away is a few lines, however long`() async throws {
    let lines = LogLines()
    var run = try EngineRun()
    run.lines = lines
    run.end = run.start + 70 * 60
    run.outages = [(run.start + 180)..<(run.start + 63 * 60)]
    _ = try await run.engine(MemorySink()).run()
    withExtendedLifetime(run) {}
    #expect(lines.count("state=stalled") == 1 && lines.lines.count < 10, "\(lines.lines)")
    #expect(lines.lines.last { $0.contains("source state changed") }?.contains("state=ok") == true)
  }
}

extension JournalWriter {
  /// No space for the writes chosen, by their number from 1 and their bytes.
  fileprivate func fillDisk(for isRefused: @escaping @Sendable (Int, Int) -> Bool) {
    let write = systemWrite
    var written = 0
    systemWrite = { file, bytes, offset in
      written += 1
      guard !isRefused(written, bytes.count) else {
        errno = ENOSPC
        return -1
      }
      return write(file, bytes, offset)
    }
  }
}
