import EmbeddedPostgres
import Foundation
import Market
import TestSupport
import TestTraits
import Testing

@testable import Postgres

/// Whom the daemon trusts on TCP, and where passwords come from.
@Suite(.ownThread) struct TransportSecurityTests {
  private let server: TCPServer

  init() throws { server = try TCPServer.shared() }

  private func refusal(_ url: String) -> StoreError? {
    #expect(throws: StoreError.self) { try SQLProbe.run("select 1", url: url) }
  }

  private static let encryption = "select ssl from pg_stat_ssl where pid = pg_backend_pid()"

  @Test func `a server with the right name and authority is trusted, and spoken to in TLS`() throws
  {
    let url = server.url(host: "localhost", "sslrootcert=\(server.authority)")
    #expect(try SQLProbe.run(Self.encryption, url: url) == [["t"]])
  }

  @Test func `a certificate for another name is refused`() {
    let error = refusal(server.url(host: "127.0.0.1", "sslrootcert=\(server.authority)"))
    #expect(error?.code == .operatorNeeded)
    #expect(error?.message.hasPrefix("the server's certificate is for another name") == true)
  }

  @Test func `a certificate of an unknown authority is refused`() {
    let error = refusal(server.url(host: "localhost"))
    #expect(error?.code == .operatorNeeded)
    #expect(error?.message.contains("sslrootcert=FILE in store.url") == true)
  }

  @Test func `a server without TLS is refused`() throws {
    // A PostgreSQL without TLS answers the request for it with one letter.
    let plain = try PlainServer()
    defer { plain.stop() }
    let error = refusal("postgresql://postgres@127.0.0.1:\(plain.port)/postgres")
    #expect(error?.code == .operatorNeeded)
    #expect(error?.message.hasPrefix("the server offers no TLS") == true)
  }

  @Test func `a missing file of authorities is named as such`() {
    let error = refusal(server.url(host: "localhost", "sslrootcert=/nowhere/ca.crt"))
    #expect(error?.message.hasPrefix("the file of certificate authorities does not exist") == true)
  }

  @Test func `what the address says of TLS counts`() throws {
    for (mode, isEncrypted) in [("disable", "f"), ("require", "t")] {
      let url = server.url(host: "127.0.0.1", "sslmode=\(mode)")
      #expect(try SQLProbe.run(Self.encryption, url: url) == [[isEncrypted]], "\(mode)")
    }
  }

  @Test func `a Unix socket needs no certificate`() throws {
    let url = try PrivateCluster.shared().server.adminConnectionString()
    #expect(try SQLProbe.run("select 1", url: url) == [["1"]])
  }

  @Test func `a server that vanished with a statement is found out within the bound`() throws {
    let connection = try PostgresConnection(
      url: server.url(host: "127.0.0.1", "sslmode=disable"), application: "test",
      unacknowledgedMilliseconds: 20_000)
    func option(_ name: Int32, _ level: Int32 = Int32(IPPROTO_TCP)) -> Int32 {
      var (value, length) = (Int32(-1), socklen_t(MemoryLayout<Int32>.size))
      getsockopt(connection.socket, level, name, &value, &length)
      return value
    }
    #expect(option(SO_KEEPALIVE, SOL_SOCKET) == 1)
    #expect(option(TCP_KEEPIDLE) == 10 && option(TCP_KEEPINTVL) == 1 && option(TCP_KEEPCNT) == 10)
    #expect(option(TCP_USER_TIMEOUT) == 20_000)
  }

  // MARK: - Passwords

  private var guarded: String {
    server.url(host: "localhost", "sslrootcert=\(server.authority)", user: "guarded")
  }

  @Test func `a password kept in a file of its own lets in`() throws {
    let url = StoreAddress.joining(guarded, password: TCPServer.password)
    #expect(try SQLProbe.run("select current_user", url: url) == [["guarded"]])
  }

  @Test func `a file as pgpass lets in`() throws {
    let file = try PrivateCluster.freshDirectory() + "/pgpass"
    let escaped = TCPServer.password.replacing("\\", with: "\\\\").replacing(":", with: "\\:")
    try "localhost:*:*:guarded:\(escaped)\n".write(
      toFile: file, atomically: false, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
    #expect(
      try SQLProbe.run("select current_user", url: "\(guarded)&passfile=\(file)")
        == [["guarded"]])
  }

  @Test func `a wrong password is an operator's fault to mend, and is not repeated`() {
    let error = refusal(StoreAddress.joining(guarded, password: "wrong-and-secret"))
    #expect(error?.code == .operatorNeeded && error?.sqlState == "28P01")
    #expect(error?.description.contains("wrong-and-secret") == false)
  }

  @Test func `a missing database is recognised by its SQLSTATE`() throws {
    let url = try PrivateCluster.shared().server.adminConnectionString(database: "nowhere")
    #expect(refusal(url)?.sqlState == "3D000")
  }

  @Test func `a port nobody listens on is a lost connection`() {
    #expect(
      refusal("postgresql://postgres@127.0.0.1:1/postgres")?.code == .connectionLost)
  }

  // MARK: - Addresses that can never work

  @Test(arguments: [
    ("postgres://a:canary/22@127.0.0.1/c", "port is not valid"),
    ("postgres://127.0.0.1:canary:1/c", "port is not valid"),
    ("postgres://127.0.0.1:99999/c", "a port is not in 1…65535"),
    ("postgres://127.0.0.1:1/c?sslmode=verify-canary", "sslmode is not valid"),
    ("postgres://127.0.0.1:1/c?keepalives=canary", "keepalives is not valid"),
    ("postgres://a:1,b:2/c?port=1,2,3", "hosts, addresses and ports differ in number"),
    ("postgres:///c?hostaddr=canary", "hostaddr is not a numeric address"),
    ("postgres://127.0.0.1:1/c?service=canary", "the service is not defined"),
  ])
  func `a value that libpq refuses is named by its option, not repeated`(
    url: String, sentence: String
  ) {
    let error = refusal(url)
    #expect(error?.code == .badAddress && error?.message.hasSuffix(": \(sentence)") == true)
    #expect(error?.description.contains("canary") == false)
  }

  @Test(arguments: [
    "postgres://127.0.0.1:1,127.0.0.1:99999/c", "postgres://127.0.0.1:99999,127.0.0.1:1/c",
    "postgres:///c?host=/nowhere",
  ])
  func `a host that may come is waited for`(url: String) {
    let error = refusal(url)
    #expect(error?.code == .connectionLost && error?.description.contains("canary") == false)
  }
}

/// Answers every request for TLS with PostgreSQL's `N`.
private final class PlainServer {
  let port: UInt16
  private let listener: Int32

  init() throws {
    let (socket, port) = try LoopbackListener.open()
    (listener, self.port) = (socket, port)
    Thread.detachNewThread { @Sendable in
      LoopbackListener.serve(socket) { client in
        var request = [UInt8](repeating: 0, count: 8)
        if recv(client, &request, request.count, Int32(MSG_WAITALL)) == 8 {
          send(client, "N", 1, Int32(MSG_NOSIGNAL))
        }
      }
    }
  }

  func stop() { shutdown(listener, Int32(SHUT_RDWR)) }
}
