/// Restores the newest copy of the private cluster as after a loss of its disk, and checks what
/// comes of it: the base copy file by file, the archive of the log without a hole, each row and
/// each certificate of the database, and that it reaches to what the server had when the drill
/// began. The server is only asked; the restored one has a folder and a socket of its own.

import Glibc
import Market
import Platform

package struct BackupDrill: Sendable {
  /// A base copy is made each month.
  package static let baseDaysMax: Int64 = 40
  /// A segment is archived within a second where the disk does not fail.
  private static let archiveSecondsMax: Int64 = 60
  private static let lookMicroseconds: useconds_t = 50_000

  private let backup: ClusterBackup
  /// Each step, for people.
  private let report: @Sendable (String) -> Void

  package init(of backup: ClusterBackup, report: @escaping @Sendable (String) -> Void) {
    self.backup = backup
    self.report = report
  }

  private var server: EmbeddedServer { backup.server }

  /// The database as far as a copy is compared with it.
  struct Content: Sendable, Hashable {
    /// The number of its last commit.
    var commit: Int64
    var certificates: Int64
    /// Certificates with a residual.
    var residuals: Int64
  }

  /// Restores and checks, and writes down what came of it.
  /// - Returns: what was found, for people.
  /// - Throws: as `ClusterBackup.run`; a copy that is worth nothing is `backupFailed`.
  @discardableResult
  package func run(at now: Timestamp) throws(EmbeddedServerError) -> String {
    let lock = try backup.lockedFolder()
    defer { close(lock) }
    // Without it nothing says where the copy has to end: that is no result.
    guard server.isRunning else { throw backup.failed("the server does not run") }
    do {
      let found = try restored(at: now)
      try server.save(DrillResult(at: now, hasPassed: true, sentence: found))
      return found
    } catch {
      try server.save(DrillResult(at: now, hasPassed: false, sentence: error.sentence))
      throw error
    }
  }

  private func restored(at now: Timestamp) throws(EmbeddedServerError) -> String {
    guard let base = backup.bases.last else {
      throw backup.failed("there is no base copy, see `candled database backup`")
    }
    let days = now.microseconds(since: base.madeAt) / 86_400_000_000
    guard days <= Self.baseDaysMax else {
      throw backup.failed("the newest base copy is too old: it was made \(days) days ago")
    }
    let user = try server.serverUser()
    let live = try archivedContent(of: base, as: user)
    guard let first = backup.firstSegment(of: base) else {
      throw backup.failed("the base copy \(base.name) has no backup_label")
    }
    let last = try backup.lastSegment(of: base.system, from: first)

    let scratch = scratch(for: base)
    defer { try? backup.remove(scratch.directory) }
    report("restoring the base copy of \(base.name)")
    try copy(base, to: scratch, for: user)
    do throws(EmbeddedServerError) {
      try scratch.prepareSocketDirectory(for: user)
      try bringUp(scratch, as: user)
      let found = try check(scratch, against: live, through: last)
      try scratch.stopImmediately()
      return found
    } catch {
      try? scratch.stopImmediately()
      throw error
    }
  }

  /// It answers behind the log that was written while the base copy was made, however much that is.
  private func bringUp(
    _ scratch: EmbeddedServer, as user: EmbeddedServer.ServerUser
  ) throws(EmbeddedServerError) {
    let binaries = try scratch.chooseBinaries()
    while true {
      do throws(EmbeddedServerError) {
        return try scratch.bringUp(with: binaries, as: user)
      } catch {
        guard scratch.isRunning else { throw error }
      }
    }
  }

  private func scratch(for base: ClusterBackup.Base) -> EmbeddedServer {
    var settings = server.settings
    settings["restore_command"] = backup.restoreCommand(of: base.system)
    // Nobody writes to it, and it is thrown away.
    settings["autovacuum"] = "off"
    settings["fsync"] = "off"
    return EmbeddedServer(
      directory: backup.drillDirectory, binaries: server.binaries, settings: settings)
  }

  /// Brings what the server has into the archive.
  /// - Returns: what it had before.
  private func archivedContent(
    of base: ClusterBackup.Base, as user: EmbeddedServer.ServerUser
  ) throws(EmbeddedServerError) -> Content? {
    guard base.system == (try server.systemIdentifier(server.chooseBinaries(), user)) else {
      throw backup.failed(
        "the newest base copy is of another cluster: make one of this with "
          + "`candled database backup`")
    }
    let content = try server.content()
    guard let segment = try server.switchedSegment() else { return content }
    let path = "\(backup.archive(of: base.system))/\(segment).gz"
    let start = ContinuousClock.now
    while access(path, F_OK) != 0 {
      guard ContinuousClock.now - start < .seconds(Self.archiveSecondsMax) else {
        throw backup.failed(
          "the server does not archive its log, \(path) is missing: see \(server.logPath)")
      }
      usleep(Self.lookMicroseconds)
    }
    return content
  }

  private func copy(
    _ base: ClusterBackup.Base, to scratch: EmbeddedServer, for user: EmbeddedServer.ServerUser
  ) throws(EmbeddedServerError) {
    let source = backup.path(of: base)
    try backup.make(scratch.directory, for: user)
    try backup.run(
      ["/bin/cp", "-a", "--reflink=auto", "--", source, scratch.dataDirectory], as: user,
      "the copy \(source) cannot be restored beside it")
    report("verifying it")
    try backup.verify(scratch.dataDirectory, by: scratch.chooseBinaries(), as: user)
    try backup.run(
      ["/usr/bin/touch", scratch.dataDirectory + "/recovery.signal"], as: user,
      "the restored copy cannot be started")
  }

  /// - Returns: what was counted, for people.
  private func check(
    _ scratch: EmbeddedServer, against live: Content?, through last: String?
  ) throws(EmbeddedServerError) -> String {
    report("restoring the log since then")
    while try scratch.isRecovering() {
      guard scratch.isRunning else {
        throw backup.failed("the restored server ended", log: scratch.logTail(from: 0))
      }
      usleep(Self.lookMicroseconds)
    }
    // A segment that cannot be read ends a recovery as the last one does.
    if let last, let reached = try scratch.recoveredSegment(), reached < last.dropFirst(8) {
      throw backup.failed(
        "the log can be read to segment \(reached) alone, and the archive reaches to \(last)")
    }
    report("counting its rows, and checking its certificates")
    let (tables, rows) = try scratch.countedRows()
    let found = try scratch.content()
    let different = try scratch.differentCertificates()
    guard different.isEmpty else {
      throw backup.failed(
        "\(different.count) certificates are not the sums of the restored rows", log: different)
    }
    if let live {
      guard let found, found.commit >= live.commit, found.certificates >= live.certificates else {
        throw backup.failed(
          "the restored copy ends at commit \(found?.commit ?? 0), and the server was at "
            + "\(live.commit)")
      }
      guard found.residuals <= live.residuals else {
        throw backup.failed(
          "\(found.residuals) certificates have a residual, and \(live.residuals) in the server")
      }
    }
    let residuals = found.map { ", \($0.residuals) of them with a residual" } ?? ""
    return "\(rows) rows in \(tables) tables, \(found?.certificates ?? 0) certificates"
      + "\(residuals), to commit \(found?.commit ?? 0)"
  }
}
