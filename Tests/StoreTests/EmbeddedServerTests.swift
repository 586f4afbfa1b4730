import CPostgres
import Commits
import EmbeddedPostgres
import Glibc
import Store
import TestSupport
import TestTraits
import Testing

@Suite(.ownThread) struct EmbeddedServerTests {
  private static let quick = ["fsync": "off", "shared_buffers": "16MB"]

  /// Not started.
  private func freshServer(in folder: String = "") throws -> EmbeddedServer {
    let directory = try PrivateCluster.freshDirectory() + folder
    return EmbeddedServer(directory: directory, settings: Self.quick)
  }

  @Test func `a started server is reached by its connection string alone`() throws {
    let server = try PrivateCluster.shared().server
    #expect(server.isRunning)
    let session = try Session(server.ownerConnectionString)
    #expect(
      try session.value("select current_database() || ' ' || current_user") == "candled postgres")
  }

  @Test func `a server has the encoding, checksums and settings that candled relies on`() throws {
    let session = try Session(PrivateCluster.shared().server.ownerConnectionString)
    let expected = [
      "server_encoding": "UTF8", "data_checksums": "on", "TimeZone": "Asia/Shanghai",
      "wal_level": "logical", "jit": "off", "synchronous_commit": "on", "autovacuum": "on",
      "checkpoint_timeout": "30min", "listen_addresses": "",
    ]
    for (name, value) in expected {
      #expect(try session.value("select current_setting('\(name)')") == value, "\(name)")
    }
    #expect(["lz4", "on", "pglz"].contains(try session.value("show wal_compression")))
    let collation = "select datcollate from pg_database where datname = 'candled'"
    #expect(try session.value(collation) == "C.UTF-8")
  }

  @Test func `a server is durable, and checkpoints are rare, unless a test asks otherwise`() {
    #expect(EmbeddedServer.defaultSettings["max_wal_size"] == "4GB")
    #expect(EmbeddedServer.defaultSettings["fsync"] == "on")
    #expect(EmbeddedServer.defaultSettings["synchronous_commit"] == "on")
  }

  @Test func `the line for psql reaches the database from a shell`() throws {
    let server = try PrivateCluster.shared().server
    try Schema.apply(url: server.ownerConnectionString)
    let line = server.psqlLine
    #expect(line.hasPrefix("psql 'host=/"))
    #expect(shell("\(line) -qAtc 'select count(*) from latest' > /dev/null") == 0)
    #expect(shell("\(line) -qAtc 'select count(*) from quote' > /dev/null 2>&1") != 0)
  }

  @Test func `the daemon is no superuser`() throws {
    let cluster = try PrivateCluster.own()
    defer { withExtendedLifetime(cluster) {} }
    let server = cluster.server
    try Schema.apply(url: server.ownerConnectionString)
    let isSuperuser = try Session(server.ownerConnectionString)
      .value("select rolsuper from pg_roles where rolname = 'candled'")
    #expect(isSuperuser == "f")
    #expect(try Session(server.connectionString).value("select current_user") == "candled")
  }

  @Test func `a stopped server is gone and starts again with its data`() throws {
    let cluster = try PrivateCluster.own()
    try Session(cluster.server.ownerConnectionString).run("create table t as select 7 as n")
    try cluster.server.stop()
    #expect(!cluster.server.isRunning)
    #expect(throws: SessionFailure.self) { try Session(cluster.server.ownerConnectionString) }
    try cluster.server.start()
    #expect(try Session(cluster.server.ownerConnectionString).value("select n from t") == "7")
  }

  @Test func `stopping what does not run is fine`() throws {
    let server = try freshServer()
    try server.stop()
    try server.stopImmediately()
    try server.killHard()
    #expect(!server.isRunning)
  }

  @Test func `a commit survives an immediate stop`() throws {
    let cluster = try PrivateCluster.own()
    try Session(cluster.server.ownerConnectionString).run("create table t as select 7 as n")
    try cluster.server.stopImmediately()
    try cluster.server.start()
    #expect(try Session(cluster.server.ownerConnectionString).value("select n from t") == "7")
  }

  @Test func `a commit survives the kill of the postmaster, sessions and all`() throws {
    let cluster = try PrivateCluster.own()
    let session = try Session(cluster.server.ownerConnectionString)
    try session.run("create table t as select 7 as n")
    try cluster.server.killHard()
    #expect(!cluster.server.isRunning)
    try cluster.server.start()
    #expect(try Session(cluster.server.ownerConnectionString).value("select n from t") == "7")
  }

  @Test func `a running server is adopted, sessions unharmed`() throws {
    let cluster = try PrivateCluster.own()
    let session = try Session(cluster.server.ownerConnectionString)
    let another = EmbeddedServer(directory: cluster.server.directory)
    #expect(another.isRunning)
    try another.start()
    let started = "select pg_postmaster_start_time()"
    #expect(try Session(another.ownerConnectionString).value(started) == session.value(started))
    try another.stop()
    #expect(!cluster.server.isRunning)
  }

  @Test func `a server ends by none of the signals a terminal sends us`() throws {
    let identifier = try postmaster(of: PrivateCluster.shared().server)
    #expect(getsid(identifier) == identifier)
  }

  private func hasDatabase(_ server: EmbeddedServer) -> Bool {
    let connection = PQconnectdb(server.ownerConnectionString)
    defer { PQfinish(connection) }
    return PQstatus(connection) == CONNECTION_OK
  }

  @Test func `a restart gives a new server the same data`() throws {
    let cluster = try PrivateCluster.own()
    let before = try postmaster(of: cluster.server)
    try cluster.server.restart()
    #expect(try postmaster(of: cluster.server) != before)
    #expect(hasDatabase(cluster.server))
  }

  @Test func `a stale pid file that names a foreign process neither adopts nor harms it`() throws {
    let cluster = try PrivateCluster.own()
    let file = cluster.server.directory + "/data/postmaster.pid"
    try cluster.server.stop()
    // Ourselves: a signal sent by mistake would end this test run.
    try write("\(getpid())\n\(cluster.server.directory)/data\n", to: file)
    #expect(!cluster.server.isRunning)
    try cluster.server.killHard()
    unlink(file)
  }

  @Test(.enabled(if: geteuid() == 0, "only root may be somebody else"))
  func `under root the server runs as another user, which owns its folder`() throws {
    let server = try PrivateCluster.shared().server
    var process = stat()
    var folder = stat()
    #expect(stat("/proc/\(try postmaster(of: server))", &process) == 0)
    #expect(stat(server.directory, &folder) == 0)
    #expect(process.st_uid != 0)
    #expect(process.st_uid == folder.st_uid)
  }

  @Test(.enabled(if: geteuid() == 0, "only root may be somebody else"))
  func `who may enter the folder of readers reads, and is nobody else`() throws {
    let readers = try PrivateCluster.freshDirectory()
    // The server's user and everybody: a group would need a user of the test's own.
    chmod(readers, 0o777)
    let server = EmbeddedServer(
      directory: try PrivateCluster.freshDirectory(), settings: Self.quick,
      readersDirectory: readers)
    defer { try? server.stopImmediately() }
    try server.start()
    try Schema.apply(url: server.ownerConnectionString)
    func asks(_ sql: String, as role: String, in folder: String = readers) -> Bool {
      shell(
        "setpriv --reuid=nobody --clear-groups psql -qAtc '\(sql)' "
          + "'host=\(folder) dbname=candled user=\(role)' >/dev/null 2>&1") == 0
    }
    #expect(asks("select count(*) from latest", as: "candled_reader"))
    #expect(!asks("select count(*) from quote", as: "candled_reader"))
    for role in ["postgres", "candled", "candled_owner"] { #expect(!asks("select 1", as: role)) }
    #expect(!asks("select 1", as: "candled_reader", in: server.socketDirectory))
    for address in [server.connectionString, server.ownerConnectionString] {
      #expect(try Session(address).value("select 1") == "1")
    }
  }

  @Test func `nobody else may enter the folder of a cluster`() throws {
    var folder = stat()
    #expect(stat(try PrivateCluster.shared().server.directory, &folder) == 0)
    #expect(folder.st_mode & 0o777 == 0o700)
  }

  @Test func `without server binaries one sentence names the package`() throws {
    let server = EmbeddedServer(directory: try PrivateCluster.freshDirectory(), binaries: [])
    let error = try #require(throws: EmbeddedServerError.self) { try server.start() }
    #expect(error.code == .serverMissing)
    #expect(
      error.sentence
        == "No PostgreSQL server binaries were found: "
        + "install them with `apt-get install postgresql`.")
  }

  @Test func `data of a version that is not installed names the package of that version`() throws {
    let server = try freshServer()
    mkdir(server.directory + "/data", 0o700)
    try write("14\n", to: server.directory + "/data/PG_VERSION")
    let error = try #require(throws: EmbeddedServerError.self) { try server.start() }
    #expect(error.code == .serverMissing)
    #expect(error.sentence.hasSuffix(" && apt-get install postgresql-14`."))
  }

  @Test(.enabled(if: geteuid() == 0, "only root may be somebody else"))
  func `under root a parent closed to the server's user is named`() throws {
    let closed = try PrivateCluster.freshDirectory()
    let server = EmbeddedServer(directory: closed + "/deeper/cluster", settings: Self.quick)
    let error = try #require(throws: EmbeddedServerError.self) { try server.start() }
    #expect(error.code == .directoryUnusable)
    #expect(error.sentence.contains(" \(closed):"))
  }

  @Test func `a folder with files of others is refused and left as it is`() throws {
    let server = try freshServer()
    try write("mine", to: server.directory + "/letter")
    var before = stat()
    stat(server.directory, &before)
    let error = try #require(throws: EmbeddedServerError.self) { try server.start() }
    #expect(error.code == .directoryUnusable)
    #expect(error.sentence.contains("letter"))
    var after = stat()
    stat(server.directory, &after)
    #expect(before.st_uid == after.st_uid)
  }

  @Test func `a path too long for a socket, with blanks and quotes, works all the same`() throws {
    let outer = try PrivateCluster.freshDirectory()
    chmod(outer, 0o711)
    let name = "it's a long, long name " + String(repeating: "x", count: 100)
    let server = EmbeddedServer(directory: "\(outer)/\(name)", settings: Self.quick)
    defer {
      try? server.stopImmediately()
      rmdir(server.socketDirectory)
    }
    try server.start()
    #expect(server.socketDirectory.hasPrefix("/tmp/candled-"))
    #expect(try Session(server.ownerConnectionString).value("select 1") == "1")
    #expect(
      EmbeddedServer(directory: server.directory + "/").socketDirectory == server.socketDirectory)
  }

  @Test func `a setting the server does not know fails the start with the server's own words`()
    throws
  {
    let settings = Self.quick.merging(["no_such_setting": "1"]) { $1 }
    let server = EmbeddedServer(directory: try PrivateCluster.freshDirectory(), settings: settings)
    let error = try #require(throws: EmbeddedServerError.self) { try server.start() }
    #expect(error.code == .startFailed)
    #expect(error.log.contains { $0.contains("no_such_setting") })
    #expect(!server.isRunning)
  }

  @Test func `what an interrupted initdb left is cleared away`() throws {
    let server = try freshServer()
    mkdir(server.directory + "/data.new", 0o700)
    try write("15\n", to: server.directory + "/data.new/PG_VERSION")
    try server.start()
    defer { try? server.stopImmediately() }
    #expect(hasDatabase(server))
  }

  @Test func `fresh databases differ, and copies of a template are prepared once`() throws {
    let cluster = try PrivateCluster.shared()
    #expect(try cluster.freshDatabase(named: "empty") != cluster.freshDatabase(named: "empty"))
    var prepared = 0
    for _ in 0..<2 {
      let copy = try cluster.freshDatabase(named: "copy", template: "filled") { connection in
        prepared += 1
        try Session(connection).run("create table t as select 7 as n")
      }
      #expect(try Session(copy).value("select n from t") == "7")
    }
    #expect(prepared == 1)
  }
}

private struct SessionFailure: Error { var message: String }

/// Just enough libpq to look inside, so that these tests lean on nothing they do not test.
private final class Session {
  private let connection: OpaquePointer

  init(_ keywords: String) throws {
    connection = try #require(PQconnectdb(keywords))
    guard PQstatus(connection) == CONNECTION_OK else {
      throw SessionFailure(message: String(cString: PQerrorMessage(connection)))
    }
  }

  deinit { PQfinish(connection) }

  func run(_ statement: String) throws { _ = try rows(statement) }

  func value(_ query: String) throws -> String { try #require(rows(query).first) }

  /// The first column.
  private func rows(_ statement: String) throws -> [String] {
    let result = PQexec(connection, statement)
    defer { PQclear(result) }
    let status = PQresultStatus(result)
    guard status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK else {
      throw SessionFailure(message: String(cString: PQerrorMessage(connection)))
    }
    return (0..<PQntuples(result)).map { row in String(cString: PQgetvalue(result, row, 0)) }
  }
}

private func postmaster(of server: EmbeddedServer) throws -> pid_t {
  let session = try Session(server.adminConnectionString())
  let file = "select split_part(pg_read_file('postmaster.pid'), e'\\n', 1)"
  return try #require(pid_t(session.value(file)))
}

private func write(_ text: String, to path: String) throws {
  let file = try #require(fopen(path, "w"))
  fputs(text, file)
  fclose(file)
}

private func shell(_ line: String) -> Int32 { system(line) }
