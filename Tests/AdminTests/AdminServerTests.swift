import Dispatch
import Glibc
import HTTPServing
import Ingest
import Logging
import Operations
import Platform
import TestSupport
import Testing

@testable import Admin

/// A server on a free port, with what it logs. Its reports are made by Swift's own few threads, so
/// whoever waits for an answer must not sit on one of those.
final class Served: Sendable {
  let state = DaemonState()
  let log = LineBox()
  let server: AdminServer
  let address: ListenAddress

  init(at wanted: ListenAddress? = nil, secret: String? = nil) async throws {
    let mask = SecretMask()
    if let secret { mask.register(Secret(secret)) }
    let endpoint = AdminEndpoint(state: state, mask: mask)
    let wanted = try #require(wanted ?? ListenAddress("127.0.0.1:0"))
    server = AdminServer(at: wanted, answering: endpoint, log: log.logger(mask))
    let line = await log.wait(for: "endpoint listening")
    let logged = line.firstMatch(of: #/address="?([^" \n]+)/#).map { String($0.1) }
    address = try #require(logged.flatMap { ListenAddress($0) })
  }

  deinit { server.stop() }

  private static let triesMax = 600
  private static let pauseMicroseconds: UInt32 = 100_000

  func get(_ path: String) async throws -> (status: Int, body: String) {
    // The suite around it may hold all of Swift's threads for longer than an answer may take.
    for _ in 0..<Self.triesMax {
      if let response = try? await AdminClient.get(path, from: address),
        response.body != "the daemon does not respond\n"
      {
        return response
      }
      try await Task.sleep(for: .microseconds(Self.pauseMicroseconds))
    }
    return try await AdminClient.get(path, from: address)
  }

  /// Sends bytes and reads to the end.
  func send(_ text: String) async throws -> String {
    let address = address
    return try await offPool {
      var response = ""
      for _ in 0..<Self.triesMax {
        let client = try RawClient(address, secondsMax: 60)
        client.send(text)
        response = try #require(client.readAll())
        // HEAD has no body to tell by: only a late response is 28 bytes long.
        let isLate = response.contains("Content-Length: 28\r\n")
        if !isLate { break }
        usleep(Self.pauseMicroseconds)
      }
      return response
    }
  }
}

private func offPool<Response: Sendable>(
  _ body: @escaping @Sendable () throws -> Response
) async throws -> Response {
  try await withCheckedThrowingContinuation { continuation in
    DispatchQueue.global().async { continuation.resume(with: Result { try body() }) }
  }
}

/// Lines of a log, for whoever waits for one.
final class LineBox: Sendable {
  private let lines = Locked<[String]>([])

  func add(_ line: String) { lines.withLock { $0.append(line) } }

  var all: [String] { lines.withLock { $0 } }

  @discardableResult
  func wait(for words: String) async -> String {
    while true {
      if let line = all.first(where: { $0.contains(words) }) { return line }
      await Task.yield()
    }
  }

  func logger(_ mask: SecretMask) -> Logger {
    Logger(label: "admin") { label in
      LineLogHandler(
        label: label, control: LogControl(level: .info, format: .text), mask: mask,
        isJournal: false,
        write: { self.add(String(decoding: $0, as: UTF8.self)) })
    }
  }
}

@Suite struct AdminServerTests {
  @Test func `livez is the heartbeats and nothing else`() async throws {
    let served = try await Served()
    #expect(try await served.get("/livez") == (200, "ok\n"))
    let loop = served.state.heartbeats.begin("engine", ageSecondsMax: -1)
    #expect(try await served.get("/livez") == (503, "no progress: engine\n"))
    served.state.heartbeats.end(loop)
    #expect(try await served.get("/livez").status == 200)
  }

  @Test func `a daemon that starts is alive, not ready, and has metrics`() async throws {
    let served = try await Served()
    #expect(try await served.get("/readyz") == (503, "starting\nnot ready: starting\n"))
    served.state.role = .standby(leader: "host-a")
    #expect(try await served.get("/readyz").body.hasPrefix("standby behind host-a\n"))
    let page = try PrometheusPage(await served.get("/metrics").body)
    #expect(page["candled_role", ["role": "standby"]] == 1)
    #expect((page["process_resident_memory_bytes"] ?? 0) > 1_048_576)
    let status = try Sample.members(of: await served.get("/status?pretty").body)
    #expect(status["role"] as? String == "standby" && status["leader"] as? String == "host-a")
    let text = try await served.get("/status.txt")
    #expect(text.status == 200 && text.body.hasPrefix("candled "))
    #expect(text.body.contains("\nrole     standby behind host-a\n"))
  }

  @Test func `content types are those scrapers expect`() async throws {
    let served = try await Served()
    let metrics = try await served.send("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
    #expect(metrics.contains("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"))
    let status = try await served.send("GET /status HTTP/1.1\r\nHost: localhost\r\n\r\n")
    #expect(status.contains("Content-Type: application/json\r\n"))
  }

  @Test func `a malformed request gets an error`() async throws {
    let served = try await Served()
    #expect(try await served.get("/").status == 404)
    #expect(try await served.get("/metrics/").status == 404)
    let post = try await served.send("POST /metrics HTTP/1.1\r\nContent-Length: 2\r\n\r\nhi")
    #expect(post.hasPrefix("HTTP/1.1 405 ") && post.contains("Allow: GET, HEAD\r\n"))
    #expect(try await served.send("hello\r\n\r\n").hasPrefix("HTTP/1.1 400 "))
    #expect(try await served.send("GET livez HTTP/1.1\r\n\r\n").hasPrefix("HTTP/1.1 400 "))
    #expect(try await served.send("GET /livez HTTP/x\r\n\r\n").hasPrefix("HTTP/1.1 400 "))
    let elsewhere = "GET http://evil.example/livez HTTP/1.1\r\nHost: localhost\r\n\r\n"
    #expect(try await served.send(elsewhere).hasPrefix("HTTP/1.1 400 "))
    #expect(try await served.send("GET / HTTP/1.1\r\nno header\r\n\r\n").hasPrefix("HTTP/1.1 400 "))
  }

  @Test func `HEAD gives the length and sends no body`() async throws {
    let served = try await Served()
    for path in AdminEndpoint.paths {
      let response = try await served.send("HEAD \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n")
      #expect(response.hasPrefix("HTTP/1.1 ") && response.hasSuffix("\r\n\r\n"), "\(path)")
      #expect(!response.contains("Content-Length: 0\r\n"))
    }
  }

  @Test func `a request that does not end is cut off at its bound`() async throws {
    let served = try await Served()
    let long = String(repeating: "x", count: HTTPServer.Limits().headBytesMax + 4_096)
    #expect(try await served.send("GET /\(long)").hasPrefix("HTTP/1.1 431 "))
    #expect(try await served.get("/livez").status == 200)
  }

  @Test func `clients that say nothing take no place from one that asks`() async throws {
    let served = try await Served()
    let idle = try (0..<HTTPServer.Limits().connectionsMax + 20).map { _ in
      try RawClient(served.address, secondsMax: 20)
    }
    #expect(try await served.get("/livez").status == 200)
    // The oldest made room, long before it would have been let go for dawdling.
    var byte: UInt8 = 0
    #expect(recv(idle[0].socket, &byte, 1, Int32(MSG_DONTWAIT)) == 0)
    for client in idle { client.hangUp() }
    #expect(try await served.get("/livez").status == 200)
  }

  @Test func `a client that dawdles is let go`() async throws {
    let served = try await Served()
    let client = try RawClient(served.address, secondsMax: 60)
    client.send("GET /li")
    // The server hangs up.
    #expect(try await offPool { client.readAll() } == "")
  }

  @Test func `a port in use is logged once and bound when it is free`() async throws {
    let first = try await Served()
    let log = LineBox()
    let endpoint = AdminEndpoint(state: DaemonState(), mask: SecretMask())
    let second = AdminServer(
      at: first.address, answering: endpoint, log: log.logger(SecretMask()))
    await log.wait(for: "cannot listen, will retry")
    first.server.stop()
    await log.wait(for: "listening")
    #expect(try await first.get("/livez").status == 200)
    second.stop()
    #expect(log.all.count { $0.contains("cannot listen") } == 1)
  }

  @Test func `a socket in the file system serves, and one left by a dead daemon is replaced`()
    async throws
  {
    let path = try PrivateCluster.freshDirectory() + "/admin"
    var dead = sockaddr_un()
    dead.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &dead.sun_path) { $0.copyBytes(from: path.utf8) }
    let left = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    let isBound = withUnsafePointer(to: &dead) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(left, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    close(left)
    #expect(isBound == 0 && access(path, F_OK) == 0)
    let served = try await Served(at: .unix(path: path))
    #expect(try await served.get("/livez").status == 200)
    served.server.stop()
    #expect(access(path, F_OK) != 0)
  }

  @Test func `a secret is in no body`() async throws {
    let served = try await Served(secret: "CANARY-secret")
    served.state.role = .standby(leader: "CANARY-secret")
    served.state.reloaded(at: Sample.now, problem: "key CANARY-secret is wrong")
    for path in AdminEndpoint.paths {
      #expect(try await !served.get(path).body.contains("CANARY"), "\(path)")
    }
    #expect(try await served.get("/status").body.contains("***"))
  }
}
