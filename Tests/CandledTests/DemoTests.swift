import EmbeddedPostgres
import Glibc
import Postgres
import TestSupport
import TestTraits
import Testing

@Suite(.ownThread) struct `candled-demo` {
  /// Ten minutes a second: long enough to be asked, and stopped, before its close.
  private func start(in folder: String) throws -> RunningBinary {
    let demo = try RunningBinary.demo(
      "--speed", "600", "--instruments", "15", "--days", "0", "--keep", folder)
    // Its first line comes with the first candle, later ones a minute apart.
    #expect(demo.logContains("sweeps "), "\(demo.captured)")
    return demo
  }

  private func folder() throws -> String {
    let folder = try PrivateCluster.freshDirectory()
    // The server runs as a user of its own.
    chmod(folder, 0o755)
    return folder + "/day"
  }

  private func ask(_ arguments: String..., folder: String) throws -> BuiltBinary.Run {
    try BuiltBinary.run(
      arguments + ["--config", "/dev/null", "--set", "state_directory=\(folder)"])
  }

  @Test func `that was kept is opened again, asked and closed`() throws {
    let folder = try folder()
    let demo = try start(in: folder)
    demo.signal(SIGINT)
    #expect(try demo.ended() == 0, "\(demo.captured)")
    #expect(demo.captured.contains("certificates  none yet"), "\(demo.captured)")
    #expect(demo.captured.contains("data          saved in \(folder)\n"), "\(demo.captured)")
    for command in [["query", "latest"], ["status"]] {
      let closed = try ask(command[0], command.dropFirst().first ?? "--json", folder: folder)
      #expect(closed.status == 69 && closed.errors.contains("`candled-demo --open \(folder)`"))
    }
    let twice = try BuiltBinary.runDemo("--keep", folder)
    #expect(twice.status == 73 && twice.errors.contains("already holds a demo"), "\(twice.errors)")
    let open = try RunningBinary.demo("--open", folder)
    #expect(open.logContains("Ctrl-C stops its PostgreSQL"), "\(open.captured)")
    #expect(
      open.captured.contains("certificates  none yet") && open.captured.contains("psql 'host="))
    let quotes = try ask("query", "latest", "--json", folder: folder)
    #expect(try Parsed.objects(quotes.output).count == 15, "\(quotes.errors)")
    let status = try ask("status", folder: folder)
    #expect(status.output.contains("\(folder) is the folder of a demo"), "\(status.output)")
    open.signal(SIGINT)
    #expect(try open.ended() == 0, "\(open.captured)")
    #expect(try ask("query", "latest", folder: folder).status == 69)
  }

  @Test func `that could not save everything prints it and exits 75`() throws {
    let folder = try folder()
    let demo = try start(in: folder)
    let server = EmbeddedServer(directory: folder + "/postgres")
    try SQLProbe.run(
      "revoke insert on candled.candle from candled", url: server.ownerConnectionString)
    #expect(demo.logContains("commit failed"), "\(demo.captured)")
    demo.signal(SIGINT)
    #expect(try demo.ended() == 75, "\(demo.captured)")
    #expect(demo.captured.contains("  NOT SAVED     "), "\(demo.captured)")
    #expect(demo.captured.contains("candled-demo: not saved: "), "\(demo.captured)")
  }

  @Test func `has a help with examples, and a version`() throws {
    let help = try BuiltBinary.runDemo("--help")
    #expect(help.status == 0 && help.output.contains("\nEXAMPLES:\n  candled-demo\n"))
    let version = try BuiltBinary.runDemo("--version")
    #expect(version.status == 0 && version.output.hasPrefix("0."), "\(version.output)")
  }

  @Test func `that was never kept cannot be opened`() throws {
    let run = try BuiltBinary.runDemo("--open", "/tmp/candled-none")
    #expect(run.status == 66 && run.errors.contains("holds no kept demo"), "\(run.errors)")
    let both = try BuiltBinary.runDemo("--open", "/tmp/a", "--keep", "/tmp/b")
    #expect(both.status == 64 && both.errors.contains("exclude each other"))
  }
}
