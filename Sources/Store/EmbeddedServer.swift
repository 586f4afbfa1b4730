import Glibc

/// A private PostgreSQL cluster in a directory of ours, from the installed server programs: what
/// candled runs when `store.url` is not set. Reached by a unix socket in a directory only its user
/// and root may enter; it never listens on the network.
///
/// The server is detached: it outlives a crash of ours, and the next start adopts it. Every call
/// blocks, up to a minute: make them from a thread that may (`ThreadExecutor`).
public struct EmbeddedServer: Sendable {
  /// Holds `data`, `server.log`, and `socket` where its path is short enough.
  public let directory: String
  /// Where the socket is; for `psql -h`.
  public let socketDirectory: String
  let binaries: ServerBinaries
  let user: ServerUser
  let isDurable: Bool

  public static let database = "candled"
  /// The longest path of a unix socket (sockaddr_un), its final zero left out.
  private static let socketPathBytesMax = 107
  private static let socketName = "/.s.PGSQL.5432"
  static let waitSecondsMax = 60

  /// Finds programs, user and paths; touches nothing.
  /// - Parameters:
  ///   - directory: absolute; made on `start`.
  ///   - isDurable: false gives up crash safety for speed, for tests.
  /// - Throws: `serverMissing`, `serverFailed`.
  public init(directory: String, isDurable: Bool = true) throws(StoreError) {
    self.directory = directory
    self.isDurable = isDurable
    binaries = try ServerBinaries.find()
    user = try ServerUser.current()
    let inside = "\(directory)/socket"
    let fits = inside.utf8.count + Self.socketName.utf8.count <= Self.socketPathBytesMax
    socketDirectory = fits ? inside : "/tmp/candled-\(Self.fingerprint(directory))"
  }

  /// FNV-1a: two long directories must not share a short one.
  private static func fingerprint(_ text: String) -> String {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
    return String(hash, radix: 16)
  }

  var dataDirectory: String { "\(directory)/data" }
  public var logPath: String { "\(directory)/server.log" }

  /// The connection string of a role: `candled` writes, `candled_reader` reads, `candled_owner`
  /// alters, `postgres` may everything.
  public func url(role: String = "candled", database: String = EmbeddedServer.database) -> String {
    let host = socketDirectory.reduce(into: "") { text, character in
      if character == "'" || character == "\\" { text.append("\\") }
      text.append(character)
    }
    return "host='\(host)' port=5432 user=\(role) dbname=\(database)"
  }

  /// The process at the head of this cluster, nil when it does not run.
  public var postmaster: Int32? {
    guard let text = readFile("\(dataDirectory)/postmaster.pid"),
      let line = text.split(separator: "\n").first, let process = Int32(line), process > 0
    else { return nil }
    // The number may have been given to another process since: ours works in its data directory.
    let place = realPath("/proc/\(process)/cwd")
    return place != nil && place == realPath(dataDirectory) ? process : nil
  }

  public var isRunning: Bool { postmaster != nil }
}

// MARK: start and stop

extension EmbeddedServer {
  /// Makes the cluster if there is none, starts it or adopts it running, waits until it answers,
  /// and sees to roles, database and schema.
  /// - Throws: `serverFailed`, with the end of the server's log.
  public func start() throws(StoreError) {
    try prepareDirectories()
    if access("\(dataDirectory)/PG_VERSION", F_OK) != 0 { try initialise() }
    if !isRunning {
      try writeSettings()
      try startPostmaster()
    }
    try prepareDatabase()
  }

  /// Ends every session and shuts down cleanly.
  public func stop() throws(StoreError) {
    guard isRunning else { return }
    try control(["-m", "fast", "-w", "-t", String(Self.waitSecondsMax), "stop"])
  }

  /// Ends the server as a power cut would, children included.
  public func crash() {
    guard let process = postmaster else { return }
    let children = childProcesses(of: process)
    for victim in [process] + children { Glibc.kill(victim, SIGKILL) }
    for _ in 0..<1000 where [process].contains(where: { Glibc.kill($0, 0) == 0 && isRunning }) {
      usleep(1_000)
    }
  }

  public func restart() throws(StoreError) {
    try stop()
    try start()
  }

  /// Right after a crash the dead server's children may still hold its shared memory: a start
  /// that fails is tried again for a few seconds.
  private func startPostmaster() throws(StoreError) {
    let attemptsMax = 20
    for attempt in 1...attemptsMax {
      do throws(StoreError) {
        return try control([
          "-l", logPath, "-w", "-t", String(Self.waitSecondsMax), "start",
        ])
      } catch {
        if attempt == attemptsMax { throw error }
        usleep(250_000)
      }
    }
  }

  private func control(_ arguments: [String]) throws(StoreError) {
    let command =
      user.prefix + [binaries.program("pg_ctl"), "-s", "-D", dataDirectory] + arguments
    if try Subprocess.run(command, output: logPath) != 0 {
      throw failure("did not \(arguments.last ?? "")")
    }
  }

  func failure(_ what: String) -> StoreError {
    let tail = readFile(logPath)?.split(separator: "\n").suffix(3).joined(separator: " | ") ?? ""
    return StoreError(
      .serverFailed, "the embedded PostgreSQL \(what): \(tail)", context: "embedded server")
  }
}

// MARK: small file helpers

func readFile(_ path: String) -> String? {
  guard let file = fopen(path, "re") else { return nil }
  defer { fclose(file) }
  var bytes: [UInt8] = []
  var chunk = [UInt8](repeating: 0, count: 4096)
  while case let count = fread(&chunk, 1, chunk.count, file), count > 0 {
    bytes.append(contentsOf: chunk.prefix(count))
  }
  return String(decoding: bytes, as: UTF8.self)
}

func writeFile(_ path: String, _ text: String) -> Bool {
  guard let file = fopen(path, "we") else { return false }
  let written = fwrite(text, 1, text.utf8.count, file)
  return fclose(file) == 0 && written == text.utf8.count
}

func realPath(_ path: String) -> String? {
  guard let resolved = realpath(path, nil) else { return nil }
  defer { free(resolved) }
  return String(cString: resolved)
}

func childProcesses(of process: Int32) -> [Int32] {
  let text = readFile("/proc/\(process)/task/\(process)/children") ?? ""
  return text.split(separator: " ").compactMap { Int32($0) }
}
