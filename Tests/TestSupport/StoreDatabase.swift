import CLinux
import Glibc
import Store

/// A database with candled's schema, fresh for each test, on one private cluster a test process.
/// A guard process removes the cluster however this one ends.
public struct StoreDatabase: Sendable {
  public let name: String
  private let server: EmbeddedServer

  private static let shared = Result { try StoreDatabase(starting: ()) }

  /// A copy of the template the first caller prepares.
  public init() throws {
    let template = try Self.shared.get()
    server = template.server
    name = "test_\(UInt64.random(in: 0 ... .max))"
    try server.createDatabase(name, template: template.name)
  }

  private init(starting: Void) throws {
    let directory = "/tmp/candled-test-\(getpid())"
    try TestGuard.start(removing: directory)
    server = EmbeddedServer(
      directory: directory,
      settings: ["fsync": "off", "full_page_writes": "off", "shared_buffers": "64MB"])
    name = EmbeddedServer.databaseName
    try server.start()
    try Schema.apply(url: server.connectionString)
  }

  /// As superuser.
  public var url: String { server.adminConnectionString(database: name) }

  public func url(role: String) -> String { "\(url) user=\(role)" }

  /// Runs SQL as superuser; the rows of its last statement as text, NULL as nil.
  @discardableResult
  public func execute(_ sql: String) throws -> [[String?]] { try SQLProbe.run(sql, url: url) }

  /// The first column of the first row, as text.
  public func value(_ sql: String) throws -> String? { try execute(sql).first?.first ?? nil }
}

/// A shell that waits for this process to end, crash and SIGKILL included, and then ends the
/// cluster and removes its folder.
enum TestGuard {
  private static let script = """
    trap '' INT TERM HUP
    cat >/dev/null
    postmaster=$(head -n 1 "$1/data/postmaster.pid" 2>/dev/null)
    if [ -n "$postmaster" ]; then
      kill -QUIT "$postmaster" 2>/dev/null
      for attempt in 1 2 3 4 5 6 7 8 9 10; do
        kill -0 "$postmaster" 2>/dev/null || break
        sleep 0.1
      done
    fi
    rm -rf "$1"
    """

  static func start(removing directory: String) throws {
    // The pipe's writing end closes when this process ends, however it does.
    var ends: [Int32] = [0, 0]
    guard pipe2(&ends, O_CLOEXEC) == 0 else { throw Failure(code: errno) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, ends[0], 0)
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
    clinux_spawn_from_root(&actions)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    posix_spawnattr_setflags(&attributes, Int16(CLINUX_SPAWN_SETSID))
    let words = ["/bin/sh", "-c", script, "candled-test-guard", directory]
    var arguments: [UnsafeMutablePointer<CChar>?] = words.map { (word: String) in strdup(word) }
    arguments.append(nil)
    defer { for argument in arguments { free(argument) } }
    var process = pid_t()
    let failure = posix_spawn(&process, "/bin/sh", &actions, &attributes, &arguments, environ)
    close(ends[0])
    if failure != 0 { throw Failure(code: failure) }
  }

  struct Failure: Error { let code: Int32 }
}
