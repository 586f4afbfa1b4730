import ExchangeSimulator
import Foundation
import Glibc
import Market
import Platform
import TestExchange

/// The built daemon is stopped (SIGSTOP) for minutes of the market's time, under a clock that runs
/// on: what passed meanwhile is in `gap`, and nothing is asked in a hurry afterwards.
package struct PauseTrial {
  package var binary: String
  package var instruments: Int
  package var seed: UInt64
  /// Second of the day at which it begins.
  package var start = 14 * 3600
  package var speed: Int
  /// Of the market's time.
  package var pauseSeconds = 600

  /// A busy machine is late by minutes of the market's time: its certificates must have come due
  /// before the end.
  private static let lateSeconds = 900
  /// After the pause requests are counted for so many seconds of the market's time.
  private static let watchSeconds = 180
  /// What may come beside one sweep every 3 s: the slot in force, and one that was under way.
  private static let extraSweepsMax = 3

  package init(binary: String, instruments: Int, seed: UInt64, speed: Int) {
    (self.binary, self.instruments, self.seed, self.speed) = (binary, instruments, seed, speed)
  }

  package func run() throws -> ChaosVerdict {
    let world = try TrialDay("pause", seed: seed, instruments: instruments)
    defer { world.end() }
    var settings = try world.settings(start: start, stop: TrialDay.stop + Self.lateSeconds)
    settings.scale(by: speed)
    let daemon = try world.daemon(settings, binary: binary)
    try daemon.start()
    // The market has been seen for five minutes.
    let target = 100 * groups
    while daemon.isRunning, world.exchange.requestsAnswered < target { usleep(500) }
    daemon.signal(SIGSTOP)
    usleep(UInt32(pauseSeconds * 1_000_000 / speed))
    let before = world.exchange.requestsAnswered
    let began = MonotonicClock.microseconds()
    daemon.signal(SIGCONT)
    usleep(UInt32(Self.watchSeconds * 1_000_000 / speed))
    let asked = world.exchange.requestsAnswered - before
    let watched = Int(MonotonicClock.microseconds() - began) * speed / 1_000_000
    try daemon.finish(secondsMax: 600)
    var verdict = try world.verify(deaths: 1, isLate: true)
    verdict.figures.insert("\(asked) requests in the \(watched) s after \(pauseSeconds) s", at: 0)
    if asked > (watched / 3 + Self.extraSweepsMax) * groups {
      verdict.complaints.append("\(asked) requests in \(watched) s: a burst")
    }
    let holes = try StoredDay(url: world.url, day: world.day).gaps().filter { gap in
      gap.cause == .outage && gap.to.seconds - gap.from.seconds >= Int64(pauseSeconds) - 60
    }
    if holes.isEmpty { verdict.complaints.append("the pause is in no gap") }
    return verdict
  }

  private var groups: Int { (instruments + 798) / 799 }
}
