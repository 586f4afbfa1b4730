/// Brings the data of the private cluster to another major version of PostgreSQL, by pg_upgrade of
/// that version.
///
/// The new data is made beside the old and compared with it; then two renames replace the one by
/// the other, and the old stays as `data.old` until it is discarded. Before them no row of the old
/// data is touched; what protects locks is taken back, and is there again with the next start. The
/// folder is locked meanwhile: a daemon goes on recording into its journal, and starts the new
/// server when the lock is free. After `kill -9` at any moment the same call goes on, or a start
/// finds the old data, or the new.

import Glibc
import Platform

package struct ClusterUpgrade: Sendable {
  /// How files of tables come into the new data.
  package enum Mode: String, Sendable, CaseIterable {
    /// Twice the space.
    case copy
    /// As references to the same blocks, where the file system has them (XFS, Btrfs).
    case clone
  }

  /// What is discarded must not be wanted any more: so many days must have been certified since.
  package static let certifiedDaysMin = 7

  private let server: EmbeddedServer
  private let mode: Mode
  /// Each step, for people.
  private let report: @Sendable (String) -> Void

  package init(
    of server: EmbeddedServer, mode: Mode = .copy, report: @escaping @Sendable (String) -> Void
  ) {
    self.server = server
    self.mode = mode
    self.report = report
  }

  /// Which programs take part, and as whom they run.
  private struct Parts {
    var old: ServerBinaries
    var new: ServerBinaries
    var user: EmbeddedServer.ServerUser
  }

  /// - Parameter major: the version to come to; nil for the newest that is installed.
  /// - Returns: the version of the data now.
  /// - Throws: `upgradeFailed`, `busy`, `serverMissing`, and whatever a start throws. The old data
  ///   is in its place then.
  package func run(to major: Int? = nil) throws(EmbeddedServerError) -> Int {
    let lock = try lockedFolder()
    defer { close(lock) }
    if let state = server.upgradeState, state.step == .replaced, state.to == server.major,
      major ?? state.to == state.to, isOldKept
    {
      return state.to
    }
    let parts = try parts(to: major)
    guard !isOldKept else {
      throw refused("it has data.old of an earlier upgrade, see `candled database discard`")
    }
    try checkSpace(parts)
    report("stopping the server")
    try server.stop()
    try replace(by: try verified(parts), parts)
    return parts.new.major
  }

  /// Whether the upgrade could be made, asked beside a running server of pg_upgrade itself.
  /// - Throws: as `run`.
  package func check(to major: Int? = nil) throws(EmbeddedServerError) {
    let lock = try lockedFolder()
    defer { close(lock) }
    let parts = try parts(to: major)
    guard try unfinished(parts) == nil else { return }
    try checkSpace(parts)
    try server.makeNewData(with: parts.new, as: parts.user)
    defer { clear() }
    try runUpgrade(parts, arguments: ["--check"])
  }

  /// Removes what the last upgrade replaced.
  /// - Throws: `upgradeFailed` where there is nothing, or it may still be wanted; `startFailed`
  ///   while no server runs.
  package func discard() throws(EmbeddedServerError) {
    let lock = try lockedFolder()
    defer { close(lock) }
    guard isOldKept else { throw refused("there is no data.old") }
    let days = try server.certifiedDays(after: server.upgradeState?.certifiedThrough)
    guard days >= Self.certifiedDaysMin else {
      throw refused(
        "data.old stays until \(Self.certifiedDaysMin) days are certified in the new data; "
          + "so far there are \(days)")
    }
    _ = try ChildProcess.run(["/bin/rm", "-rf", "--", server.oldDataDirectory])
    server.removeUpgradeState()
  }

  private var isOldKept: Bool { access(server.oldDataDirectory, F_OK) == 0 }

  private func lockedFolder() throws(EmbeddedServerError) -> Int32 {
    let user = try server.serverUser()
    try server.prepareDirectory(for: user)
    let lock = try server.lockDirectory()
    do {
      try server.finishUpgrade()
    } catch {
      close(lock)
      throw error
    }
    return lock
  }

  private func parts(to major: Int?) throws(EmbeddedServerError) -> Parts {
    let old = try server.chooseBinaries()
    guard server.isInitialized else { throw refused("there is no cluster yet") }
    guard !server.isStandby else {
      throw refused("it is a standby: upgrade its primary, and make the standby anew")
    }
    let newer = (server.binaries ?? ServerBinaries.installed()).filter { $0.major > old.major }
    let chosen =
      major.map { major in newer.first { $0.major == major } }
      ?? newer.max { $0.major < $1.major }
    guard let chosen else {
      let install = major.map { ServerRelease(major: $0).installCommand }
      throw EmbeddedServerError(
        .serverMissing,
        sentence: "The data is of PostgreSQL \(old.major), and no programs of "
          + "\(major.map { "PostgreSQL \($0)" } ?? "a newer version") were found"
          + (install.map { ": install them with `\($0)`." } ?? "."))
    }
    return Parts(old: old, new: chosen, user: try server.serverUser())
  }

  private func refused(_ reason: String, log: [String] = []) -> EmbeddedServerError {
    EmbeddedServerError(.upgradeFailed, sentence: "\(server.directory): \(reason).", log: log)
  }

  /// Removes what is not to be gone on with.
  private func clear() {
    server.removeUpgradeState()
    for folder in [server.newDataDirectory, server.upgradeDirectory] {
      _ = try? ChildProcess.run(["/bin/rm", "-rf", "--", folder])
    }
  }
}

// MARK: - The steps

extension ClusterUpgrade {
  /// The state of a run that was cut off, if the old data is still what it was then.
  private func unfinished(_ parts: Parts) throws(EmbeddedServerError) -> UpgradeState? {
    guard let state = server.upgradeState, state.step != .replaced,
      state.from == parts.old.major, state.to == parts.new.major,
      server.serving(.new).isInitialized, state.checkpoint == (try checkpoint(parts))
    else { return nil }
    return state
  }

  /// Until `data.new` is what `data` is to be.
  private func verified(_ parts: Parts) throws(EmbeddedServerError) -> UpgradeState {
    let begun = try unfinished(parts)
    if let begun, begun.step == .verified { return begun }
    report("counting the rows of PostgreSQL \(parts.old.major)")
    let rows = try whileRunning(.old, by: parts.old, as: parts.user) {
      (server) throws(EmbeddedServerError) in
      try server.unprotectLocks()
      return try server.inventory()
    }
    if begun == nil {
      try transfer(parts)
    }
    var state = UpgradeState(
      step: .transferred, from: parts.old.major, to: parts.new.major,
      checkpoint: try checkpoint(parts))
    try server.save(state)
    state.certifiedThrough = try verify(rows, parts)
    state.step = .verified
    try server.save(state)
    return state
  }

  private func transfer(_ parts: Parts) throws(EmbeddedServerError) {
    report("transferring to PostgreSQL \(parts.new.major)")
    clear()
    try server.makeNewData(with: parts.new, as: parts.user)
    try runUpgrade(parts)
    // Who may connect, and what was set by `alter system`.
    let files = ["pg_hba.conf", "pg_ident.conf", "postgresql.auto.conf"]
      .map { "\(server.dataDirectory)/\($0)" }
    let copy = ["/bin/cp", "-p", "--"] + files + [server.newDataDirectory]
    guard try ChildProcess.run(parts.user.running(copy)) == 0 else {
      throw refused("cannot copy \(files.joined(separator: ", "))")
    }
  }

  /// - Returns: the newest day with certificates.
  private func verify(_ rows: [String], _ parts: Parts) throws(EmbeddedServerError) -> String? {
    do throws(EmbeddedServerError) {
      return try whileRunning(.new, by: parts.new, as: parts.user) {
        (server) throws(EmbeddedServerError) in
        report("gathering statistics")
        try server.renewCollations()
        try server.gatherStatistics()
        report("comparing the rows of PostgreSQL \(parts.new.major)")
        let found = try server.inventory()
        let before = Set(rows)
        let different = found.filter { !before.contains($0) }
        guard found.count == rows.count, different.isEmpty else {
          throw refused(
            "the new data is not the old: \(found.count) tables for \(rows.count)",
            log: Array(different.prefix(Self.differencesMax)))
        }
        return try server.lastCertifiedDay()
      }
    } catch {
      clear()
      throw error
    }
  }

  private static let differencesMax = 12

  /// The one moment at which another folder is `data`.
  private func replace(
    by state: UpgradeState, _ parts: Parts
  ) throws(EmbeddedServerError) {
    report("replacing the data")
    if server.settings["fsync"] != "off" {
      _ = try ChildProcess.run(["/bin/sync", "--file-system", server.newDataDirectory])
    }
    try server.renameForGood(server.dataDirectory, to: server.oldDataDirectory)
    try server.install()
    var state = state
    state.step = .replaced
    try server.save(state)
    _ = try ChildProcess.run(["/bin/rm", "-rf", "--", server.upgradeDirectory])
  }

  private func whileRunning<Value>(
    _ part: EmbeddedServer.Part, by binaries: ServerBinaries, as user: EmbeddedServer.ServerUser,
    body: (EmbeddedServer) throws(EmbeddedServerError) -> Value
  ) throws(EmbeddedServerError) -> Value {
    let server = server.serving(part)
    try server.prepareSocketDirectory(for: user)
    do throws(EmbeddedServerError) {
      try server.bringUp(with: binaries, as: user)
      let value = try body(server)
      try server.stop()
      return value
    } catch {
      try? server.stopImmediately()
      throw error
    }
  }
}

// MARK: - Programs

extension ClusterUpgrade {
  private func runUpgrade(
    _ parts: Parts, arguments more: [String] = []
  ) throws(EmbeddedServerError) {
    _ = try ChildProcess.run(["/bin/rm", "-rf", "--", server.upgradeDirectory])
    let servers = server.serving(.old)
    try servers.prepareSocketDirectory(for: parts.user)
    guard mkdir(server.upgradeDirectory, 0o700) == 0 || errno == EEXIST else {
      throw server.unusable("make \(server.upgradeDirectory) in", errno: errno)
    }
    try server.own(server.upgradeDirectory, for: parts.user)
    var arguments = [
      "/usr/bin/env", "--chdir", server.upgradeDirectory,
      parts.new.upgrade, "--old-bindir", parts.old.directory, "--new-bindir", parts.new.directory,
      "--old-datadir", server.dataDirectory, "--new-datadir", server.newDataDirectory,
      "--old-options", try options(.old, with: parts.old, as: parts.user),
      "--new-options", try options(.new, with: parts.new, as: parts.user),
      "--socketdir", servers.socketDirectory, "--username", EmbeddedServer.superuserName,
      // Beside a server that runs they must differ.
      "--old-port", "\(EmbeddedServer.port)", "--new-port", "\(EmbeddedServer.port + 1)",
    ]
    if mode == .clone { arguments.append("--clone") }
    if server.settings["fsync"] == "off" { arguments.append("--no-sync") }
    let log = try server.openLog(for: parts.user)
    defer { close(log) }
    let logStart = server.logSize
    let command = parts.user.runningWithUs(arguments + more)
    guard try ChildProcess.run(command, log: log) == 0 else {
      throw refused(
        "pg_upgrade ended with a failure; both versions must be of their newest minor release",
        log: server.logTail(from: logStart))
    }
  }

  /// What pg_upgrade decides itself, or refuses.
  private static let ownOptions: Set = [
    "archive_command", "archive_mode", "archive_timeout", "autovacuum", "fsync",
    "listen_addresses", "max_slot_wal_keep_size", "port", "synchronous_commit",
    "unix_socket_directories",
  ]

  /// The settings of a command line are in no file that pg_upgrade reads.
  private func options(
    _ part: EmbeddedServer.Part, with binaries: ServerBinaries, as user: EmbeddedServer.ServerUser
  ) throws(EmbeddedServerError) -> String {
    try server.serving(part).serverSettings(with: binaries, as: user)
      .filter { !Self.ownOptions.contains($0.0) }
      .map { "-c \($0.0)=\($0.1)" }.joined(separator: " ")
  }

  /// Where the log of the old data was when its last server stopped.
  private func checkpoint(_ parts: Parts) throws(EmbeddedServerError) -> String {
    try server.controlValue("Latest checkpoint location", parts.old, parts.user)
  }

  private func checkSpace(_ parts: Parts) throws(EmbeddedServerError) {
    guard mode == .copy, let size = ClusterSize(of: server), try unfinished(parts) == nil,
      size.freeBytes < size.neededBytes
    else { return }
    throw refused(
      "a copy needs \(size.neededBytes >> 20) MiB, and \(size.freeBytes >> 20) MiB are free")
  }
}
