import Glibc
import Market

/// The simulated exchange on a loopback port, speaking the upstreams' real protocols.
///
/// A thread a connection and blocking sockets: it has a handful of clients, and a fault such as
/// "one byte a second" is then a plain loop. Everything that decides lives in `SimulatedExchange`;
/// this shell only moves bytes, and must never invent any.
public final class ExchangeServer: Sendable {
  public let port: UInt16
  private let shared: Guarded<Shared>
  private let listener: Int32

  struct Shared {
    var exchange: SimulatedExchange
    var connections: Set<Int32> = []
    var isStopped = false
  }

  /// Starts serving on 127.0.0.1.
  /// - Parameters:
  ///   - recorder: notes what was served; read it with `withRecorder`.
  ///   - port: 0 for any free one.
  /// - Throws: `cannotListen`, `cannotServe`.
  public init(
    market: SimulatedMarket, clock: MarketClock = .request, faults: FaultPlan = FaultPlan(),
    recorder: DayRecorder? = nil, port: UInt16 = 0
  ) throws(SimulatorError) {
    let exchange = SimulatedExchange(
      market: market, clock: clock, faults: faults, recorder: recorder)
    shared = Guarded(Shared(exchange: exchange))
    (listener, self.port) = try Socket.listen(port: port)
    let (listener, shared) = (listener, shared)
    try Thread.start { ExchangeServer.acceptConnections(listener, shared) }
  }

  deinit { stop() }

  /// `http://127.0.0.1:<port>`
  public var url: String { "http://127.0.0.1:\(port)" }

  /// Stops listening and ends every connection. A second call does nothing.
  public func stop() {
    shared.withLock { shared in
      if shared.isStopped { return }
      shared.isStopped = true
      // The accepting thread closes the listener, each connection's thread its own socket: nobody
      // else may, or a number could be reused under a thread that still waits on it.
      Socket.shutdown(listener)
      for connection in shared.connections { Socket.shutdown(connection) }
    }
  }

  /// Orders a fault while serving.
  public func order(_ fault: Fault) {
    shared.withLock { $0.exchange.faults.add(fault) }
  }

  /// Ends all faults on order.
  public func cancelFaults() {
    shared.withLock { $0.exchange.faults.removeAll() }
  }

  public var requestsAnswered: Int { shared.withLock { $0.exchange.requestsAnswered } }

  /// Reads what was recorded so far; nil without a recorder. Nobody is answered meanwhile.
  public func withRecorder<Result>(_ body: (DayRecorder) throws -> Result) rethrows -> Result? {
    try shared.withLock { shared in try shared.exchange.recorder.map(body) }
  }

  /// The furthest the day has come.
  public var now: Timestamp { shared.withLock { $0.exchange.timeline.front.now } }
}

extension ExchangeServer {
  private static func acceptConnections(_ listener: Int32, _ shared: Guarded<Shared>) {
    while let socket = Socket.accept(listener) {
      let isWanted = shared.withLock { shared in
        if !shared.isStopped { shared.connections.insert(socket) }
        return !shared.isStopped
      }
      let serve: @Sendable () -> Void = {
        Connection(socket: socket) { request in
          shared.withLock { $0.exchange.answer(request) }
        } undelivered: { ticket in
          shared.withLock { $0.exchange.recorder?.withdraw(ticket) }
        }.serve()
        shared.withLock { _ = $0.connections.remove(socket) }
        Socket.close(socket)
      }
      if !isWanted || (try? Thread.start(serve)) == nil {
        shared.withLock { _ = $0.connections.remove(socket) }
        Socket.close(socket)
      }
    }
    Socket.close(listener)
  }
}

/// A detached thread that runs one closure.
enum Thread {
  private final class Work: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  static func start(_ body: @escaping @Sendable () -> Void) throws(SimulatorError) {
    var thread = pthread_t()
    let work = Unmanaged.passRetained(Work(body))
    let status = pthread_create(
      &thread, nil,
      { @Sendable argument in
        guard let argument else { return nil }
        Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body()
        return nil
      }, work.toOpaque())
    guard status == 0 else {
      work.release()
      throw SimulatorError(.cannotServe, "no thread for a connection")
    }
    pthread_detach(thread)
  }
}
