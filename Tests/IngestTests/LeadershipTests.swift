import Ingest
import Store
import TestSupport
import Testing

/// Two daemons on one database, in one process: who leads, who stands by, and how it passes on.
@Suite struct LeadershipTests {
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

  private func start(_ name: String) throws -> Running {
    let daemon = try Daemon.askingNobody(
      in: folder, name: name, store: database.daemonURL(), more: "store.lease = \"60s\"")
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

  @Test func `a standby told to stop ends at once and leaves the lease alone`() async throws {
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
    engine.loseLead(StoreError(.leaseLost, "taken", context: "test"))
    await standsBy(first)
    #expect(first.daemon.state.role == .standby(leader: "elsewhere"))
    try thief.giveUp(lease)
    while first.daemon.state.role != .leading(term: 3) { await Task.yield() }
    first.daemon.stop()
    #expect(try await first.end.value.isNone)
  }

  @Test func `a second daemon on the same folder is refused`() async throws {
    let first = try start("first")
    #expect(await leads(first))
    let again = try start("first")
    await #expect(throws: (any Error).self) { _ = try await again.end.value }
    first.daemon.stop()
    _ = try await first.end.value
  }
}
