import ExchangeSimulator
import Foundation
import Market
import Platform
import TestExchange
import TestSupport

/// A long time in a short one, everything on: what the daemon takes of the machine must not grow.
///
/// It proves that of the things that happen, not of their number: a machine too slow for the speed
/// misses slots, which the daemon leaves out as it should and the day has as gaps. How many sweeps
/// of those due were made is among the figures.
package struct SoakTrial {
  package var binary: String
  package var instruments: Int
  package var seed: UInt64
  /// Simulated, from 09:00 on.
  package var hours: Int
  package var speed: Int
  /// Real seconds after its first request at which the daemon counts as warm.
  package var warmSeconds: Int
  /// Per cent by which memory may have grown since.
  package var growthPercentMax = 5
  /// K-lines a night, and whether US equities are recorded: to find out what memory is for.
  package var repairs = 200
  package var hasUSEquities = true

  private static let residentMebibytesMax = 128
  private static let descriptorsMoreMax = 4
  private static let threadsMoreMax = 2

  package init(
    binary: String, instruments: Int, seed: UInt64, hours: Int, speed: Int, warmSeconds: Int
  ) {
    self.binary = binary
    self.instruments = instruments
    self.seed = seed
    self.hours = hours
    self.speed = speed
    self.warmSeconds = warmSeconds
  }

  /// - Parameter say: hears a line every half a minute.
  package func run(say: (String) -> Void = { _ in }) throws -> ChaosVerdict {
    let world = try TrialDay("soak", seed: seed, instruments: instruments, days: 2)
    defer { world.end() }
    let start = 9 * 3600
    var settings = try world.settings(start: start, stop: start + hours * 3600)
    settings.scale(by: speed)
    settings["log.level"] = "\"info\""
    settings["repair.requests_per_night"] = "\(repairs)"
    if !hasUSEquities {
      settings["alpaca.symbols"] = nil
      settings["alpaca.key_file"] = nil
    }
    settings["sina.history_requests_per_minute"] = "60"
    let daemon = try world.daemon(settings, binary: binary)
    try daemon.start()
    let samples = watch(daemon, world.exchange, say)
    try daemon.finish(secondsMax: 120)
    var verdict = try world.verify(isExact: false)
    verdict.figures.append("\(hours) h at \(speed)×, \(instruments) instruments")
    if let (warm, last) = samples.judge(into: &verdict) {
      if samples.mostMebibytes > Self.residentMebibytesMax {
        verdict.complaints.append("\(samples.mostMebibytes) MiB resident")
      }
      if last.threads > warm.threads + Self.threadsMoreMax {
        verdict.complaints.append("threads leak")
      }
    }
    let sweeps = try world.sweepsJournaled(by: daemon)
    let due = TrialDay.sweeps(from: max(start, Session.auctionOpen))
    verdict.figures.append("\(sweeps) sweeps on its first day, of about \(due) due")
    return verdict
  }

  private func watch(
    _ daemon: DaemonProcess, _ exchange: ExchangeServer, _ say: (String) -> Void
  ) -> ProcessSamples {
    while daemon.isRunning, exchange.requestsAnswered == 0 { usleep(10_000) }
    let began = MonotonicClock.microseconds()
    let end = hours * 3600 / speed + 60
    var samples = ProcessSamples(
      warmSeconds: warmSeconds, growthPercentMax: growthPercentMax,
      descriptorsMoreMax: Self.descriptorsMoreMax)
    while daemon.isRunning {
      let second = Int((MonotonicClock.microseconds() - began) / 1_000_000)
      if second > end { break }
      samples.take(
        of: daemon.pid, second: second, done: "\(exchange.requestsAnswered) requests", say: say)
      usleep(50_000)
    }
    return samples
  }
}
