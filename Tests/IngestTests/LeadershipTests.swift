import Commits
import EmbeddedPostgres
import Glibc
import Journal
import Market
import Platform
import Postgres
import Store
import TestSupport
import TestTraits
import Testing

@testable import Ingest

/// Two daemons on one database, in one process: who leads, who stands by, and how it passes on.
@Suite(.ownThread) struct LeadershipTests {
  private let database: StoreDatabase
  private let folder: String

  init() throws {
    database = try StoreDatabase()
    folder = try PrivateCluster.freshDirectory()
  }

  private struct Running {
    let daemon: Daemon
    let leads: AsyncStream<Void>
    let end: Task<Unsaved, any Error>
  }

  /// - Parameter isPrivate: on a cluster of its own.
  private func start(_ name: String, isPrivate: Bool = false) throws -> Running {
    let daemon = try Daemon.withoutUpstream(
      in: folder, name: name, store: isPrivate ? nil : database.daemonURL(),
      more: "store.lease = \"60s\"")
    let (leads, inbox) = AsyncStream.makeStream(of: Void.self)
    let end = Task {
      defer { inbox.finish() }
      return try await daemon.run { _ in inbox.yield() }
    }
    return Running(daemon: daemon, leads: leads, end: end)
  }

  /// - Returns: whether it leads; false if it ended before.
  private func leads(_ running: Running) async -> Bool {
    for await _ in running.leads { return true }
    return false
  }

  private func standsBy(_ running: Running) async {
    while true {
      if case .standby = running.daemon.state.role { return }
      await Task.yield()
    }
  }

  @Test func `a standby takes over at once when the leader has drained`() async throws {
    let first = try start("first")
    #expect(await leads(first))
    let second = try start("second")
    await standsBy(second)
    #expect(second.daemon.state.engine == nil)
    first.daemon.stop()
    #expect(try await first.end.value.isNone)
    // Its lease has most of a minute left; that it leads before shows that the lease was given up.
    #expect(await leads(second))
    #expect(second.daemon.state.role == .leading(term: 2))
    second.daemon.stop()
    #expect(try await second.end.value.isNone)
    #expect(
      try database.execute("select term, state from candled.leaders order by term")
        == [["1", "over"], ["2", "expired"]])
  }

  @Test func `a standby that is stopped ends at once and leaves the lease alone`() async throws {
    let first = try start("first")
    #expect(await leads(first))
    let second = try start("second")
    await standsBy(second)
    second.daemon.stop()
    #expect(try await second.end.value.isNone)
    #expect(
      try database.execute("select term, state from candled.leaders") == [["1", "leads"]])
    first.daemon.stop()
    _ = try await first.end.value
  }

  @Test func `a leader whose lease was taken stands by in the same process and leads again`()
    async throws
  {
    let first = try start("first")
    #expect(await leads(first))
    try database.execute(
      "update candled.lease set expires_at = clock_timestamp() - interval '1 second'")
    let thief = LeaseConnection(
      url: database.url, holder: "thief", host: "elsewhere", milliseconds: 60_000)
    guard case .taken(let lease, _) = try thief.take() else {
      Issue.record("the lease was not taken")
      return
    }
    // A renewal tells it, within a third of the lease; a commit would at once.
    let engine = try #require(first.daemon.state.engine)
    engine.loseLeadership(StoreError(.leaseLost, message: "taken", context: "test"))
    await standsBy(first)
    #expect(first.daemon.state.role == .standby(leader: "elsewhere"))
    try thief.release(lease)
    while first.daemon.state.role != .leading(term: 3) { await Task.yield() }
    first.daemon.stop()
    #expect(try await first.end.value.isNone)
  }

  @Test func `a leader that fails leaves the lead to a standby that can`() async throws {
    try database.execute("delete from candled.journal_position")
    let first = try start("first")
    let error = await #expect(throws: StoreError.self) { _ = try await first.end.value }
    #expect(error?.code == .schemaMismatch)
    #expect(
      try database.execute("select term, state from candled.leaders") == [["1", "expired"]])
  }

  @Test func `a second daemon on the same folder is refused`() async throws {
    let first = try start("first")
    #expect(await leads(first))
    let again = try start("first")
    let error = await #expect(throws: JournalError.self) { _ = try await again.end.value }
    #expect(error?.code == .locked)
    first.daemon.stop()
    _ = try await first.end.value
  }

  @Test func `a daemon that is refused leaves the server to the one whose it is`() async throws {
    // Its server is another user's.
    #expect(chmod(folder, 0o711) == 0)
    let first = try start("first", isPrivate: true)
    #expect(await leads(first))
    let server = first.daemon.settings.embeddedServer
    let session = "select pid from pg_stat_activity where application_name = 'candled writer'"
    let writer = try SQLProbe.run(session, url: server.adminConnectionString())
    let again = try start("first", isPrivate: true)
    await #expect(throws: JournalError.self) { _ = try await again.end.value }
    #expect(try SQLProbe.run(session, url: server.adminConnectionString()) == writer)
    #expect(!writer.isEmpty)
    first.daemon.stop()
    #expect(try await first.end.value.isNone)
    #expect(!server.isRunning)
  }
}
