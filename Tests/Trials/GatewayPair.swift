import EmbeddedPostgres
import ExchangeSimulator
import Foundation
import Glibc
import Platform
import Postgres
import TestSupport

/// A simulated day with its daemon, and built gateways beside it.
final class GatewayPair {
  let world: TrialDay
  let cluster: PrivateCluster
  private(set) var daemon: DaemonProcess?
  let ports: [UInt16]
  let gateways: [DaemonProcess]
  /// The built `candled-gateway`.
  let program: String
  /// Of the database, as the gateways' role.
  let gatewayURL: String

  private let settings: DaemonSettings
  private let binary: String
  private let day: Range<Int>

  private static let startMillisecondsMax: Int64 = 30_000
  /// From the day's beginning until every instrument has a quote.
  private static let openingSeconds = 120
  private static let openingSecondsMax = 120

  /// - Parameters:
  ///   - binary: of the daemon; that of the gateway is beside it.
  ///   - day: the second of the day at which it begins, and that at which it ends.
  ///   - days: that the exchange knows.
  ///   - limits: settings of the gateways beside those of a trial.
  init(
    _ name: String, binary: String, gateways count: Int, instruments: Int, seed: UInt64,
    day: Range<Int>, days: Int = 1, isAnonymous: Bool = true, limits: [String: String] = [:]
  ) throws {
    world = try TrialDay(name, seed: seed, instruments: instruments, days: days)
    guard let cluster = world.cluster else { throw TrialFailure("no cluster") }
    self.cluster = cluster
    var settings = try world.settings(
      start: day.lowerBound, stop: day.lowerBound + Self.openingSeconds)
    settings["log.level"] = "\"info\""
    gatewayURL = cluster.server.url(database: EmbeddedServer.databaseName, role: DatabaseRole.app)
    settings["gateway.store_url"] = "\"\(gatewayURL)\""
    settings["gateway.anonymous"] = "\(isAnonymous)"
    settings["gateway.broker_follows_daemon"] = "true"
    settings["gateway.address_requests_per_second"] = "0"
    settings["gateway.address_bytes_per_second"] = "0"
    settings["gateway.user_requests_per_second"] = "0"
    for (name, value) in limits { settings[name] = value }
    self.day = day
    self.settings = settings
    self.binary = binary
    let program = URL(fileURLWithPath: binary).deletingLastPathComponent()
      .appendingPathComponent("candled-gateway").path
    self.program = program
    ports = try (0..<count).map { _ in try LoopbackListener.freePort() }
    let folder = world.folder
    gateways = try ports.enumerated().map { number, port in
      settings["gateway.listen"] = "\"127.0.0.1:\(port)\""
      return try DaemonProcess(
        binary: program, folder: "\(folder)/gateway\(number)", settings: settings)
    }
    let owner = cluster.server.url(database: EmbeddedServer.databaseName, role: "postgres")
    let schema = "\(program) schema apply --config \(gateways[0].configuration)"
    guard Shell.output(of: "\(schema) --set 'gateway.store_url=\(owner)' 2>&1") != nil else {
      throw TrialFailure("the gateway's schema cannot be applied")
    }
  }

  deinit { end() }

  func end() {
    for gateway in gateways { gateway.kill() }
    world.end()
  }

  /// Runs the daemon until every instrument has a quote, and starts the gateways.
  func open() throws {
    let opening = try world.daemon(settings, binary: binary)
    try opening.start()
    try opening.finish(secondsMax: Self.openingSecondsMax)
    for number in gateways.indices { try gateways[number].start() }
    for number in gateways.indices { try wait(forGateway: number) }
  }

  /// The rest of the day.
  /// - Parameter speed: of a scaled clock; nil for a stepped one.
  func startDaemon(speed: Int? = nil) throws {
    var settings = settings
    settings["clock.stop"] = "\"\(world.moment(day.upperBound))\""
    if let speed {
      settings.scale(by: speed)
      settings["clock.start"] = "\"\(world.moment(day.lowerBound + Self.openingSeconds))\""
    }
    daemon = try world.daemon(settings, binary: binary)
    try daemon?.start()
  }

  var isDaemonRunning: Bool { daemon?.isRunning ?? false }

  func isReady(_ number: Int) -> Bool {
    let page = AdminScraper.get("/readyz", port: ports[number]) ?? Data()
    return page.starts(with: "HTTP/1.1 200".utf8)
  }

  func wait(forGateway number: Int) throws {
    let deadline = MonotonicClock.milliseconds() + Self.startMillisecondsMax
    while !isReady(number) {
      guard MonotonicClock.milliseconds() < deadline, gateways[number].isRunning else {
        throw TrialFailure("a gateway does not serve: \(gateways[number].logTail)")
      }
      usleep(20_000)
    }
  }

  // MARK: Troubles

  func kill(gateway number: Int, downMicroseconds: UInt32) throws {
    gateways[number].kill()
    usleep(downMicroseconds)
    try gateways[number].start()
  }

  /// `pg_dump` beside the running daemon.
  func backUp() throws {
    guard let tools, Shell.output(of: "\(tools)/pg_dump \(address) -Fc -f \(dump) candled") != nil
    else { throw TrialFailure("pg_dump failed") }
  }

  /// The database is dropped under the gateways, and made again from the backup; the daemon is
  /// killed before and started behind it. Returns once the feed has another epoch.
  func restore() throws {
    guard let tools else { throw TrialFailure("no pg_restore") }
    daemon?.kill()
    try cluster.server.dropDatabase(EmbeddedServer.databaseName)
    guard
      Shell.output(of: "\(tools)/pg_restore \(address) --create -d postgres \(dump) 2>&1") != nil
    else { throw TrialFailure("pg_restore failed") }
    let before = try epoch
    try daemon?.start()
    let deadline = MonotonicClock.milliseconds() + Self.startMillisecondsMax
    while try epoch == before {
      guard MonotonicClock.milliseconds() < deadline else {
        throw TrialFailure("the restored database was not recognised: \(daemon?.logTail ?? "")")
      }
      usleep(20_000)
    }
  }

  var epoch: Int64? {
    get throws {
      let rows = try SQLProbe.run("select epoch from candled.feed_position()", url: world.url)
      return rows.first?.first?.flatMap { Int64($0) }
    }
  }

  private var dump: String { world.folder + "/backup" }
  private var address: String { "-h \(cluster.server.socketDirectory) -U postgres" }

  /// Of the newest server that is installed: the one that runs.
  private var tools: String? {
    Shell.output(of: "ls -d /usr/lib/postgresql/*/bin | sort -V | tail -1").map {
      String(decoding: $0, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }
  }
}
