import Foundation
import HTTPTypes
import Hummingbird
import Market
import NIOCore
import Operations
import Platform
import TestSupport
import TestTraits
import Testing

@testable import Gateway

@Suite(.ownThread) struct GatewayTests {
  @Test("a gateway whose task is cancelled ends its service and returns", .timeLimit(.minutes(1)))
  func ends() async throws {
    let database = try StoreDatabase()
    _ = try await ServedFixture.twoHours(try await GatewayFixture.openWriter(database))
    let options = GatewayOptions(
      listen: .ipv4(host: "127.0.0.1", port: 0), databaseURL: database.url)
    let gateway = Gateway(options, log: quietLog)
    let (channels, running) = AsyncStream.makeStream(of: Int.self)
    let service = Task {
      try await gateway.run { running.yield($0.localAddress?.port ?? 0) }
    }
    var ports = channels.makeAsyncIterator()
    let port = try #require(await ports.next())
    #expect(port > 0)
    while !gateway.memory.state.isLoaded { try await Task.sleep(for: .milliseconds(5)) }
    #expect(gateway.memory.state.seq == 120)
    service.cancel()
    try await service.value
  }

  /// Counts what passes, and refuses one path.
  private struct Gate: MiddlewareProtocol {
    let statuses: Locked<[Int]>

    func handle(
      _ request: Request, context: GatewayContext,
      next: (Request, GatewayContext) async throws -> Response
    ) async throws -> Response {
      if context.route?.scope == .admin {
        throw Problem(.forbidden, code: "forbidden", title: "Not allowed.")
      }
      let response = try await next(request, context)
      statuses.withLock { $0.append(response.status.code) }
      return response
    }
  }

  @Test(
    "middlewares see each answer, problems as well, and know the route", arguments: [false, true])
  func middlewares(overSocket: Bool) async throws {
    let statuses = Locked<[Int]>([])
    var parts = Gateway.Parts()
    parts.middlewares = [Gate(statuses: statuses)]
    parts.routes = [
      Route("/v1/secret", summary: "Not for all.", scope: .admin, answer: .string) { _ in
        Answer(json: [])
      }
    ]
    let fixture = try await ServedFixture(parts: parts)
    let paths = ["/v1/market", "/nothing", "/v1/stocks?limit=0", "/v1/secret"]
    var found: [Int] = []
    for path in paths { found.append(try await fixture.get(path, overSocket: overSocket).status) }
    #expect(found == [200, 404, 400, 403])
    #expect(statuses.withLock { $0 } == [200, 404, 400])
  }

  @Test("a body beyond its bound is refused", arguments: [false, true])
  func body(overSocket: Bool) async throws {
    var parts = Gateway.Parts()
    parts.routes = [
      Route(
        "/v1/echo", method: .post, summary: "Counts bytes.", answer: .integer, body: .string
      ) { arguments in
        Answer(json: Array(String(arguments.body.count).utf8))
      }
    ]
    let fixture = try await ServedFixture(parts: parts)
    for (bytes, status) in [(0, 200), (RouteTable.bodyBytesMax, 200), (70_000, 413)] {
      let reply = try await fixture.get(
        "/v1/echo", method: .post, body: ByteBuffer(repeating: 1, count: bytes),
        overSocket: overSocket)
      #expect(reply.status == status)
      if status == 200 { #expect(reply.body == "\(bytes)") }
    }
  }
}
