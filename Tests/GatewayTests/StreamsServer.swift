import NIOCore
import NIOPosix
import Operations

@testable import Gateway

/// A real server on a free port of loopback, with two event loops.
enum StreamsServer {
  static func run(
    _ source: StreamsMarket, isAnonymousAllowed: Bool = true,
    doors: [StreamDoor] = [], access: StreamsAccess = StreamsAccess(),
    body: @escaping @Sendable (_ port: Int, _ hub: StreamHub) async throws -> Void
  ) async throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
    let services = StreamServices(
      source: source, access: access, isAnonymousAllowed: isAnonymousAllowed, connectionsMax: 2,
      originRule: OriginRule(origins: ["https://good.example"]), doors: doors)
    let hub = StreamHub(group: group, services: services)
    let plain = Route("/plain", summary: "Plain.", answer: .string) { _ in
      Answer(json: Array("plain".utf8))
    }
    let table = RouteTable([plain], access: nil, counters: RequestCounters())
    let server = try await GatewayServer(
      at: .ipv4(host: "127.0.0.1", port: 0), on: group, connectionsMax: 1_000,
      serving: HTTPPipeline(table, hub: hub, counting: nil, log: quietLog))
    try await LiveServer.run(server) { port in try await body(port, hub) }
    try await group.shutdownGracefully()
  }

  /// Ends every stream, as a server that stops does.
  static func goAway(_ hub: StreamHub) {
    for box in hub.loops.values {
      box.eventLoop.execute { box.value?.forEachFollower { $0.close(.goingAway, now: $1) } }
    }
  }

  /// Until every loop has passed on what the hub received.
  static func everyLoop(of hub: StreamHub) async throws {
    for box in hub.loops.values { try await box.eventLoop.submit {}.get() }
  }
}
