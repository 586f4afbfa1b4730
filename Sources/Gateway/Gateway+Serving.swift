/// How access control, the user's own things and streams join what serves the market.

import AppStore
import Market
import NIOCore
import NIOPosix
import Operations

extension Gateway {
  /// Serves everything until its task is cancelled: then streams end with 1001, and connections
  /// in order.
  /// - Parameters:
  ///   - control: the door; its directory is kept up to date by its `follow`.
  ///   - broker: what the broker of this process does, for metrics.
  ///   - ready: called with the address once it listens.
  /// - Throws: `ListenError`.
  package func serve(
    control: AccessControl, notifying notifier: ServiceNotifier?,
    broker: (@Sendable () -> BrokerFigures)? = nil,
    ready: @escaping @Sendable (ListenAddress) -> Void
  ) async throws {
    let loops = MultiThreadedEventLoopGroup.singleton
    let (parts, users) = self.parts(control: control, loops: loops, broker: broker)
    let alertFollower = try users.alerts.follow(url: options.databaseURL, log: log)
    defer { alertFollower.stop() }
    let outboxFollower = try users.outbox.follow(url: options.databaseURL, log: log)
    defer { outboxFollower.stop() }
    let webhookFollower = try users.webhooks.follow(url: options.databaseURL, log: log)
    defer { webhookFollower.stop() }
    async let _: Void = users.portfolios.run()
    async let _: Void? = notifier.map { LoopWatch(loops, notifier: $0) }?.run()
    try await run(parts, on: loops) { [options] channel in
      ready(options.listen.with(port: channel.localAddress?.port))
    }
  }

  /// Everything that a gateway serves.
  /// - Parameters:
  ///   - control: the door.
  ///   - loops: the server must run on them.
  ///   - broker: what the broker of this process does, for metrics.
  package func parts(
    control: AccessControl, loops: any EventLoopGroup,
    broker: (@Sendable () -> BrokerFigures)? = nil
  ) -> (parts: Parts, users: UserServices) {
    let source = GatewayStreamSource(
      memory: memory, ring: ring, store: AppStore(url: options.databaseURL))
    let hub = StreamHub(
      group: loops,
      services: StreamServices(
        source: source, access: control, isAnonymousAllowed: control.options.anonymous,
        originRule: control.rule, doors: DoorRegistry.streams { [memory] in memory.state },
        counters: counters))
    let store = AppStore(
      url: options.databaseURL, connections: AppStore.connectionsOfMany)
    let mine = UserRoutes(
      control: control, store: store, webhookRule: options.webhooks.rule
    ) { [memory] in memory.state.directory }
    let trading = TradingService(
      url: options.databaseURL, memory: memory, pool: pool,
      waitMilliseconds: options.commandMilliseconds)
    var limits = options.connections
    if control.options.addressRequests == 0 { limits.connectionsOfAddressMax = .max }
    let users = UserServices(
      connections: ConnectionTable(limits, trusting: control.options.trustedProxies),
      streams: hub, alerts: AlertWatch(memory: memory), webhooks: Webhooks(options.webhooks),
      outbox: Outbox(memory: memory, hub: hub), trading: trading,
      portfolios: PortfolioFeed(service: trading, hub: hub))
    var parts = Parts()
    parts.routes =
      mine.routes + TradingRoutes(service: trading).routes + DoorRegistry.trading(trading)
      + [StreamRoute.events]
    parts.access = AccessMiddleware(control, counting: users.connections)
    parts.sinks = [hub, users.alerts]
    parts.users = users
    parts.broker = broker
    return (parts, users)
  }
}

/// What serves users, each with state of its own. A gateway has all of it; one of the market alone
/// has none.
package struct UserServices: Sendable {
  let connections: ConnectionTable
  package let streams: StreamHub
  let alerts: AlertWatch
  let webhooks: Webhooks
  let outbox: Outbox
  let trading: TradingService
  let portfolios: PortfolioFeed
}

extension MarketState {
  /// The database's state and that of each silent source, as heartbeats have them: a JSON array.
  func feeds(at now: Timestamp) -> [UInt8] {
    var text = JSONWriter()
    text.array { feeds in
      feeds.object { feed in
        feed.write(source: "database", isStalled: lostAt != nil, since: lostAt ?? committedAt, now)
      }
      for (source, since) in stalled.sorted(by: { $0.key < $1.key }) {
        feeds.object { $0.write(source: source, isStalled: true, since: since, now) }
      }
    }
    return text.bytes
  }
}

extension JSONWriter {
  /// - Parameter since: what it is behind of; nil where nothing is known.
  fileprivate mutating func write(
    source: String, isStalled: Bool, since moment: Timestamp?, _ now: Timestamp
  ) {
    member("source") { $0.string(source) }
    member("state") { $0.string(isStalled ? "stalled" : "ok") }
    member("stale") { $0.boolean(isStalled) }
    guard let moment else { return }
    member("behindSeconds") { $0.integer(max(now.microseconds(since: moment), 0) / 1_000_000) }
  }
}
