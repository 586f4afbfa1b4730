/// The units on a throw-away machine that systemd runs (`Scenarios/booted`): the sandbox, secrets,
/// reload, crash and upgrade as they are on a server, the private PostgreSQL inside.

import Testing

@Suite(.enabled(if: Scenario.bootObstacle == nil, "\(Scenario.bootObstacle ?? "")"))
struct BootedTests {
  private func lines(in section: String) async throws -> [String] {
    try await Scenario.booted.value(section)
  }

  @Test func `installing starts nothing`() async throws {
    #expect(try await lines(in: "installed") == ["disabled", "inactive"])
  }

  @Test func `unconfigured, it fails at once and for good, with the reason`() async throws {
    let lines = try await lines(in: "started unconfigured")
    #expect(lines.prefix(3) == ["failed", "78", "0"])
    #expect(lines.last?.hasPrefix("candled: symbols: none: set quotes.symbols") == true)
  }

  @Test func `configured, it is ready, with one of its credentials and without the others`()
    async throws
  {
    let lines = try await lines(in: "started")
    #expect(lines.prefix(3) == ["exit 0", "enabled", "active"])
    #expect(lines.count == 4, "no status line: \(lines)")
  }

  @Test(arguments: ["daemon confined", "server confined"])
  func `it runs as its user, without rights, behind a filter`(_ section: String) async throws {
    let lines = try await lines(in: section)
    #expect(lines.contains { $0.wholeMatch(of: /Uid: ([1-9]\d*) \1 \1 \1/) != nil }, "\(lines)")
    #expect(
      lines.filter { !$0.hasPrefix("Uid") } == [
        "CapBnd: 0000000000000000", "NoNewPrivs: 1", "Seccomp: 2",
      ])
  }

  @Test func `its state is its own`() async throws {
    let lines = try await lines(in: "state")
    #expect(lines.count == 3 && lines.allSatisfy { $0.hasPrefix("drwx------ candled candled /") })
  }

  @Test func `it says when it began`() async throws {
    #expect(try await lines(in: "beginning") == ["right"])
  }

  @Test func `root sees its state`() async throws {
    #expect(try await lines(in: "status command") == ["exit 0"])
  }

  @Test func `a good configuration is taken, a bad one refused by reload and survived`()
    async throws
  {
    #expect(try await lines(in: "reload, good") == ["exit 0", "active"])
    let bad = try await lines(in: "reload, bad")
    #expect(bad.first != "exit 0")
    #expect(bad.dropFirst().prefix(2) == ["active", "same daemon"])
    #expect(bad.last?.hasPrefix("60-more.toml:2: log.level: expected one of") == true)
  }

  @Test func `killed, it comes back and finds its server alive`() async throws {
    #expect(try await lines(in: "daemon killed") == ["1", "active", "same server"])
  }

  @Test func `a restart is one of the server too`() async throws {
    #expect(try await lines(in: "restart") == ["active", "new server"])
  }

  @Test func `an upgrade restarts it if it ran, and only then`() async throws {
    #expect(try await lines(in: "upgrade") == ["exit 0", "active", "new daemon"])
    #expect(try await lines(in: "upgrade while stopped") == ["inactive"])
  }

  @Test func `an upgrade does not wait for a database that is away`() async throws {
    #expect(
      try await lines(in: "upgrade while its database is away") == [
        "exit 0", "activating", "new daemon", "candled is still starting", "inactive",
      ])
  }

  @Test func `a backfill of an instrument runs beside it`() async throws {
    let lines = try await lines(in: "backfill")
    #expect(lines.first == "exit 0")
    #expect(
      lines.last?.wholeMatch(of: /sina 1d, 1990-01-01 to [-\d]+: 1 instrument/) != nil, "\(lines)")
  }

  @Test func `a backfill that root types leaves the service its folders`() async throws {
    // No source answers on that machine.
    #expect(try await lines(in: "backfill by root") == ["exit 75", "folders"])
  }

  @Test func `a group reads the private database, and nobody is more than a reader there`()
    async throws
  {
    #expect(
      try await lines(in: "readers") == [
        "drwxr-s--- candled candled-readers", "exit 0", "exit 2", "exit 2", "exit 0",
      ])
  }

  @Test func `a dump is restored by the words of the page`() async throws {
    #expect(try await lines(in: "gateway's schema") == ["exit 0", "exit 0"])
    #expect(
      try await lines(in: "dump and restore") == [
        "exit 0", "exit 0", "missing: setting of the database: search_path",
        "missing: setting of the database: timezone", "exit 65", "exit 0", "exit 0", "exit 0",
        "exit 0",
      ])
  }

  @Test func `stopped, it leaves no process behind`() async throws {
    #expect(try await lines(in: "stop") == ["success", "inactive", "nobody left"])
  }

  @Test func `a whole market day passes through the sandbox`() async throws {
    let lines = try await lines(in: "a day in the sandbox")
    #expect(lines.first == "success")
    #expect(lines.last?.contains("saved in /var/lib/candled-day") == true)
  }

  @Test func `removed, it is stopped and enabled no more`() async throws {
    #expect(
      try await lines(in: "remove") == ["exit 0", "inactive", "nobody left", "scenario.service"])
  }
}
