import Commits
import Logging
import Market
import Operations
import TestSupport
import TestTraits
import Testing

@testable import EmbeddedPostgres
@testable import Ingest
@testable import Postgres
@testable import Store

@Suite struct ReaderMonitorTests {
  private let start = Timestamp(seconds: 1_000)

  private func reader(
    _ process: Int32, statementAt: Int64 = 500, isWriting: Bool = false, changes: Bool = false
  ) -> SessionCensus.Reader {
    SessionCensus.Reader(
      process: process, role: "alice", application: "psql",
      connectedAt: Timestamp(seconds: Int64(process)), statementAt: Timestamp(seconds: statementAt),
      isWriting: isWriting, hasTransactionID: changes)
  }

  @Test func `while connections are free nobody's session is ended`() {
    var watch = ReaderMonitor()
    let census = SessionCensus(free: 8, readers: [reader(3), reader(2), reader(1)])
    #expect(watch.found(census, at: start).isEmpty)
  }

  @Test(arguments: [0, 3, 7])
  func `when connections run out the youngest make room, and no more than needed`(_ free: Int) {
    var watch = ReaderMonitor()
    let readers = (1...40).reversed().map { reader(Int32($0)) }
    let endings = watch.found(SessionCensus(free: free, readers: readers), at: start)
    #expect(
      endings
        == readers.prefix(8 - free).map {
          ReaderMonitor.Ending(reader: $0, reason: .connectionsRanOut(free: free))
        })
  }

  @Test func `a client that does not read for five minutes is ended, one that goes on is not`() {
    var watch = ReaderMonitor()
    var ended: [Int64: [Int32]] = [:]
    for second in stride(from: Int64(0), through: 310, by: 2) {
      let census = SessionCensus(
        free: 50,
        readers: [
          reader(1, isWriting: true),
          // Each hundred seconds another statement; the next one reads a little now and then.
          reader(2, statementAt: second / 100, isWriting: true),
          reader(3, isWriting: second != 200), reader(4),
        ])
      let endings = watch.found(census, at: start.adding(seconds: second))
      if !endings.isEmpty { ended[second] = endings.map(\.reader.process) }
      if second == 300 {
        #expect(endings.map(\.reason) == [.clientDoesNotRead(seconds: 300)])
        break
      }
    }
    #expect(ended == [300: [1]])
  }

  @Test func `a reader that writes at two looks in a row is ended`() {
    var watch = ReaderMonitor()
    var ended: [[ReaderMonitor.Ending]] = []
    for look in [[true, true], [true, false], [false, true], [false, true]] {
      let readers = [reader(2, changes: look[0]), reader(1, changes: look[1])]
      let census = SessionCensus(free: 50, readers: readers)
      ended.append(watch.found(census, at: start.adding(seconds: Int64(ended.count) * 2)))
    }
    let first = ReaderMonitor.Ending(reader: reader(2, changes: true), reason: .changesData)
    let last = ReaderMonitor.Ending(reader: reader(1, changes: true), reason: .changesData)
    #expect(ended == [[], [first], [], [last]])
  }

  @Test func `those that are ended anyway count as room`() {
    var watch = ReaderMonitor()
    let readers = [reader(9), reader(8), reader(1, isWriting: true)]
    let census = SessionCensus(free: 6, readers: readers)
    _ = watch.found(SessionCensus(free: 8, readers: readers), at: start)
    let endings = watch.found(census, at: start.adding(seconds: 300))
    #expect(endings.map(\.reader.process) == [1, 9])
  }
}

/// The same on a server.
@Suite(.ownThread) struct ReaderSessionsTests {
  /// A server with few connections, one of them a login of its own, and who looks after it.
  private func crowded() throws -> (PrivateCluster, PostgresSupervisor, AsyncStream<String>) {
    let cluster = try PrivateCluster.own(more: ["max_connections": "20"])
    try Schema.apply(url: cluster.server.ownerConnectionString)
    try SQLProbe.run(
      "create role alice login in role candled_reader", url: cluster.server.ownerConnectionString)
    let (lines, inbox) = AsyncStream.makeStream(of: String.self)
    let log = Logger(label: "keeper") { label in
      LineLogHandler(
        label: label, control: LogControl(level: .info, format: .text), mask: SecretMask(),
        isJournal: false,
        write: { inbox.yield(String(decoding: $0, as: UTF8.self)) })
    }
    return (cluster, PostgresSupervisor(cluster.server, log: log), lines)
  }

  @Test func `sessions that take every connection keep no daemon out`() async throws {
    let (cluster, keeper, lines) = try crowded()
    let alice = cluster.server.url(database: EmbeddedServer.databaseName, role: "alice")
    var sessions: [StuckListener] = []
    while let session = try? StuckListener(alice) { sessions.append(session) }
    let daemon = StoreWriter(url: cluster.server.connectionString)
    await #expect(throws: StoreError.self) { try await daemon.connect() }
    let watch = Task { await keeper.keepRunning() }
    var ended: [String] = []
    for await line in lines {
      ended.append(line)
      if ended.count == ReaderMonitor.connectionsFreeMin { break }
    }
    #expect(
      ended.allSatisfy {
        $0.contains("ended the youngest session of a reader: only 0 connections free")
          && $0.contains("role=alice")
      }, "\(ended)")
    while true {
      if (try? await daemon.connect()) != nil { break }
      await Task.yield()
    }
    watch.cancel()
    await watch.value
    withExtendedLifetime(sessions) {}
  }

  @Test func `a reader whose transaction changes something is ended`() async throws {
    let (cluster, keeper, lines) = try crowded()
    let alice = try PostgresConnection(
      url: cluster.server.url(database: EmbeddedServer.databaseName, role: "alice"),
      application: "notebook")
    // Anybody may grant what anybody may do; it changes nothing and takes a number all the same.
    try alice.execute(
      """
      begin;
      savepoint s;
      grant execute on function pg_catalog.lower(text) to candled_reader
      """, context: "test")
    let watch = Task { await keeper.keepRunning() }
    var logged: String?
    for await line in lines {
      logged = line
      break
    }
    #expect(
      logged?.contains("ended the session of a reader: it was writing") == true
        && logged?.contains("pid=\(alice.backendProcess)") == true, "\(logged ?? "")")
    #expect(throws: StoreError.self) { try alice.execute("select 1", context: "test") }
    watch.cancel()
    await watch.value
  }

  @Test func `the gateway's role may write what is its own`() throws {
    let (cluster, _, _) = try crowded()
    try SQLProbe.run(
      "grant candled_app to alice", url: cluster.server.ownerConnectionString)
    let broker = try PostgresConnection(
      url: cluster.server.url(database: EmbeddedServer.databaseName, role: "alice"),
      application: "broker")
    try broker.execute(
      "begin; savepoint s; grant execute on function pg_catalog.lower(text) to candled_reader",
      context: "test")
    let found = try ReaderSessions(cluster.server).census().readers
      .first { $0.process == broker.backendProcess }
    #expect(found?.hasTransactionID == false)
  }

  @Test func `a client that stops reading is seen by the census and can be ended`() async throws {
    let (cluster, _, _) = try crowded()
    let readerSessions = ReaderSessions(cluster.server)
    let mute = try MuteReader(
      cluster.server.url(database: EmbeddedServer.databaseName, role: "alice"))
    var found: SessionCensus.Reader?
    while found == nil {
      found = try readerSessions.census().readers.first { $0.isWriting }
      await Task.yield()
    }
    let reader = try #require(found)
    #expect(reader.role == "alice" && reader.process == mute.process)
    #expect(try readerSessions.end(reader))
    while try !readerSessions.census().readers.isEmpty { await Task.yield() }
    #expect(try !readerSessions.end(reader))
    mute.close()
  }
}
