import Foundation
import Glibc
import Market
import Store
import TestSupport
import TestTraits
import Testing

@testable import EmbeddedPostgres

/// Copies of a real cluster: what a drill restores, and each way in which a copy is worth nothing.
@Suite(.ownThread) struct BackupTests {
  private static let quick = ["fsync": "off", "shared_buffers": "16MB"]

  /// A server with a certified minute, and copies in another folder.
  private struct Copied {
    var server: EmbeddedServer
    var backup: ClusterBackup

    init() throws {
      server = EmbeddedServer(
        directory: try PrivateCluster.freshDirectory(), binaries: PostgresServers.used.map { [$0] },
        settings: BackupTests.quick, backupDirectory: try PrivateCluster.freshDirectory())
      try server.start()
      backup = try #require(try server.backups())
      try Schema.apply(url: server.ownerConnectionString)
      try run(
        """
        insert into instrument (id, symbol, first_seen) values (1, 'sh600519', now());
        select ensure_partition(date '2026-07-06')
        """)
      try certify(day: 6, volume: 70)
    }

    /// A minute of so much, and a gap of 30: the certificate says 100.
    func certify(day: Int, volume: Int) throws {
      try run(
        """
        insert into candle (
          opened_at, closed_at, known_from, instrument_id, trading_day, timeframe, flags, source,
          open, high, low, close, volume, turnover)
        select t, t + interval '1 minute', t, id, t::date, 1, 0, 1, 9, 9, 9, 9, \(volume), 700
        from instrument, (select timestamptz '2026-07-0\(day) 09:31+08') x (t);
        insert into gap (
          instrument_id, trading_day, from_at, to_at, volume, turnover, cause, known_from)
        select id, t::date, t, t, 30, 300, 1, t
        from instrument, (select timestamptz '2026-07-0\(day) 10:00+08') x (t);
        insert into day_audit (
          instrument_id, trading_day, exchange_volume, exchange_turnover, minute_volume,
          minute_turnover, gap_volume, gap_turnover, after_hours_volume, after_hours_turnover,
          minutes_traded, minutes_untraded, minutes_missing, known_from)
        select id, date '2026-07-0\(day)', 100, 1000, 70, 700, 30, 300, 0, 0, 1, 0, 239, now()
        from instrument;
        update feed_sequence set last_seq = last_seq + 1
        """)
    }

    func run(_ statements: String) throws {
      try SQLProbe.run(
        "set search_path to candled; \(statements)", url: server.ownerConnectionString)
    }

    /// Of the table, in a folder of data.
    func file(of table: String) throws -> String {
      try run("checkpoint")
      let path = try SQLProbe.run(
        "select pg_relation_filepath('candled.\(table)')", url: server.ownerConnectionString)
      return try #require(path.first?.first ?? nil)
    }

    func drill(at moment: Timestamp = BackupTests.noon) throws -> String {
      try BackupDrill(of: backup) { _ in }.run(at: moment)
    }

    func refusal(at moment: Timestamp = BackupTests.noon) throws -> EmbeddedServerError {
      let error = try #require(throws: EmbeddedServerError.self) {
        try BackupDrill(of: backup) { _ in }.run(at: moment)
      }
      let result = try #require(server.drillResult)
      #expect(error.code == .backupFailed && !result.hasPassed)
      #expect(result.sentence == error.sentence && result.at == moment)
      #expect(access(backup.directory + "/drill", F_OK) != 0)
      return error
    }
  }

  private static let noon = Timestamp(day: TradingDay.first(of: 2026), secondOfDay: 43_200)

  private func flip(_ path: String, at offset: UInt64) throws {
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    try file.seek(toOffset: offset)
    let byte = try #require(try file.read(upToCount: 1)?.first)
    try file.seek(toOffset: offset)
    try file.write(contentsOf: [~byte])
    try file.close()
  }

  @Test func `a drill restores what was committed after the base copy, and counts it`() throws {
    let copied = try Copied()
    defer { try? copied.server.stopImmediately() }
    #expect(try #require(BackupState(of: copied.server)).baseAt == nil)
    let base = try copied.backup.run(keeping: 2, at: Self.noon)
    try copied.certify(day: 7, volume: 70)
    let found = try copied.drill(at: Self.noon.adding(seconds: 60))
    #expect(found.hasSuffix("2 certificates, 0 of them with a residual, to commit 2"), "\(found)")
    let state = try #require(BackupState(of: copied.server))
    #expect(state.baseAt == base.madeAt && base.madeAt == Self.noon)
    #expect(
      state.drill
        == DrillResult(at: Self.noon.adding(seconds: 60), hasPassed: true, sentence: found))
    #expect(copied.server.isRunning && access(copied.backup.directory + "/drill", F_OK) != 0)
  }

  @Test func `a copy of another major version counts for none`() throws {
    let copied = try Copied()
    defer { try? copied.server.stopImmediately() }
    let base = try copied.backup.run(keeping: 2, at: Self.noon)
    try "9\n".write(
      toFile: copied.backup.path(of: base) + "/PG_VERSION", atomically: true, encoding: .utf8)
    #expect(try #require(BackupState(of: copied.server)).baseAt == nil)
  }

  @Test func `a drill that finds no base copy, or one too old, fails`() throws {
    let copied = try Copied()
    defer { try? copied.server.stopImmediately() }
    #expect(try copied.refusal().sentence.contains("there is no base copy"))
    _ = try copied.backup.run(keeping: 2, at: Self.noon)
    let late = Self.noon.adding(seconds: (BackupDrill.baseDaysMax + 1) * 86_400)
    #expect(try copied.refusal(at: late).sentence.contains("too old: it was made 41 days ago"))
  }

  @Test func `a drill without the server says nothing of the copy`() throws {
    let copied = try Copied()
    _ = try copied.backup.run(keeping: 2, at: Self.noon)
    let found = try copied.drill()
    try copied.server.stop()
    let error = try #require(throws: EmbeddedServerError.self) { try copied.drill() }
    #expect(error.sentence.contains("the server does not run"))
    #expect(try #require(copied.server.drillResult).sentence == found)
  }

  @Test func `a damaged page of the server is found by a base copy`() throws {
    let copied = try Copied()
    let file = try copied.file(of: "day_audit")
    try copied.server.stop()
    try flip("\(copied.server.dataDirectory)/\(file)", at: 8_000)
    try copied.server.start()
    defer { try? copied.server.stopImmediately() }
    let error = try #require(throws: EmbeddedServerError.self) {
      try copied.backup.run(keeping: 2, at: Self.noon)
    }
    #expect(error.code == .backupFailed && "\(error)".contains("checksum"), "\(error)")
    #expect(copied.backup.bases.isEmpty)
  }

  @Test func `a damaged page of the copy is found by a drill`() throws {
    let copied = try Copied()
    defer { try? copied.server.stopImmediately() }
    let base = try copied.backup.run(keeping: 2, at: Self.noon)
    let file = try copied.file(of: "day_audit")
    try flip("\(copied.backup.path(of: base))/\(file)", at: 8_000)
    let error = try copied.refusal()
    #expect(error.sentence.contains("is damaged") && "\(error)".contains(file), "\(error)")
  }

  @Test func `a missing or unreadable segment of the log is found by a drill`() throws {
    let copied = try Copied()
    defer { try? copied.server.stopImmediately() }
    let base = try copied.backup.run(keeping: 2, at: Self.noon)
    for day in 7...8 {
      try copied.certify(day: day, volume: 70)
      try copied.run("select pg_switch_wal()")
    }
    _ = try copied.drill()
    let first = try #require(copied.backup.firstSegment(of: base))
    let next = "\(first.prefix(8))\(ClusterBackup.following(first.dropFirst(8)))"
    let path = "\(copied.backup.archive(of: base.system))/\(next).gz"
    try flip(path, at: 100)
    #expect(try copied.refusal().sentence.contains("the log can be read to segment"))
    #expect(try #require(BackupState(of: copied.server)).hole == nil)
    #expect(unlink(path) == 0)
    let hole = try #require(BackupState(of: copied.server)?.hole)
    #expect(hole.contains("segment \(next.dropFirst(8)) of the log is missing"))
    let missing = try copied.refusal()
    #expect(missing.sentence.contains("segment \(next.dropFirst(8)) of the log is missing"))
  }

  @Test func `a certificate that is not the sum of the restored rows is found by a drill`() throws {
    let copied = try Copied()
    defer { try? copied.server.stopImmediately() }
    _ = try copied.backup.run(keeping: 2, at: Self.noon)
    try copied.certify(day: 7, volume: 69)
    let error = try copied.refusal()
    #expect(error.log == ["2026-07-07 of sh600519"], "\(error)")
  }

  @Test func `what a killed drill left is removed before the next copy, its server first`() throws {
    let copied = try Copied()
    defer { try? copied.server.stopImmediately() }
    let left = EmbeddedServer(
      directory: copied.backup.drillDirectory, binaries: PostgresServers.used.map { [$0] },
      settings: Self.quick)
    try left.start()
    _ = try copied.backup.run(keeping: 2, at: Self.noon)
    #expect(!left.isRunning && access(left.directory, F_OK) != 0)
    #expect(copied.server.isRunning)
  }

  @Test func `a copy that is not verified leaves nothing behind`() throws {
    let copied = try Copied()
    defer { try? copied.server.stopImmediately() }
    let real = try copied.server.chooseBinaries()
    let programs = try PrivateCluster.freshDirectory()
    // Root's programs run as another user.
    #expect(chmod(programs, 0o755) == 0)
    for name in try FileManager.default.contentsOfDirectory(atPath: real.directory) {
      let path = name == "pg_verifybackup" ? "/bin/false" : real.program(name)
      #expect(symlink(path, "\(programs)/\(name)") == 0)
    }
    let server = EmbeddedServer(
      directory: copied.server.directory,
      binaries: [ServerBinaries(directory: programs, major: real.major)], settings: Self.quick,
      backupDirectory: copied.backup.directory)
    let error = try #require(throws: EmbeddedServerError.self) {
      try #require(try server.backups()).run(keeping: 2, at: Self.noon)
    }
    #expect(error.sentence.contains("is damaged"))
    let binaries = try server.chooseBinaries()
    let system = try server.systemIdentifier(binaries, server.serverUser())
    let folder = "\(copied.backup.directory)/\(system)/base"
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
  }

  @Test func `the last base copies stay, with all of the log behind the oldest`() throws {
    let copied = try Copied()
    defer { try? copied.server.stopImmediately() }
    func base(_ number: Int64) throws -> ClusterBackup.Base {
      try copied.backup.run(keeping: 2, at: Self.noon.adding(seconds: number))
    }
    var made = [try base(0), try base(1)]
    // What the server has goes into the archive first.
    #expect(try copied.drill().contains("1 certificates"))
    made.append(try base(2))
    #expect(copied.backup.bases == Array(made.dropFirst()))
    let oldest = try #require(copied.backup.firstSegment(of: made[1]))
    let names = try FileManager.default.contentsOfDirectory(
      atPath: copied.backup.archive(of: made[1].system))
    // The history file of a base copy stays: a few hundred bytes.
    let segments = names.filter { !$0.contains(".backup") }
    #expect(segments.contains("\(oldest).gz") && segments.allSatisfy { $0 >= oldest })
  }

  @Test func `an archive that cannot be written keeps the log, and is full again afterwards`()
    throws
  {
    let copied = try Copied()
    defer { try? copied.server.stopImmediately() }
    let base = try copied.backup.run(keeping: 2, at: Self.noon)
    let archive = copied.backup.archive(of: base.system)
    #expect(rename(archive, archive + ".away") == 0)
    try copied.run("select pg_switch_wal()")
    #expect(try #require(BackupState(of: copied.server)).waitingSegments > 0)
    #expect(rename(archive + ".away", archive) == 0)
    #expect(try copied.drill().contains("1 certificates"))
    #expect(try #require(BackupState(of: copied.server)).waitingSegments == 0)
  }

  /// Of a segment, in a server's folder where some wait and the disk has so much free.
  private func archives(
    ready: Int, freeKibibytes: Int, isAway: Bool = true,
    within seconds: Int = ClusterBackup.archiveSecondsMax,
    gzip: String = "exec /bin/gzip \"$@\""
  ) throws -> Bool {
    let data = try PrivateCluster.freshDirectory()
    let programs = try PrivateCluster.freshDirectory()
    let status = data + "/pg_wal/archive_status"
    try FileManager.default.createDirectory(atPath: status, withIntermediateDirectories: true)
    for number in 0..<ready {
      #expect(FileManager.default.createFile(atPath: "\(status)/\(number).ready", contents: nil))
    }
    #expect(FileManager.default.createFile(atPath: data + "/pg_wal/1", contents: Data([1])))
    for (name, script) in [("df", "echo Avail; echo \(freeKibibytes)"), ("gzip", gzip)] {
      let path = "\(programs)/\(name)"
      try "#!/bin/sh\n\(script)\n".write(toFile: path, atomically: true, encoding: .utf8)
      #expect(chmod(path, 0o755) == 0)
    }
    let backup = try ClusterBackup(
      of: EmbeddedServer(directory: data), in: try PrivateCluster.freshDirectory())
    let settings = backup.archiveSettings(of: "7", as: try backup.server.serverUser())
    if isAway { try FileManager.default.removeItem(atPath: backup.archive(of: "7")) }
    let command = try #require(settings["archive_command"])
      .replacing("%f", with: "1").replacing("%p", with: "pg_wal/1")
      .replacing("timeout \(ClusterBackup.archiveSecondsMax) ", with: "timeout \(seconds) ")
    let shell = Process()
    shell.executableURL = URL(fileURLWithPath: "/bin/sh")
    shell.arguments = ["-c", command]
    shell.currentDirectoryURL = URL(fileURLWithPath: data)
    shell.environment = ["PATH": programs + ":/usr/bin:/bin"]
    try shell.run()
    shell.waitUntilExit()
    return shell.terminationStatus == 0
  }

  @Test func `log that cannot be archived is dropped before it fills the disk`() throws {
    let (most, least) = (ClusterBackup.waitingSegmentsMax, ClusterBackup.freeKibibytesMin)
    #expect(try archives(ready: 1, freeKibibytes: least, isAway: false))
    #expect(try !archives(ready: most, freeKibibytes: least))
    #expect(try archives(ready: most + 1, freeKibibytes: least))
    #expect(try archives(ready: 1, freeKibibytes: least - 1))
  }

  @Test func `an archive that hangs is given up`() throws {
    let start = ContinuousClock.now
    let least = ClusterBackup.freeKibibytesMin
    #expect(
      try !archives(
        ready: 1, freeKibibytes: least, isAway: false, within: 1, gzip: "sleep 60"))
    #expect(ContinuousClock.now - start < .seconds(30))
  }

  @Test func `a disk that came after the server's start is archived to from the next copy on`()
    throws
  {
    let copied = try Copied()
    defer { try? copied.server.stopImmediately() }
    let folders = try FileManager.default.contentsOfDirectory(atPath: copied.backup.directory)
    for name in folders {
      try FileManager.default.removeItem(atPath: "\(copied.backup.directory)/\(name)")
    }
    _ = try copied.backup.run(keeping: 2, at: Self.noon)
    #expect(try copied.drill().contains("1 certificates"))
  }

  @Test func `segments are counted over the end of a file of 4 GiB`() {
    #expect(ClusterBackup.following("0000000100000009") == "000000010000000A")
    #expect(ClusterBackup.following("00000001000000FF") == "0000000200000000")
  }

  @Test func `a result is read as it was written, and nothing else is`() {
    for hasPassed in [true, false] {
      let result = DrillResult(at: Self.noon, hasPassed: hasPassed, sentence: "7 rows, no\nmore")
      #expect(DrillResult(text: result.text) == result)
    }
    for text in ["", "passed", "passed yesterday 7 rows", "done 2026-01-01T00:00:00Z 7"] {
      #expect(DrillResult(text: text) == nil)
    }
  }
}
