/// Asks a server of this machine: one request, a few seconds at most, a response of bounded size,
/// for what listens there may be anything.

import NIOCore
import NIOHTTP1
import NIOPosix
import Operations

package enum HTTPFetch {
  package struct Failure: Error, Sendable, CustomStringConvertible {
    package var description: String
  }

  private static let secondsMax: Int64 = 3
  /// A gateway waits up to five for what it was asked to do.
  private static let postSecondsMax: Int64 = 8
  static let bytesMax = 1 << 20

  /// The status and the body; blocks.
  package static func get(
    _ path: String, from address: ListenAddress
  ) throws(Failure) -> (status: Int, body: String) {
    try send(Request(path: path), to: address)
  }

  /// Sends JSON with a token; blocks.
  package static func post(
    _ json: String, to path: String, of address: ListenAddress, token: String
  ) throws(Failure) -> (status: Int, body: String) {
    try send(
      Request(
        path: path, method: .POST,
        headers: [
          "Authorization": "Bearer \(token)", "Content-Type": "application/json",
          "Content-Length": String(json.utf8.count),
        ],
        body: json, secondsMax: postSecondsMax),
      to: address)
  }

  private struct Request: Sendable {
    var path: String
    var method = HTTPMethod.GET
    var headers: HTTPHeaders = [:]
    var body = ""
    var secondsMax = HTTPFetch.secondsMax
  }

  private static func send(
    _ request: Request, to address: ListenAddress
  ) throws(Failure) -> (status: Int, body: String) {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    defer { try? group.syncShutdownGracefully() }
    do {
      return try response(to: request, from: address, on: group.next()).wait()
    } catch let failure as Failure {
      throw failure
    } catch let failure as ListeningSocket.Failure {
      throw Failure(description: failure.sentence)
    } catch {
      throw Failure(description: ListeningSocket.sentence("connect", error: error))
    }
  }

  private static func response(
    to request: Request, from address: ListenAddress, on loop: any EventLoop
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
      var headers: HTTPHeaders = ["Host": "localhost", "Connection": "close"]
      headers.add(contentsOf: request.headers)
      let head = HTTPRequestHead(
        version: .http1_1, method: request.method, uri: request.path, headers: headers)
      channel.write(HTTPClientRequestPart.head(head), promise: nil)
      let body = channel.allocator.buffer(string: request.body)
      channel.write(HTTPClientRequestPart.body(.byteBuffer(body)), promise: nil)
      channel.writeAndFlush(HTTPClientRequestPart.end(nil), promise: nil)
      channel.eventLoop.scheduleTask(in: .seconds(request.secondsMax)) {
        promise.fail(Failure(description: "no response within \(request.secondsMax) s"))
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
