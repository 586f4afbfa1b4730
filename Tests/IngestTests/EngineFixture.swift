import Commits
import ExchangeSimulator
import Glibc
import Ingest
import Ledgers
import Logging
import Market
import Operations
import Polling
import Store
import TestSupport
import Testing

@testable import Journal

/// A folder of its own for each journal, removed with everything in it.
final class JournalFolder: Sendable {
  let path: String

  init() throws {
    // In memory where there is such a folder: every run syncs.
    let parent = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"
    var template = Array("\(parent)/candled-ingest-XXXXXX".utf8CString)
    guard let made = mkdtemp(&template) else {
      throw JournalError.systemCall("make a temporary folder", number: errno)
    }
    path = String(cString: made)
  }

  /// Turns over bytes in the middle of the last segment.
  func damage() throws {
    guard let last = try JournalDirectory(path: path).segments().last else { return }
    let file = open(path + "/" + last.name, O_WRONLY)
    defer { close(file) }
    let noise = [UInt8](repeating: 0xA5, count: 64)
    #expect(pwrite(file, noise, noise.count, off_t(last.bytes / 2)) == noise.count)
  }

  deinit {
    if let segments = try? JournalDirectory(path: path).segments() {
      for segment in segments { unlink(path + "/" + segment.name) }
    }
    unlink(path + "/journal.lock")
    rmdir(path)
  }
}

/// An engine on a simulated stretch of a day, without clock, socket or database.
struct EngineRun {
  var market = SimulatedMarket(
    seed: 5, day: TradingDay(daysSince1970: 20_640), instruments: 24)
  /// Seconds of the day.
  var start = 9 * 3600 + 29 * 60
  var end = 9 * 3600 + 36 * 60
  var outages: [Range<Int>] = []
  var frozenAt: Int?
  var limits = EngineLimits()
  /// Simulated seconds in a real one; nil runs without a clock.
  var speed: Int64?
  var heartbeat: Heartbeat?
  /// Called with every request's number, from 1.
  var asked: @Sendable (Int) -> Void = { _ in }
  var journal = JournalOptions()
  /// nil logs nowhere.
  var lines: LogLines?
  let folder: JournalFolder

  init() throws { folder = try JournalFolder() }

  func moment(_ second: Int) -> Timestamp { Timestamp(day: market.day, secondOfDay: second) }

  func engine(
    _ sink: some CommitSink, stored: StoredState? = nil,
    breaking: (JournalWriter) -> Void = { _ in }
  ) throws -> Engine {
    let journal = try JournalWriter(
      directory: folder.path, options: journal, committed: stored?.position ?? .start)
    breaking(journal)
    let upstream = MemoryUpstream(
      market, outages: outages, frozenAt: frozenAt.map { moment($0) }, asked: asked)
    var log = Logger(label: "engine", factory: { _ in SwiftLogNoOpLogHandler() })
    log.logLevel = .critical
    if let lines { log = lines.logger }
    let parts = EngineParts(
      clock: speed.map { .scaled(from: moment(start), speed: $0) }
        ?? .stepped(start: moment(start)),
      workers: SourceWorkers(quotes, upstream: upstream), store: sink, journal: journal,
      journalDirectory: folder.path, log: log, heartbeat: heartbeat)
    var limits = limits
    limits.stopAt = moment(end)
    let pipeline = try stored.map { try Pipeline(stored: $0) } ?? Pipeline()
    return Engine(parts: parts, pipeline: pipeline, limits: limits)
  }

  private var quotes: QuotesConfiguration {
    var configuration = PollerConfiguration(referenceSymbol: market.symbols[0], seed: 1)
    configuration.batchSymbolsMax = 13
    return QuotesConfiguration(
      source: .sina, poller: configuration, schedule: PollSchedule(seed: 1) { _ in true },
      symbols: market.symbols)
  }

  /// What the journal says the rows are: everything in it, read from the beginning.
  func replay() throws -> Tables {
    var tables = Tables()
    var pipeline = Pipeline()
    let reader = try JournalReader(directory: folder.path)
    while let (position, entry) = try reader.next() {
      pipeline.process(entry, at: position)
      if let commit = pipeline.takeCommit() { tables.take(commit) }
    }
    return tables
  }

  /// Starts the daemon again on what is stored, without a clock, and lets it read the journal to
  /// its end: the tables are then those of the whole journal.
  func finish(_ sink: MemorySink) async throws {
    var run = self
    run.speed = nil
    run.end = run.start
    run.limits = EngineLimits()
    let engine = try run.engine(sink, stored: await sink.tables.stored)
    let unsaved = try await engine.run()
    #expect(unsaved.isNone)
    let tables = await sink.tables
    #expect(tables.candlesTwice.isEmpty && !tables.candles.isEmpty)
    let replayed = try run.replay()
    #expect(tables.differences(from: replayed) == [])
  }
}
