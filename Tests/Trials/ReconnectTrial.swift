import EmbeddedPostgres
import Foundation
import Glibc
import Market
import Platform
import Postgres
import TestSupport

/// Thousands of apps that come again within seconds, each with `after`: they get what they missed
/// out of the gateway's memory, and PostgreSQL is hardly asked.
package struct ReconnectTrial {
  package var binary: String
  package var reconnects: Int
  package var tokens: Int
  package var instruments: Int
  package var seed: UInt64
  /// From the first to the last.
  package var withinSeconds: Int64 = 5
  /// Until the last has recovered, from the first connection on.
  package var recoveredSecondsMax: Int64 = 10
  package var queriesMax = 20

  /// The first minutes of a day, and what was missed of them.
  private static let day = TrialDay.start..<9 * 3600 + 36 * 60
  private static let missedSeconds = 60
  private static let symbolsOfOne = 20
  /// Every so many messages are read whole; of the others what they hold is counted.
  private static let wholeEvery = 50
  private static let giveUpSeconds: Int64 = 90
  private static let settleMicroseconds: UInt32 = 3_000_000
  private static let complaintsMax = 10

  package init(binary: String, reconnects: Int, tokens: Int, instruments: Int, seed: UInt64) {
    self.binary = binary
    self.reconnects = reconnects
    self.tokens = tokens
    self.instruments = instruments
    self.seed = seed
  }

  package func run() throws -> ChaosVerdict {
    try raiseDescriptors()
    var random = SplitMix(seed: seed)
    let pair = try GatewayPair(
      "reconnect", binary: binary, gateways: 1, instruments: instruments, seed: seed,
      day: Self.day, isAnonymous: false)
    defer { pair.end() }
    let secrets = (0..<tokens).map { _ in Self.secret(using: &random) }
    try prepare(pair, secrets)
    try pair.open()
    try pair.startDaemon()
    try pair.daemon?.finish(secondsMax: 300)
    usleep(Self.settleMicroseconds)
    let symbols = pair.world.symbols.map(\.description)
    let stored = try StoredMarket(url: pair.world.url, symbols: Set(symbols))
    let position = AppFollower.Position(
      epoch: stored.epoch, seq: try missedSince(pair), log: nil)
    let plans = (0..<reconnects).map { number in
      var plan = AppFollower.Plan(
        symbols: Array(symbols.shuffled(using: &random).prefix(Self.symbolsOfOne)))
      plan.token = secrets[number % tokens]
      return plan
    }
    let before = try queries(pair)
    var storm = ReconnectStorm(
      plans, after: position, expecting: stored, port: pair.ports[0], wholeEvery: Self.wholeEvery)
    storm.run(withinSeconds: withinSeconds, giveUpSeconds: Self.giveUpSeconds)
    return verdict(storm, stored, asked: try queries(pair) - before, pair)
  }

  private func verdict(
    _ storm: ReconnectStorm, _ stored: StoredMarket, asked: Int, _ pair: GatewayPair
  ) -> ChaosVerdict {
    let times = storm.milliseconds.sorted()
    let last = storm.lastMilliseconds
    var verdict = ChaosVerdict(figures: [
      "\(reconnects) reconnects over \(tokens) tokens within \(withinSeconds) s: "
        + "\(times.count) recovered, the last after \(last) ms",
      "each in \(times.isEmpty ? 0 : times[times.count / 2]) ms p50, \(times.last ?? 0) ms at "
        + "most; \(storm.bytes >> 20) MiB received, \(asked) queries",
      "gateway: \(ProcessProbe(pair.gateways[0].pid)?.residentKibibytes ?? 0) KiB",
    ])
    verdict.complaints = Array(storm.complaints.prefix(Self.complaintsMax))
    if times.count < reconnects {
      verdict.complaints.append("\(reconnects - times.count) did not recover")
    }
    if last > recoveredSecondsMax * 1_000 {
      verdict.complaints.append("the last recovered after \(last) ms")
    }
    if asked > queriesMax { verdict.complaints.append("\(asked) queries") }
    if stored.candles.isEmpty { verdict.complaints.append("no candles were written") }
    return verdict
  }

  // MARK: Before

  /// For this process and for the gateway, which inherits it.
  private func raiseDescriptors() throws {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    limit.rlim_cur = limit.rlim_max
    guard setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0,
      limit.rlim_cur > reconnects + 1_000
    else { throw TrialFailure("at most \(limit.rlim_max) descriptors: too few") }
  }

  private static func secret(using random: inout SplitMix) -> String {
    let digits = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
    return "cndl_"
      + String((0..<43).map { _ in digits[Int.random(in: 0..<digits.count, using: &random)] })
  }

  /// Makes the tokens, and has the server log what the gateway asks.
  private func prepare(_ pair: GatewayPair, _ secrets: [String]) throws {
    let list = secrets.map { "'\($0)'" }.joined(separator: ",")
    try SQLProbe.run(
      """
      insert into candled_app.app_user (name) values ('crowd');
      insert into candled_app.token (user_id, name, scopes, hash)
      select u.id, 'app', array['market'], sha256(t.secret::bytea)
      from candled_app.app_user u, unnest(array[\(list)]) t (secret);
      alter role \(DatabaseRole.app) set log_statement = 'all'
      """, url: pair.world.url)
  }

  /// Statements of the gateway so far, by the server's log.
  private func queries(_ pair: GatewayPair) throws -> Int {
    let log = try String(
      contentsOfFile: pair.cluster.server.directory + "/server.log", encoding: .utf8)
    return log.split(separator: "\n").count {
      $0.contains("LOG:  execute ") || $0.contains("LOG:  statement: ")
    }
  }

  private func missedSince(_ pair: GatewayPair) throws -> Int64 {
    let moment = pair.world.moment(Self.day.upperBound - Self.missedSeconds - 30)
    let rows = try SQLProbe.run(
      "select max(seq) from candled.change where known_at < '\(moment)'", url: pair.world.url)
    return rows.first?.first?.flatMap { Int64($0) } ?? 0
  }
}
