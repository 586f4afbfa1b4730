import Glibc

/// Where the installed PostgreSQL server is, and as whom it may run.
struct ServerBinaries: Sendable {
  let directory: String

  static let versionMin = 15
  /// Where Debian and Ubuntu put each version's programs.
  private static let debianRoot = "/usr/lib/postgresql"

  /// The highest version installed, then whatever PATH offers.
  /// - Throws: `serverMissing`.
  static func find(
    root: String = debianRoot, path: String = String(cString: getenv("PATH") ?? strdup(""))
  ) throws(StoreError) -> ServerBinaries {
    let versions = entries(of: root).compactMap { Int($0) }.filter { $0 >= versionMin }
    let candidates =
      versions.sorted(by: >).map { "\(root)/\($0)/bin" }
      + path.split(separator: ":").map(String.init)
    for candidate in candidates {
      let programs = ["initdb", "pg_ctl", "postgres"].map { "\(candidate)/\($0)" }
      if programs.allSatisfy({ access($0, X_OK) == 0 }) {
        return ServerBinaries(directory: candidate)
      }
    }
    throw StoreError(
      .serverMissing,
      "no PostgreSQL \(versionMin) or later on this machine: `apt-get install postgresql`,"
        + " or set store.url",
      context: "embedded server")
  }

  func program(_ name: String) -> String { "\(directory)/\(name)" }

  private static func entries(of directory: String) -> [String] {
    guard let handle = opendir(directory) else { return [] }
    defer { closedir(handle) }
    var names: [String] = []
    while let entry = readdir(handle) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if !name.hasPrefix(".") { names.append(name) }
    }
    return names
  }
}

/// The user the server runs as: ourselves, unless we are root, which PostgreSQL refuses.
struct ServerUser: Sendable {
  let name: String
  let user: uid_t
  let group: gid_t
  /// What goes before a command so that it runs as this user.
  let prefix: [String]

  private static let setpriv = "/usr/bin/setpriv"

  /// - Throws: `serverFailed` as root on a machine without a user to give way to.
  static func current() throws(StoreError) -> ServerUser {
    if geteuid() != 0 {
      return ServerUser(name: "", user: geteuid(), group: getegid(), prefix: [])
    }
    for name in ["postgres", "nobody"] {
      guard let entry = getpwnam(name), access(setpriv, X_OK) == 0 else { continue }
      let (user, group) = (entry.pointee.pw_uid, entry.pointee.pw_gid)
      return ServerUser(
        name: name, user: user, group: group,
        prefix: [setpriv, "--reuid=\(user)", "--regid=\(group)", "--init-groups", "--"])
    }
    throw StoreError(
      .serverFailed, "PostgreSQL does not run as root, and there is no user `postgres` or `nobody`",
      context: "embedded server")
  }

  /// The first directory on the way to `path` this user may not pass, nil if there is none.
  func obstacle(onWayTo path: String) -> String? {
    var prefix = ""
    for part in path.split(separator: "/") {
      prefix += "/\(part)"
      var status = stat()
      guard stat(prefix, &status) == 0 else { return prefix }
      let bit: mode_t = status.st_uid == user ? 0o100 : status.st_gid == group ? 0o010 : 0o001
      if status.st_mode & bit == 0 { return prefix }
    }
    return nil
  }
}
