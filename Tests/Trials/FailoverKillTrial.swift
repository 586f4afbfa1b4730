import ExchangeSimulator
import Feeds
import Foundation
import Glibc
import Journal
import Market
import TestExchange
import TestSupport

/// The built daemon, killed around the moments at which its live sources begin and cease to refuse
/// it: the table is the ledger of what the journal holds, and a replay comes to the same.
package struct FailoverKillTrial {
  package var binary: String
  package var kills: Int
  package var instruments: Int
  package var seed: UInt64

  /// How far from a change a kill falls, in seconds of the day.
  private static let nearSeconds = 20
  private static let refusals: Set<Int32> = [403, 429, 456]

  package init(binary: String, kills: Int, instruments: Int, seed: UInt64) {
    self.binary = binary
    self.kills = kills
    self.instruments = instruments
    self.seed = seed
  }

  package func run() throws -> ChaosVerdict {
    let world = try TrialDay("failover", seed: seed, instruments: instruments)
    defer { world.end() }
    let plan = BanPlan(seed: seed)
    for fault in plan.faults(on: world.day) { world.exchange.order(fault) }
    var settings = try world.settings()
    settings["quotes.sources"] = "[]"
    let daemon = try world.daemon(settings, binary: binary)
    var done = 0
    for second in moments(of: plan) {
      try daemon.start()
      let moment = world.moment(second)
      while daemon.isRunning, world.exchange.now < moment { usleep(300) }
      guard daemon.isRunning else { break }
      daemon.kill()
      done += 1
    }
    if !daemon.isRunning { try daemon.start() }
    try daemon.finish(secondsMax: 900)
    var verdict = try world.verify(deaths: nil)
    verdict.figures.insert("\(done) kills around \(plan.bans.count) bans", at: 0)
    if done < kills { verdict.complaints.append("\(done) of \(kills) kills") }
    verdict.complaints += try world.replayDifferences(of: daemon, binary: binary)
    verdict.complaints += try coolDownComplaints(of: daemon)
    return verdict
  }

  /// No source was asked within its cool-down, by the daemon that it refused or by one after it.
  private func coolDownComplaints(of daemon: DaemonProcess) throws -> [String] {
    guard let reader = try JournalReader.whole(daemon.folder + "/journal") else {
      return ["no journal"]
    }
    var coolDowns: [Source: CoolDownVerifier] = [:]
    while let (_, entry) = try reader.next() {
      guard entry.key.hasPrefix("quotes") else { continue }
      let isRefused =
        Self.refusals.contains(entry.status)
        || entry.status == 200 && entry.body.starts(with: "<html".utf8)
      coolDowns[entry.source, default: CoolDownVerifier()].asked(
        entry.source.name, at: entry.requestedAt)
      coolDowns[entry.source]?.answered(isRefused: isRefused, at: entry.receivedAt)
    }
    return coolDowns.values.flatMap(\.complaints)
  }

  /// Ascending, each within a few seconds of a ban's beginning, end or cool-down's end.
  private func moments(of plan: BanPlan) -> [Int] {
    var random = SplitMix(seed: seed &+ 0x4B)
    let changes = plan.bans.flatMap { ban in
      [ban.seconds.lowerBound, ban.seconds.upperBound, ban.seconds.lowerBound + 60]
    }.filter { (TrialDay.start + 60..<TrialDay.stop - 300).contains($0) }
    guard !changes.isEmpty else { return [] }
    return (0..<kills).map { number in
      changes[number % changes.count]
        + Int.random(in: -Self.nearSeconds...Self.nearSeconds, using: &random)
    }.sorted()
  }
}

extension TrialDay {
  /// What a replay of a daemon's journal makes otherwise than the table has it.
  func replayDifferences(of daemon: DaemonProcess, binary: String) throws -> [String] {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: binary)
    process.arguments = [
      "replay", daemon.folder + "/journal", "--verify", "--config", daemon.configuration,
    ]
    let output = Pipe()
    (process.standardOutput, process.standardError) = (output, output)
    try process.run()
    let text = String(
      decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return process.terminationStatus == 0 ? [] : ["the replay differs: \(text.suffix(2_000))"]
  }
}
