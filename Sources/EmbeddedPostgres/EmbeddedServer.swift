/// A PostgreSQL of candled's own, for those who have none: a private cluster in one folder, reached
/// by a Unix socket only, run from the server binaries the machine has installed.
///
///     <directory>/         0700, the server user's: who may enter it may connect
///       data/              the cluster
///       socket/            the socket; under /tmp where this path is too long for one
///       data.old/          what an upgrade replaced; upgrade.state how far one has come
///       server.log         what initdb and the server say; what grew too long in server.log.1
///
/// All state is in the folder and none in this value: any process (or value) that names the same
/// folder sees the same server, so the daemon that crashed finds its server again and adopts it.
/// The server must never listen on TCP, never run as root, and never die with the process that
/// started it. Every call blocks, for seconds at worst: make it from a thread that may.

import Glibc
import Postgres

package struct EmbeddedServer: Sendable {
  /// The database that holds candled's tables.
  package static let databaseName = "candled"
  /// Names of the cluster, not of the machine: whoever may enter its folder may be any of them. The
  /// superuser makes databases and applies the schema, and nobody works as it.
  static let superuserName = "postgres"
  /// As schema.sql makes them.
  package static let userName = DatabaseRole.daemon
  static let readerName = DatabaseRole.reader
  static let port = 5432

  /// The cluster's folder, absolute.
  package let directory: String
  /// Server parameters in place of `defaultSettings` or beside them.
  package let settings: [String: String]
  let binaries: [ServerBinaries]?
  /// A folder for a second socket, at which everybody who may enter the folder is a reader.
  let readersDirectory: String?
  /// The folder of its copies; nil where none are made.
  let backupDirectory: String?
  /// Which data of the folder it serves, and to whom.
  var part = Part.main

  enum Part {
    /// The cluster, for all.
    case main
    /// The same data, and what is to replace it, for an upgrade alone: by a socket of its own.
    case old, new
  }

  /// - Parameters:
  ///   - directory: the folder of the cluster. Made on first use, with its parents; otherwise empty
  ///     or from an earlier start. A relative path is taken from the working folder of now.
  ///   - binaries: the servers to choose from, preferred first; nil is what is installed when it
  ///     starts. An existing cluster takes the first of its own version.
  ///   - settings: server parameters by name; they win over the defaults. `fsync=off` also makes
  ///     `initdb` skip its own.
  ///   - readersDirectory: a folder that is there, for a socket of readers. With it the server asks
  ///     the system who connects as any other role: root and its own user may, as candled's.
  ///   - backupDirectory: a folder on another disk, where the server archives its log.
  package init(
    directory: String, binaries: [ServerBinaries]? = nil, settings: [String: String] = [:],
    readersDirectory: String? = nil, backupDirectory: String? = nil
  ) {
    self.directory = Self.absolute(directory)
    self.binaries = binaries
    self.settings = settings
    self.readersDirectory = readersDirectory
    self.backupDirectory = backupDirectory
  }

  /// Makes the cluster if there is none, starts its server if it is not running, and makes the
  /// database if it is not there. An already running server is adopted with the settings it has.
  /// A copy of a cluster that is to be its standby is started, and nothing else.
  /// - Throws: every code but `stopFailed`.
  package func start() throws(EmbeddedServerError) {
    let user = try serverUser()
    try prepareDirectory(for: user)
    let lock = try lockDirectory()
    defer { close(lock) }
    try finishUpgrade()
    let binaries = try chooseBinaries()
    if !isInitialized { try initialize(with: binaries, as: user) }
    try prepareSocketDirectory(for: user)
    try bringUp(with: binaries, as: user)
    // It has what its primary has.
    if isStandby { return }
    try makeRoles()
    try createDatabase(Self.databaseName)
  }

  /// Ends the sessions, writes a checkpoint, and waits for the end. Not running is fine.
  /// - Throws: `stopFailed`.
  package func stop() throws(EmbeddedServerError) { try end(by: SIGINT) }

  /// Ends the server without a checkpoint: the next start recovers from the log. Nothing that was
  /// committed is lost.
  /// - Throws: `stopFailed`.
  package func stopImmediately() throws(EmbeddedServerError) { try end(by: SIGQUIT) }

  /// What the out-of-memory killer does: SIGKILL to the postmaster alone. For tests.
  /// - Throws: `stopFailed`.
  package func killHard() throws(EmbeddedServerError) { try end(by: SIGKILL) }

  /// - Throws: every code.
  package func restart() throws(EmbeddedServerError) {
    try stop()
    try start()
  }

  /// nil where no copies are made.
  package func backups() throws(EmbeddedServerError) -> ClusterBackup? {
    guard let backupDirectory else { return nil }
    return try ClusterBackup(of: self, in: backupDirectory)
  }

  /// There is a server process for the folder; it may still be starting or ending.
  package var isRunning: Bool { postmaster != nil }

  /// libpq keywords for the database `candled` as the daemon's role, which the schema makes:
  /// `host=… port=… dbname=candled user=candled`.
  package var connectionString: String { address(Self.databaseName, as: Self.userName) }

  /// The same as the gateway's role.
  package var appConnectionString: String { address(Self.databaseName, as: DatabaseRole.app) }

  /// The same as the superuser: for whoever applies the schema.
  package var ownerConnectionString: String { adminConnectionString(database: Self.databaseName) }

  /// libpq keywords, as the superuser, for any database of the cluster.
  package func adminConnectionString(database: String = "postgres") -> String {
    address(database, as: Self.superuserName)
  }

  package func address(_ database: String, as user: String) -> String {
    "host=\(socketDirectory) port=\(Self.port) dbname=\(StoreAddress.quoted(database)) user=\(user)"
  }

  /// The line to type in a shell, as root or the user the server runs as. Its role reads only.
  package var psqlLine: String { "psql '\(address(Self.databaseName, as: Self.readerName))'" }

  private static func absolute(_ path: String) -> String {
    var trimmed = Substring(path)
    while trimmed.utf8.count > 1, trimmed.hasSuffix("/") { trimmed.removeLast() }
    guard !trimmed.hasPrefix("/"), let here = getcwd(nil, 0) else { return String(trimmed) }
    defer { free(here) }
    return String(cString: here) + "/" + trimmed
  }
}
