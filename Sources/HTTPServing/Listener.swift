/// The listening socket and the connections it has accepted. Belongs to the server's thread alone.

import NIOCore
import NIOHTTP1
import NIOPosix
import Operations

final class Listener {
  let loop: any EventLoop
  let limits: HTTPServer.Limits
  let gate: Gate
  let handler: @Sendable (ServerRequest) -> HTTPServer.Reply
  /// Tasks that make a response and have not ended.
  var tasksUnderWay = 0
  private let address: ListenAddress
  private let events: @Sendable (HTTPServer.Event) -> Void
  /// In the order of their arrival.
  private var connections: [any Channel] = []
  private var isRefusalReported = false

  init(
    at address: ListenAddress, on loop: any EventLoop, limits: HTTPServer.Limits, gate: Gate,
    events: @escaping @Sendable (HTTPServer.Event) -> Void,
    handler: @escaping @Sendable (ServerRequest) -> HTTPServer.Reply
  ) {
    self.address = address
    self.loop = loop
    self.limits = limits
    self.gate = gate
    self.events = events
    self.handler = handler
  }

  func listen() {
    let bound = NIOLoopBound(self, eventLoop: loop)
    do {
      let socket = try ListeningSocket.bind(to: address)
      bootstrap(bound).withBoundSocket(socket).assumeIsolated().whenComplete { result in
        switch result {
        case .success(let channel): bound.value.listens(on: channel)
        case .failure(let error):
          bound.value.refused(ListeningSocket.sentence("listen", error: error))
        }
      }
    } catch {
      refused(error.sentence)
    }
  }

  private func bootstrap(_ bound: NIOLoopBound<Listener>) -> ServerBootstrap {
    ServerBootstrap(group: loop)
      // A client may be done with sending before it has its response.
      .childChannelOption(.allowRemoteHalfClosure, value: true)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let connection = Connection(of: bound.value)
          let pipeline = channel.pipeline.syncOperations
          try pipeline.addHandler(HeadLimit(of: connection))
          try pipeline.addHandler(HTTPResponseEncoder())
          try pipeline.addHandler(ByteToMessageHandler(HTTPRequestDecoder()))
          try pipeline.addHandler(connection)
        }
      }
  }

  private func listens(on channel: any Channel) {
    isRefusalReported = false
    events(.listening(address.with(port: channel.localAddress?.port)))
  }

  private func refused(_ sentence: String) {
    if !isRefusalReported { events(.refused(sentence)) }
    isRefusalReported = true
    loop.assumeIsolated().scheduleTask(in: .seconds(limits.retrySeconds)) { self.listen() }
  }

  // MARK: Connections

  func opened(_ channel: any Channel) {
    if connections.count >= limits.connectionsMax { connections[0].close(promise: nil) }
    connections.append(channel)
  }

  func closed(_ channel: any Channel) { connections.removeAll { $0 === channel } }
}
