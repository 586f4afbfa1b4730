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

  private static let sampleSeconds: Int64 = 5
  private static let sayEvery = 6
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

  private struct Sample {
    var second: Int
    var probe: ProcessProbe

    var line: String {
      "\(second) s: \(probe.residentKibibytes) KiB (\(probe.ownKibibytes) its own), "
        + "\(probe.threads) threads"
    }
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
    let samples = watch(pair, say)
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
    judge(samples, into: &verdict)
    return verdict
  }

  private func watch(_ pair: GatewayPair, _ say: (String) -> Void) -> [Sample] {
    let began = MonotonicClock.seconds()
    var samples: [Sample] = []
    while pair.isDaemonRunning {
      let second = MonotonicClock.seconds() - began
      if second >= Int64(samples.count) * Self.sampleSeconds,
        let probe = ProcessProbe(pair.gateways[0].pid)
      {
        let sample = Sample(second: Int(second), probe: probe)
        if samples.count % Self.sayEvery == 0 { say(sample.line) }
        samples.append(sample)
      }
      usleep(100_000)
    }
    return samples
  }

  private func judge(_ samples: [Sample], into verdict: inout ChaosVerdict) {
    guard let warm = samples.first(where: { $0.second >= warmSeconds }), let last = samples.last,
      last.second > warm.second
    else {
      verdict.complaints.append("too few samples: \(samples.count)")
      return
    }
    let most = samples.map(\.probe.residentKibibytes).max() ?? 0
    verdict.figures += [
      "warm after \(warm.line)", "at the end, \(last.line)",
      "\(samples.count) samples, \(most) KiB at most",
    ]
    let bound = warm.probe.residentKibibytes * (100 + growthPercentMax) / 100
    if last.probe.residentKibibytes > bound {
      verdict.complaints.append(
        "memory grew from \(warm.probe.residentKibibytes) to \(last.probe.residentKibibytes) KiB")
    }
    if last.probe.descriptors > followers + warm.probe.descriptors + Self.descriptorsMoreMax {
      verdict.complaints.append("descriptors leak")
    }
  }
}
