/// A PostgreSQL cluster for tests: in a fresh folder, without fsync, gone when the test process
/// ends, pass or fail. The folder carries the process's number, so that what a killed test process
/// left behind (its server runs on: it is made to) is swept by the next one.

import EmbeddedPostgres
import Glibc
import Platform
import Synchronization

package final class PrivateCluster: Sendable {
  package let server: EmbeddedServer
  /// What it lies on, for as long as it is used.
  private let disk: SmallDisk?

  /// `script/test` names a file system in memory; what is measured lies on a disk.
  private static let parent = getenv("CANDLED_TEST_FOLDERS").map { String(cString: $0) } ?? "/tmp"
  private static let prefix = "candled-cluster-"
  static let settings = [
    "fsync": "off", "full_page_writes": "off", "shared_buffers": "32MB",
    "max_connections": "400", "max_locks_per_transaction": "64", "max_wal_size": "256MB",
  ]
  private static let first = Result { try PrivateCluster() }
  private static let databases = Atomic<Int>(0)
  /// Those that are filled, by cluster and name. Held while one is: others wait for it.
  private static let templates = Locked<Set<String>>([])

  /// The cluster all tests of this process share; started by the first who asks. Not to be killed:
  /// that is what `own` is for.
  package static func shared() throws -> PrivateCluster { try first.get() }

  /// A cluster for one test to kill and restart, started. It goes with its last reference.
  /// - Parameter isDurable: with fsync and the daemon's own settings, for what is measured.
  ///   `more` goes beside or instead of these.
  package static func own(
    isDurable: Bool = false, more: [String: String] = [:]
  ) throws -> PrivateCluster {
    let base = isDurable ? [:] : settings
    return try PrivateCluster(settings: base.merging(more) { $1 })
  }

  /// A folder for a cluster that a test starts itself; it goes when the process ends.
  package static func freshDirectory() throws -> String {
    _ = atExit
    var template = Array("\(parent)/\(prefix)\(getpid())-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw Failure(sentence: "Cannot make a folder.") }
    let bytes = template.dropLast().map(UInt8.init(bitPattern:))
    return String(decoding: bytes, as: UTF8.self)
  }

  /// A cluster on a disk that is to be filled; little of it is given to the log.
  package static func own(on disk: SmallDisk) throws -> PrivateCluster {
    var small = settings
    small["shared_buffers"] = "16MB"
    small["max_connections"] = "40"
    small["max_wal_size"] = "48MB"
    small["min_wal_size"] = "32MB"
    return try PrivateCluster(settings: small, disk: disk)
  }

  private init(
    settings: [String: String] = PrivateCluster.settings, disk: SmallDisk? = nil
  ) throws {
    self.disk = disk
    let directory = try disk.map { $0.path + "/cluster" } ?? Self.freshDirectory()
    server = EmbeddedServer(
      directory: directory, binaries: PostgresServers.chosen, settings: settings)
    if disk == nil { try Self.copyModel(to: directory) }
    try server.start()
  }

  deinit { Self.remove(server.directory) }

  /// An empty database of its own for a test.
  /// - Returns: its connection string.
  package func freshDatabase(named prefix: String) throws -> String {
    try makeDatabase(prefix, template: "template1")
  }

  /// A database copied from one that `prepare` fills (with the schema, say), given its connection
  /// string, once for this cluster and template name. `prepare` must close its connections.
  /// - Returns: the connection string of the copy.
  package func freshDatabase(
    named prefix: String, template: String, prepare: (String) throws -> Void
  ) throws -> String {
    try Self.templates.withLock { filled in
      let key = "\(server.directory) \(template)"
      guard !filled.contains(key) else { return }
      try server.createDatabase(template)
      do {
        try prepare(server.adminConnectionString(database: template))
      } catch {
        try server.dropDatabase(template)
        throw error
      }
      filled.insert(key)
    }
    return try makeDatabase(prefix, template: template)
  }

  /// - Returns: the connection string of a copy.
  func copy(of database: String) throws -> String {
    try makeDatabase("copy", template: database)
  }

  private func makeDatabase(_ prefix: String, template: String) throws -> String {
    let number = Self.databases.add(1, ordering: .relaxed).newValue
    let name = "\(prefix)_\(number)"
    try server.createDatabase(name, template: template)
    return server.adminConnectionString(database: name)
  }

  package struct Failure: Error { package var sentence: String }
}

/// A cluster is copied from one that was made once: a copy takes a tenth of the time.
extension PrivateCluster {
  private static let modelName = "CANDLED_CLUSTER_MODEL"

  /// The folder of a cluster that is stopped and in good order: that of whoever started this
  /// process, or our own.
  private static let model = Result {
    if let given = getenv(modelName) { return String(cString: given) }
    let directory = try freshDirectory()
    let server = EmbeddedServer(
      directory: directory, binaries: PostgresServers.chosen, settings: settings)
    try server.start()
    try server.stop()
    return directory
  }

  /// What the environment of a process has to hold to copy our model instead of making its own.
  package static func environment() throws -> [String: String] { [modelName: try model.get()] }

  private static func copyModel(to directory: String) throws {
    let model = try model.get()
    guard Shell.output(of: "cp -a --reflink=auto \(model)/data \(directory)/data") != nil else {
      throw Failure(sentence: "Cannot copy the cluster \(model).")
    }
  }
}

extension PrivateCluster {
  /// Sweeps the dead's folders now and our own at exit; once for the process.
  private static let atExit: Void = {
    sweep { kill($0, 0) != 0 && errno == ESRCH }
    atexit { PrivateCluster.sweep { $0 == getpid() } }
  }()

  private static func sweep(where isChosen: (pid_t) -> Bool) {
    for name in Folder.names(in: parent) ?? [] where name.hasPrefix(prefix) {
      let number = name.dropFirst(prefix.count).prefix { $0 != "-" }
      if let owner = pid_t(number), isChosen(owner) { remove("\(parent)/\(name)") }
    }
  }

  /// The folder may be a cluster's or, one level down, hold some. At the end of a test there is
  /// nobody to tell about a failure; the next run sweeps again.
  static func remove(_ folder: String) {
    for directory in [folder] + (Folder.names(in: folder) ?? []).map({ "\(folder)/\($0)" }) {
      let server = EmbeddedServer(directory: directory)
      try? server.stopImmediately()
      if !server.socketDirectory.hasPrefix(folder) { removeTree(server.socketDirectory) }
    }
    detach(folder)
    removeTree(folder)
  }

  /// A file system that a killed test left mounted there.
  private static func detach(_ folder: String) {
    var (inside, outside) = (stat(), stat())
    guard lstat(folder, &inside) == 0, lstat(parent, &outside) == 0,
      inside.st_dev != outside.st_dev
    else { return }
    _ = system("umount -l \(folder) 2>/dev/null")
  }

  private static func removeTree(_ path: String) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFDIR else {
      unlink(path)
      return
    }
    for name in Folder.names(in: path) ?? [] { removeTree("\(path)/\(name)") }
    rmdir(path)
  }
}
