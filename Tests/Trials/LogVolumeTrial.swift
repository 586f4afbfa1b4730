import Commits
import EmbeddedPostgres
import ExchangeSimulator
import Foundation
import Ledgers
import Market
import Store
import TestExchange
import TestSupport

/// An hour in which everything is away at once: the sources reset, fall silent and send error
/// pages, the database is dead and then silent, the journal's disk is full. The log tells what
/// went and what came back, and is short enough to be read.
package struct LogVolumeTrial {
  package var binary: String
  package var instruments: Int
  package var seed: UInt64
  /// Simulated minutes for which everything is away, and how fast they pass.
  package var minutes: Int
  package var speed: Int

  /// The promise of an hour.
  package static let linesMax = 400

  private static let calmSeconds = 2
  private static let restMinutes = 8
  /// A busy machine is late by an hour of the market's time: it must not end before all is back.
  private static let lateSeconds = 3_600
  private static let recoverySecondsMax = 120.0
  private static let finishSecondsMax = 300
  /// The journal of a small market's hours is a megabyte.
  private static let megabytes = 32

  package init(binary: String, instruments: Int, seed: UInt64, minutes: Int, speed: Int) {
    self.binary = binary
    self.instruments = instruments
    self.seed = seed
    self.minutes = minutes
    self.speed = speed
  }

  package func run() throws -> ChaosVerdict {
    let world = try TrialDay("logs", seed: seed, instruments: instruments)
    defer { world.end() }
    guard let postgres = world.cluster?.server else { throw TrialFailure("no cluster") }
    let proxy = try DatabaseProxy(socketDirectory: postgres.socketDirectory)
    defer { proxy.stop() }
    let start = 15 * 3600 - (minutes + Self.restMinutes) * 60 - Self.calmSeconds * speed
    var settings = try world.settings(
      start: start, stop: TrialDay.stop + Self.lateSeconds, proxy: proxy)
    settings.scale(by: speed)
    settings["log.level"] = "\"info\""
    let daemon = try world.daemon(settings, binary: binary)
    // Where no file system may be mounted the disk is never full.
    let disk = SmallDisk.isPossible ? try daemon.putJournalOnDisk(megabytes: Self.megabytes) : nil
    try daemon.start()
    try waitUntil("leads and commits") { daemon.logContains("message=ready") }
    pause(seconds: Self.calmSeconds)
    let log = LogTail(daemon.log)
    try disk?.fill()
    try postgres.stopImmediately()
    orderOutage(world, from: start + Self.calmSeconds * speed + 60)
    pause(minutes: minutes / 2)
    try postgres.start()
    proxy.freeze()
    pause(minutes: minutes - minutes / 2)
    let lived = daemon.isRunning
    disk?.empty()
    proxy.thaw()
    let isBack = waitForRecovery(log, hasDisk: disk != nil)
    let lines = log.lines
    try daemon.finish(secondsMax: Self.finishSecondsMax)
    // Answers that meet the full disk are nobody's.
    var verdict = try world.verify(deaths: disk == nil ? 0 : nil, isLate: true)
    report(lines, hasDisk: disk != nil, into: &verdict)
    if !lived { verdict.complaints.append("the daemon ended") }
    if !isBack { verdict.complaints.append("it did not say that all came back") }
    return verdict
  }

  /// Three kinds of trouble after each other, for every source; the first minute's answers meet
  /// the full disk.
  private func orderOutage(_ world: TrialDay, from second: Int) {
    let kinds: [Fault.Kind] = [.reset, .neverResponds, .badGateway]
    let span = (minutes - 1) * 60 / kinds.count
    for (place, kind) in kinds.enumerated() {
      for upstream in Fault.Upstream.all {
        world.exchange.order(
          Fault(
            kind, on: upstream, from: world.moment(second + place * span),
            to: world.moment(second + (place + 1) * span)))
      }
    }
  }

  private func pause(seconds: Int) { usleep(UInt32(seconds) * 1_000_000) }

  private func pause(minutes: Int) { usleep(UInt32(minutes * 60_000 / speed) * 1_000) }

  private func waitUntil(_ what: String, _ isSo: () -> Bool) throws {
    let deadline = Date().addingTimeInterval(Self.recoverySecondsMax)
    while !isSo() {
      guard Date() < deadline else { throw TrialFailure("it never \(what)") }
      usleep(20_000)
    }
  }

  private static func wentAndCame(hasDisk: Bool) -> [(went: String, came: String)] {
    let all = [
      ("commit failed, will retry", "commits succeed again"),
      ("cannot take or renew the lease", "the lease is renewed again"),
      ("state=stalled", "state=ok"),
    ]
    return hasDisk
      ? all + [("cannot write to the journal", "writing to the journal works again")] : all
  }

  private func waitForRecovery(_ log: LogTail, hasDisk: Bool) -> Bool {
    let deadline = Date().addingTimeInterval(Self.recoverySecondsMax)
    let words = Self.wentAndCame(hasDisk: hasDisk).map(\.came)
    while Date() < deadline {
      let lines = log.lines
      if words.allSatisfy({ word in lines.contains { $0.contains(word) } }) { return true }
      usleep(50_000)
    }
    return false
  }

  private func report(_ lines: [String], hasDisk: Bool, into verdict: inout ChaosVerdict) {
    let messages = Dictionary(grouping: lines) { line in
      line.firstMatch(of: #/message=("[^"]*"|\S+)/#).map { String($0.1) } ?? line
    }.mapValues(\.count).sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    verdict.figures.insert(
      "\(lines.count) lines of \(Self.linesMax) in \(minutes) min at \(speed)×"
        + (hasDisk ? "" : ", the journal's disk never full") + ": "
        + messages.map { "\($0.value) × \($0.key)" }.joined(separator: ", "), at: 0)
    if lines.count > Self.linesMax {
      verdict.complaints.append("\(lines.count) lines are more than \(Self.linesMax)")
    }
    for word in Self.wentAndCame(hasDisk: hasDisk).map(\.went)
    where !lines.contains(where: { $0.contains(word) }) {
      verdict.complaints.append("no line says: \(word)")
    }
  }
}

/// What a log says from now on.
private struct LogTail {
  private let path: String
  private let start: Int

  init(_ path: String) {
    self.path = path
    start = FileManager.default.contents(atPath: path)?.count ?? 0
  }

  var lines: [String] {
    let bytes = FileManager.default.contents(atPath: path) ?? Data()
    return String(decoding: bytes.dropFirst(start), as: UTF8.self).split(separator: "\n")
      .map(String.init)
  }
}

extension DaemonProcess {
  fileprivate func logContains(_ words: String) -> Bool {
    (try? String(contentsOfFile: log, encoding: .utf8))?.contains(words) ?? false
  }
}
