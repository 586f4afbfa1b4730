/// From a folder to a server that answers: the binaries for it, initdb, the postmaster, the wait.

import CPostgres
import Glibc
import Platform

extension EmbeddedServer {
  /// A server with nothing to recover answers within a second; this is a machine in distress.
  static let responseSecondsMax = 30
  /// Replaying `max_wal_size` after a crash, on a slow disk. It answers meanwhile: "starting up".
  static let recoverySecondsMax = 600

  /// What candled's load asks for; `settings` wins over it. Commits stay durable: fsync and
  /// synchronous_commit are on.
  package static let defaultSettings: [String: String] = [
    "autovacuum": "on",
    "checkpoint_timeout": "30min",
    "fsync": "on",
    "jit": "off",
    "log_autovacuum_min_duration": "-1",
    "log_checkpoints": "off",
    "log_timezone": "Asia/Shanghai",
    "logging_collector": "off",
    "max_connections": "100",
    // Two days of a market of 5,400: a replica that is gone must not fill the disk.
    "max_slot_wal_keep_size": "10GB",
    // Shared by all sessions: `ReaderMonitor` ends a reader that fills it before it is full.
    "max_locks_per_transaction": "1024",
    "max_wal_size": "4GB",
    "shared_buffers": "128MB",
    "synchronous_commit": "on",
    "timezone": "Asia/Shanghai",
    // For a publication of the tables.
    "wal_level": "logical",
  ]

  func chooseBinaries() throws(EmbeddedServerError) -> ServerBinaries {
    let candidates = binaries ?? ServerBinaries.installed()
    guard let preferred = candidates.first else {
      throw EmbeddedServerError(
        .serverMissing,
        sentence: "No PostgreSQL server binaries were found: "
          + "install them with `\(installCommand)`.")
    }
    guard let major else { return preferred }
    guard let matching = candidates.first(where: { $0.major == major }) else {
      throw EmbeddedServerError(
        .serverMissing,
        sentence:
          "\(directory) was written by PostgreSQL \(major), whose server binaries were not found: "
          + "install them with `\(installCommand)`.")
    }
    return matching
  }

  /// What gets the programs that the data needs.
  package var installCommand: String {
    major.map { ServerRelease(major: $0).installCommand } ?? "apt-get install postgresql"
  }

  /// Whether the programs that the data needs are on the disk.
  package var hasBinaries: Bool { (try? chooseBinaries())?.isComplete ?? false }

  /// Into `data.new`, which becomes `data` when it is whole: an initdb cut short leaves nothing
  /// that looks like a cluster.
  func initialize(
    with binaries: ServerBinaries, as user: ServerUser
  ) throws(EmbeddedServerError) {
    guard access(oldDataDirectory, F_OK) != 0 else {
      throw EmbeddedServerError(
        .directoryUnusable,
        sentence: "\(directory) has no data, but data.old: rename the one that is to be used.")
    }
    try makeNewData(with: binaries, as: user)
    try install()
  }

  /// An empty cluster in `data.new`, in place of what is there.
  func makeNewData(
    with binaries: ServerBinaries, as user: ServerUser
  ) throws(EmbeddedServerError) {
    let log = try openLog(for: user)
    defer { close(log) }
    let logStart = logSize
    _ = try ChildProcess.run(["/bin/rm", "-rf", "--", newDataDirectory])
    var arguments = [
      binaries.initdb, "-D", newDataDirectory, "--username=\(Self.superuserName)",
      "--encoding=UTF8",
      "--locale=C.UTF-8", "--lc-messages=C", "--auth-local=trust", "--auth-host=reject",
      "--data-checksums", "--no-instructions",
    ]
    if settings["fsync"] == "off" { arguments.append("--no-sync") }
    guard try ChildProcess.run(user.runningWithUs(arguments), log: log) == 0 else {
      throw EmbeddedServerError(
        .initFailed, sentence: "initdb could not create a cluster in \(directory).",
        log: logTail(from: logStart))
    }
  }

  /// Returns when the server accepts connections, one that was running or one started here. A
  /// server that is just ending is waited for and followed by a new one.
  func bringUp(with binaries: ServerBinaries, as user: ServerUser) throws(EmbeddedServerError) {
    let start = ContinuousClock.now
    while true {
      let logStart = logSize
      let running = postmaster
      let server: Postmaster
      if let running { server = running } else { server = try launch(with: binaries, as: user) }
      if try awaitResponse(of: server, logStart: logStart) { return }
      let log = logTail(from: logStart)
      // The sessions of a killed postmaster hold its memory until they notice.
      let isWorthRetrying = running != nil || log.contains { $0.contains("is still in use") }
      guard isWorthRetrying, ContinuousClock.now - start < .seconds(Self.responseSecondsMax) else {
        throw EmbeddedServerError(
          .startFailed, sentence: "The server of \(directory) stopped while starting.",
          log: log)
      }
      Self.pause()
    }
  }

  /// The version that wrote the data, nil without data.
  package var major: Int? { Self.major(of: dataDirectory) }

  static func major(of data: String) -> Int? {
    Int(SmallFile.text(of: data + "/PG_VERSION").prefix { !$0.isWhitespace })
  }

  /// The new data becomes the data; also behind a power cut.
  func install() throws(EmbeddedServerError) {
    try renameForGood(newDataDirectory, to: directory + "/data")
  }

  /// Renames within the folder; also behind a power cut.
  func renameForGood(_ path: String, to other: String) throws(EmbeddedServerError) {
    guard rename(path, other) == 0 else { throw unusable("rename \(path) in", errno: errno) }
    try syncFolder()
  }

  private func syncFolder() throws(EmbeddedServerError) {
    let folder = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    defer { if folder >= 0 { close(folder) } }
    guard folder >= 0, fsync(folder) == 0 else { throw unusable("sync", errno: errno) }
  }

  /// Writes a small file of the folder; it has reached the disk then.
  func replaceForGood(_ path: String, by text: String) throws(EmbeddedServerError) {
    guard SmallFile.replace(path, by: text) else {
      throw unusable("write \(path) in", errno: errno)
    }
    try syncFolder()
  }

  private func launch(
    with binaries: ServerBinaries, as user: ServerUser
  ) throws(EmbeddedServerError) -> Postmaster {
    let log = try openLog(for: user)
    defer { close(log) }
    var arguments = [binaries.postgres, "-D", dataDirectory]
    for (name, value) in try serverSettings(with: binaries, as: user) {
      arguments += ["-c", "\(name)=\(value)"]
    }
    let child = try ChildProcess.detach(user.running(arguments), log: log)
    return Postmaster(spawned: child)
  }

  /// Sorted, so that the same server has the same command line.
  func serverSettings(
    with binaries: ServerBinaries, as user: ServerUser
  ) throws(EmbeddedServerError) -> [(String, String)] {
    var all = Self.defaultSettings.merging(settings) { _, own in own }
    if all["wal_compression"] == nil {
      all["wal_compression"] = try hasLZ4(binaries, as: user) ? "lz4" : "on"
    }
    all["listen_addresses"] = ""
    all["port"] = "\(Self.port)"
    all["unix_socket_directories"] = socketDirectory
    if let readersDirectory, part == .main {
      all["unix_socket_directories"] = "\(socketDirectory),\(readersDirectory)"
      all.merge(try AccessFiles(server: self, user: user).write()) { $1 }
    }
    if let backups = try backups(), part == .main {
      let system = try systemIdentifier(binaries, user)
      all.merge(backups.archiveSettings(of: system, as: user)) { $1 }
    }
    return all.sorted { $0.key < $1.key }
  }

  /// What no other cluster has.
  func systemIdentifier(
    _ binaries: ServerBinaries, _ user: ServerUser
  ) throws(EmbeddedServerError) -> String {
    try controlValue("Database system identifier", binaries, user)
  }

  /// A line of pg_controldata.
  func controlValue(
    _ name: String, _ binaries: ServerBinaries, _ user: ServerUser
  ) throws(EmbeddedServerError) -> String {
    let command = [binaries.controlData, "-D", dataDirectory]
    let lines = try ChildProcess.output(of: user.running(command))?.split(separator: "\n")
    let line = lines?.first { $0.hasPrefix(name + ":") }
    guard let value = line?.split(separator: " ").last else {
      throw EmbeddedServerError(
        .directoryUnusable, sentence: "pg_controldata cannot read the data of \(directory).")
    }
    return String(value)
  }

  /// A build option of the server: asked by having it read the setting and say it back.
  private func hasLZ4(
    _ binaries: ServerBinaries, as user: ServerUser
  ) throws(EmbeddedServerError) -> Bool {
    let setting = "wal_compression"
    let arguments = [
      binaries.postgres, "-D", dataDirectory, "-C", setting, "-c", "\(setting)=lz4",
    ]
    return try ChildProcess.run(user.running(arguments)) == 0
  }

  /// False when the process ended instead.
  private func awaitResponse(
    of server: Postmaster, logStart: Int64
  ) throws(EmbeddedServerError) -> Bool {
    let start = ContinuousClock.now
    while true {
      let response = PQping(adminConnectionString())
      if response == PQPING_OK { return true }
      if server.hasEnded { return false }
      let isRecovering = response == PQPING_REJECT
      let secondsMax = isRecovering ? Self.recoverySecondsMax : Self.responseSecondsMax
      if ContinuousClock.now - start > .seconds(secondsMax) {
        // One in recovery goes on, and a later start adopts it; a mute one is of no use.
        if !isRecovering { try? stopImmediately() }
        throw EmbeddedServerError(
          .startFailed,
          sentence: "The server of \(directory) does not respond after \(secondsMax) s.",
          log: logTail(from: logStart))
      }
      Self.pause()
    }
  }
}
