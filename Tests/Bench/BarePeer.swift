/// An HTTP server of NIO's own parts that knows one answer and has its bytes ready.

import NIOCore
import NIOHTTP1
import NIOPosix
import Platform

enum BarePeer {
  static func run() throws {
    guard let length = Int(readLine() ?? "") else { return }
    var answer: [UInt8] = []
    while answer.count < length, let line = readLine(strippingNewline: false) {
      answer += Array(line.utf8)
    }
    let bytes = ByteBuffer(bytes: answer.prefix(length))
    let server = try ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.backlog, value: 256)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandlers(
            [ByteToMessageHandler(HTTPRequestDecoder()), ReadyAnswer(bytes)])
        }
      }
      .bind(host: "127.0.0.1", port: 0).wait()
    PeerServer.answer(Int64(server.localAddress?.port ?? 0))
    while readLine() != nil {}
  }
}

private final class ReadyAnswer: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = ByteBuffer

  private let bytes: ByteBuffer

  init(_ bytes: ByteBuffer) { self.bytes = bytes }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard case .end = Self.unwrapInboundIn(data) else { return }
    context.writeAndFlush(Self.wrapOutboundOut(bytes), promise: nil)
  }
}
