import CLinux
import Glibc
import Store

/// One private PostgreSQL cluster a test process, a fresh database a test. Removed when the process
/// ends, also when it is killed: a guard process waits for that.
public final class PrivateCluster: Sendable {
  public let server: EmbeddedServer

  /// Started by the first test that asks.
  public static func shared() throws -> PrivateCluster { try started.get() }

  private static let started = Result { try PrivateCluster() }

  private init() throws {
    let directory = "/tmp/candled-test-\(getpid())"
    server = try EmbeddedServer(directory: directory, isDurable: false)
    try startGuard(removing: directory)
    try server.start()
  }

  /// A database with the schema and nothing else in it.
  public func makeDatabase() throws -> TestDatabase {
    let name = "test_\(UInt64.random(in: 0 ... .max))"
    let database = TestDatabase(name: name, server: server)
    try TestDatabase(name: "postgres", server: server).execute(
      "create database \(name) template \(EmbeddedServer.database)")
    return database
  }
}

/// A database of the private cluster.
public struct TestDatabase: Sendable {
  public let name: String
  let server: EmbeddedServer

  /// For the daemon's role.
  public var url: String { server.url(role: "candled", database: name) }
  public var readerURL: String { server.url(role: "candled_reader", database: name) }
  public var superuserURL: String { server.url(role: "postgres", database: name) }

  /// Runs SQL as superuser; the rows of its last statement as text, NULL as nil.
  @discardableResult
  public func execute(_ sql: String) throws -> [[String?]] {
    try SQLProbe.run(sql, url: superuserURL)
  }

  /// The first column of the first row, as text.
  public func value(_ sql: String) throws -> String? { try execute(sql).first?.first ?? nil }
}

/// A process that waits for this one to end and then removes the cluster. Ours to start, and it
/// ends by itself.
public func startGuard(removing directory: String) throws {
  // The pipe's writing end closes when this process ends, however it does.
  var ends: [Int32] = [0, 0]
  guard pipe(&ends) == 0 else { return }
  let pids = "head -1 \(directory)/data/postmaster.pid"
  let script = """
    trap '' INT TERM HUP
    cat >/dev/null
    postmaster=$(\(pids) 2>/dev/null) && kill -QUIT "$postmaster" 2>/dev/null
    for attempt in 1 2 3 4 5 6 7 8 9 10; do
      kill -0 "$postmaster" 2>/dev/null || break
      sleep 0.2
    done
    rm -rf \(directory)
    """
  _ = fcntl(ends[1], F_SETFD, FD_CLOEXEC)
  var actions = posix_spawn_file_actions_t()
  posix_spawn_file_actions_init(&actions)
  defer { posix_spawn_file_actions_destroy(&actions) }
  posix_spawn_file_actions_adddup2(&actions, ends[0], 0)
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
  posix_spawn_file_actions_addclosefrom_np(&actions, 3)
  var attributes = posix_spawnattr_t()
  posix_spawnattr_init(&attributes)
  defer { posix_spawnattr_destroy(&attributes) }
  posix_spawnattr_setflags(&attributes, clinux_spawn_setsid)
  var arguments: [UnsafeMutablePointer<CChar>?] = ["/bin/sh", "-c", script].map {
    (text: String) in strdup(text)
  }
  arguments.append(nil)
  defer { for argument in arguments { free(argument) } }
  var process = pid_t()
  posix_spawn(&process, "/bin/sh", &actions, &attributes, &arguments, environ)
  close(ends[0])
}
