/// Asks a server of this machine: one GET, a few seconds at most, a response of bounded size, for
/// what listens there may be anything.

import NIOCore
import NIOHTTP1
import NIOPosix
import Operations

package enum HTTPFetch {
  package struct Failure: Error, Sendable, CustomStringConvertible {
    package var description: String
  }

  private static let secondsMax: Int64 = 3
  static let bytesMax = 1 << 20

  /// The status and the body; blocks.
  package static func get(
    _ path: String, from address: ListenAddress
  ) throws(Failure) -> (status: Int, body: String) {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    defer { try? group.syncShutdownGracefully() }
    do {
      return try response(to: path, from: address, on: group.next()).wait()
    } catch let failure as Failure {
      throw failure
    } catch let failure as ListeningSocket.Failure {
      throw Failure(description: failure.sentence)
    } catch {
      throw Failure(description: ListeningSocket.sentence("connect", error: error))
    }
  }

  private static func response(
    to path: String, from address: ListenAddress, on loop: any EventLoop
  ) throws -> EventLoopFuture<(status: Int, body: String)> {
    let target = try ListeningSocket.socketAddress(address)
    let promise = loop.makePromise(of: (status: Int, body: String).self)
    let connected = ClientBootstrap(group: loop)
      .connectTimeout(.seconds(secondsMax))
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHTTPClientHandlers()
          try channel.pipeline.syncOperations.addHandler(Collector(promise))
        }
      }
      .connect(to: target)
    connected.whenFailure { promise.fail($0) }
    connected.whenSuccess { channel in
      let headers: HTTPHeaders = ["Host": "localhost", "Connection": "close"]
      let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: path, headers: headers)
      channel.write(HTTPClientRequestPart.head(head), promise: nil)
      channel.writeAndFlush(HTTPClientRequestPart.end(nil), promise: nil)
      channel.eventLoop.scheduleTask(in: .seconds(secondsMax)) {
        promise.fail(Failure(description: "no response within \(secondsMax) s"))
      }
    }
    return promise.futureResult
  }
}

/// Puts a response together.
private final class Collector: ChannelInboundHandler {
  typealias InboundIn = HTTPClientResponsePart

  private let promise: EventLoopPromise<(status: Int, body: String)>
  private var status = 0
  private var body = ByteBuffer()

  init(_ promise: EventLoopPromise<(status: Int, body: String)>) { self.promise = promise }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head): status = Int(head.status.code)
    case .body(var bytes):
      body.writeBuffer(&bytes)
      if body.readableBytes > HTTPFetch.bytesMax { fail("the response does not end") }
    case .end: promise.succeed((status, String(buffer: body)))
    }
  }

  func channelInactive(context: ChannelHandlerContext) { fail("the connection was closed") }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    fail("the response is not HTTP")
  }

  private func fail(_ sentence: String) {
    promise.fail(HTTPFetch.Failure(description: sentence))
  }
}
