import ExchangeSimulator
import Foundation
import Glibc
import Market
import Platform
import TestExchange
import TestSupport

/// A day whose daemon is killed, or told to stop, again and again at seeded moments and started
/// anew each time: the table must be the ledger of what the exchange served.
package struct InterruptTrial {
  package enum Manner: String, Sendable { case kill, terminate }

  package var binary: String
  package var manner: Manner
  package var times: Int
  package var instruments: Int
  /// Second of the day at which it begins.
  package var start = TrialDay.start
  package var seed: UInt64

  /// What a stop may take (issue: exit 0 in ≤ 10 s).
  private static let endSecondsMax = 10
  /// One strike in so many falls into the first moments after the start, before it asks anything.
  private static let earlyEvery = 4
  private static let earlyMicrosecondsMax: UInt32 = 300_000

  package init(binary: String, manner: Manner, times: Int, instruments: Int, seed: UInt64) {
    self.binary = binary
    self.manner = manner
    self.times = times
    self.instruments = instruments
    self.seed = seed
  }

  package func run() throws -> ChaosVerdict {
    let world = try TrialDay(manner.rawValue, seed: seed, instruments: instruments)
    defer { world.end() }
    let settings = try world.settings(start: start)
    let daemon = try world.daemon(settings, binary: binary)
    var random = SplitMix(seed: seed)
    var done = 0
    var slowest = 0
    var complaints: [String] = []
    while done < times {
      try daemon.start()
      wait(for: daemon, world.exchange, isEarly: done % Self.earlyEvery == 3, &random)
      guard daemon.isRunning else { break }
      switch manner {
      case .kill: daemon.kill()
      case .terminate:
        let began = MonotonicClock.microseconds()
        daemon.signal(SIGTERM)
        let status = daemon.end(secondsMax: Self.endSecondsMax)
        slowest = max(slowest, Int((MonotonicClock.microseconds() - began) / 1000))
        if status != 0 {
          complaints.append(
            "stop \(done + 1): "
              + (status.map { "exit status \($0)" } ?? "still there after 10 s"))
          daemon.kill()
        }
      }
      done += 1
    }
    try daemon.start()
    try daemon.finish(secondsMax: 900)
    var verdict = try world.verify(deaths: done)
    let stops = manner == .terminate ? ", slowest exit \(slowest) ms" : ""
    verdict.figures.insert("\(done) of \(times)\(stops)", at: 0)
    verdict.complaints += complaints
    if done < times { verdict.complaints.append("the day was over after \(done) of \(times)") }
    return verdict
  }

  /// Waits until a random part of the day has passed, by what the exchange was asked: however fast
  /// the machine, all strikes fall into the day. Then a little longer, to strike between requests.
  private func wait(
    for daemon: DaemonProcess, _ exchange: ExchangeServer, isEarly: Bool,
    _ random: inout SplitMix
  ) {
    if isEarly {
      usleep(UInt32.random(in: 0...Self.earlyMicrosecondsMax, using: &random))
      return
    }
    let slots = TrialDay.sweeps(from: start) / 2
    let share = max(slots / (times + 1), 2)
    let target = exchange.requestsAnswered + Int.random(in: 1...share, using: &random)
    while daemon.isRunning, exchange.requestsAnswered < target { usleep(500) }
    usleep(UInt32.random(in: 0...4_000, using: &random))
  }
}
