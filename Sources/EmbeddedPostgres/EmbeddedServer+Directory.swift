/// The cluster's folder: made, checked, owned by the user the server runs as, locked while it is
/// being set up. A folder with anything of others in it is refused, not taken over.

import Glibc
import Market
import Platform
import Postgres

extension EmbeddedServer {
  /// sun_path of sockaddr_un (unix(7)) holds 108 bytes with the final zero.
  static let socketPathBytesMax = 107
  private static let ownNames: Set<String> = [
    "data", "data.new", "data.old", "socket", "server.log", "server.log.1", "access.conf",
    "roles.conf", "upgrade", "upgrade.state", "upgrade.state.new", "drill.state",
    "drill.state.new",
  ]

  var dataDirectory: String { part == .new ? newDataDirectory : directory + "/data" }
  /// What is made to become the data.
  var newDataDirectory: String { directory + "/data.new" }
  /// What an upgrade replaced.
  var oldDataDirectory: String { directory + "/data.old" }
  /// Where an upgrade works.
  var upgradeDirectory: String { directory + "/upgrade" }
  var isInitialized: Bool { access(dataDirectory + "/PG_VERSION", F_OK) == 0 }
  /// As PostgreSQL tells one: promotion removes the file.
  var isStandby: Bool { access(dataDirectory + "/standby.signal", F_OK) == 0 }

  /// In the cluster's folder if the path fits a socket and needs no quotes in a connection string
  /// or a setting; otherwise a folder under /tmp named by a hash of the cluster's.
  package var socketDirectory: String {
    part == .main
      ? socketFolder(directory + "/socket", otherwise: "") : upgradeSocketDirectory
  }

  /// That of the servers that an upgrade starts.
  var upgradeSocketDirectory: String {
    socketFolder(upgradeDirectory, otherwise: "-upgrade")
  }

  private func socketFolder(_ inside: String, otherwise suffix: String) -> String {
    let socket = inside + "/.s.PGSQL.\(Self.port)"
    if socket.utf8.count <= Self.socketPathBytesMax, inside.utf8.allSatisfy(StoreAddress.isPlain) {
      return inside
    }
    return "/tmp/candled-\(String(StableHash(of: directory).value, radix: 16))\(suffix)"
  }

  func prepareDirectory(for user: ServerUser) throws(EmbeddedServerError) {
    try makeParents()
    if mkdir(directory, 0o700) != 0, errno != EEXIST { throw unusable("make", errno: errno) }
    if !isInitialized, let unknownFile = try firstUnknownFile() {
      throw EmbeddedServerError(
        .directoryUnusable,
        sentence:
          "\(directory) is not empty (\(unknownFile)): "
          + "give the embedded server a folder of its own.")
    }
    try own(directory, for: user)
    try checkReach(of: user)
  }

  /// A folder under /tmp may have been put there by somebody else, to see who connects.
  func prepareSocketDirectory(for user: ServerUser) throws(EmbeddedServerError) {
    let folder = socketDirectory
    let isNew = mkdir(folder, 0o700) == 0
    if !isNew, errno != EEXIST { throw unusable("make \(folder) for", errno: errno) }
    var status = stat()
    guard lstat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR,
      status.st_uid == geteuid() || status.st_uid == user.uid
    else {
      throw EmbeddedServerError(
        .directoryUnusable,
        sentence: "\(folder) is needed for the server's socket, but belongs to another user.")
    }
    try own(folder, for: user)
    guard let readersDirectory else { return }
    guard stat(readersDirectory, &status) == 0, status.st_mode & S_IFMT == S_IFDIR,
      readersDirectory.utf8.allSatisfy(StoreAddress.isPlain)
    else {
      throw EmbeddedServerError(
        .directoryUnusable,
        sentence: "\(readersDirectory), for the socket of readers, is not a folder.")
    }
  }

  /// While it is held, no other process sets up, starts or upgrades this cluster.
  /// - Throws: `busy` where another holds it for longer than a start takes.
  func lockDirectory() throws(EmbeddedServerError) -> Int32 {
    let folder = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { throw unusable("open", errno: errno) }
    let start = ContinuousClock.now
    while flock(folder, LOCK_EX | LOCK_NB) != 0 {
      let number = errno
      if number == EINTR { continue }
      guard number == EWOULDBLOCK, ContinuousClock.now - start < .seconds(Self.responseSecondsMax)
      else {
        close(folder)
        guard number == EWOULDBLOCK else { throw unusable("lock", errno: number) }
        throw EmbeddedServerError(
          .busy, sentence: "Another process starts or upgrades the server of \(directory).")
      }
      Self.pause()
    }
    return folder
  }

  /// What the server's user must reach its folder through.
  package func makeParents() throws(EmbeddedServerError) {
    for parent in parents where mkdir(parent, 0o755) != 0 {
      // A parent that exists may be on a read-only file system or refuse us: ask for it itself.
      let number = errno
      guard access(parent, F_OK) == 0 else {
        throw EmbeddedServerError(
          .directoryUnusable,
          sentence: "Cannot make \(parent): \(String(cString: strerror(number))).")
      }
    }
  }

  /// From the root down, without the folder itself.
  private var parents: [String] {
    let names = directory.split(separator: "/").dropLast()
    return names.indices.map { "/" + names[...$0].joined(separator: "/") }
  }

  private func firstUnknownFile() throws(EmbeddedServerError) -> String? {
    guard let names = Folder.names(in: directory) else { throw unusable("read", errno: errno) }
    return names.first { !Self.ownNames.contains($0) }
  }

  func own(_ folder: String, for user: ServerUser) throws(EmbeddedServerError) {
    if user.isOther, lchown(folder, user.uid, user.gid) != 0 {
      throw unusable("give \(user.name)", errno: errno)
    }
    var status = stat()
    guard lstat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR,
      status.st_uid == user.uid
    else {
      throw EmbeddedServerError(
        .directoryUnusable, sentence: "\(folder) is not a folder of the user \(user.name).")
    }
    if status.st_mode & 0o7777 != 0o700, chmod(folder, 0o700) != 0 {
      throw unusable("protect", errno: errno)
    }
  }

  /// The server's user must pass every parent. Asked of the kernel, as that user: mode bits alone
  /// know nothing of access lists.
  private func checkReach(of user: ServerUser) throws(EmbeddedServerError) {
    guard user.isOther, try !user.canEnter(directory) else { return }
    for parent in parents where try !user.canEnter(parent) {
      throw EmbeddedServerError(
        .directoryUnusable,
        sentence:
          "PostgreSQL does not run as root, and the user \(user.name) cannot enter \(parent): "
          + "choose another folder or `chmod o+x \(parent)`.")
    }
    throw EmbeddedServerError(
      .directoryUnusable, sentence: "The user \(user.name) cannot enter \(directory).")
  }

  func unusable(_ doing: String, errno number: Int32) -> EmbeddedServerError {
    EmbeddedServerError(
      .directoryUnusable,
      sentence: "Cannot \(doing) \(directory): \(String(cString: strerror(number))).")
  }
}

// MARK: - The log

/// The server's log: one file, a start's lines after those of the starts before, the whole moved
/// aside when it has grown. What a failed start said goes into its error from here.
extension EmbeddedServer {
  /// Looked at on start: errors are rare, and a month of them fits.
  private static let logBytesMax: Int64 = 8 << 20
  static let logTailLinesMax = 12
  private static let logTailBytesMax = 4096

  package var logPath: String { directory + "/server.log" }

  /// Opens the log to append to it. The folder is the server user's: root must not follow a link
  /// put there.
  func openLog(for user: ServerUser) throws(EmbeddedServerError) -> Int32 {
    if logSize > Self.logBytesMax { _ = rename(logPath, logPath + ".1") }
    let flags = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC
    let file = open(logPath, flags, 0o600)
    guard file >= 0, !user.isOther || fchown(file, user.uid, user.gid) == 0 else {
      let number = errno
      if file >= 0 { close(file) }
      throw EmbeddedServerError(
        .directoryUnusable,
        sentence: "Cannot open \(logPath): \(String(cString: strerror(number))).")
    }
    return file
  }

  var logSize: Int64 {
    var status = stat()
    return lstat(logPath, &status) == 0 ? Int64(status.st_size) : 0
  }

  /// The last lines written at or after the offset.
  func logTail(from offset: Int64) -> [String] {
    let file = open(logPath, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
    guard file >= 0 else { return [] }
    defer { close(file) }
    var buffer = [UInt8](repeating: 0, count: Self.logTailBytesMax)
    let start = max(offset, logSize - Int64(buffer.count))
    let count = pread(file, &buffer, buffer.count, off_t(start))
    let text = String(decoding: buffer.prefix(max(count, 0)), as: UTF8.self)
    return text.split(separator: "\n").suffix(Self.logTailLinesMax).map(String.init)
  }
}
