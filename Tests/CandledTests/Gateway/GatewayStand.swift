import Commits
import Foundation
import Glibc
import Market
import Platform
import Store
import TestSupport
import Testing

/// A database with both schemas that a test commits to as the daemon does, and gateways in front
/// of it, each the built binary. Three instruments.
final class GatewayStand {
  let database: StoreDatabase
  private let writer: StoreWriter
  private var samples = StoreSamples(seed: 14)
  private var minute = 0

  static let symbols = (0..<3).map { StoreSamples.symbol($0).description }

  init(_ given: StoreDatabase? = nil) async throws {
    let database = try given ?? StoreDatabase()
    self.database = database
    let applied = try Self.run(["schema", "apply"], on: database, role: nil)
    try #require(applied.status == 0, "\(applied.errors)")
    try Self.lead(database)
    writer = StoreWriter(url: database.url)
    try await writer.connect()
    _ = try await writer.load()
  }

  /// As a daemon that leads.
  private static func lead(_ database: StoreDatabase) throws {
    try database.execute(
      """
      insert into candled.lease_term (term, holder, host, acquired_at)
      values (1, 'test', 'test', now());
      update candled.lease
      set term = 1, expires_at = now() + interval '1 day'
      """)
  }

  /// Commits a minute: a new quote and a final candle of each instrument.
  /// - Returns: its candles.
  @discardableResult
  func commitMinute() async throws -> [Candle] {
    let commit = samples.minute(
      minute, position: Int64(minute + 1), instruments: Self.symbols.count)
    minute += 1
    _ = try await writer.commit(commit)
    return commit.candles
  }

  /// What the database has as the newest quote.
  func price(of symbol: String) throws -> String {
    let price = try database.value(
      "select last from candled.latest where symbol = '\(symbol)'")
    return try #require(price)
  }

  // MARK: Commands

  /// The configuration of a gateway of this database.
  /// - Parameter role: nil: as superuser.
  static func configuration(
    _ database: StoreDatabase, role: String? = "candled_app"
  ) throws -> [UInt8] {
    let name = try database.value("select current_user") ?? ""
    return Array("[gateway]\nstore_url = \"\(try database.daemonURL(role: role ?? name))\"\n".utf8)
  }

  static func run(
    _ arguments: [String], on database: StoreDatabase, role: String? = "candled_app"
  ) throws -> BuiltBinary.Run {
    try BuiltBinary.run(
      arguments + ["--config", "/dev/stdin"], input: configuration(database, role: role),
      under: BuiltBinary.Conditions(program: BuiltBinary.gateway))
  }

  func run(_ arguments: String...) throws -> BuiltBinary.Run {
    try Self.run(arguments, on: database)
  }

  /// - Returns: its number and its secret.
  func token(_ options: String...) throws -> (id: String, secret: String) {
    let options = options.isEmpty ? ["--name", "test", "--scope", "market"] : options
    let run = try Self.run(["token", "create"] + options, on: database)
    try #require(run.status == 0, "\(run.errors)")
    let id = try #require(run.errors.firstMatch(of: /token (\d+) is in force/)?.output.1)
    return (String(id), String(run.output.dropLast()))
  }

  /// A gateway that is ready and has quotes, if there are any.
  /// - Parameter port: 0: any.
  func start(
    port: UInt16 = 0, _ settings: String..., environment: [String] = []
  ) throws -> RunningGateway {
    try RunningGateway(
      // Tests ask more often than people.
      [
        "--config", "/dev/stdin", "--set", "gateway.listen=127.0.0.1:\(port)",
        "--set", "gateway.user_requests_per_second=0",
        "--set", "gateway.address_requests_per_second=0",
        "--set", "gateway.address_bytes_per_second=0",
      ] + settings.flatMap { ["--set", $0] },
      configuration: Self.configuration(database), environment: environment,
      isLoaded: try database.value("select exists (select from candled.quote)") == "t")
  }
}

/// `candled-gateway run`, ready.
final class RunningGateway {
  let binary: RunningBinary
  let port: UInt16

  init(
    _ arguments: [String], configuration: [UInt8], environment: [String] = [],
    isLoaded: Bool = true
  ) throws {
    binary = try RunningBinary(
      ["run"] + arguments, input: configuration, environment: environment,
      program: BuiltBinary.gateway)
    let listens = #/message=(?:ready|"listening[^"]*") address="?127\.0\.0\.1:([0-9]+)/#
    try #require(
      binary.logContains(isLoaded ? "message=ready" : "address="), "\(binary.captured)")
    let found = binary.captured.firstMatch(of: listens)
    port = try #require(found.flatMap { UInt16($0.output.1) }, "\(binary.captured)")
    if isLoaded { try wait { try get("/readyz").body.contains("ready") } }
  }

  var socketURL: String { "ws://127.0.0.1:\(port)" }
  var url: String { "http://127.0.0.1:\(port)" }

  func get(
    _ path: String, token: String? = nil
  ) throws -> (status: Int, head: String, body: String) {
    try endpoint(token).get(path)
  }

  func put(
    _ path: String, _ json: String, token: String
  ) throws -> (status: Int, head: String, body: String) {
    try endpoint(token).put(path, json)
  }

  private func endpoint(_ token: String?) -> Endpoint {
    Endpoint(port: port, headers: token.map { ["Authorization": "Bearer \($0)"] } ?? [:])
  }

  /// Asks it until something is so.
  func wait(
    secondsMax: Int64 = 60, sourceLocation: SourceLocation = #_sourceLocation,
    until isSo: () throws -> Bool
  ) throws {
    let end = MonotonicClock.nanoseconds() + secondsMax * 1_000_000_000
    while try !isSo() {
      try #require(
        MonotonicClock.nanoseconds() < end, "\(binary.captured)", sourceLocation: sourceLocation)
      usleep(10_000)
    }
  }

  /// - Returns: its exit status.
  func stop(_ signal: Int32 = SIGTERM) throws -> Int32 {
    binary.signal(signal)
    return try binary.ended()
  }
}
