import HTTPServing
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import Gateway

@Suite struct StreamsPipelineTests {
  @Test(
    "HTTP's handlers leave a connection that becomes a stream, whatever stands behind its request",
    arguments: ["", "GET /plain HTTP/1.1\r\nHost: test\r\n\r\n", "\0garbage\r\n\r\n"])
  func handlersLeave(behind: String) throws {
    let channel = EmbeddedChannel()
    let hub = StreamHub(
      group: channel.embeddedEventLoop,
      services: StreamServices(
        source: StreamsMarket(count: 1), access: StreamsAccess(), isAnonymousAllowed: true,
        connectionsMax: 2, originRule: OriginRule(origins: [])))
    let pipeline = channel.pipeline.syncOperations
    let table = RouteTable([], access: nil, counters: RequestCounters())
    let connections = ConnectionTable(ConnectionLimits(connectionsMax: 10))
    try HTTPPipeline(table, hub: hub, counting: connections, log: quietLog).install(on: channel)
    try channel.connect(to: SocketAddress(ipAddress: "192.0.2.1", port: 9)).wait()
    let request = "GET /v1/stream?symbols=s0 HTTP/1.1\r\nHost: test\r\n\r\n"
    try channel.writeInbound(ByteBuffer(string: request + behind))
    channel.embeddedEventLoop.run()
    #expect(throws: Never.self) { try pipeline.handler(type: FollowerConnection.self) }
    #expect(!has(StreamUpgradeHandler.self, pipeline) && !has(HTTPExchange.self, pipeline))
    #expect(!has(ByteToMessageHandler<HTTPRequestDecoder>.self, pipeline))
    #expect(!has(HTTPServerPipelineHandler.self, pipeline))
    #expect(!has(HTTPResponseEncoder.self, pipeline) && !has(HeadClock.self, pipeline))
    #expect(!has(ExchangeTimeout.self, pipeline))
    _ = try channel.finish(acceptAlreadyClosed: true)
  }

  private func has<Handler: ChannelHandler>(
    _: Handler.Type, _ pipeline: ChannelPipeline.SynchronousOperations
  ) -> Bool {
    (try? pipeline.handler(type: Handler.self)) != nil
  }
}
