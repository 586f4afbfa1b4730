import Glibc
import Postgres

/// Who may be which role of a cluster that has a socket for readers.
struct AccessFiles {
  let server: EmbeddedServer
  let user: EmbeddedServer.ServerUser

  /// Roles that root and the server's user may be; anybody may be a reader.
  private static let ownRoles = [
    EmbeddedServer.superuserName, EmbeddedServer.userName, DatabaseRole.owner, DatabaseRole.app,
    DatabaseRole.appOwner,
  ]

  /// - Returns: the settings that name the files.
  /// - Throws: `directoryUnusable`.
  func write() throws(EmbeddedServerError) -> [String: String] {
    let name = getpwuid(user.uid).map { String(cString: $0.pointee.pw_name) } ?? user.name
    let map = Self.ownRoles.map { "own /^(root|\(name))$ \($0)\n" }.joined()
    let rules = """
      local all \(EmbeddedServer.readerName) trust
      local all all peer map=own
      local replication \(EmbeddedServer.superuserName) peer map=own

      """
    return [
      "hba_file": try write(rules, to: "access.conf"),
      "ident_file": try write(map, to: "roles.conf"),
    ]
  }

  private func write(_ text: String, to name: String) throws(EmbeddedServerError) -> String {
    let path = "\(server.directory)/\(name)"
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
    defer { if file >= 0 { close(file) } }
    guard file >= 0, Glibc.write(file, text, text.utf8.count) == text.utf8.count,
      !user.isOther || fchown(file, user.uid, user.gid) == 0
    else { throw server.unusable("write \(name) in", errno: errno) }
    return path
  }
}
