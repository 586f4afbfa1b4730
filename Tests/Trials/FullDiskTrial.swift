import Commits
import EmbeddedPostgres
import ExchangeSimulator
import Foundation
import Market
import Platform
import Store
import TestExchange
import TestSupport

/// The database's disk is full for some minutes of a market day, under a daemon that goes on
/// asking: its commits are refused, the journal remembers, and once there is space again the table
/// is the ledger.
package struct FullDiskTrial {
  package var binary: String
  package var instruments: Int
  package var seed: UInt64
  /// Simulated minutes for which nothing fits, and how fast they pass.
  package var minutes: Int
  package var speed: Int

  /// A small disk is mounted, which only root may do.
  package static var isPossible: Bool { SmallDisk.isPossible }

  private static let megabytes = 200
  private static let calmSeconds = 2
  /// What a daemon may take to its first commit without the day's end coming too near, and at all.
  private static let rushSeconds = 10
  private static let startSecondsMax = 60
  private static let restMinutes = 6
  private static let noticeSecondsMax = 60.0
  private static let finishSecondsMax = 300

  package init(binary: String, instruments: Int, seed: UInt64, minutes: Int, speed: Int) {
    self.binary = binary
    self.instruments = instruments
    self.seed = seed
    self.minutes = minutes
    self.speed = speed
  }

  package func run() throws -> ChaosVerdict {
    let disk = try SmallDisk(megabytes: Self.megabytes)
    let world = try TrialDay("dbfull", seed: seed, instruments: instruments, disk: disk)
    defer { world.end() }
    guard let postgres = world.cluster?.server else { throw TrialFailure("no cluster") }
    let start =
      15 * 3600 - (minutes + Self.restMinutes) * 60 - (Self.calmSeconds + Self.rushSeconds) * speed
    var settings = try world.settings(start: start)
    settings.scale(by: speed)
    let daemon = try world.daemon(settings, binary: binary)
    try daemon.start()
    try StoredFeed(url: world.url).waitForCommit(secondsMax: Self.startSecondsMax)
    usleep(UInt32(Self.calmSeconds) * 1_000_000)
    try disk.fill()
    let isNoticed = waitForNotice(postgres)
    let asked = world.exchange.requestsAnswered
    usleep(UInt32(minutes * 60_000 / speed) * 1_000)
    let askedMeanwhile = world.exchange.requestsAnswered - asked
    let lived = daemon.isRunning
    disk.empty()
    let back = SystemClock.realMicroseconds()
    // Where not even its log fitted the server went down: its operator starts it again.
    let wentDown = !postgres.isRunning
    if wentDown { try postgres.start() }
    try daemon.finish(secondsMax: Self.finishSecondsMax)
    var verdict = try world.verify(isLate: true)
    let first = try StoredFeed(url: world.url).firstCommit(after: back) ?? 0
    verdict.figures.insert(
      "full for \(minutes) min at \(speed)×, \(askedMeanwhile) answers meanwhile, first commit "
        + "\(max(first - back, 0) / 1000) ms after"
        + (wentDown ? ", the server had gone down" : ""), at: 0)
    if !isNoticed { verdict.complaints.append("the disk was never full for the database") }
    if askedMeanwhile == 0 { verdict.complaints.append("nothing was asked meanwhile") }
    if !lived { verdict.complaints.append("the daemon ended") }
    return verdict
  }

  /// Until the server says so itself.
  private func waitForNotice(_ server: EmbeddedServer) -> Bool {
    let deadline = Date().addingTimeInterval(Self.noticeSecondsMax)
    while Date() < deadline {
      let log = FileManager.default.contents(atPath: server.directory + "/server.log") ?? Data()
      if log.range(of: Data("No space left on device".utf8)) != nil { return true }
      usleep(50_000)
    }
    return false
  }
}
