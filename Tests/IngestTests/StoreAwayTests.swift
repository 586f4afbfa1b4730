import Commits
import EmbeddedPostgres
import Feeds
import Logging
import Market
import Platform
import Postgres
import Store
import TestSupport
import TestTraits
import Testing

@testable import Ingest

/// A daemon that is started while its database is away.
@Suite(.ownThread) struct StoreAwayTests {
  @Test func `it waits, says since when, leads, and misses it when idle`() async throws {
    let cluster = try PrivateCluster.own()
    let keeper = PostgresSupervisor(
      cluster.server, log: Logger(label: "away") { _ in SwiftLogNoOpLogHandler() })
    try Schema.apply(url: cluster.server.ownerConnectionString, sources: SourceRegistry.rows)
    try await keeper.stop()
    let daemon = try Daemon.withoutUpstream(
      in: PrivateCluster.freshDirectory(),
      store: cluster.server.url(database: EmbeddedServer.databaseName))
    let (leads, inbox) = AsyncStream.makeStream(of: Void.self)
    let end = Task {
      defer { inbox.finish() }
      return try await daemon.run { _ in inbox.yield() }
    }
    while !daemon.state.isStoreAway { await Task.yield() }
    let report = await daemon.state.report()
    #expect(report.role == .starting && report.statusLine.hasPrefix("starting · no database since"))
    try await keeper.start()
    for await _ in leads { break }
    #expect(daemon.state.role == .leading(term: 1))
    #expect(!daemon.state.isStoreAway)
    // Noticed by the lease, whether or not anything is to be committed.
    try await keeper.stop()
    while !daemon.state.isStoreAway { await Task.yield() }
    #expect(daemon.state.role == .leading(term: 1))
    try await keeper.start()
    while daemon.state.isStoreAway { await Task.yield() }
    daemon.stop()
    let unsaved = try await end.value
    #expect(unsaved.isNone)
  }

  @Test func `a database that refuses a connection is reported at once`() async throws {
    let server = try PrivateCluster.shared().server
    // The daemon's own role is there only once another test has made a database.
    let daemon = try Daemon.withoutUpstream(
      in: PrivateCluster.freshDirectory(),
      store: server.url(database: "nobody_made_it", role: "postgres"))
    let error = await #expect(throws: StoreError.self) { try await daemon.run() }
    #expect(error?.code == .operatorNeeded && error?.sqlState == "3D000")
  }
}
