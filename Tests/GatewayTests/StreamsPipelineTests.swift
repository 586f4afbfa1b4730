import HummingbirdCore
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOHTTPCompression
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
      services: StreamServices(source: StreamsMarket(count: 1), access: StreamsAccess()),
      settings: StreamSettings(
        isAnonymousAllowed: true, connectionsMax: 2, originRule: OriginRule(origins: [])))
    let pipeline = channel.pipeline.syncOperations
    try pipeline.configureHTTPServerPipeline(
      withPipeliningAssistance: false, withErrorHandling: false)
    try pipeline.addHandlers(HTTPPipeline.configuration().additionalChannelHandlers())
    let writer = Writer()
    try pipeline.addHandler(writer)
    try hub.install(on: pipeline)
    try channel.connect(to: SocketAddress(ipAddress: "192.0.2.1", port: 9)).wait()
    let request = "GET /v1/stream?symbols=s0 HTTP/1.1\r\nHost: test\r\n\r\n"
    try channel.writeInbound(ByteBuffer(string: request + behind))
    channel.embeddedEventLoop.run()
    #expect(throws: Never.self) { try pipeline.handler(type: FollowerConnection.self) }
    #expect(!has(StreamUpgradeHandler.self, pipeline) && !has(PlainHeads.self, pipeline))
    #expect(!has(ByteToMessageHandler<HTTPRequestDecoder>.self, pipeline))
    #expect(!has(HTTPResponseCompressor.self, pipeline) && !has(HTTPResponseEncoder.self, pipeline))
    #expect(!has(ExchangeTimeout.self, pipeline) && !has(ConnectionUse.self, pipeline))
    #expect(!has(UndecodableRequestBypass.self, pipeline) && !has(LivenessHandler.self, pipeline))
    #expect(writer.isFinished && !writer.hasRead)
    _ = try channel.finish(acceptAlreadyClosed: true)
  }

  private func has<Handler: ChannelHandler>(
    _: Handler.Type, _ pipeline: ChannelPipeline.SynchronousOperations
  ) -> Bool {
    (try? pipeline.handler(type: Handler.self)) != nil
  }
}

/// Stands where Hummingbird reads and writes.
private final class Writer: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart

  private(set) var isFinished = false
  private(set) var hasRead = false

  func channelRead(context: ChannelHandlerContext, data: NIOAny) { hasRead = true }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case ChannelEvent.outputClosed = event { isFinished = true }
  }
}
