import Foundation
import Logging
import Operations
import Store
import TestSupport
import TestTraits
import Testing

@testable import Ingest

/// A daemon that is started while its database is away.
@Suite(.ownThread) struct StoreAwayTests {
  private let silence = Logger(label: "away") { _ in SwiftLogNoOpLogHandler() }

  /// One that asks nobody: its sources are a port of the loopback on which nobody listens.
  private func daemon(_ folder: String, _ url: String) throws -> Daemon {
    let nobody = "http://127.0.0.1:9"
    var text = "state_directory = \"\(folder)/state\"\nsina.symbols = [\"sh600000\"]\n"
    for key in ["base", "history_base", "list_base", "reference_base"] {
      text += "sina.\(key) = \"\(nobody)\"\n"
    }
    text += "mairui.bases = [\"\(nobody)\"]\nalpaca.base = \"\(nobody)\"\n"
    text += "alpaca.trading_base = \"\(nobody)\"\nstore.url = \"\(url)\"\n"
    let file = folder + "/candled.toml"
    try text.write(toFile: file, atomically: true, encoding: .utf8)
    return try Daemon(settings: ConfigurationFile.load(file, overrides: []), log: silence)
  }

  private func url(
    _ server: EmbeddedServer, _ database: String, role: String = "candled"
  ) -> String {
    let host = server.socketDirectory.split(separator: "/").map { "%2F\($0)" }.joined()
    return "postgresql://\(role)@/\(database)?host=\(host)&port=5432"
  }

  @Test func `it waits, says since when, and leads once the database is there`() async throws {
    let cluster = try PrivateCluster.own()
    let keeper = ServerKeeper(cluster.server, log: silence)
    try Schema.apply(url: cluster.server.ownerConnectionString)
    try await keeper.stop()
    let daemon = try daemon(
      PrivateCluster.freshDirectory(), url(cluster.server, EmbeddedServer.databaseName))
    let (leads, inbox) = AsyncStream.makeStream(of: Void.self)
    let end = Task {
      defer { inbox.finish() }
      return try await daemon.run { _ in inbox.yield() }
    }
    while !daemon.state.isStoreAway { await Task.yield() }
    let report = await daemon.state.report()
    #expect(report.role == .starting && report.statusLine.hasPrefix("starting · store away since"))
    try await keeper.start()
    for await _ in leads { break }
    #expect(daemon.state.role == .leading(term: 1))
    #expect(!daemon.state.isStoreAway)
    daemon.stop()
    let unsaved = try await end.value
    #expect(unsaved.isNone)
  }

  @Test func `a database that is there and refuses is heard at once`() async throws {
    let server = try PrivateCluster.shared().server
    // The daemon's own role is there only once another test has made a database.
    let daemon = try daemon(
      PrivateCluster.freshDirectory(), url(server, "nobody_made_it", role: "postgres"))
    let error = await #expect(throws: StoreError.self) { try await daemon.run() }
    #expect(error?.code == .operatorNeeded && error?.sqlState == "3D000")
  }
}
