import AppStore
import Hummingbird
import HummingbirdCore
import Logging
import Market
import NIOPosix
import Operations
import Platform

/// What is served: the door, and behind it the user's own things, each on one address.
package struct GatewayServer: Sendable {
  package let control: AccessControl
  package let mine: MineRoutes
  private let settings: Settings
  private let log: Logger

  /// - Parameters:
  ///   - url: a libpq URL or keyword string of a member of `candled_app`.
  ///   - resolve: the canonical symbol of any spelling; nil of an instrument that is not known.
  package init(
    _ settings: Settings, url: String, log: Logger,
    resolve: @escaping @Sendable (String) -> Symbol? = { Symbol(anySpelling: $0) }
  ) {
    self.settings = settings
    self.log = log
    control = AccessControl(.init(settings), directory: TokenDirectory())
    mine = MineRoutes(control: control, store: AppStore(url: url), resolve: resolve)
  }

  package func router() -> Router<GatewayRequestContext> {
    let router = Router(context: GatewayRequestContext.self)
    router.add(middleware: AccessMiddleware(control))
    mine.add(to: router)
    return router
  }

  /// Until cancelled.
  /// - Parameter ready: called once it listens.
  package func run(
    notifying notifier: ServiceNotifier?, ready: @escaping @Sendable () async -> Void
  ) async throws {
    guard let listen = settings.gatewayListen else { return }
    let loops = MultiThreadedEventLoopGroup.singleton
    var quiet = log
    quiet.logLevel = max(log.logLevel, .warning)
    let application = Application(
      router: router(),
      configuration: ApplicationConfiguration(
        address: listen.bindAddress, serverName: nil, backlog: 4_096,
        availableConnectionsDelegate: MaximumAvailableConnections(settings.gatewayConnectionsMax)),
      onServerRunning: { _ in await ready() },
      eventLoopGroupProvider: .shared(loops), logger: quiet)
    async let _: Void? = notifier.map {
      LoopWatch(loops, notifier: $0, nanoseconds: { MonotonicClock.nanoseconds() })
    }?.run()
    try await application.run()
  }
}

extension ListenAddress {
  fileprivate var bindAddress: BindAddress {
    switch self {
    case .ipv4(let host, let port), .ipv6(let host, let port):
      .hostname(host, port: Int(port))
    case .unix(let path): .unixDomainSocket(path: path)
    }
  }
}
