import ExchangeSimulator
import Glibc
import Market
import Platform

/// The simulated exchange on a loopback port, speaking the upstreams' real protocols.
///
/// A thread a connection and blocking sockets: it has a handful of clients, and a fault such as
/// "one byte a second" is then a plain loop. Everything that decides lives in `SimulatedExchange`;
/// this shell only moves bytes, and must never invent any.
package final class ExchangeServer: Sendable {
  package let port: UInt16
  private let shared: Locked<Shared>
  private let listener: Int32

  // `@unchecked Sendable`: the observers are the only objects in it, and they are touched under the
  // lock alone.
  struct Shared: @unchecked Sendable {
    var upstreams: SimulatedUpstreams
    var connections: Set<Int32> = []
    var isStopped = false
  }

  /// Serves the trading days of `history` on 127.0.0.1, one after the other, and what lies behind
  /// each moment.
  /// - Parameters:
  ///   - protocols: what it speaks, each with its own options.
  ///   - from: the day of `history` that is lived through first, those before it being past; its
  ///     first day if nil.
  ///   - observing: who watches a day that is about to begin.
  ///   - port: 0 for any free one.
  /// - Throws: `cannotListen`, `cannotServe`.
  package init(
    history: SimulatedHistory, protocols: [any UpstreamProtocol], from day: TradingDay? = nil,
    clock: MarketClock = .request, faults: (any FaultSource)? = nil,
    observing: @escaping DayObservers.Choice = { _ in nil }, port: UInt16 = 0
  ) throws(SimulatorError) {
    let exchange = SimulatedExchange(
      history, from: day, clock: clock, faults: faults, observing: observing)
    shared = Locked(Shared(upstreams: SimulatedUpstreams(exchange, protocols: protocols)))
    (listener, self.port) = try Socket.listen(port: port)
    let (listener, shared) = (listener, shared)
    do throws(ThreadError) {
      try DetachedThread.start { ExchangeServer.acceptConnections(listener, shared: shared) }
    } catch {
      throw SimulatorError(.cannotServe, sentence: "no thread to listen on")
    }
  }

  deinit { stop() }

  /// `http://127.0.0.1:<port>`
  package var url: String { "http://127.0.0.1:\(port)" }

  /// Stops listening and ends every connection. A second call does nothing.
  package func stop() {
    shared.withLock { shared in
      if shared.isStopped { return }
      shared.isStopped = true
      // The accepting thread closes the listener, each connection's thread its own socket: nobody
      // else may, or a number could be reused under a thread that still waits on it.
      Socket.shutdown(listener)
      for connection in shared.connections { Socket.shutdown(connection) }
    }
  }

  /// Reads or changes what it serves. Nobody is answered meanwhile.
  package func withUpstreams<Result>(
    _ body: (inout SimulatedUpstreams) throws -> Result
  ) rethrows -> Result {
    try shared.withLock { try body(&$0.upstreams) }
  }
}

extension ExchangeServer {
  private static func acceptConnections(_ listener: Int32, shared: Locked<Shared>) {
    while let socket = Socket.accept(listener) {
      let isWanted = shared.withLock { shared in
        if !shared.isStopped { shared.connections.insert(socket) }
        return !shared.isStopped
      }
      let serve: @Sendable () -> Void = {
        Connection(socket: socket) { request in
          shared.withLock { $0.upstreams.response(request) }
        } undelivered: { ticket in
          shared.withLock { $0.upstreams.exchange.observers.withdraw(ticket) }
        }.serve()
        shared.withLock { _ = $0.connections.remove(socket) }
        Socket.close(socket)
      }
      if !isWanted || (try? DetachedThread.start(running: serve)) == nil {
        shared.withLock { _ = $0.connections.remove(socket) }
        Socket.close(socket)
      }
    }
    Socket.close(listener)
  }
}
