import ExchangeSimulator
import Hostile
import Market
import Polling
import TestSupport
import Testing
import Transport

/// Hostile responses over a socket: what the feeds' tests judge as bytes arrives as those bytes.
@Suite struct HostileWireTests {
  /// How a server tells where a body ends.
  enum Framing: CaseIterable {
    case length, chunked, close

    func bytes(of response: HostileResponse) -> [UInt8] {
      var lines = ["HTTP/1.1 \(response.status) Whatever", "Connection: close"] + response.headers
      var body = response.body
      // A 204 has no body, whatever its head says.
      if response.status != 204 {
        switch self {
        case .length: lines.append("Content-Length: \(body.count)")
        case .chunked:
          lines.append("Transfer-Encoding: chunked")
          body = Framing.chunks(of: body)
        case .close: break
        }
      }
      return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body
    }

    private static func chunks(of body: [UInt8]) -> [UInt8] {
      var bytes: [UInt8] = []
      for start in stride(from: 0, to: body.count, by: 100) {
        let part = body[start..<min(start + 100, body.count)]
        bytes += Array("\(String(part.count, radix: 16))\r\n".utf8) + part + [13, 10]
      }
      return bytes + Array("0\r\n\r\n".utf8)
    }
  }

  @Test(arguments: Framing.allCases)
  func `every response arrives byte for byte and has its class`(_ framing: Framing) async throws {
    let responses = try HostileResponse.all()
    let server = try LoopbackServer { connection in
      guard let head = connection.readHead(), let place = HostileWireTests.place(in: head) else {
        return
      }
      connection.send(framing.bytes(of: responses[place]))
    }
    let client = try HTTPClient()
    for (place, response) in responses.enumerated() {
      let received = try await client.send(HTTPRequest(server.base, "/\(place)"))
      #expect(received.status == response.status, "\(response.description)")
      #expect(received.body == response.body, "\(response.description)")
      let verdict = try #require(Probe(response.requestText)).classify(
        received.body, status: received.status)
      #expect(verdict.word == response.word, "\(response.description)")
      let wish = response.headers.first { $0.hasPrefix("Retry-After: ") }?.dropFirst(13)
      #expect(received.headers["retry-after"] == wish.map(String.init), "\(response.description)")
    }
  }

  private static func place(in head: String) -> Int? {
    head.split(separator: " ").dropFirst().first.flatMap { Int($0.dropFirst()) }
  }

  @Test func `a host that holds its requests holds up nobody else's`() async throws {
    let (arrived, arrival) = AsyncStream<Void>.makeStream()
    let silentServer = try LoopbackServer { connection in
      _ = connection.readHead()
      arrival.yield()
      connection.waitForClose()
    }
    let good = try LoopbackServer(each: { connection, _ in connection.respond(body: [1]) })
    var configuration = HTTPClientConfiguration()
    configuration.transfersMax = 3
    // Held requests are to be held for as long as a slow machine needs.
    configuration.lowSpeedSeconds = 600
    let client = try HTTPClient(configuration)
    var stuck = try HTTPRequest(silentServer.base)
    stuck.deadlineMilliseconds = 600_000
    let held = stuck
    let tasks = (0..<9).map { _ in Task { await failure(client, held) } }
    var waiting = arrived.makeAsyncIterator()
    for _ in 0..<3 { _ = await waiting.next() }
    for _ in 0..<20 { #expect(try await client.send(HTTPRequest(good.base)).body == [1]) }
    for task in tasks { task.cancel() }
    for task in tasks { #expect(await task.value == .cancelled) }
  }

  @Test(arguments: [
    ("Retry-After: 7\r\nRetry-After: 9\r\n", "9"), ("retry-after:\t5 \r\n", "5"),
    ("RETRY-AFTER: Sun, 06 Nov 1994 08:49:37 GMT\r\n", "Sun, 06 Nov 1994 08:49:37 GMT"),
    ("Retry-After:\r\n", ""),
  ])
  func `a wish is read as it was sent, the last one of several`(
    _ header: String, _ wish: String
  ) async throws {
    let server = try LoopbackServer(each: { connection, _ in
      connection.respond("429 Too Many Requests", headers: header, body: [])
    })
    let response = try await HTTPClient().send(HTTPRequest(server.base))
    #expect(response.headers["retry-after"] == wish)
  }

  @Test(arguments: [1, 2, 5])
  func `a bomb packed several times over is cut off at the cap`(_ layers: Int) async throws {
    let packing = Array(repeating: "gzip -9c", count: layers).joined(separator: " | ")
    let bomb = try #require(Shell.output(of: "head -c 33554432 /dev/zero | \(packing)"))
    let names = Array(repeating: "gzip", count: layers).joined(separator: ", ")
    let server = try LoopbackServer(each: { connection, _ in
      connection.respond(headers: "Content-Encoding: \(names)\r\n", body: bomb)
    })
    var request = try HTTPRequest(server.base)
    request.bodyBytesMax = 1 << 20
    #expect(await failure(try HTTPClient(), request) == .bodyTooLarge)
  }
}
