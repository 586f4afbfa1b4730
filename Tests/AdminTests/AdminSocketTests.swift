import Glibc
import Ingest
import Operations
import TestSupport
import Testing

@testable import Admin

/// What the endpoint does in the file system, and to whom it answers.
@Suite struct AdminSocketTests {
  private static func kind(of path: String) -> mode_t? {
    var status = stat()
    return lstat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
  }

  private static func make(_ kind: mode_t, at path: String) {
    switch kind {
    case S_IFREG: close(open(path, O_WRONLY | O_CREAT, 0o600))
    case S_IFDIR: mkdir(path, 0o700)
    case S_IFIFO: mkfifo(path, 0o600)
    default: symlink("/etc/hostname", path)
    }
  }

  @Test(arguments: [S_IFREG, S_IFDIR, S_IFIFO, S_IFLNK])
  func `what is no socket is neither listened at nor removed`(_ kind: mode_t) async throws {
    let path = try PrivateCluster.freshDirectory() + "-admin"
    Self.make(kind, at: path)
    let log = LineBox()
    let endpoint = AdminEndpoint(state: DaemonState(), mask: SecretMask())
    let server = AdminServer(
      at: .unix(path: path), answering: endpoint, log: log.logger(SecretMask()))
    let line = await log.wait(for: "cannot listen, will retry")
    #expect(line.contains("\(path) exists and is not a socket"))
    server.stop()
    #expect(Self.kind(of: path) == kind)
  }

  @Test(arguments: [S_IFREG, S_IFDIR, S_IFIFO, S_IFLNK])
  func `what took the socket's place is not removed at the end`(_ kind: mode_t) async throws {
    let path = try PrivateCluster.freshDirectory() + "-admin"
    let served = try await Served(at: .unix(path: path))
    unlink(path)
    Self.make(kind, at: path)
    served.server.stop()
    #expect(Self.kind(of: path) == kind)
  }

  @Test func `the socket is for the daemon's user and group, whatever the umask`() async throws {
    let path = try PrivateCluster.freshDirectory() + "-admin"
    let served = try await Served(at: .unix(path: path))
    var status = stat()
    #expect(lstat(path, &status) == 0)
    #expect(status.st_mode == S_IFSOCK | 0o660)
    served.server.stop()
  }

  private static let loopback = [
    "localhost", "LocalHost:9466", "localhost.:9466", "127.0.0.1", "127.0.0.1:1", "127.8.9.10:80",
    "[::1]", "[::1]:9466",
  ]
  private static let others = [
    "evil.example", "evil.example:9466", "localhost.evil.example", "127.0.0.1.evil.example",
    "10.0.0.1:9466", "0.0.0.0:9466", "[::2]:9466", "::1", "[::1", "localhost:port", "a b", "",
  ]

  @Test func `on loopback it answers to loopback's names only, so that no page reads it`()
    async throws
  {
    let served = try await Served()
    for host in Self.loopback {
      let response = try await served.send("GET /livez HTTP/1.1\r\nHost: \(host)\r\n\r\n")
      #expect(response.hasPrefix("HTTP/1.1 200 "), "\(host)")
    }
    for host in Self.others {
      for path in AdminEndpoint.paths {
        let response = try await served.send("GET \(path) HTTP/1.1\r\nhost:\(host)\r\n\r\n")
        #expect(response.hasPrefix("HTTP/1.1 421 Misdirected Request\r\n"), "\(host)")
        #expect(
          response.hasSuffix(
            "\r\n\r\nthe Host header must be localhost or a loopback address such as 127.0.0.1\n"),
          "\(host)")
      }
    }
    let two = "GET /livez HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n"
    #expect(try await served.send(two).hasPrefix("HTTP/1.1 421 "))
    // No browser leaves it out; monitors that speak HTTP/1.0 do.
    #expect(try await served.send("GET /livez HTTP/1.0\r\n\r\n").hasPrefix("HTTP/1.1 200 "))
  }

  @Test func `a socket in the file system takes any name: no page reaches it`() async throws {
    let path = try PrivateCluster.freshDirectory() + "-admin"
    let served = try await Served(at: .unix(path: path))
    let response = try await served.send("GET /livez HTTP/1.1\r\nHost: any.example\r\n\r\n")
    #expect(response.hasPrefix("HTTP/1.1 200 "))
  }

  @Test func `an address that other machines reach takes any name: they call it by theirs`()
    async throws
  {
    let served = try await Served(at: ListenAddress("0.0.0.0:0"))
    let response = try await served.send("GET /livez HTTP/1.1\r\nHost: candled:9466\r\n\r\n")
    #expect(response.hasPrefix("HTTP/1.1 200 "))
  }
}
