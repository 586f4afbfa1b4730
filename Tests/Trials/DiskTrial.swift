import ExchangeSimulator
import Foundation
import Glibc
import Market
import TestExchange
import TestSupport

/// The disk under the journal of the built daemon is filled in mid-session, again and again, and
/// freed: asking goes on, what could not be journaled is in `gap`, and the daemon heals without a
/// restart.
package struct DiskTrial {
  package var binary: String
  package var times: Int
  package var instruments: Int
  package var seed: UInt64
  /// Second of the day at which it begins.
  package var start = TrialDay.start

  /// The journal of a small market's day is a few megabytes.
  private static let megabytes = 64

  package init(binary: String, times: Int, instruments: Int, seed: UInt64) {
    (self.binary, self.times, self.instruments, self.seed) = (binary, times, instruments, seed)
  }

  /// Whether a file system may be mounted here: as root, outside of most containers.
  package static var isPossible: Bool { SmallDisk.isPossible }

  /// - Throws: where no file system may be mounted; see `isPossible`.
  package func run() throws -> ChaosVerdict {
    let world = try TrialDay("disk", seed: seed, instruments: instruments)
    defer { world.end() }
    let daemon = try world.daemon(try world.settings(start: start), binary: binary)
    let disk = try daemon.putJournalOnDisk(megabytes: Self.megabytes)
    try daemon.start()
    let asked = try disturb(daemon, world.exchange, disk)
    try daemon.finish(secondsMax: 900)
    var verdict = try world.verify(deaths: nil)
    let log = try String(contentsOfFile: daemon.log, encoding: .utf8)
    let refusals = log.components(separatedBy: "cannot write to the journal").count - 1
    let recoveries = log.components(separatedBy: "writing to the journal works again").count - 1
    verdict.figures.insert(
      "filled \(asked.count) times, \(refusals) times refused, \(recoveries) times healed, "
        + "\(asked.reduce(0, +)) requests meanwhile", at: 0)
    if asked.count < times { verdict.complaints.append("the day was over after \(asked.count)") }
    if refusals == 0 || recoveries < refusals {
      verdict.complaints.append("\(refusals) refusals, \(recoveries) recoveries")
    }
    if asked.contains(0) { verdict.complaints.append("nothing was asked while the disk was full") }
    return verdict
  }

  /// - Returns: the requests answered while the disk was full, each time.
  private func disturb(
    _ daemon: DaemonProcess, _ exchange: ExchangeServer, _ disk: SmallDisk
  ) throws -> [Int] {
    var random = SplitMix(seed: seed)
    let share = max(TrialDay.sweeps(from: start) / 2 / (times + 1), 4)
    var asked: [Int] = []
    while asked.count < times {
      wait(for: daemon, exchange, requests: Int.random(in: 2...share, using: &random))
      guard daemon.isRunning else { return asked }
      try disk.fill()
      let before = exchange.requestsAnswered
      wait(for: daemon, exchange, requests: Int.random(in: 3...share, using: &random))
      asked.append(exchange.requestsAnswered - before)
      disk.empty()
    }
    return asked
  }

  private func wait(for daemon: DaemonProcess, _ exchange: ExchangeServer, requests: Int) {
    let target = exchange.requestsAnswered + requests
    while daemon.isRunning, exchange.requestsAnswered < target { usleep(500) }
  }
}
