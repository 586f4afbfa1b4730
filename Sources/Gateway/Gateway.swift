/// The gateway as a whole: a feed follower, a pool of queries and an HTTP server around one memory.
/// It keeps no state that another gateway beside it would need.

import AppStore
import Logging
import Market
import NIOCore
import NIOPosix
import Operations
import Reader

package struct GatewayOptions: Sendable {
  package var listen: ListenAddress
  package var databaseURL: String
  package var connections = ConnectionLimits(connectionsMax: 12_000)
  package var queryConnections = QueryPool.connectionsDefault
  /// How long a request waits for the broker of paper trading.
  package var commandMilliseconds = 2_000
  package var webhooks = WebhookOptions()

  package init(listen: ListenAddress, databaseURL: String) {
    self.listen = listen
    self.databaseURL = databaseURL
  }
}

package struct Gateway: Sendable {
  package let options: GatewayOptions
  package let memory = MarketMemory()
  package let ring = FeedRing()
  /// Of the broker of this process: what is read for all is for it, too.
  package let mailbox = FeedMailbox()
  package let pool: QueryPool
  package let counters = RequestCounters()
  let log: Logger

  package init(_ options: GatewayOptions, log: Logger) {
    self.options = options
    self.log = log
    pool = QueryPool(url: options.databaseURL, connections: options.queryConnections, log: log)
  }

  /// What is served beside the market.
  package struct Parts: Sendable {
    package var routes: [Route] = []
    package var access: AccessMiddleware?
    package var sinks: [any FeedSink] = []
    /// nil: a gateway of the market alone, whose connections have no bounds but `connections_max`.
    var users: UserServices?
    /// nil: there is no broker beside it.
    var broker: (@Sendable () -> BrokerFigures)?

    package init() {}
  }

  /// Every route there is, the document of them included.
  package func table(_ parts: Parts) -> RouteTable {
    let routes =
      MarketRoutes(memory: memory, pool: pool).all
      + PageRoutes.all
      + DoorRegistry.routes(memory: memory, pool: pool)
      + ServiceRoutes(
        memory: memory, pool: pool, ring: ring, counters: counters, parts: parts
      ).all
      + parts.routes
    return RouteTable(
      routes + [ServiceRoutes.describing(routes)], access: parts.access, counters: counters)
  }

  /// Listens; whoever calls this runs the server.
  /// - Throws: `ListenError`.
  package func listen(
    _ parts: Parts, on loops: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton
  ) async throws -> GatewayServer {
    let pipeline = HTTPPipeline(
      table(parts), hub: parts.users?.streams, counting: parts.users?.connections, log: log)
    return try await GatewayServer(
      at: options.listen, on: loops, connectionsMax: options.connections.connectionsMax,
      serving: pipeline)
  }

  /// Serves until its task is cancelled; then connections are ended in order.
  /// - Throws: `ListenError`.
  package func run(
    _ parts: Parts = Parts(), on loops: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton,
    onRunning: @escaping @Sendable (any Channel) -> Void = { _ in }
  ) async throws {
    let follower = follower(sinks: parts.sinks)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { await follower.run() }
      group.addTask { await lookBesideFeed(for: follower) }
      await awaitQuotes(parts.users?.outbox)
      let server = try await listen(parts, on: loops)
      onRunning(server.channel)
      await server.run()
      group.cancelAll()
    }
  }

  /// Clients come back at once after a restart: they find quotes, and miss nothing of their own.
  /// Without a database it listens all the same.
  private func awaitQuotes(_ outbox: Outbox?) async {
    for _ in 0..<Self.quoteLooksMax {
      if ring.isComplete && outbox?.isBegun ?? true || memory.state.lostAt != nil { return }
      try? await Task.sleep(for: .milliseconds(Self.quoteLookMilliseconds))
    }
  }

  /// 10 s: a whole market and its last quarter of an hour are read in 2 s on an idle machine.
  private static let quoteLooksMax = 1_000
  private static let quoteLookMilliseconds = 10

  /// A daemon that hangs or was stopped writes nothing, and no commit says so; world indexes change
  /// without a commit of the feed.
  private func lookBesideFeed(for follower: FeedFollower) async {
    let pool = QueryPool(url: options.databaseURL, connections: 1, log: log)
    while !Task.isCancelled {
      // Where the database cannot be asked, the follower has said so.
      let look = try? await pool.run { (reader) throws(StoreError) in
        (isLed: try reader.isLed(), overview: try reader.overview())
      }
      if let look {
        follower.setLed(look.isLed)
        follower.setOverview(look.overview)
      }
      try? await Task.sleep(for: .seconds(Self.lookSeconds))
    }
  }

  /// Half of the shortest lease is 1.5 s; the usual one is 10 s.
  private static let lookSeconds = 3

  package func follower(sinks: [any FeedSink]) -> FeedFollower {
    FeedFollower(
      url: options.databaseURL, memory: memory, ring: ring, sinks: sinks, log: log,
      pool: QueryPool(url: options.databaseURL, connections: 1, log: log), mailbox: mailbox)
  }
}
