/// Who the server runs as. PostgreSQL refuses root, so root hands every server program to an
/// unprivileged user; anybody else runs it as themselves.

import Glibc

extension EmbeddedServer {
  struct ServerUser: Sendable {
    var uid: uid_t
    var gid: gid_t
    /// For people; the number where the machine knows no name.
    var name: String
    private var prefix: [String]
    /// One line of /etc/passwd; sysconf's own suggestion is 1024.
    private static let entryBytesMax = 4096

    /// Another user than ours: folders must be given to it.
    var isOther: Bool { !prefix.isEmpty }

    func running(_ arguments: [String]) -> [String] { prefix + arguments }

    /// A program that ends with this process: what is left of it would work on data that another
    /// has taken up by then.
    func runningWithUs(_ arguments: [String]) -> [String] {
      // A unit's sandbox forbids setpriv, and systemd ends what is left of the unit.
      let isInUnit = getenv("INVOCATION_ID") != nil
      let setpriv = isInUnit ? nil : EmbeddedServer.setprivPaths.first { access($0, X_OK) == 0 }
      let ending = setpriv.map { [$0, "--pdeathsig", "KILL", "--"] } ?? []
      return running(ending + arguments)
    }

    static var ourselves: ServerUser {
      ServerUser(uid: geteuid(), gid: getegid(), name: "\(geteuid())", prefix: [])
    }

    /// nil for a name the machine does not know.
    init?(named name: String, setpriv: String) {
      self.init(setpriv) { getpwnam_r(name, $0, $1, $2, $3) }
    }

    /// nil for a missing folder, root's, or one of a user without a name.
    init?(owning folder: String, setpriv: String) {
      var status = stat()
      guard stat(folder, &status) == 0, status.st_uid != 0 else { return nil }
      self.init(setpriv) { getpwuid_r(status.st_uid, $0, $1, $2, $3) }
    }

    private typealias Lookup = (
      UnsafeMutablePointer<passwd>, UnsafeMutablePointer<CChar>, Int,
      UnsafeMutablePointer<UnsafeMutablePointer<passwd>?>
    ) -> Int32

    private init?(_ setpriv: String, lookup: Lookup) {
      var entry = passwd()
      var found: UnsafeMutablePointer<passwd>?
      let text = UnsafeMutablePointer<CChar>.allocate(capacity: Self.entryBytesMax)
      defer { text.deallocate() }
      guard lookup(&entry, text, Self.entryBytesMax, &found) == 0, found != nil else { return nil }
      uid = entry.pw_uid
      gid = entry.pw_gid
      name = String(cString: entry.pw_name)
      prefix = [setpriv, "--reuid=\(uid)", "--regid=\(gid)", "--init-groups", "--"]
    }

    private init(uid: uid_t, gid: gid_t, name: String, prefix: [String]) {
      self.uid = uid
      self.gid = gid
      self.name = name
      self.prefix = prefix
    }

    func canEnter(_ folder: String) throws(EmbeddedServerError) -> Bool {
      // test(1): 0 is yes, 1 is no; anything else is setpriv's own failure.
      let status = try ChildProcess.run(running(["/usr/bin/test", "-x", folder]))
      guard status == 0 || status == 1 else {
        throw EmbeddedServerError(
          .spawnFailed,
          sentence: "Cannot run programs as the user \(name): setpriv ended with \(status).")
      }
      return status == 0
    }
  }

  fileprivate static let setprivPaths = ["/usr/bin/setpriv", "/bin/setpriv"]

  /// The owner of existing data, so that a cluster stays with the user that made it.
  func serverUser() throws(EmbeddedServerError) -> ServerUser {
    guard geteuid() == 0 else { return .ourselves }
    guard let setpriv = Self.setprivPaths.first(where: { access($0, X_OK) == 0 }) else {
      throw EmbeddedServerError(
        .spawnFailed,
        sentence: "PostgreSQL does not run as root and setpriv was not found: "
          + "install it with `apt-get install util-linux`.")
    }
    let user =
      ServerUser(owning: dataDirectory, setpriv: setpriv)
      ?? ServerUser(named: "postgres", setpriv: setpriv)
      ?? ServerUser(named: "nobody", setpriv: setpriv)
    guard let user else {
      throw EmbeddedServerError(
        .spawnFailed,
        sentence:
          "PostgreSQL does not run as root, and there is neither a user postgres nor nobody.")
    }
    return user
  }
}
