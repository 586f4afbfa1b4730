import Foundation
import HTTPTypes
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
