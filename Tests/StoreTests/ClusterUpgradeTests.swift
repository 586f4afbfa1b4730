import Commits
import Glibc
import Market
import Store
import TestSupport
import TestTraits
import Testing

@testable import EmbeddedPostgres

/// What surrounds an upgrade. That it keeps each row, killed at each step, is for the trial.
@Suite(.ownThread) struct ClusterUpgradeTests {
  private static let quick = ["fsync": "off", "shared_buffers": "16MB"]

  /// A stopped cluster with a table of one row.
  private func stoppedCluster() throws -> PrivateCluster {
    let cluster = try PrivateCluster.own()
    try SQLProbe.run("create table t as select 7 as n", url: cluster.server.ownerConnectionString)
    try cluster.server.stop()
    return cluster
  }

  private func row(of server: EmbeddedServer) throws -> [[String?]] {
    try SQLProbe.run("select n from t", url: server.ownerConnectionString)
  }

  private func state(_ step: UpgradeState.Step, of server: EmbeddedServer) throws -> UpgradeState {
    let major = try #require(server.major)
    return UpgradeState(step: step, from: major, to: major, checkpoint: "0/1")
  }

  @Test func `a state is read as it was written, and nothing else is`() throws {
    for step in UpgradeState.Step.allCases {
      var state = UpgradeState(step: step, from: 15, to: 17, checkpoint: "0/15D6C40")
      #expect(UpgradeState(text: state.text) == state)
      state.certifiedThrough = "2026-07-06"
      #expect(UpgradeState(text: state.text) == state)
    }
    for text in ["", "verified 15 17 0/1", "begun 15 17 0/1 -", "verified x 17 0/1 -"] {
      #expect(UpgradeState(text: text) == nil)
    }
  }

  @Test func `a start between the two renames of an upgrade makes the second`() throws {
    let cluster = try stoppedCluster()
    let server = cluster.server
    try server.save(state(.verified, of: server))
    #expect(rename(server.dataDirectory, server.newDataDirectory) == 0)
    #expect(mkdir(server.oldDataDirectory, 0o700) == 0)
    try server.start()
    #expect(try row(of: server) == [["7"]])
    #expect(server.upgradeState?.step == .replaced)
  }

  @Test func `new data that was not verified is never taken`() throws {
    let cluster = try stoppedCluster()
    let server = cluster.server
    try server.save(state(.transferred, of: server))
    #expect(rename(server.dataDirectory, server.newDataDirectory) == 0)
    #expect(mkdir(server.oldDataDirectory, 0o700) == 0)
    let error = try #require(throws: EmbeddedServerError.self) { try server.start() }
    #expect(error.code == .directoryUnusable && error.sentence.contains("data.old"))
    #expect(access(server.newDataDirectory + "/PG_VERSION", F_OK) == 0)
  }

  @Test func `a server that a killed upgrade left is ended, and is nobody's before`() throws {
    let cluster = try stoppedCluster()
    let server = cluster.server
    let user = try server.serverUser()
    let hidden = server.serving(.old)
    try hidden.prepareSocketDirectory(for: user)
    try hidden.bringUp(with: server.chooseBinaries(), as: user)
    #expect(hidden.isRunning && !server.isRunning)
    try server.start()
    #expect(!hidden.isRunning && server.isRunning)
    #expect(try row(of: server) == [["7"]])
  }

  @Test func `what an upgrade replaced stays until seven days are certified`() throws {
    let cluster = try PrivateCluster.own()
    let server = cluster.server
    try Schema.apply(url: server.ownerConnectionString)
    let upgrade = ClusterUpgrade(of: server) { _ in }
    let none = try #require(throws: EmbeddedServerError.self) { try upgrade.discard() }
    #expect(none.code == .upgradeFailed)
    #expect(mkdir(server.oldDataDirectory, 0o700) == 0)
    var state = try state(.replaced, of: server)
    state.certifiedThrough = "2026-07-06"
    try server.save(state)
    func certify(_ days: ClosedRange<Int>, volume: Int = 100) throws {
      try SQLProbe.run(
        """
        insert into candled.day_audit (
          instrument_id, trading_day, exchange_volume, exchange_turnover, minute_volume,
          minute_turnover, gap_volume, gap_turnover, after_hours_volume, after_hours_turnover,
          minutes_traded, minutes_untraded, minutes_missing, known_from)
        select 1, date '2026-07-06' + n, 100, 1000, \(volume), 1000, 0, 0, 0, 0, 240, 0, 0, now()
        from generate_series(\(days.lowerBound), \(days.upperBound)) n
        """, url: server.ownerConnectionString)
    }
    // The day of the upgrade and before does not count, nor one that does not balance.
    try certify(-9...6)
    try certify(7...7, volume: 99)
    let early = try #require(throws: EmbeddedServerError.self) { try upgrade.discard() }
    #expect(early.code == .upgradeFailed && early.sentence.contains("so far there are 6"))
    #expect(access(server.oldDataDirectory, F_OK) == 0)
    try certify(8...8)
    try upgrade.discard()
    #expect(access(server.oldDataDirectory, F_OK) != 0 && server.upgradeState == nil)
  }

  @Test func `without a newer version there is nothing to upgrade to, and all is as it was`()
    throws
  {
    let cluster = try stoppedCluster()
    let only = EmbeddedServer(
      directory: cluster.server.directory,
      binaries: [try cluster.server.chooseBinaries()], settings: Self.quick)
    for major in [nil, 99] {
      let error = try #require(throws: EmbeddedServerError.self) {
        try ClusterUpgrade(of: only) { _ in }.run(to: major)
      }
      #expect(error.code == .serverMissing)
    }
    try only.start()
    #expect(try row(of: only) == [["7"]])
  }

  @Test func `indexes of a database that sorts otherwise than before are made anew`() throws {
    let cluster = try PrivateCluster.own()
    let server = cluster.server
    let collations = "select from pg_collation where collname = 'en-x-icu'"
    if try SQLProbe.run(collations, url: server.adminConnectionString()).isEmpty {
      // Debian's servers have ICU, those of PyPI have none.
      #expect(PostgresServers.used?.directory.contains("/.build/postgresql/") == true)
      return
    }
    try SQLProbe.run(
      """
      create database odd template template0 locale_provider icu icu_locale 'en' locale 'C.UTF-8'
      """, url: server.adminConnectionString())
    let url = server.adminConnectionString(database: "odd")
    try SQLProbe.run(
      """
      create table t (name text primary key);
      update pg_database set datcollversion = '0' where datname = 'odd'
      """, url: url)
    let file = "select pg_relation_filenode('t_pkey')"
    let before = try SQLProbe.run(file, url: url)
    try server.renewCollations()
    #expect(try SQLProbe.run(file, url: url) != before)
    #expect(
      try SQLProbe.run(
        """
        select datcollversion = pg_database_collation_actual_version(oid)
        from pg_database
        where datname = 'odd'
        """, url: url) == [["t"]])
  }

  @Test func `a row more or less, and another number, is another inventory`() throws {
    let cluster = try PrivateCluster.own()
    let server = cluster.server
    func inventory(after statement: String) throws -> [String] {
      try SQLProbe.run(statement, url: server.ownerConnectionString)
      return try server.inventory()
    }
    let first = try inventory(after: "create table t (n numeric, b bool, s text)")
    var found = [first]
    for statement in [
      "insert into t values (1.5, true, 'a')", "update t set n = 1.6", "update t set b = false",
      "update t set s = null", "create table u as select 1", "drop table u",
    ] {
      found.append(try inventory(after: statement))
    }
    #expect(Set(found.dropLast()).count == found.count - 1)
    #expect(found.last == found[4])
  }
}

@Suite struct ServerReleaseTests {
  @Test(
    arguments: [
      (15, "2027-11-11"), (16, "2028-11-09"), (17, "2029-11-08"), (18, "2030-11-14"),
    ])
  func `a major version is maintained for five years`(major: Int, day: String) {
    #expect(ServerRelease(major: major).lastRelease == TradingDay(day))
  }

  @Test func `what this Debian does not have comes from PostgreSQL's archive`() {
    let command = ServerRelease(major: 14).installCommand
    #expect(command.hasPrefix("apt-get install postgresql-common && "))
    #expect(command.hasSuffix(" && apt-get install postgresql-14"))
  }
}
