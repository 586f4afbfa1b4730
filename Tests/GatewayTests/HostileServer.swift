import AppStore
import Operations
import TestSupport

@testable import Gateway

/// The whole gateway on a free port, as hostile clients meet it. Its tests have threads of their
/// own: the clients block.
enum HostileServer {
  /// With an empty database behind it.
  /// - Parameter body: gets the port; the gateway stops when it returns.
  static func run<Result>(
    _ options: AccessControl.Options = unlimited,
    limit: (inout ConnectionLimits) -> Void = { _ in },
    body: (_ port: Int) async throws -> Result
  ) async throws -> Result {
    try await run(
      emptyGateway(limit), control: AccessControl(options, directory: TokenDirectory()),
      body: body)
  }

  static func run<Result>(
    _ gateway: Gateway, control: AccessControl, body: (_ port: Int) async throws -> Result
  ) async throws -> Result {
    let (service, port) = try await start(gateway, control: control)
    defer { service.cancel() }
    let result = try await body(port)
    service.cancel()
    try await service.value
    return result
  }

  static func start() async throws -> (service: Task<Void, any Error>, port: Int) {
    try await start(
      emptyGateway(),
      control: AccessControl(unlimited, directory: TokenDirectory()))
  }

  private static func emptyGateway(
    _ limit: (inout ConnectionLimits) -> Void = { _ in }
  ) throws -> Gateway {
    var options = GatewayOptions(
      listen: .ipv4(host: "127.0.0.1", port: 0), databaseURL: try database.get().url)
    limit(&options.connections)
    return Gateway(options, log: quietLog)
  }

  private static let database = Result { try StoreDatabase() }

  /// All clients are one address.
  private static let unlimited: AccessControl.Options = {
    var options = AccessControl.Options(anonymous: true)
    options.addressRequests = 0
    return options
  }()

  private static func start(
    _ gateway: Gateway, control: AccessControl
  ) async throws -> (service: Task<Void, any Error>, port: Int) {
    let (ports, listening) = AsyncStream.makeStream(of: Int.self)
    let service = Task {
      defer { listening.finish() }
      try await gateway.serve(control: control, notifying: nil) { address in
        guard case .ipv4(_, let port) = address else { return }
        listening.yield(Int(port))
      }
    }
    var iterator = ports.makeAsyncIterator()
    guard let port = await iterator.next() else {
      try await service.value
      throw StreamsClient.Closed()
    }
    while !gateway.ring.isComplete { try await Task.sleep(for: .milliseconds(5)) }
    return (service, port)
  }
}
