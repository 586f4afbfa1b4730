/// The cluster's folder: made, checked, owned by the user the server runs as, locked while it is
/// being set up. A folder with anything of others in it is refused, not taken over.

import Glibc
import Market
import Postgres

extension EmbeddedServer {
  /// sun_path of sockaddr_un (unix(7)) holds 108 bytes with the final zero.
  static let socketPathBytesMax = 107
  private static let ownNames: Set<String> = [
    "data", "data.new", "socket", "server.log", "server.log.1",
  ]

  var dataDirectory: String { directory + "/data" }
  var isInitialized: Bool { access(dataDirectory + "/PG_VERSION", F_OK) == 0 }

  /// In the cluster's folder if the path fits a socket and needs no quotes in a connection string
  /// or a setting; otherwise a folder under /tmp named by a hash of the cluster's.
  package var socketDirectory: String {
    let inside = directory + "/socket"
    let socket = inside + "/.s.PGSQL.\(Self.port)"
    if socket.utf8.count <= Self.socketPathBytesMax, inside.utf8.allSatisfy(StoreAddress.isPlain) {
      return inside
    }
    return "/tmp/candled-\(String(StableHash(of: directory).value, radix: 16))"
  }

  func prepareDirectory(for user: ServerUser) throws(EmbeddedServerError) {
    try makeParents()
    if mkdir(directory, 0o700) != 0, errno != EEXIST { throw unusable("make", errno: errno) }
    if !isInitialized, let unknownFile = try firstUnknownFile() {
      throw EmbeddedServerError(
        .directoryUnusable,
        sentence:
          "\(directory) is not empty (\(unknownFile)): give the embedded server a folder of its own.",
        directory: directory)
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
        sentence: "\(folder) is needed for the server's socket, but belongs to another user.",
        directory: folder)
    }
    try own(folder, for: user)
  }

  /// While it is held, no other process sets up or starts this cluster.
  func lockDirectory() throws(EmbeddedServerError) -> Int32 {
    let folder = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { throw unusable("open", errno: errno) }
    while flock(folder, LOCK_EX) != 0 {
      guard errno == EINTR else {
        let number = errno
        close(folder)
        throw unusable("lock", errno: number)
      }
    }
    return folder
  }

  private func makeParents() throws(EmbeddedServerError) {
    for parent in parents where mkdir(parent, 0o755) != 0 {
      // A parent that exists may be on a read-only file system or refuse us: ask for it itself.
      let number = errno
      guard access(parent, F_OK) == 0 else {
        throw EmbeddedServerError(
          .directoryUnusable,
          sentence: "Cannot make \(parent): \(String(cString: strerror(number))).",
          directory: parent, systemError: number)
      }
    }
  }

  /// From the root down, without the folder itself.
  private var parents: [String] {
    let names = directory.split(separator: "/").dropLast()
    return names.indices.map { "/" + names[...$0].joined(separator: "/") }
  }

  private func firstUnknownFile() throws(EmbeddedServerError) -> String? {
    guard let stream = opendir(directory) else { throw unusable("read", errno: errno) }
    defer { closedir(stream) }
    while let item = readdir(stream) {
      let name = withUnsafeBytes(of: &item.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != ".", name != "..", !Self.ownNames.contains(name) { return name }
    }
    return nil
  }

  private func own(_ folder: String, for user: ServerUser) throws(EmbeddedServerError) {
    if user.isOther, lchown(folder, user.uid, user.gid) != 0 {
      throw unusable("give \(user.name)", errno: errno)
    }
    var status = stat()
    guard lstat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR,
      status.st_uid == user.uid
    else {
      throw EmbeddedServerError(
        .directoryUnusable, sentence: "\(folder) is not a folder of the user \(user.name).",
        directory: folder)
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
          + "choose another folder or `chmod o+x \(parent)`.",
        directory: parent)
    }
    throw EmbeddedServerError(
      .directoryUnusable, sentence: "The user \(user.name) cannot enter \(directory).",
      directory: directory)
  }

  private func unusable(_ doing: String, errno number: Int32) -> EmbeddedServerError {
    EmbeddedServerError(
      .directoryUnusable,
      sentence: "Cannot \(doing) \(directory): \(String(cString: strerror(number))).",
      directory: directory, systemError: number)
  }
}
