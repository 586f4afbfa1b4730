import ExchangeSimulator
import Foundation
import Glibc
import Market
import Platform
import TestSupport

/// A gateway beside a long day, with apps that come and go all the time: its memory must not grow.
package struct GatewaySoakTrial {
  package var binary: String
  package var followers: Int
  package var instruments: Int
  package var seed: UInt64
  /// Simulated.
  package var hours: Int
  package var speed: Int
  /// Real seconds after which it counts as warm: the ring of its log must be full.
  package var warmSeconds: Int
  /// Per cent by which memory may have grown since.
  package var growthPercentMax = 5

  private static let departuresPerSecond: Int64 = 10
  private static let symbolsOfOne = 5
  private static let descriptorsMoreMax = 8

  package init(
    binary: String, followers: Int, instruments: Int, seed: UInt64, hours: Int, speed: Int,
    warmSeconds: Int
  ) {
    self.binary = binary
    self.followers = followers
    self.instruments = instruments
    self.seed = seed
    self.hours = hours
    self.speed = speed
    self.warmSeconds = warmSeconds
  }

  /// - Parameter say: called with a line every half a minute.
  package func run(say: (String) -> Void = { _ in }) throws -> ChaosVerdict {
    let start = TrialDay.start
    let pair = try GatewayPair(
      "gateway-soak", binary: binary, gateways: 1, instruments: instruments, seed: seed,
      day: start..<start + hours * 3600, days: 2)
    defer { pair.end() }
    try pair.open()
    var random = SplitMix(seed: seed)
    let symbols = pair.world.symbols.map(\.description)
    let plans = (0..<followers).map { number in
      var plan = AppFollower.Plan(
        symbols: Array(symbols.shuffled(using: &random).prefix(Self.symbolsOfOne)))
      plan.everySeconds = [1, 2, 5, 10].randomElement(using: &random)
      plan.isEvents = number % 5 == 0
      return plan
    }
    let crowd = try AppCrowd(
      plans, ports: pair.ports, seed: random.next(),
      troubles: .init(departuresPerSecond: Self.departuresPerSecond)
    ) { 0 }
    defer { crowd.stop() }
    try pair.startDaemon(speed: speed)
    let samples = watch(pair, crowd, say)
    try pair.daemon?.finish(secondsMax: 120)
    let (all, departures) = crowd.withState { ($0.followers, $0.cuts) }
    var verdict = ChaosVerdict()
    let messages = all.reduce(0) { $0 + $1.counts.messages }
    let subscribed = all.reduce(0) { $0 + $1.counts.subscribed }
    verdict.figures.append(
      "\(hours) h at \(speed)×, \(instruments) instruments, \(followers) followers: \(departures) "
        + "departures, \(subscribed) subscriptions, \(messages) messages")
    for (number, follower) in all.enumerated() {
      verdict.complaints += follower.complaints.map { "follower \(number): \($0)" }
    }
    _ = samples.judge(into: &verdict)
    return verdict
  }

  private func watch(
    _ pair: GatewayPair, _ crowd: AppCrowd, _ say: (String) -> Void
  ) -> ProcessSamples {
    let began = MonotonicClock.seconds()
    var samples = ProcessSamples(
      warmSeconds: warmSeconds, growthPercentMax: growthPercentMax,
      descriptorsMoreMax: followers + Self.descriptorsMoreMax)
    while pair.isDaemonRunning {
      samples.take(
        of: pair.gateways[0].pid, second: Int(MonotonicClock.seconds() - began),
        done: "\(crowd.withState { $0.cuts }) departures", say: say)
      usleep(100_000)
    }
    return samples
  }
}
