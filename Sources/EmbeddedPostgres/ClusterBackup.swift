/// Copies of the private cluster in another folder, by PostgreSQL's own programs: base copies by
/// pg_basebackup, which verifies each page as it reads, and between them the write-ahead log, which
/// the server archives segment by segment.
///
///     <folder>/
///       7123456789012345678/   a cluster, by its identifier: one that was made anew or upgraded
///         base/                its base copies, each named by when it was begun
///         wal/                 its log, a compressed file a segment
///       drill/                 where a drill restores a copy
///       backup.log             what the programs said last
///
/// A server whose archive cannot be written keeps its log for a while; then it drops it, because
/// recording goes before keeping copies. The next base copy ends the hole, and a drill names it.

import Glibc
import Market
import Platform
import Postgres

package struct ClusterBackup: Sendable {
  /// 10 GiB of log, as for a replica that is gone.
  static let waitingSegmentsMax = 640
  /// What log that waits leaves free of the database's disk.
  static let freeKibibytesMin = 1 << 20
  /// A folder that hangs must not keep the log from being dropped, nor, after three attempts, the
  /// server from its end. A busy machine takes some seconds for a segment.
  static let archiveSecondsMax = 50

  let server: EmbeddedServer
  /// The folder of all copies, absolute.
  let directory: String

  /// - Throws: `directoryUnusable` for a folder whose name a shell would read otherwise.
  package init(of server: EmbeddedServer, in directory: String) throws(EmbeddedServerError) {
    guard directory.hasPrefix("/"), directory.utf8.allSatisfy(StoreAddress.isPlain) else {
      throw EmbeddedServerError(
        .directoryUnusable,
        sentence: "\(directory) cannot be a folder of backups: name it from the root on, with "
          + "letters, digits and -._/ alone.")
    }
    self.server = server
    self.directory = directory
  }

  /// A base copy that was verified when it was made.
  package struct Base: Sendable, Hashable {
    /// The identifier of its cluster.
    var system: String
    package var madeAt: Timestamp

    /// `2026-11-28T13:05:01+00:00`, whatever the zone of the machine.
    package var name: String { MarketZone.utc.text(of: madeAt) }
  }

  /// Those that were made to the end, of all clusters, the oldest first.
  var bases: [Base] {
    (Folder.names(in: directory) ?? []).flatMap { system in
      (Folder.names(in: "\(directory)/\(system)/base") ?? []).compactMap { name in
        Timestamp(rfc3339: name).map { Base(system: system, madeAt: $0) }
      }
    }
    .sorted { $0.madeAt < $1.madeAt }
  }

  func path(of base: Base) -> String { "\(directory)/\(base.system)/base/\(base.name)" }
  func archive(of system: String) -> String { "\(directory)/\(system)/wal" }
  func major(of base: Base) -> Int? { EmbeddedServer.major(of: path(of: base)) }

  /// Makes a base copy beside the running server, verifies it, and removes what is older than the
  /// last ones.
  /// - Parameter kept: how many base copies stay, with all of the log behind the oldest.
  /// - Throws: `backupFailed`, `busy`, `directoryUnusable`, `serverMissing`, `spawnFailed`.
  package func run(keeping kept: Int, at now: Timestamp) throws(EmbeddedServerError) -> Base {
    let lock = try lockedFolder()
    defer { close(lock) }
    guard server.isRunning else { throw failed("the server does not run") }
    let (binaries, user) = (try server.chooseBinaries(), try server.serverUser())
    let base = Base(
      system: try server.systemIdentifier(binaries, user),
      madeAt: Timestamp(seconds: now.seconds))
    let folder = "\(directory)/\(base.system)/base"
    // That of the log, too: its disk may have been away when the server started.
    for path in ["\(directory)/\(base.system)", folder, archive(of: base.system)] {
      try make(path, for: user)
    }
    // Not named by a time until it is whole.
    let draft = folder + "/new"
    try remove(draft)
    var arguments = [
      binaries.program("pg_basebackup"), "--pgdata", draft, "--format", "plain",
      "--wal-method", "stream", "--checkpoint", "fast", "--no-password",
      "--host", server.socketDirectory, "--port", "\(EmbeddedServer.port)",
      "--username", EmbeddedServer.superuserName,
    ]
    if server.settings["fsync"] == "off" { arguments.append("--no-sync") }
    do throws(EmbeddedServerError) {
      try run(arguments, as: user, "a base copy could not be made")
      try verify(draft, by: binaries, as: user)
    } catch {
      // The archive needs its space until the next one is made.
      try? remove(draft)
      throw error
    }
    guard rename(draft, path(of: base)) == 0 else {
      throw server.unusable("rename \(draft) beside", errno: errno)
    }
    _ = try ChildProcess.run(["/bin/sync", folder])
    try removeOld(keeping: kept, by: binaries, as: user)
    return base
  }

  func verify(
    _ copy: String, by binaries: ServerBinaries, as user: EmbeddedServer.ServerUser
  ) throws(EmbeddedServerError) {
    try run(
      [binaries.program("pg_verifybackup"), "--quiet", copy], as: user,
      "the copy \(copy) is damaged")
  }

  private func removeOld(
    keeping kept: Int, by binaries: ServerBinaries, as user: EmbeddedServer.ServerUser
  ) throws(EmbeddedServerError) {
    let all = bases
    for base in all.dropLast(max(kept, 1)) { try remove(path(of: base)) }
    let left = Dictionary(all.suffix(max(kept, 1)).map { ($0.system, $0) }) { first, _ in first }
    for system in Set(all.map(\.system)) {
      guard let oldest = left[system] else {
        try remove("\(directory)/\(system)")
        continue
      }
      guard let first = firstSegment(of: oldest) else { continue }
      try run(
        [binaries.program("pg_archivecleanup"), "-x", ".gz", archive(of: system), first], as: user,
        "old log could not be removed")
    }
  }

  /// The segment of the log with which a restore of it begins.
  func firstSegment(of base: Base) -> String? {
    // START WAL LOCATION: 0/2000028 (file 000000010000000000000002)
    let label = SmallFile.text(of: path(of: base) + "/backup_label")
    let line = label.split(separator: "\n").first ?? ""
    return line.split(separator: " ").last.map { String($0.dropLast()) }
  }
}

// MARK: - The archive

extension ClusterBackup {
  /// The settings by which a server fills the archive of its cluster.
  func archiveSettings(
    of system: String, as user: EmbeddedServer.ServerUser
  ) -> [String: String] {
    let wal = archive(of: system)
    // Where the disk is away, the server says so in its log until it is back.
    for path in [directory, "\(directory)/\(system)", wal] { try? make(path, for: user) }
    // One that is there already is compared, never written over. A part of one is.
    let keep = """
      timeout \(Self.archiveSecondsMax) sh -c 'f=\(wal)/%f.gz; \
      if [ -e "$f" ]; then gzip -dc "$f" | cmp -s - "%p"; \
      else gzip -c "%p" >"$f.part" && sync "$f.part" && mv "$f.part" "$f" && sync \(wal); fi' \
      || [ $(ls pg_wal/archive_status | grep -c ready) -gt \(Self.waitingSegmentsMax) ] \
      || [ $(df -k --output=avail pg_wal | tail -n 1) -lt \(Self.freeKibibytesMin) ]
      """
    return ["archive_mode": "on", "archive_command": keep, "archive_timeout": "10min"]
  }

  func restoreCommand(of system: String) -> String {
    "gzip -dc '\(archive(of: system))/%f.gz' >'%p'"
  }

  /// What follows the first segment in the archive, over changes of the timeline.
  /// - Returns: the last one; nil where there is none yet.
  /// - Throws: `backupFailed` where one between them is missing.
  func lastSegment(
    of system: String, from first: String
  ) throws(EmbeddedServerError) -> String? {
    let names = (Folder.names(in: archive(of: system)) ?? []).compactMap(Self.segment)
    // A new timeline begins in a segment that the old one has, too.
    let numbers = Set(names.filter { $0 >= first }.map { $0.dropFirst(8) })
    guard let last = numbers.max() else { return nil }
    var next = first.dropFirst(8)
    while next <= last {
      guard numbers.contains(next) else {
        throw failed("segment \(next) of the log is missing in \(archive(of: system))")
      }
      next = Self.following(next)
    }
    return names.filter { $0.hasSuffix(last) }.max()
  }

  /// `000000010000000000000002` of `000000010000000000000002.gz`; nil for what is no segment.
  private static func segment(_ name: String) -> String? {
    guard name.hasSuffix(".gz"), name.utf8.count == 27 else { return nil }
    return String(name.dropLast(3))
  }

  /// Of the 16 digits behind the timeline, the last 8 count to 255: a segment has 16 MiB.
  static func following(_ digits: Substring) -> Substring {
    guard let high = UInt64(digits.prefix(8), radix: 16),
      let low = UInt64(digits.suffix(8), radix: 16)
    else { return "G" }
    let number = high << 8 + low + 1
    return Substring(hexadecimal(number >> 8) + hexadecimal(number & 0xFF))
  }

  private static func hexadecimal(_ number: UInt64) -> String {
    let digits = String(number, radix: 16, uppercase: true)
    return String(repeating: "0", count: max(8 - digits.count, 0)) + digits
  }
}

// MARK: - Folders and programs

extension ClusterBackup {
  func failed(_ reason: String, log: [String] = []) -> EmbeddedServerError {
    EmbeddedServerError(.backupFailed, sentence: "\(directory): \(reason).", log: log)
  }

  /// Where a drill restores.
  var drillDirectory: String { directory + "/drill" }

  /// While it is held, no other process makes, restores or removes copies.
  func lockedFolder() throws(EmbeddedServerError) -> Int32 {
    try make(directory, for: try server.serverUser())
    let folder = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0, flock(folder, LOCK_EX | LOCK_NB) == 0 else {
      if folder >= 0 { close(folder) }
      throw EmbeddedServerError(
        .busy, sentence: "Another process makes or restores copies in \(directory).")
    }
    do throws(EmbeddedServerError) {
      // A killed drill left its server, and as much as the database.
      try EmbeddedServer(directory: drillDirectory).stopImmediately()
      try remove(drillDirectory)
    } catch {
      close(folder)
      throw error
    }
    return folder
  }

  func make(
    _ folder: String, for user: EmbeddedServer.ServerUser
  ) throws(EmbeddedServerError) {
    guard mkdir(folder, 0o700) == 0 || errno == EEXIST else {
      let reason = String(cString: strerror(errno))
      throw EmbeddedServerError(
        .directoryUnusable, sentence: "Cannot make \(folder): \(reason).")
    }
    try server.own(folder, for: user)
  }

  func remove(_ path: String) throws(EmbeddedServerError) {
    guard try ChildProcess.run(["/bin/rm", "-rf", "--", path]) == 0 else {
      throw failed("\(path) cannot be removed")
    }
  }

  /// - Throws: `backupFailed`, with the last lines of what the program said.
  func run(
    _ arguments: [String], as user: EmbeddedServer.ServerUser, _ reason: String
  ) throws(EmbeddedServerError) {
    let path = directory + "/backup.log"
    let log = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard log >= 0 else { throw failed("cannot write backup.log") }
    defer { close(log) }
    guard try ChildProcess.run(user.runningWithUs(arguments), log: log) == 0 else {
      let lines = SmallFile.text(of: path).split(separator: "\n").suffix(Self.logLinesMax)
      throw failed(reason, log: lines.map(String.init))
    }
  }

  private static let logLinesMax = 12
}
