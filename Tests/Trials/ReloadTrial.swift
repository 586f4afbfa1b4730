import ExchangeSimulator
import Foundation
import Journal
import Market
import TestExchange
import TestSupport

/// Valid reloads under load: each is taken up, no slot of the schedule is missed for one, and the
/// table is the ledger.
///
/// The clock is stepped, so the slots of a day with reloads must be exactly those of one without.
package struct ReloadTrial {
  package var binary: String
  package var times: Int
  package var instruments: Int
  package var seed: UInt64
  /// Second of the day at which it begins.
  package var start = TrialDay.start

  private static let responseSecondsMax = 10

  package init(binary: String, times: Int, instruments: Int, seed: UInt64) {
    self.binary = binary
    self.times = times
    self.instruments = instruments
    self.seed = seed
  }

  package func run() throws -> ChaosVerdict {
    let calm = try TrialDay("calm", seed: seed, instruments: instruments)
    defer { calm.end() }
    let undisturbed = try calm.daemon(try calm.settings(start: start), binary: binary)
    try undisturbed.start()
    try undisturbed.finish(secondsMax: 600)
    let world = try TrialDay("reload", seed: seed, instruments: instruments)
    defer { world.end() }
    let settings = try world.settings(start: start)
    let daemon = try world.daemon(settings, binary: binary)
    try daemon.start()
    let done = try reload(daemon, settings, world.exchange)
    try daemon.finish(secondsMax: 600)
    var verdict = try world.verify()
    let (slots, missed) = try compare(undisturbed, daemon)
    let taken = ReloadWords(log: daemon.log)
    taken.follow()
    verdict.figures.insert(
      "\(done) reloads, \(taken.accepted) taken up, \(taken.refused) refused, \(missed) of "
        + "\(slots) slots missed", at: 0)
    if done < times { verdict.complaints.append("the day was over after \(done) reloads") }
    if taken.accepted != done || taken.refused != 0 {
      verdict.complaints.append("\(done) reloads, \(taken.accepted) taken up")
    }
    if missed != 0 || slots == 0 { verdict.complaints.append("\(missed) slots missed") }
    return verdict
  }

  private func reload(
    _ daemon: DaemonProcess, _ settings: DaemonSettings, _ exchange: ExchangeServer
  ) throws -> Int {
    var random = SplitMix(seed: seed)
    let words = ReloadWords(log: daemon.log)
    let share = max(TrialDay.sweeps(from: start) / 2 / (times + 1), 2)
    for done in 0..<times {
      let target = exchange.requestsAnswered + Int.random(in: 1...share, using: &random)
      while daemon.isRunning, exchange.requestsAnswered < target { usleep(500) }
      var other = settings
      other["log.level"] = done % 2 == 0 ? "\"info\"" : "\"trace\""
      other["quotes.deadline"] = "\"\(20_000 + Int.random(in: 0...500, using: &random))ms\""
      other["sina.requests_per_minute"] = "\(Int.random(in: 400...600, using: &random))"
      try other.text.write(toFile: daemon.configuration, atomically: true, encoding: .utf8)
      daemon.signal(SIGHUP)
      let deadline = Date().addingTimeInterval(TimeInterval(Self.responseSecondsMax))
      while words.accepted <= done, Date() < deadline {
        guard daemon.isRunning else { return done }
        usleep(5_000)
        words.follow()
      }
    }
    return times
  }

  /// The moments the market was asked for in one journal and not in the other.
  private func compare(
    _ calm: DaemonProcess, _ daemon: DaemonProcess
  ) throws -> (slots: Int, missed: Int) {
    let usual = try moments(calm)
    return (usual.count, usual.symmetricDifference(try moments(daemon)).count)
  }

  private func moments(_ daemon: DaemonProcess) throws -> Set<Timestamp> {
    var moments: Set<Timestamp> = []
    guard let reader = try JournalReader.whole(daemon.folder + "/journal") else { return [] }
    while let (_, entry) = try reader.next() {
      if entry.key.hasPrefix("quotes") { moments.insert(entry.requestedAt) }
    }
    return moments
  }
}

/// What a daemon's log says of its reloads, followed as it grows.
final class ReloadWords {
  private(set) var accepted = 0
  private(set) var refused = 0
  /// Reloads that changed nothing.
  private(set) var idle = 0
  private let file: FileHandle?
  private var rest = Data()

  init(log: String) { file = FileHandle(forReadingAtPath: log) }

  var all: Int { accepted + refused }

  /// Takes in what has been written since.
  func follow() {
    rest += (try? file?.readToEnd()) ?? Data()
    guard let end = rest.lastIndex(of: UInt8(ascii: "\n")) else { return }
    let text = String(decoding: rest[...end], as: UTF8.self)
    rest = Data(rest[(end + 1)...])
    for line in text.split(separator: "\n") {
      if line.contains("message=reloaded") {
        accepted += 1
        if line.contains("changed=nothing") { idle += 1 }
      }
      if line.contains("reload refused") { refused += 1 }
    }
  }
}
