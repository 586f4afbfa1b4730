import EmbeddedPostgres
import Foundation
import Postgres
import TestSupport

/// A PostgreSQL on a TCP port of loopback with a certificate of a self-made authority, for what
/// the embedded server never does: its cluster is made by that, then started by hand.
final class TCPServer: Sendable {
  let port: Int
  private let folder: String

  /// The authority's certificate. The server's is for `localhost` alone.
  var authority: String { folder + "/ca.crt" }
  /// `guarded` must show this password, everybody else none.
  static let password = "it's # a \\ secret"

  private static let first = Result { try TCPServer() }

  /// One for the process; it goes with it.
  static func shared() throws -> TCPServer { try first.get() }

  private init() throws {
    let cluster = EmbeddedServer(directory: try PrivateCluster.freshDirectory())
    folder = cluster.directory
    try cluster.start()
    _ = try SQLProbe.run(
      "create role guarded login password '\(Self.password.replacing("'", with: "''"))'",
      url: cluster.ownerConnectionString.replacing("dbname=candled", with: "dbname=postgres"))
    try cluster.stop()
    try Self.shell(Self.certificates, in: folder)
    try """
    local all all trust
    host all guarded 127.0.0.1/32 scram-sha-256
    host all guarded ::1/128 scram-sha-256
    host all all 127.0.0.1/32 trust
    host all all ::1/128 trust

    """.write(toFile: folder + "/data/pg_hba.conf", atomically: false, encoding: .utf8)
    guard let binaries = ServerBinaries.installed().first else {
      throw TestFailure(sentence: "no server binaries")
    }
    port = Int(try LoopbackListener.freePort())
    let options =
      "-c listen_addresses=localhost -c port=\(port) -c unix_socket_directories=\(folder)/socket"
      + " -c fsync=off -c ssl=on -c ssl_cert_file=\(folder)/server.crt"
      + " -c ssl_key_file=\(folder)/server.key"
    let program = binaries.directory + "/pg_ctl"
    try Self.shell(
      """
      owner=$(stat -c %U data)
      chown "$owner" server.key server.crt
      run=""
      if [ "$(id -u)" = 0 ]; then run="setpriv --reuid=$owner --regid=$owner --init-groups --"; fi
      $run \(program) -D \(folder)/data -w -l \(folder)/server.log -o '\(options)' start > /dev/null
      """, in: folder)
  }

  func url(host: String, _ more: String = "", user: String = "postgres") -> String {
    "postgresql://\(user)@\(host):\(port)/postgres?\(more)"
  }

  private static let certificates = """
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=authority \
      -keyout ca.key -out ca.crt 2> /dev/null
    openssl req -newkey rsa:2048 -nodes -subj /CN=localhost \
      -keyout server.key -out server.csr 2> /dev/null
    printf 'subjectAltName=DNS:localhost' > server.ext
    openssl x509 -req -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 \
      -extfile server.ext -out server.crt 2> /dev/null
    chmod 600 server.key
    """

  private static func shell(_ script: String, in folder: String) throws {
    // Not by Foundation's Process: it waits until the server that is left behind has ended.
    let file = folder + "/make.sh"
    try script.write(toFile: file, atomically: false, encoding: .utf8)
    guard system("cd '\(folder)' && exec /bin/sh -e '\(file)'") == 0 else {
      throw TestFailure(sentence: "the TLS server cannot be made")
    }
  }
}
