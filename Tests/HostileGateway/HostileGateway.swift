import AppStore
import Dispatch
import Gateway
import Logging
import Market
import NIOCore
import NIOEmbedded
import Operations
import Platform
import Reader

/// The gateway without sockets: what a client sends goes through the handlers and routes that serve
/// it, on one event loop. Nothing may stop the process, and nothing a client sends is the gateway's
/// own failure.
package final class HostileGateway: Sendable {
  /// Answers that no client may ever get.
  package struct Failure: Error, CustomStringConvertible {
    package let description: String
  }

  /// A token that is in force; always the same, so that a kept input reproduces.
  package static let secret: TokenSecret = {
    var generator = Steady()
    return TokenSecret(using: &generator)
  }()

  private struct Steady: RandomNumberGenerator {
    mutating func next() -> UInt64 { 0x9E37_79B9_7F4A_7C15 }
  }

  private let loop = NIOAsyncTestingEventLoop()
  private let table: RouteTable
  private let pipeline: HTTPPipeline
  private let memory: MarketMemory
  private let connections = Locked(0)
  /// Timers keep connections: they are run now and then.
  private static let connectionsUntilTimers = 500

  package init() {
    var options = GatewayOptions(
      listen: .ipv4(host: "127.0.0.1", port: 0), databaseURL: "host=/nowhere user=nobody")
    options.queryConnections = 1
    let gateway = Gateway(options, log: Self.silent)
    let directory = TokenDirectory()
    directory.replace(with: [
      Self.secret.digest: Token(
        id: 1, userID: 1, user: "alice", name: "phone", scopes: Set(TokenScope.allCases),
        createdAt: Timestamp(seconds: 0))
    ])
    let control = AccessControl(.init(anonymous: true), directory: directory)
    let (parts, users) = gateway.parts(control: control, loops: loop)
    table = gateway.table(parts)
    pipeline = HTTPPipeline(table, hub: users.streams, counting: nil, log: Self.silent)
    memory = gateway.memory
    gateway.ring.reset(epoch: Self.market.epoch, seq: Self.market.seq)
    memory.publish(Self.market)
  }

  private static let silent: Logger = {
    var log = Logger(label: "hostile") { _ in SwiftLogNoOpLogHandler() }
    log.logLevel = .critical
    return log
  }()

  /// Two series with a quote each.
  private static let market: MarketState = {
    var state = MarketState(epoch: 7, seq: 2)
    state.directory = InstrumentDirectory().updated(
      with: ["sh600519", "AAPL"].enumerated().compactMap { number, text in
        guard let symbol = Symbol(text) else { return nil }
        return SeriesRecord(
          id: Int32(number + 1), symbol: symbol, source: .live, sourceName: "sina", priority: 1,
          name: text, exchange: nil, kind: nil, board: nil, currency: "CNY", zone: .shanghai)
      })
    var text = JSONWriter()
    for place in state.directory.places {
      let series = state.directory[place]
      let quote = Quote(
        symbol: series.symbol, tradingDay: TradingDay(daysSince1970: 20_640),
        secondOfDay: 34_200)
      let latest = LatestQuote(
        quote: quote, source: series.source, name: series.name, forming: nil,
        receivedAt: quote.at, seq: 2)
      state.stocks.append(
        EncodedStock(
          latest, place: place, identity: state.directory.identity(of: place, named: series.name),
          isStale: false, with: &text))
    }
    return state
  }()

  /// One connection: everything arrives in `pieces`, then it is closed.
  /// - Throws: `Failure`.
  package func take(_ pieces: [[UInt8]]) throws {
    let failures = try loop.submit { [self] in try connect(pieces) }.wait()
    if let failure = failures.first { throw Failure(description: failure) }
    let isDue = connections.withLock { count in
      count += 1
      return count % Self.connectionsUntilTimers == 0
    }
    if isDue { runTimers() }
  }

  private func connect(_ pieces: [[UInt8]]) throws -> [String] {
    let channel = NIOAsyncTestingChannel(loop: loop)
    let responder = HostileResponder(table: table, log: Self.silent)
    try pipeline.install(on: channel, answering: responder)
    channel.connect(to: try SocketAddress(ipAddress: "192.0.2.1", port: 9), promise: nil)
    for piece in pieces where channel.isActive {
      let pipeline = channel.pipeline.syncOperations
      pipeline.fireChannelRead(NIOAny(ByteBuffer(bytes: piece)))
      pipeline.fireChannelReadComplete()
    }
    channel.close(promise: nil)
    return responder.failures
  }

  private func runTimers() {
    let done = DispatchSemaphore(value: 0)
    Task { [loop] in
      await loop.advanceTime(by: .seconds(2))
      done.signal()
    }
    done.wait()
  }
}
