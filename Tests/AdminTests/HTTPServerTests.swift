import Dispatch
import HTTPServing
import Operations
import Platform
import Testing

/// What the server does with handlers of every kind.
@Suite struct HTTPServerTests {
  private static let unavailable = ServerResponse.text("nobody", status: 503)

  /// A server on a free port of loopback, and the port.
  private static func serving(
    limits: HTTPServer.Limits = HTTPServer.Limits(),
    _ handler: @escaping @Sendable (ServerRequest) -> HTTPServer.Reply
  ) async throws -> (server: HTTPServer, address: ListenAddress) {
    let (events, inbox) = AsyncStream.makeStream(of: HTTPServer.Event.self)
    let server = HTTPServer(
      at: .ipv4(host: "127.0.0.1", port: 0), limits: limits, events: { inbox.yield($0) },
      handler: handler)
    for await case .listening(let address) in events { return (server, address) }
    throw CancellationError()
  }

  private static func ask(_ address: ListenAddress, _ text: String) throws -> String? {
    let client = try RawClient(address, secondsMax: 60)
    client.send(text)
    return client.readAll()
  }

  @Test func `a handler gets method, path and every host`() async throws {
    let requests = Locked<[ServerRequest]>([])
    let (server, address) = try await Self.serving { request in
      requests.withLock { $0.append(request) }
      return .now(.text("ok", status: 200))
    }
    defer { server.stop() }
    let response = try Self.ask(
      address, "POST /a/b?c=d?e HTTP/1.1\r\nHost: one\r\nhost: two \r\n\r\nbody")
    #expect(response?.hasPrefix("HTTP/1.1 200 OK\r\n") == true)
    #expect(response?.hasSuffix("\r\nConnection: close\r\n\r\nok\n") == true)
    #expect(
      requests.withLock { $0 } == [
        ServerRequest(method: "POST", path: "/a/b", hosts: ["one", "two"])
      ])
  }

  @Test func `a client that is done with sending gets its response`() async throws {
    let (server, address) = try await Self.serving { _ in
      .later(unavailable: Self.unavailable) { .text("late", status: 200) }
    }
    defer { server.stop() }
    let client = try RawClient(address, secondsMax: 60)
    client.send("GET / HTTP/1.1\r\n\r\n")
    client.finishSending()
    let response = await withCheckedContinuation { continuation in
      DispatchQueue.global().async { continuation.resume(returning: client.readAll()) }
    }
    #expect(response?.hasSuffix("\r\n\r\nlate\n") == true)
  }

  @Test func `tasks that hang are bounded, and what responds at once still does`() async throws {
    var limits = HTTPServer.Limits()
    limits.laterMax = 1
    limits.laterSecondsMax = 1
    let (hang, release) = AsyncStream.makeStream(of: Void.self)
    let (server, address) = try await Self.serving(limits: limits) { request in
      guard request.path == "/hang" else { return .now(.text("ok", status: 200)) }
      return .later(unavailable: Self.unavailable) {
        for await _ in hang {}
        return .text("too late", status: 200)
      }
    }
    defer { server.stop() }
    let hung = try RawClient(address, secondsMax: 60)
    hung.send("GET /hang HTTP/1.1\r\n\r\n")
    #expect(try Self.ask(address, "GET /livez HTTP/1.1\r\n\r\n")?.hasSuffix("ok\n") == true)
    #expect(try Self.ask(address, "GET /hang HTTP/1.1\r\n\r\n")?.hasSuffix("nobody\n") == true)
    #expect(hung.readAll()?.hasSuffix("nobody\n") == true)
    release.finish()
    // The place is free again once the task has ended.
    while try Self.ask(address, "GET /hang HTTP/1.1\r\n\r\n")?.hasSuffix("too late\n") != true {
      await Task.yield()
    }
  }

  @Test func `a server that stops drops what is still being made`() async throws {
    let (hang, release) = AsyncStream.makeStream(of: Void.self)
    let (began, starts) = AsyncStream.makeStream(of: Void.self)
    let (server, address) = try await Self.serving { _ in
      .later(unavailable: Self.unavailable) {
        starts.yield()
        for await _ in hang {}
        return .text("too late", status: 200)
      }
    }
    let client = try RawClient(address, secondsMax: 60)
    client.send("GET / HTTP/1.1\r\n\r\n")
    for await _ in began { break }
    server.stop()
    #expect(client.readAll() == "")
    release.finish()
  }
}
