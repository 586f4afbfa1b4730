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
  private var tasksUnderWay = 0
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
          let listener = bound.value
          let exchange = HTTPExchange(isSingle: true, refusal: ServerResponse.notHTTP.answer()) {
            listener.respond(to: $0, reply: $2)
          }
          try channel.pipeline.syncOperations.addHandlers(
            HeadLimit(of: exchange, bytesMax: listener.limits.headBytesMax), HTTPResponseEncoder(),
            ByteToMessageHandler(HTTPRequestDecoder()), ConnectionDeadline(of: listener), exchange)
        }
      }
  }

  private func respond(to head: HTTPRequestHead, reply send: @escaping HTTPExchange.Reply) {
    // HEAD gets the length and no body.
    let wantsBody = head.method != .HEAD
    let reply: @Sendable (ServerResponse) -> Void = { send($0.answer(withBody: wantsBody)) }
    guard let request = ServerRequest(head) else { return reply(.notHTTP) }
    switch handler(request) {
    case .now(let response): reply(response)
    case .later(let unavailable, let make):
      guard tasksUnderWay < limits.laterMax else { return reply(unavailable) }
      tasksUnderWay += 1
      let (loop, gate) = (loop, gate)
      let bound = NIOLoopBound(self, eventLoop: loop)
      loop.scheduleTask(in: .seconds(limits.laterSecondsMax)) { reply(unavailable) }
      // Unstructured: the thread goes on with other connections. It ends by itself, is bounded in
      // number, and its response is dropped once the deadline has passed.
      Task {
        let response = await make()
        gate.execute(on: loop) {
          bound.value.tasksUnderWay -= 1
          reply(response)
        }
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
