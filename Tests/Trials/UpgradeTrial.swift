import Commits
import EmbeddedPostgres
import ExchangeSimulator
import Foundation
import Market
import Platform
import Store
import TestExchange
import TestSupport

/// A daemon whose private PostgreSQL cannot start because its programs are gone. Once they are
/// back, it is brought from major to major by `candled database upgrade`, which is killed at each
/// of its steps before it is let through. Responses are recorded all the time, and at the end of
/// the day the table is the ledger. Beside it, a cluster on a disk that fills up, and one of
/// another locale.
package struct UpgradeTrial {
  package var binary: String
  package var instruments: Int
  package var seed: UInt64
  /// Of each upgrade.
  package var kills: Int
  package var speed: Int
  /// Short: not all the majors.
  package var upgradesMax = Int.max

  package static var isPossible: Bool { !PostgresServers.others.isEmpty }

  private static let calmSeconds = 3
  private static let recordedMin = 30
  private static let waitSecondsMax = 120.0
  private static let commandSecondsMax = 300
  /// What the command prints at each step, before it.
  private static let steps = [
    "stopping the server", "counting the rows", "transferring", "gathering statistics",
    "comparing", "replacing",
  ]
  private static let killMicrosecondsMax: UInt32 = 400_000
  /// What an upgrade and its kills may take of the day, real seconds.
  private static let upgradeSeconds = 30
  private static let killSeconds = 10
  private static let restMinutes = 10

  package init(binary: String, instruments: Int, seed: UInt64, kills: Int, speed: Int) {
    self.binary = binary
    self.instruments = instruments
    self.seed = seed
    self.kills = kills
    self.speed = speed
  }

  package func run() throws -> ChaosVerdict {
    _ = PostgresServers.onPath
    let world = try TrialDay("upgrade", seed: seed, instruments: instruments, hasCluster: false)
    defer { world.end() }
    let server = world.embeddedServer
    defer { try? world.embeddedServer.stopImmediately() }
    var verdict = ChaosVerdict()
    let first = try makeCluster(server)
    let majors = PostgresServers.others.map(\.major).filter { $0 > first }.prefix(upgradesMax)
    var settings = try world.settings(start: start(upgrades: majors.count))
    settings.scale(by: speed)
    let daemon = try world.daemon(settings, binary: binary)
    try recordWithoutPrograms(world, daemon, major: first, into: &verdict)
    var random = SplitMix(seed: seed)
    for major in majors {
      try upgrade(world, daemon, to: major, &random, into: &verdict)
    }
    try daemon.finish(secondsMax: 1_200)
    try world.embeddedServer.start()
    let day = try world.verify(deaths: nil, isLate: true)
    verdict.figures += day.figures
    verdict.complaints += day.complaints
    try upgradeOnFullDisk(&verdict)
    try upgradeOtherLocale(&verdict)
    return verdict
  }

  /// In the afternoon, which must last for all upgrades: at noon nothing is asked.
  private func start(upgrades: Int) -> Int {
    let real = upgrades * (Self.upgradeSeconds + kills * Self.killSeconds) + Self.calmSeconds
    return max(15 * 3_600 - Self.restMinutes * 60 - real * speed, 13 * 3_600)
  }

  /// - Returns: its major.
  private func makeCluster(_ server: EmbeddedServer) throws -> Int {
    // Its server is another user's.
    try FileManager.default.createDirectory(
      atPath: URL(fileURLWithPath: server.directory).deletingLastPathComponent().path,
      withIntermediateDirectories: true, attributes: [.posixPermissions: 0o711])
    try server.start()
    try server.stop()
    guard let major = server.major else { throw TrialFailure("a cluster without a version") }
    return major
  }

  /// Its data is of a version that no machine has.
  private func recordWithoutPrograms(
    _ world: TrialDay, _ daemon: DaemonProcess, major: Int, into verdict: inout ChaosVerdict
  ) throws {
    let server = world.embeddedServer
    let file = server.directory + "/data/PG_VERSION"
    try overwrite(file, with: "14\n")
    try daemon.start()
    try wait("records without PostgreSQL's programs", daemon) {
      world.exchange.requestsAnswered >= Self.recordedMin
    }
    let log = try String(contentsOfFile: daemon.log, encoding: .utf8)
    if !log.contains("apt-get install postgresql-14") {
      verdict.complaints.append("the log does not have the command that installs the programs")
    }
    if server.isRunning { verdict.complaints.append("a server of another version was started") }
    try overwrite(file, with: "\(major)\n")
    try wait("commits once the programs are there", daemon) {
      hasCommitted(world, since: 0)
    }
    verdict.figures.append(
      "\(world.exchange.requestsAnswered) responses before the first commit")
  }

  private func upgrade(
    _ world: TrialDay, _ daemon: DaemonProcess, to major: Int, _ random: inout SplitMix,
    into verdict: inout ChaosVerdict
  ) throws {
    let begin = Date()
    let asked = world.exchange.requestsAnswered
    var killed = 0
    for number in 0..<kills {
      let step = Self.steps[number % Self.steps.count]
      let pause = UInt32.random(in: 0...Self.killMicrosecondsMax, using: &random)
      try forgetColumnVersions(world, daemon)
      let command = try command("upgrade", to: major, world, daemon)
      if try command.kill(at: step, after: pause) { killed += 1 }
    }
    try forgetColumnVersions(world, daemon)
    let last = try command("upgrade", to: major, world, daemon)
    let status = last.end(secondsMax: Self.commandSecondsMax)
    if status != 0 {
      let words = status.map { "exit \($0)" } ?? "no end"
      verdict.complaints.append("to \(major): \(words): \(last.text)")
    }
    if world.embeddedServer.major != major {
      verdict.complaints.append("the data is not of PostgreSQL \(major)")
    }
    let replaced = SystemClock.realMicroseconds()
    try wait("commits to PostgreSQL \(major)", daemon) {
      hasCommitted(world, since: replaced)
    }
    let answered = world.exchange.requestsAnswered - asked
    if answered == 0 { verdict.complaints.append("nothing was asked during the upgrade") }
    verdict.figures.append(
      "to \(major): \(killed) kills, \(Int(Date().timeIntervalSince(begin))) s, "
        + "\(answered) responses meanwhile")
    let early = try command("discard", to: nil, world, daemon)
    if early.end(secondsMax: Self.commandSecondsMax) != 65 {
      verdict.complaints.append("what was replaced could be discarded at once: \(early.text)")
    }
    let directory = world.embeddedServer.directory
    try FileManager.default.removeItem(atPath: directory + "/data.old")
    try FileManager.default.removeItem(atPath: directory + "/upgrade.state")
  }

  /// Once the daemon has started the server again.
  private func forgetColumnVersions(_ world: TrialDay, _ daemon: DaemonProcess) throws {
    try wait("starts its server again", daemon) {
      (try? Self.forgetColumnVersions(world.embeddedServer)) != nil
    }
  }

  /// PostgreSQL 15.20 keeps a version of each column among its options, which older releases do not
  /// know, and those of other majors that can be had are older.
  private static func forgetColumnVersions(_ server: EmbeddedServer) throws {
    for database in ["template1", "postgres", EmbeddedServer.databaseName] {
      try SQLProbe.run(
        "update pg_attribute set attoptions = null where attoptions is not null",
        url: server.adminConnectionString(database: database))
    }
  }

  private func hasCommitted(_ world: TrialDay, since moment: Int64) -> Bool {
    let feed = StoredFeed(url: world.embeddedServer.ownerConnectionString)
    return (try? feed.firstCommit(after: moment)) != nil
  }

  private func command(
    _ name: String, to major: Int?, _ world: TrialDay, _ daemon: DaemonProcess
  ) throws -> WatchedCommand {
    var arguments = ["database", name, "--config", daemon.configuration]
    if let major { arguments += ["--to", "\(major)", "--now"] }
    return try WatchedCommand(binary, arguments)
  }

  private func overwrite(_ path: String, with text: String) throws {
    guard let handle = FileHandle(forWritingAtPath: path) else {
      throw TrialFailure("cannot write \(path)")
    }
    try handle.truncate(atOffset: 0)
    try handle.write(contentsOf: Data(text.utf8))
    try handle.close()
  }

  private func wait(
    _ what: String, _ daemon: DaemonProcess, until isSo: () throws -> Bool
  ) throws {
    let deadline = Date().addingTimeInterval(Self.waitSecondsMax)
    while try !isSo() {
      guard Date() < deadline, daemon.isRunning else {
        throw TrialFailure("the daemon never \(what): \(daemon.logTail)")
      }
      usleep(20_000)
    }
  }
}

// MARK: - Clusters of their own

extension UpgradeTrial {
  private static let diskMegabytes = 900
  private static let quick = ["fsync": "off", "shared_buffers": "16MB"]
  private static let rows = "select count(*), sum(n), min(t), max(t) from odd"

  /// Rows whose order another collation could change.
  private static let makeRows = """
    create table odd (n bigint primary key, t text);
    insert into odd select n, chr(65 + (n % 60)::int) || n from generate_series(1, 20000) n;
    create index on odd (t)
    """

  private func newest(of server: EmbeddedServer) -> Int? {
    let major = server.major ?? .max
    return PostgresServers.others.map(\.major).filter { $0 > major }.prefix(upgradesMax).last
  }

  /// Nothing is lost where the disk is full in the middle, and the next run succeeds.
  private func upgradeOnFullDisk(_ verdict: inout ChaosVerdict) throws {
    guard SmallDisk.isPossible else {
      return verdict.figures.append("no disk was filled: only root may mount one")
    }
    let disk = try SmallDisk(megabytes: Self.diskMegabytes)
    let server = EmbeddedServer(directory: disk.path + "/cluster", settings: Self.quick)
    try server.start()
    defer { try? server.stopImmediately() }
    try SQLProbe.run(Self.makeRows, url: server.ownerConnectionString)
    let before = try SQLProbe.run(Self.rows, url: server.ownerConnectionString)
    try Self.forgetColumnVersions(server)
    let old = server.major
    do throws(EmbeddedServerError) {
      _ = try ClusterUpgrade(of: server) { step in
        if step.hasPrefix("transferring") { try? disk.fill() }
      }.run(to: newest(of: server))
      verdict.complaints.append("an upgrade came to its end on a full disk")
    } catch {
      verdict.figures.append("on a full disk: \(error.sentence)")
    }
    disk.empty()
    try server.start()
    if server.major != old {
      verdict.complaints.append("the data is of another version after a full disk")
    }
    try expect(before, in: server, after: "a full disk", &verdict)
    try Self.forgetColumnVersions(server)
    let major = try ClusterUpgrade(of: server) { _ in }.run(to: newest(of: server))
    try server.start()
    if server.major != major { verdict.complaints.append("no upgrade once the disk had room") }
    try expect(before, in: server, after: "the upgrade behind a full disk", &verdict)
  }

  private func upgradeOtherLocale(_ verdict: inout ChaosVerdict) throws {
    let directory = try PrivateCluster.freshDirectory()
    chmod(directory, 0o711)
    let server = EmbeddedServer(directory: directory + "/cluster", settings: Self.quick)
    try server.start()
    try server.stop()
    defer { try? server.stopImmediately() }
    guard let major = server.major,
      let programs = ServerBinaries.installed().first(where: { $0.major == major })
    else { throw TrialFailure("no programs of the cluster") }
    // As the owner of the data, in its place.
    let data = server.directory + "/data"
    let owner = "--reuid=$(stat -c %u \(data)) --regid=$(stat -c %g \(data)) --clear-groups"
    let made = Shell.output(
      of: "owner=\"\(geteuid() == 0 ? "setpriv \(owner)" : "")\"; rm -rf \(data)/*; cd /; "
        + "$owner \(programs.directory)/initdb -D \(data) -U postgres -E SQL_ASCII --locale=C "
        + "--auth=trust --data-checksums 2>&1")
    if made == nil { throw TrialFailure("no cluster of another locale could be made") }
    try server.start()
    try SQLProbe.run(Self.makeRows, url: server.ownerConnectionString)
    let before = try SQLProbe.run(Self.rows, url: server.ownerConnectionString)
    try Self.forgetColumnVersions(server)
    _ = try ClusterUpgrade(of: server) { _ in }.run(to: newest(of: server))
    try server.start()
    try expect(before, in: server, after: "an upgrade of another locale", &verdict)
    let found = try SQLProbe.run(
      "select datcollate, pg_encoding_to_char(encoding) from pg_database where datname = 'candled'",
      url: server.ownerConnectionString)
    if found != [["C", "SQL_ASCII"]] { verdict.complaints.append("another locale: \(found)") }
  }

  private func expect(
    _ rows: [[String?]], in server: EmbeddedServer, after what: String,
    _ verdict: inout ChaosVerdict
  ) throws {
    let found = try SQLProbe.run(Self.rows, url: server.ownerConnectionString)
    if found != rows { verdict.complaints.append("\(found) instead of \(rows) after \(what)") }
  }
}
