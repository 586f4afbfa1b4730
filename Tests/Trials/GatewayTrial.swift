import EmbeddedPostgres
import ExchangeSimulator
import Foundation
import Glibc
import Market
import Platform
import TestExchange
import TestSupport

/// Apps that follow two gateways through a day on which everything breaks: their connections, the
/// gateways, PostgreSQL, and the database, which is restored from a backup. Each must end with
/// every final candle, got once, and with the price of every symbol as the table `quote` has it.
package struct GatewayTrial {
  package var binary: String
  package var followers: Int
  package var cuts: Int
  package var instruments: Int
  package var seed: UInt64
  /// Of a gateway, by SIGKILL.
  package var kills = 6
  package var restarts = 3
  package var pauses = 20
  /// Second of the day at which it begins.
  package var start = TrialDay.start

  /// Until all have what is in the database: two heartbeats, and the slowest reader.
  private static let settleSecondsMax = 45
  private static let downMicrosecondsMax: UInt32 = 1_500_000
  private static let symbolsMax = 100
  private static let symbolsOfOneMax = 20
  private static let complaintsOfOneMax = 3
  /// Of the day's requests, per cent: when the backup is made and restored.
  private static let backupAt = 30
  private static let restoreAt = 60
  private static let troublesUntil = 90
  private static let requestSymbolsMax = 800

  package init(binary: String, followers: Int, cuts: Int, instruments: Int, seed: UInt64) {
    self.binary = binary
    self.followers = followers
    self.cuts = cuts
    self.instruments = instruments
    self.seed = seed
  }

  private enum Trouble: Sendable {
    case kill(Int)
    case restart, backUp, restore
  }

  /// - Parameter say: called with what happens.
  package func run(say: (String) -> Void = { _ in }) throws -> ChaosVerdict {
    let pair = try GatewayPair(
      "gateway", binary: binary, gateways: 2, instruments: instruments, seed: seed,
      day: start..<TrialDay.stop)
    defer { pair.end() }
    try pair.open()
    var random = SplitMix(seed: seed)
    let (exchange, began) = (pair.world.exchange, pair.world.exchange.requestsAnswered)
    let isDayOver = Locked(false)
    let plans = plans(of: pair.world.symbols.map(\.description), using: &random)
    let crowd = try AppCrowd(
      plans, ports: pair.ports, seed: random.next(),
      troubles: .init(
        cuts: moments(cuts, after: began, using: &random),
        pauses: moments(pauses, after: began, using: &random))
    ) {
      // Also when the day is over: one that comes again then must still not miss its end.
      isDayOver.withLock { $0 } ? .max : exchange.requestsAnswered
    }
    defer { crowd.stop() }
    try pair.startDaemon()
    let missed = try trouble(pair, crowd, after: began, using: &random, say: say)
    try pair.daemon?.finish(secondsMax: 1_800)
    isDayOver.withLock { $0 = true }
    let differences = try settle(pair, crowd, plans)
    return try verdict(pair, crowd, differences, missed)
  }

  // MARK: The plan

  private func plans(of symbols: [String], using random: inout SplitMix) -> [AppFollower.Plan] {
    let pool = Array(symbols.shuffled(using: &random).prefix(Self.symbolsMax))
    return (0..<followers).map { number in
      let count = Int.random(in: 1...min(Self.symbolsOfOneMax, pool.count), using: &random)
      var plan = AppFollower.Plan(symbols: Array(pool.shuffled(using: &random).prefix(count)))
      plan.intervals = Bool.random(using: &random) ? ["1m"] : ["1m", "after_hours", "1d"]
      // Most at the pace of people; some get every sweep.
      plan.everySeconds = [nil, 1, 1, 2, 5].randomElement(using: &random) ?? nil
      plan.isEvents = number % 5 == 0
      plan.receiveBufferBytes = number % 3 == 0 ? 4 << 10 : nil
      return plan
    }
  }

  /// About how often the exchange is asked from the beginning to the end.
  private var requests: Int {
    let batches = (instruments + Self.requestSymbolsMax - 1) / Self.requestSymbolsMax
    return TrialDay.sweeps(from: start) * batches
  }

  private func moments(
    _ count: Int, after began: Int, using random: inout SplitMix
  ) -> [Int] {
    let last = began + max((requests - began) * Self.troublesUntil / 100, 1)
    return (0..<count).map { _ in Int.random(in: began...last, using: &random) }.sorted()
  }

  // MARK: The day

  /// - Returns: troubles for which the day was too short.
  private func trouble(
    _ pair: GatewayPair, _ crowd: AppCrowd, after began: Int, using random: inout SplitMix,
    say: (String) -> Void
  ) throws -> Int {
    let span = max(requests - began, 1)
    var due: [(at: Int, trouble: Trouble)] = [
      (began + span * Self.backupAt / 100, .backUp),
      (began + span * Self.restoreAt / 100, .restore),
    ]
    due += moments(kills, after: began, using: &random).enumerated().map {
      ($1, .kill($0 % pair.ports.count))
    }
    due += moments(restarts, after: began, using: &random).map { ($0, .restart) }
    due.sort { $0.at < $1.at }
    for (place, next) in due.enumerated() {
      while pair.world.exchange.requestsAnswered < next.at {
        guard pair.isDaemonRunning else { return due.count - place }
        usleep(2_000)
      }
      say("after \(pair.world.exchange.requestsAnswered - began) of \(span): \(next.trouble)")
      switch next.trouble {
      case .kill(let number):
        try pair.kill(
          gateway: number,
          downMicroseconds: .random(in: 0...Self.downMicrosecondsMax, using: &random))
      case .restart:
        try pair.cluster.server.stopImmediately()
        usleep(.random(in: 0...Self.downMicrosecondsMax, using: &random))
        try pair.cluster.server.start()
      case .backUp: try pair.backUp()
      case .restore:
        let epoch = try pair.epoch
        crowd.withState { $0.restored = epoch }
        try pair.restore()
      }
    }
    return 0
  }

  // MARK: The end

  private func settle(
    _ pair: GatewayPair, _ crowd: AppCrowd, _ plans: [AppFollower.Plan]
  ) throws -> [String] {
    let stored = try StoredMarket(
      url: pair.world.url, symbols: Set(plans.flatMap(\.symbols)))
    let deadline = Date().addingTimeInterval(TimeInterval(Self.settleSecondsMax))
    while true {
      let followers = crowd.withState { $0.followers }
      let found = followers.enumerated().map { number, follower in
        stored.differences(of: follower).map { "follower \(number): \($0)" }
      }
      if found.allSatisfy(\.isEmpty) || Date() > deadline {
        return found.flatMap { $0.prefix(Self.complaintsOfOneMax) }
      }
      usleep(500_000)
    }
  }

  private func verdict(
    _ pair: GatewayPair, _ crowd: AppCrowd, _ differences: [String], _ missed: Int
  ) throws -> ChaosVerdict {
    let (followers, cut, paused) = crowd.withState { ($0.followers, $0.cuts, $0.pauses) }
    var verdict = ChaosVerdict(figures: Self.figures(followers, cut, paused))
    for (number, follower) in followers.enumerated() {
      verdict.complaints += follower.complaints.map { "follower \(number): \($0)" }
      if follower.counts.resyncs > Self.resyncsMax {
        verdict.complaints.append("follower \(number): \(follower.counts.resyncs) resyncs")
      }
    }
    verdict.complaints += differences
    if missed > 0 { verdict.complaints.append("the day was over before \(missed) troubles") }
    if cut < cuts { verdict.complaints.append("only \(cut) of \(cuts) connections were cut") }
    for (number, gateway) in pair.gateways.enumerated() where !gateway.isRunning {
      verdict.complaints.append("gateway \(number) ended: \(gateway.logTail)")
    }
    let stored = try pair.world.verify(deaths: 1)
    verdict.figures += stored.figures
    verdict.complaints += stored.complaints
    return verdict
  }

  /// The restored database, and its other epoch; each may be met at both gateways.
  private static let resyncsMax = 4

  private static func figures(
    _ followers: [AppFollower], _ cuts: Int, _ pauses: Int
  ) -> [String] {
    let counts = followers.map(\.counts)
    let codes = counts.reduce(into: [Int: Int]()) { all, one in
      all.merge(one.closeCodes.merging(one.statuses) { $0 + $1 }) { $0 + $1 }
    }
    let sum = { (value: (AppFollower.Counts) -> Int) in counts.reduce(0) { $0 + value($1) } }
    let candles = followers.reduce(0) { $0 + $1.candles.count }
    return [
      "\(followers.count) followers, \(followers.count { $0.plan.isEvents }) by SSE: \(cuts) cuts, "
        + "\(pauses) pauses, \(sum(\.subscribed)) subscriptions, \(sum(\.recovered)) recovered",
      "\(sum(\.messages)) messages, \(candles) candles compared, \(sum(\.resyncs)) resyncs, "
        + "\(sum(\.slow)) times slow, refused or closed: "
        + codes.sorted { $0.key < $1.key }.map { "\($0.key) × \($0.value)" }
        .joined(separator: ", "),
    ]
  }
}
