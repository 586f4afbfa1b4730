import Foundation
import Glibc
import HTTPServing
import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOPosix
import Operations
import Platform
import Testing

@testable import Gateway

/// What a connection does with requests, on an event loop that the test turns.
@Suite struct ExchangeTests {
  private let channel = EmbeddedChannel()
  private let asked = NIOLoopBoundBox<[String]>([], eventLoop: EmbeddedEventLoop())

  private func serve() throws {
    let exchange = HTTPExchange { [asked] head, _, reply in
      asked.value.append(head.uri)
      let answer = HTTPResponseHead(
        version: .http1_1, status: .ok, headers: ["Content-Length": "0"])
      for _ in 0..<2 { reply(HTTPAnswer(head: answer)) }
    }
    try channel.pipeline.syncOperations.addHandlers(
      HTTPResponseEncoder(), ByteToMessageHandler(HTTPRequestDecoder()),
      HTTPServerPipelineHandler(), exchange)
    try channel.connect(to: try SocketAddress(ipAddress: "192.0.2.1", port: 9)).wait()
  }

  private func send(_ text: String) throws {
    try channel.writeInbound(ByteBuffer(string: text))
    channel.embeddedEventLoop.run()
  }

  private func received() throws -> String {
    var text = ""
    while let bytes = try channel.readOutbound(as: ByteBuffer.self) {
      text += String(buffer: bytes)
    }
    return text
  }

  @Test func `thousands of requests in one packet are answered in their order`() throws {
    try serve()
    let paths = (0..<5_000).map { "/\($0)" }
    try send(paths.map { "GET \($0) HTTP/1.1\r\nHost: x\r\n\r\n" }.joined())
    #expect(asked.value == paths)
    #expect(try received().matches(of: #/HTTP/1.1 200 OK\r\n/#).count == 5_000)
    _ = try channel.finish(acceptAlreadyClosed: true)
  }

  @Test func `a client that does not take its answers is asked for nothing more`() throws {
    try serve()
    channel.isWritable = false
    try send("GET /1 HTTP/1.1\r\nHost: x\r\n\r\nGET /2 HTTP/1.1\r\nHost: x\r\n\r\n")
    #expect(asked.value == [])
    channel.isWritable = true
    channel.pipeline.fireChannelWritabilityChanged()
    channel.embeddedEventLoop.run()
    #expect(asked.value == ["/1", "/2"])
    _ = try channel.finish(acceptAlreadyClosed: true)
  }

  @Test(arguments: [
    "GET / HTTP/1.0\r\n\r\n", "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n",
  ])
  func `the last answer of a connection is called so, and what comes behind has none`(
    request: String
  ) throws {
    try serve()
    try send(request + "GET /2 HTTP/1.1\r\nHost: x\r\n\r\n")
    let text = try received()
    #expect(asked.value == ["/"])
    #expect(text.contains("\r\nConnection: close\r\n"), "\(text)")
    #expect(text.matches(of: #/HTTP/1[.]1 /#).count == 1, "\(text)")
    _ = try? channel.finish(acceptAlreadyClosed: true)
  }

  @Test func `what is no HTTP is refused behind the answers that were due, and is the last`() throws
  {
    try serve()
    try send("GET /1 HTTP/1.1\r\nHost: x\r\n\r\n\0\r\n\r\n")
    let text = try received()
    #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n"), "\(text)")
    let last = text.components(separatedBy: "HTTP/1.1 400 Bad Request\r\n")
    #expect(last.count == 2 && last[1].contains("Connection: close\r\n"), "\(text)")
    _ = try? channel.finish(acceptAlreadyClosed: true)
  }

  @Test func `a body that is no HTTP ends a connection whose answer is written, without another`()
    throws
  {
    try serve()
    try send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
    try send("no length\r\n")
    let text = try received()
    #expect(text.matches(of: #/HTTP/1[.]1 /#).count == 1 && !channel.isActive, "\(text)")
    _ = try? channel.finish(acceptAlreadyClosed: true)
  }

  @Test func `dates are those of HTTP`() {
    #expect(HTTPAnswer.date(at: 784_111_777) == "Sun, 06 Nov 1994 08:49:37 GMT")
  }

  @Test(arguments: [
    ("gzip", true), ("br, gzip;q=0.5", true), ("*", true), ("X-Gzip", true), ("", false),
    ("gzip;q=0", false), ("*, gzip; q=0", false), ("br", false), ("*;q=0.0", false),
    ("gzip;q=nan", false), ("gzipped", false),
  ])
  func `gzip is sent to those who take it`(header: String, isTaken: Bool) {
    #expect(Gzip.isTaken(header) == isTaken)
  }
}

/// The same over sockets, where answers take their time.
@Suite struct ExchangeSocketTests {
  private static func run(
    _ routes: [Route],
    body: @escaping @Sendable (_ port: Int, _ server: GatewayServer) async throws -> Void
  ) async throws {
    let table = RouteTable(routes, access: nil, counters: RequestCounters())
    let server = try await GatewayServer(
      at: .ipv4(host: "127.0.0.1", port: 0), on: MultiThreadedEventLoopGroup.singleton,
      connectionsMax: 10, serving: HTTPPipeline(table, hub: nil, counting: nil, log: quietLog))
    try await LiveServer.run(server) { try await body($0, server) }
  }

  /// Answers once it is released.
  private struct Held {
    let route: Route
    let begun: AsyncStream<Void>
    let release: AsyncStream<Void>.Continuation

    init() {
      let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
      let (released, release) = AsyncStream.makeStream(of: Void.self)
      (self.begun, self.release) = (begun, release)
      route = Route("/held", summary: "Waits.", answer: .string) { _ in
        beginning.yield()
        for await _ in released {}
        return Answer(json: Array("held".utf8))
      }
    }
  }

  @Test func `livez is answered within the call, and no other request is`() {
    let table = RouteTable([], access: nil, counters: RequestCounters())
    let cases = [("/livez", ["x"], true), ("/readyz", ["x"], false), ("/livez", [], false)]
    for (path, hosts, isAtOnce) in cases {
      let head = HTTPRequestHead(
        version: .http1_1, method: .GET, uri: path,
        headers: HTTPHeaders(hosts.map { ("Host", $0) }))
      let thread = pthread_self()
      let answered = Locked<String?>(nil)
      table.respond(
        to: Request(head) { ByteBuffer() },
        context: GatewayContext(of: EmbeddedChannel(), log: quietLog)
      ) { answer in
        if pthread_self() == thread { answered.withLock { $0 = String(buffer: answer.body) } }
      }
      let expected = isAtOnce ? #"{"status":"alive"}"# : nil
      #expect(answered.withLock { $0 } == expected, "\(path) \(hosts)")
    }
  }

  @Test func `an answer that takes long keeps its place, and livez waits for its turn`()
    async throws
  {
    let held = Held()
    try await Self.run([held.route]) { port, _ in
      let client = try StreamsClient(port: port)
      for path in ["/held", "/livez"] {
        client.write(Array("GET \(path) HTTP/1.1\r\nHost: x\r\n\r\n".utf8))
      }
      for await _ in held.begun { break }
      held.release.finish()
      let text = try client.text(through: "alive")
      let parts = text.components(separatedBy: "HTTP/1.1 200 OK\r\n")
      #expect(parts.count == 3 && parts[1].hasSuffix("held"), "\(text)")
    }
  }

  @Test func `a client that waits with its body is asked for it`() async throws {
    let echo = Route("/echo", method: .post, summary: "Bytes.", answer: .string, body: .string) {
      Answer(json: Array(String($0.body.count).utf8))
    }
    try await Self.run([echo]) { port, _ in
      let client = try StreamsClient(port: port)
      let head =
        "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n"
      client.write(Array(head.utf8))
      #expect(try client.head() == "HTTP/1.1 100 Continue\r\n\r\n")
      client.write(Array("\"ab\"".utf8))
      #expect(try client.head().hasPrefix("HTTP/1.1 200 OK\r\n"))
      _ = try client.text(through: "4")
    }
  }

  @Test func `a server that stops ends idle connections, and others behind their answer`()
    async throws
  {
    let held = Held()
    try await Self.run([held.route]) { port, server in
      let (idle, busy) = (try StreamsClient(port: port), try StreamsClient(port: port))
      let within = try StreamsClient(port: port)
      within.write(Array("GET /li".utf8))
      try idle.get("/livez")
      _ = try idle.text(through: "alive\"}")
      busy.write(Array("GET /held HTTP/1.1\r\nHost: x\r\n\r\n".utf8))
      for await _ in held.begun { break }
      server.stop()
      #expect(idle.rest().isEmpty && within.rest().isEmpty)
      held.release.finish()
      let text = String(decoding: busy.rest(), as: UTF8.self)
      #expect(text.lowercased().contains("connection: close") && text.hasSuffix("held"), "\(text)")
      try await server.ended.get()
    }
  }
}
