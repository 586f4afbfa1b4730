import AppStore
import EmbeddedPostgres
import Foundation
import Glibc
import Ledgers
import Market
import PaperTrading
import Platform
import Postgres
import TestSupport

/// Users who trade on paper and wait for alerts through a day on which PostgreSQL and the gateways,
/// of which one is the broker, are killed. Each command must be answered once, the same to whoever
/// asks again, the ledger must be sound, by its audit and by `candled-gateway verify`, and each
/// alert that must fire by what was traded must fire once.
package struct BrokerTrial {
  package var binary: String
  /// Of gateways, by SIGKILL: the one that leads, or the other.
  package var kills: Int
  package var databaseKills: Int
  package var instruments: Int
  package var users: Int
  package var seed: UInt64
  /// Simulated seconds per real second.
  package var speed: Int
  package var alerts = 0
  /// Of an alert that nothing that was killed had delayed; 0: any.
  package var alertMillisecondsMax = 0
  /// Seconds of the day.
  package var day = TrialDay.start..<TrialDay.stop

  private static let downMicrosecondsMax: UInt32 = 1_000_000
  /// Of the day; the rest is for what was killed last.
  private static let blowsShare = 0.8
  /// For commands that were sent when the day ended.
  private static let settleSecondsMax = 60
  private static let complaintsMax = 20

  package init(
    binary: String, kills: Int, databaseKills: Int, instruments: Int, users: Int, seed: UInt64,
    speed: Int
  ) {
    self.binary = binary
    self.kills = kills
    self.databaseKills = databaseKills
    self.instruments = instruments
    self.users = users
    self.seed = seed
    self.speed = speed
  }

  /// - Parameter say: called with what happens.
  package func run(say: (String) -> Void = { _ in }) throws -> ChaosVerdict {
    let pair = try GatewayPair(
      "broker", binary: binary, gateways: 2, instruments: instruments, seed: seed, day: day)
    defer { pair.end() }
    try pair.open()
    let crowd = try pair.world.exchange.withRecorder { $0.trueLedger() }.map {
      try AlertCrowd(
        alerts, seed: seed, url: pair.gatewayURL, owner: pair.world.url, truth: $0)
    }
    let traders = PaperTraders(
      url: pair.world.url, accounts: try Self.makeAccounts(users, url: pair.world.url), seed: seed)
    try traders.start()
    defer { traders.stop() }
    try pair.startDaemon(speed: speed)
    var verdict = ChaosVerdict()
    let blows = try strike(pair, say: say)
    verdict.figures.append(
      "\(day.count / 60) minutes at \(speed)×: gateways killed \(blows.gateways) ×, PostgreSQL "
        + "\(blows.database) ×")
    if blows.gateways < kills || blows.database < databaseKills {
      verdict.complaints.append("the day was over before all of them were killed")
    }
    try pair.daemon?.finish(secondsMax: 300)
    traders.stop()
    try judge(pair, traders, into: &verdict)
    if let crowd, let truth = pair.world.exchange.withRecorder({ $0.trueLedger() }) {
      let found = try crowd.judge(
        by: truth, url: pair.world.url, blows: blows.at, millisecondsMax: alertMillisecondsMax)
      verdict.figures += found.figures
      verdict.complaints += found.complaints
    }
    return verdict
  }

  static func makeAccounts(_ count: Int, of user: String = "trial", url: String) throws -> [Int64] {
    let rows = try SQLProbe.run(
      """
      with owner as (
        insert into candled_app.app_user (name) values ('\(user)') returning id
      )
      insert into candled_app.account (user_id, name, market, currency)
      select owner.id, 'account ' || n, 'cn', 'CNY'
      from owner, generate_series(1, \(count)) n
      returning id
      """, url: url)
    return rows.compactMap { $0.first?.flatMap { Int64($0) } }
  }

  // MARK: The day

  private struct Blows {
    var gateways = 0
    var database = 0
    /// Seconds since 1970.
    var at: [Double] = []
  }

  /// Spread over the day, each at a moment of its own.
  private func strike(_ pair: GatewayPair, say: (String) -> Void) throws -> Blows {
    var random = SplitMix(seed: seed)
    let blows =
      (Array(repeating: true, count: kills) + Array(repeating: false, count: databaseKills))
      .shuffled(using: &random)
    let seconds = Double(day.count) / Double(speed) * Self.blowsShare
    let start = MonotonicClock.seconds()
    let moments = blows.map { _ in Double.random(in: 0...seconds, using: &random) }.sorted()
    var done = Blows()
    for (moment, isGateway) in zip(moments, blows) {
      while Double(MonotonicClock.seconds() - start) < moment, pair.isDaemonRunning {
        usleep(2_000)
      }
      guard pair.isDaemonRunning else { break }
      let down = UInt32.random(in: 0...Self.downMicrosecondsMax, using: &random)
      done.at.append(Date().timeIntervalSince1970)
      if isGateway {
        try pair.kill(gateway: done.gateways % 2, downMicroseconds: down)
        done.gateways += 1
      } else {
        try pair.cluster.server.stopImmediately()
        usleep(down)
        try pair.cluster.server.start()
        done.database += 1
      }
      say("\(done.gateways) gateways and \(done.database) times PostgreSQL killed")
    }
    return done
  }

  // MARK: The end

  private func judge(
    _ pair: GatewayPair, _ traders: PaperTraders, into verdict: inout ChaosVerdict
  ) throws {
    for number in pair.gateways.indices { try pair.wait(forGateway: number) }
    let deadline = MonotonicClock.seconds() + Int64(Self.settleSecondsMax)
    while try count("command where outcome is null", pair) > 0 {
      guard MonotonicClock.seconds() < deadline else {
        verdict.complaints.append("commands without an answer: the broker stands")
        break
      }
      usleep(100_000)
    }
    verdict.complaints += traders.complaints.prefix(Self.complaintsMax)
    verdict.complaints += try traders.differences().prefix(Self.complaintsMax)
    let connection = try AppConnection(
      url: pair.world.url, application: "broker trial", statementSeconds: 120)
    verdict.complaints += try LedgerAudit(connection).findings().map(\.description)
    let verify = "\(pair.program) verify --config \(pair.gateways[0].configuration) 2>&1"
    let found = Shell.output(of: "\(verify); test $? = 0 || echo FAILED") ?? []
    let words = String(decoding: found, as: UTF8.self)
    verdict.figures.append("verify: \(words)")
    if words.contains("FAILED") { verdict.complaints.append("candled-gateway verify failed") }
    let fills = try count("fill", pair)
    verdict.figures.append(
      "\(traders.answered) commands answered, \(traders.asked) times asked again; "
        + "\(try count("paper_order", pair)) orders, \(fills) fills, "
        + "\(try count("posting where kind = 'reversal'", pair)) taken back")
    if fills == 0 { verdict.complaints.append("nothing was filled: the trial shows nothing") }
    try judgeKinds(pair, into: &verdict)
  }

  /// What the trial must have had of each: without, it shows nothing of them.
  private func judgeKinds(_ pair: GatewayPair, into verdict: inout ChaosVerdict) throws {
    let kinds = [
      ("orders replaced", "order_event where kind = 'replaced'"),
      ("stops reached", "order_event where kind = 'released'"),
      ("purchases ordered", "paper_order where queue_purchase_id is not null"),
      ("purchases disarmed", "command where kind = 'disarm' and outcome = 'done'"),
    ]
    let counts = try kinds.map { (name: $0, count: try count($1, pair)) }
    verdict.figures.append(counts.map { "\($0.count) \($0.name)" }.joined(separator: ", "))
    verdict.complaints += counts.filter { $0.count == 0 }.map { "there are no \($0.name)" }
  }

  private func count(_ rows: String, _ pair: GatewayPair) throws -> Int {
    let found = try SQLProbe.run("select count(*) from candled_app.\(rows)", url: pair.world.url)
    return found.first?.first?.flatMap { Int($0) } ?? 0
  }
}
