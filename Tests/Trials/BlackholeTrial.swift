import Commits
import EmbeddedPostgres
import ExchangeSimulator
import Foundation
import Market
import Platform
import Store
import TestExchange
import TestSupport

/// The database's connection falls silent without breaking, again and again: polling goes on as if
/// nothing were, memory stays bounded, and afterwards the table is the ledger.
///
/// The silence is real time, for the timeouts of TCP and libpq are; the market runs faster, so that
/// more is to be remembered than the same silence would cost live.
package struct BlackholeTrial {
  package var binary: String
  package var times: Int
  package var instruments: Int
  package var seed: UInt64
  /// Real seconds of silence.
  package var seconds: Int
  package var speed: Int
  /// Polls during a silence, in per cent of the schedule's.
  package var pacePercentMin = 80

  /// Real seconds of calm before each silence.
  private static let calmSeconds = 2
  private static let residentMebibytesMax = 128.0
  private static let returnSecondsMax = 60
  /// A silence lasts so much longer at most, until polling has made its pace: a busy machine's does
  /// in time, that of a daemon which waits for its database never.
  private static let busySecondsMax = 10

  package init(
    binary: String, times: Int, instruments: Int, seed: UInt64, seconds: Int, speed: Int
  ) {
    self.binary = binary
    self.times = times
    self.instruments = instruments
    self.seed = seed
    self.seconds = seconds
    self.speed = speed
  }

  private struct Spell {
    var share = 0.0
    var mebibytes = 0.0
    /// Real milliseconds from the end of the silence to the first commit.
    var returned = 0
  }

  package func run() throws -> ChaosVerdict {
    let world = try TrialDay("blackhole", seed: seed, instruments: instruments)
    defer { world.end() }
    guard let cluster = world.cluster else { throw TrialFailure("no cluster") }
    let proxy = try DatabaseProxy(socketDirectory: cluster.server.socketDirectory)
    defer { proxy.stop() }
    // Ends before the close; what is left of the day is calm.
    let span = (times * (seconds + Self.calmSeconds + 2) + 5 + Self.busySecondsMax) * speed
    var settings = try world.settings(start: max(15 * 3600 - span, 13 * 3600), proxy: proxy)
    settings.scale(by: speed)
    let daemon = try world.daemon(settings, binary: binary)
    try daemon.start()
    try waitForSweeps(world.exchange, daemon)
    var spells: [Spell] = []
    for _ in 0..<times { spells.append(try silence(proxy, daemon, world)) }
    try daemon.finish(secondsMax: 3_600 * 3 / speed + 120)
    var verdict = try world.verify(isLate: true)
    report(spells, into: &verdict)
    return verdict
  }

  private func waitForSweeps(_ exchange: ExchangeServer, _ daemon: DaemonProcess) throws {
    let deadline = Date().addingTimeInterval(60)
    while exchange.requestsAnswered < 10, daemon.isRunning, Date() < deadline { usleep(10_000) }
    if exchange.requestsAnswered < 10 {
      throw TrialFailure("the daemon asks nothing: \(daemon.logTail)")
    }
  }

  private func silence(
    _ proxy: DatabaseProxy, _ daemon: DaemonProcess, _ world: TrialDay
  ) throws -> Spell {
    let exchange = world.exchange
    usleep(useconds_t(Self.calmSeconds) * 1_000_000)
    let startedAt = exchange.requestsAnswered
    let began = MonotonicClock.microseconds()
    proxy.freeze()
    var spell = Spell()
    var passed = 0.0
    repeat {
      usleep(100_000)
      guard let probe = ProcessProbe(daemon.pid) else {
        throw TrialFailure("the daemon is gone: \(daemon.logTail)")
      }
      spell.mebibytes = max(spell.mebibytes, probe.mebibytes)
      let responses = exchange.requestsAnswered - startedAt
      passed = Double(MonotonicClock.microseconds() - began) / 1_000_000
      spell.share = Double(responses) / passed / (Double(speed) / 3)
    } while passed < Double(seconds)
      || (!isPaced(spell) && passed < Double(seconds + Self.busySecondsMax))
    let ended = SystemClock.realMicroseconds()
    proxy.thaw()
    let deadline = Date().addingTimeInterval(TimeInterval(Self.returnSecondsMax))
    while Date() < deadline {
      if let first = try StoredFeed(url: world.url).firstCommit(after: ended) {
        spell.returned = Int((first - ended) / 1000)
        return spell
      }
      usleep(20_000)
    }
    throw TrialFailure("no commit within \(Self.returnSecondsMax) s of the silence's end")
  }

  private func isPaced(_ spell: Spell) -> Bool { spell.share * 100 >= Double(pacePercentMin) }

  private func report(_ spells: [Spell], into verdict: inout ChaosVerdict) {
    let share = spells.map(\.share).min() ?? 0
    let mebibytes = spells.map(\.mebibytes).max() ?? 0
    let returned = spells.map(\.returned).max() ?? 0
    verdict.figures.insert(
      "\(spells.count) × \(seconds) s of silence at \(speed)×, polls \(Int(share * 100)) % of the "
        + "schedule's at least, \(Int(mebibytes)) MiB at most, first commit \(returned) ms after "
        + "at most",
      at: 0)
    if share * 100 < Double(pacePercentMin) {
      verdict.complaints.append("polling slowed to \(Int(share * 100)) % of the schedule's")
    }
    if mebibytes > Self.residentMebibytesMax {
      verdict.complaints.append("\(Int(mebibytes)) MiB resident")
    }
  }
}
