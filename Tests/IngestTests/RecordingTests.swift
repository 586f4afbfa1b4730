import Commits
import EmbeddedPostgres
import ExchangeSimulator
import Feeds
import Foundation
import Journal
import Logging
import Market
import Operations
import Platform
import TestExchange
import TestSupport
import TestTraits
import Testing

@testable import Ingest

/// A daemon that is started while its private PostgreSQL cannot be.
@Suite(.ownThread) struct RecordingTests {
  private let folder: String
  private let server: EmbeddedServer
  private let versionFile: String

  init() throws {
    folder = try PrivateCluster.freshDirectory()
    // Its server is another user's.
    #expect(chmod(folder, 0o711) == 0)
    mkdir(folder + "/daemon", 0o711)
    server = EmbeddedServer(directory: folder + "/daemon/postgres")
    versionFile = server.directory + "/data/PG_VERSION"
  }

  /// A stopped cluster, whose programs no machine has.
  private func loseBinaries() throws -> String {
    try server.start()
    try server.stop()
    let version = try String(contentsOfFile: versionFile, encoding: .utf8)
    try write("14\n")
    return version
  }

  private func write(_ version: String) throws {
    let handle = try #require(FileHandle(forWritingAtPath: versionFile))
    try handle.write(contentsOf: Data(version.utf8))
    try handle.close()
  }

  private func daemon(_ upstream: any Upstream, symbols: [Symbol]) throws -> Daemon {
    let file = folder + "/candled.toml"
    try """
    state_directory = "\(folder)/daemon"
    quotes.symbols = [\(symbols.map { "\"\($0)\"" }.joined(separator: ", "))]
    quotes.sources = ["sina"]
    repair.requests_per_night = 0
    clock.mode = "scaled"
    clock.start = "2026-07-06T10:00:00+08:00"
    clock.speed = 20
    """.write(toFile: file, atomically: true, encoding: .utf8)
    return try Daemon(
      settings: ConfigurationFile.load(file, overrides: [], table: .candled), upstream: upstream,
      log: Logger(label: "daemon") { _ in SwiftLogNoOpLogHandler() })
  }

  @Test func `it records what it is answered, and stores it once the server starts`()
    async throws
  {
    let version = try loseBinaries()
    let market = SimulatedMarket(
      seed: 1, day: try #require(TradingDay("2026-07-06")), instruments: 12)
    let upstream = MemoryUpstream(market)
    let daemon = try daemon(upstream, symbols: market.symbols)
    let (leads, inbox) = AsyncStream.makeStream(of: Void.self)
    let end = Task {
      defer { inbox.finish() }
      return try await daemon.run { _ in inbox.yield() }
    }
    while await upstream.responses < 10 { await Task.yield() }
    let report = await daemon.state.report()
    #expect(report.role == .starting && report.engine != nil)
    #expect(report.privateServer?.install?.hasSuffix("apt-get install postgresql-14") == true)
    #expect(report.statusLine.contains("journal holds"))
    #expect((report.engine?.backlog.lastPosition.sequence ?? 0) > 0)
    try write(version)
    for await _ in leads { break }
    #expect(daemon.state.role == .leading(term: 1))
    #expect(daemon.state.privateServer?.fault == nil)
    let first = try await firstStored()
    #expect(first < "10:02")
    daemon.stop()
    #expect(try await end.value.isNone)
  }

  /// The first minute that is stored is one from before there was a server.
  private func firstStored() async throws -> String {
    while true {
      let found = try SQLProbe.run(
        """
        select to_char(min(opened_at at time zone 'Asia/Shanghai'), 'HH24:MI') from candled.candle
        """, url: server.ownerConnectionString)
      if let first = found.first?.first ?? nil { return first }
      try await Task.sleep(for: .milliseconds(20))
    }
  }

  @Test func `told to stop, it ends at once with all of it in the journal`() async throws {
    _ = try loseBinaries()
    let market = SimulatedMarket(
      seed: 1, day: try #require(TradingDay("2026-07-06")), instruments: 12)
    let upstream = MemoryUpstream(market)
    let daemon = try daemon(upstream, symbols: market.symbols)
    let end = Task { try await daemon.run() }
    while await upstream.responses < 3 { await Task.yield() }
    daemon.stop()
    let unsaved = try await end.value
    #expect(unsaved.entries > 0)
    let reader = try JournalReader(directory: folder + "/daemon/journal", after: .start)
    #expect(try reader.next() != nil)
  }

  @Test func `the instruments of the last sweep are known from the journal alone`() throws {
    let journal = folder + "/journal"
    let writer = try JournalWriter(directory: journal)
    let now = Timestamp(seconds: 1_783_303_200)
    func append(_ symbols: [String], source: Source, group: UInt16, at seconds: Int64) throws {
      let query = QuotesQuery(
        symbols: symbols.compactMap { Symbol($0) }, group: group, askedAt: now)
      let moment = now.adding(seconds: seconds)
      try writer.append(
        .response(
          to: FeedRequest(.quotes(query), to: source), requestedAt: moment, receivedAt: moment,
          status: 200, body: []))
    }
    // Of an earlier sweep, which had another; of the last one; of a probe.
    try append(["sh600000", "sh600001"], source: .live, group: 0, at: -86_400 * 3)
    try append(["sh600000", "sh600002"], source: .live, group: 0, at: -86_400 * 2 - 3)
    try append(["sz000001"], source: .live, group: 1, at: -86_400 * 2 - 2)
    try append(["sh600009"], source: .live, group: QuotesQuery.probeGroup, at: -86_400 * 2 - 1)
    try writer.sync()
    let last = try LastSweep(directory: journal, at: now)
    #expect(
      last.symbols[Source.live.instruments]?.map { "\($0)" } == [
        "sh600000", "sh600002", "sz000001",
      ])
    #expect(try LastSweep(directory: journal, at: now.adding(seconds: 86_400 * 30)).symbols == [:])
  }
}
