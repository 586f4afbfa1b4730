import ExchangeSimulator
import Foundation
import Market
import Store
import TestSupport

/// A listener that stays in a transaction and never reads: the daemon's throughput must be what it
/// is without, and the queue the listener holds up must be seen to fill.
///
/// One day, in turns with and without the listener, so that a busy machine slows both alike.
public struct ListenerTrial {
  public var binary: String
  public var instruments: Int
  public var seed: UInt64
  /// Turns with the listener, as many without.
  public var turns: Int
  /// Commits in a turn.
  public var commits: Int

  private static let turnSecondsMax = 120
  /// Time for a commit with the listener, of the time without.
  private static let ratioMax = 1.25

  public init(binary: String, instruments: Int, seed: UInt64, turns: Int, commits: Int) {
    self.binary = binary
    self.instruments = instruments
    self.seed = seed
    self.turns = turns
    self.commits = commits
  }

  public func run() throws -> ChaosVerdict {
    let world = try TrialDay("listener", seed: seed, instruments: instruments)
    defer { world.end() }
    let daemon = try world.daemon(try world.settings(), binary: binary)
    try daemon.start()
    let feed = StoredFeed(url: world.url)
    try wait(commits: 20, feed, daemon)
    var quiet: [Double] = []
    var held: [Double] = []
    var usage = 0.0
    for _ in 0..<turns {
      quiet.append(try millisecondsACommit(feed, daemon))
      let listener = NotificationListener(url: world.url, staysInTransaction: true)
      defer { listener.stop() }
      guard listener.waitUntilListening() else { throw TrialFailure("nobody could listen") }
      held.append(try millisecondsACommit(feed, daemon))
      usage = max(usage, try feed.queueUsage())
    }
    try daemon.finish(secondsMax: 900)
    var verdict = try world.judge()
    let ratio = Self.median(held) / Self.median(quiet)
    verdict.figures.insert(
      "\(turns) turns of \(commits) commits: \(Self.text(Self.median(quiet))) ms a commit "
        + "without, \(Self.text(Self.median(held))) ms with, ratio \(Self.text(ratio)); queue "
        + "\(Self.text(usage * 1_000_000)) millionths full", at: 0)
    if ratio > Self.ratioMax { verdict.complaints.append("commits take \(Self.text(ratio)) ×") }
    if usage == 0 { verdict.complaints.append("the listener held nothing up") }
    return verdict
  }

  private static func median(_ values: [Double]) -> Double {
    values.isEmpty ? 0 : values.sorted()[values.count / 2]
  }

  private static func text(_ value: Double) -> String { "\((value * 100).rounded() / 100)" }

  private func millisecondsACommit(_ feed: StoredFeed, _ daemon: DaemonProcess) throws -> Double {
    let before = try feed.commits()
    let began = realMicroseconds()
    try wait(commits: before + commits, feed, daemon)
    let done = try feed.commits() - before
    return Double(realMicroseconds() - began) / 1000 / Double(max(done, 1))
  }

  private func wait(
    commits target: Int, _ feed: StoredFeed, _ daemon: DaemonProcess
  ) throws {
    let deadline = Date().addingTimeInterval(TimeInterval(Self.turnSecondsMax))
    while try feed.commits() < target {
      guard daemon.isRunning, Date() < deadline else {
        throw TrialFailure("the day was over, or stood still: \(daemon.logTail)")
      }
      usleep(20_000)
    }
  }
}
