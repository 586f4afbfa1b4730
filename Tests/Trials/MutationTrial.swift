import ExchangeSimulator
import Foundation
import Market
import TestExchange
import TestSupport

/// Configurations damaged at random, reloaded one after the other: what `candled check --offline`
/// refuses the daemon refuses too, and keeps the old one in force; what it accepts it takes up.
package struct MutationTrial {
  package var binary: String
  package var times: Int
  package var instruments: Int
  package var seed: UInt64

  private static let responseSecondsMax = 10
  private static let bothSidesMin = 100

  package init(binary: String, times: Int, instruments: Int, seed: UInt64) {
    self.binary = binary
    self.times = times
    self.instruments = instruments
    self.seed = seed
  }

  private struct Tally {
    var refused = 0
    var accepted = 0
    /// How often each kind of damage was done.
    var kinds: [String: Int] = [:]
    var complaints: [String] = []
  }

  package func run() throws -> ChaosVerdict {
    let world = try TrialDay("mutations", seed: seed, instruments: instruments)
    defer { world.end() }
    var settings = try world.settings(start: 10 * 3600)
    // At its usual pace: it must still be there when the last of them has been tried.
    settings.scale(by: 1)
    settings["log.level"] = "\"info\""
    let daemon = try world.daemon(settings, binary: binary)
    try daemon.start()
    try waitForPolls(world.exchange, daemon)
    var random = SplitMix(seed: seed)
    let words = ReloadWords(log: daemon.log)
    var tally = Tally()
    for number in 1...times {
      let damage = ConfigurationDamage(settings.text, &random)
      try attempt(damage, number, daemon, words, settings.text, &tally)
    }
    let before = world.exchange.requestsAnswered
    try waitForPolls(world.exchange, daemon)
    daemon.signal(SIGTERM)
    let status = daemon.end(secondsMax: 10)
    var verdict = ChaosVerdict(
      figures: [
        "\(times) configurations, \(tally.refused) refused and \(tally.accepted) taken up, as "
          + "check says; \(world.exchange.requestsAnswered - before) polls afterwards",
        tally.kinds.sorted { $0.key < $1.key }.map { "\($0.value) × \($0.key)" }
          .joined(separator: ", "),
      ], complaints: tally.complaints)
    if status != 0 { verdict.complaints.append("exit status \(status ?? -1) after all that") }
    // One in five or six is harmless: of a few it may be none.
    if tally.refused == 0 || (tally.accepted == 0 && times >= Self.bothSidesMin) {
      verdict.complaints.append("one side only was tried")
    }
    return verdict
  }

  /// Beyond what there was.
  private func waitForPolls(_ exchange: ExchangeServer, _ daemon: DaemonProcess) throws {
    let target = exchange.requestsAnswered + 2
    let deadline = Date().addingTimeInterval(30)
    while exchange.requestsAnswered < target {
      guard daemon.isRunning, Date() < deadline else {
        throw TrialFailure("the daemon asks nothing: \(daemon.logTail)")
      }
      usleep(10_000)
    }
  }

  private func attempt(
    _ damage: ConfigurationDamage, _ number: Int, _ daemon: DaemonProcess, _ words: ReloadWords,
    _ sound: String, _ tally: inout Tally
  ) throws {
    try damage.strike(daemon.configuration)
    tally.kinds[damage.kind.rawValue, default: 0] += 1
    let isValid = try check(daemon) == 0
    let isTaken = try reload(daemon, words)
    if isValid { tally.accepted += 1 } else { tally.refused += 1 }
    if isValid != isTaken {
      tally.complaints.append(
        "configuration \(number), \(damage.kind): check says "
          + (isValid ? "valid" : "invalid") + ", the daemon "
          + (isTaken ? "took it" : "refused it"))
    }
    try damage.mend(daemon.configuration, sound)
    let idle = words.idle
    guard try reload(daemon, words) else {
      tally.complaints.append("configuration \(number): the sound one was refused afterwards")
      return
    }
    // Nothing to change back: the old one had stayed in force.
    if !isTaken, words.idle == idle {
      tally.complaints.append("configuration \(number): refused, and changed something")
    }
  }

  /// - Returns: the exit status of `candled check --offline`.
  private func check(_ daemon: DaemonProcess) throws -> Int32 {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: binary)
    process.arguments = ["check", "--offline", "--config", daemon.configuration]
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    return process.terminationReason == .exit ? process.terminationStatus : 128
  }

  /// - Returns: whether it was taken up.
  private func reload(_ daemon: DaemonProcess, _ words: ReloadWords) throws -> Bool {
    let (accepted, all) = (words.accepted, words.all)
    daemon.signal(SIGHUP)
    let deadline = Date().addingTimeInterval(TimeInterval(Self.responseSecondsMax))
    while Date() < deadline, daemon.isRunning {
      words.follow()
      if words.all > all { return words.accepted > accepted }
      usleep(2_000)
    }
    throw TrialFailure("a reload had no outcome: \(daemon.logTail)")
  }
}
