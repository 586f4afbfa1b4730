import ExchangeSimulator
import Foundation
import Market
import Platform
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

  private static let sampleSeconds = 5
  private static let residentMebibytesMax = 128.0
  /// Connections come and go with what is asked; more than these at the end are a leak.
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

  private struct Sample {
    var second: Int
    var requests: Int
    var probe: ProcessProbe

    var line: String {
      "\(second) s: \(probe.residentKibibytes / 1024) MiB (\(probe.ownKibibytes / 1024) its own), "
        + "\(probe.descriptors) descriptors, "
        + "\(probe.threads) threads, \(requests) requests"
    }
  }

  /// - Parameter say: hears a line a minute.
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
    report(samples, into: &verdict)
    let sweeps = try world.sweepsJournaled(by: daemon)
    let due = TrialDay.sweeps(from: max(start, Session.auctionOpen))
    verdict.figures.append("\(sweeps) sweeps on its first day, of about \(due) due")
    return verdict
  }

  private func watch(
    _ daemon: DaemonProcess, _ exchange: ExchangeServer, _ say: (String) -> Void
  ) -> [Sample] {
    while daemon.isRunning, exchange.requestsAnswered == 0 { usleep(10_000) }
    let began = MonotonicClock.microseconds()
    let end = hours * 3600 / speed + 60
    var samples: [Sample] = []
    var reported = 0
    while daemon.isRunning {
      let second = Int((MonotonicClock.microseconds() - began) / 1_000_000)
      if second > end { break }
      if let probe = ProcessProbe(daemon.pid), second >= (samples.last?.second ?? -9) + period {
        let sample = Sample(
          second: second, requests: exchange.requestsAnswered, probe: probe)
        samples.append(sample)
        if second >= reported + 60 {
          reported = second
          say(sample.line)
        }
      }
      usleep(50_000)
    }
    return samples
  }

  /// A short soak is sampled more often.
  private var period: Int { warmSeconds < 30 ? 1 : Self.sampleSeconds }

  private func report(_ samples: [Sample], into verdict: inout ChaosVerdict) {
    guard let warm = samples.first(where: { $0.second >= warmSeconds }), let last = samples.last,
      last.second > warm.second
    else {
      verdict.complaints.append("too few samples: \(samples.count)")
      return
    }
    let most = samples.map(\.probe.mebibytes).max() ?? 0
    verdict.figures.insert(
      "\(hours) h at \(speed)×, \(instruments) instruments, \(samples.count) samples, "
        + "\(Int(most)) MiB at most", at: 0)
    verdict.figures.insert("warm after \(warm.line)", at: 1)
    verdict.figures.insert("at the end \(last.line)", at: 2)
    if last.probe.mebibytes > warm.probe.mebibytes * Double(100 + growthPercentMax) / 100 {
      verdict.complaints.append(
        "memory grew from \(Int(warm.probe.mebibytes)) to \(Int(last.probe.mebibytes)) MiB")
    }
    if most > Self.residentMebibytesMax { verdict.complaints.append("\(Int(most)) MiB resident") }
    if last.probe.descriptors > warm.probe.descriptors + Self.descriptorsMoreMax {
      verdict.complaints.append("descriptors leak")
    }
    if last.probe.threads > warm.probe.threads + Self.threadsMoreMax {
      verdict.complaints.append("threads leak")
    }
  }
}
