import EmbeddedPostgres
import Foundation
import TestSupport
import TestTraits
import Testing

/// What `candled database` says and changes, with the PostgreSQL that is installed.
@Suite(.ownThread) struct DatabaseCommandTests {
  /// A state directory with a cluster whose server runs.
  private func startedState() throws -> (state: String, server: EmbeddedServer) {
    let state = try PrivateCluster.freshDirectory()
    // Its server is another user's.
    #expect(chmod(state, 0o711) == 0)
    let server = EmbeddedServer(
      directory: state + "/postgres", settings: ["fsync": "off", "shared_buffers": "16MB"])
    try server.start()
    return (state, server)
  }

  private func run(
    _ command: String, in state: String, _ more: [String] = []
  ) throws -> BuiltBinary.Run {
    try BuiltBinary.run(
      ["database", command] + more
        + ["--config", "/dev/null", "--set", "state_directory=\(state)"])
  }

  @Test func `a status has the version, its end and what an upgrade takes`() throws {
    let (state, server) = try startedState()
    defer { try? server.stopImmediately() }
    let major = try #require(server.major)
    let status = try run("status", in: state, ["--json"])
    #expect(status.status == 0, "\(status.errors)")
    let members = try #require(
      JSONSerialization.jsonObject(with: Data(status.output.utf8)) as? [String: Any])
    #expect(members["major"] as? Int == major)
    let end = "\(ServerRelease(major: major).lastRelease)"
    #expect(members["maintained_until"] as? String == end)
    #expect(members["is_running"] as? Bool == true && members["is_installed"] as? Bool == true)
    let bytes = try #require(members["bytes"] as? Int)
    #expect(members["upgrade_needs_bytes"] as? Int ?? 0 > bytes && bytes > 1 << 20)
    #expect(members["upgrade_seconds"] as? Int ?? -1 >= 0)
  }

  @Test func `nothing newer to upgrade to is 69, nothing to discard 65`() throws {
    let (state, server) = try startedState()
    defer { try? server.stopImmediately() }
    for command in ["check", "upgrade"] {
      let more = ["--to", "99"] + (command == "upgrade" ? ["--now"] : [])
      let refused = try run(command, in: state, more)
      #expect(refused.status == 69 && refused.errors.contains("apt-get install postgresql-99"))
    }
    #expect(server.isRunning)
    let discard = try run("discard", in: state)
    #expect(discard.status == 65 && discard.errors.contains("there is no data.old"))
  }

  @Test func `while a market trades an upgrade is not begun`() throws {
    let (state, server) = try startedState()
    defer { try? server.stopImmediately() }
    let clock = ["clock.mode=stepped", "clock.start=2026-07-06T10:00:00+08:00"]
    let refused = try run("upgrade", in: state, clock.flatMap { ["--set", $0] })
    #expect(refused.status == 75 && refused.errors.contains("a market is requested again in"))
    #expect(server.isRunning)
  }

  @Test func `a server of one's own is not for this command`() throws {
    let refused = try BuiltBinary.run(
      ["database", "status", "--config", "/dev/null", "--set", "store.url=postgresql:///candled"])
    #expect(refused.status == 78 && refused.errors.contains("store.url is set"))
  }

  @Test func `without a cluster there is no version`() throws {
    let state = try PrivateCluster.freshDirectory()
    let refused = try BuiltBinary.run(
      ["database", "status", "--config", "/dev/null", "--set", "state_directory=\(state)"])
    #expect(refused.status == 69 && refused.errors.contains("no cluster in \(state)/postgres"))
  }
}
