import Commits
import EmbeddedPostgres
import ExchangeSimulator
import Foundation
import Ingest
import Logging
import Market
import Operations
import Platform
import Store
import TestSupport

/// The database is down for longer than memory holds: the journal alone remembers, and afterwards
/// the table is the ledger all the same.
///
/// The whole daemon runs in this process, because only so its memory can be made small; it is the
/// same value that `candled run` runs.
package struct OutageTrial {
  package var instruments: Int
  package var seed: UInt64
  /// Simulated minutes for which the database is down, and how fast they pass.
  package var minutes: Int
  package var speed: Int
  /// How many minutes of candles memory holds.
  package var memoryMinutes = 5

  /// Real seconds before the outage, and simulated ones after it until the close.
  private static let calmSeconds = 1
  /// What a daemon may take to its first commit without the day's end coming too near.
  private static let rushSeconds = 15
  /// What memory may take to be full beyond that, on a machine too busy to poll on time.
  private static let fullSecondsMax: Int64 = 60
  private static let restMinutes = 4
  private static let finishSecondsMax = 300

  package init(instruments: Int, seed: UInt64, minutes: Int, speed: Int) {
    self.instruments = instruments
    self.seed = seed
    self.minutes = minutes
    self.speed = speed
  }

  package func run() async throws -> ChaosVerdict {
    let world = try TrialDay("outage", seed: seed, instruments: instruments)
    defer { world.end() }
    guard let postgres = world.cluster?.server else { throw TrialFailure("no cluster") }
    let start =
      15 * 3600 - (minutes + Self.restMinutes) * 60 - (Self.calmSeconds + Self.rushSeconds) * speed
    var text = try world.settings(start: start)
    text.scale(by: speed)
    let file = world.folder + "/candled.toml"
    try text.text.write(toFile: file, atomically: true, encoding: .utf8)
    let settings = try ConfigurationFile.load(file, overrides: [], table: .candled)
    let lines = Lines()
    let log = Logger(label: "candled") { label in
      LineLogHandler(
        label: label, control: LogControl(level: .notice, format: .text), mask: SecretMask(),
        write: { lines.add($0) })
    }
    var daemon = try Daemon(settings: settings, log: log)
    daemon.limits.pendingCandlesMax = instruments * memoryMinutes
    let run = Task { [daemon] in try await daemon.run() }
    while try StoredFeed(url: world.url).firstCommit(after: 0) == nil {
      try await pause(milliseconds: 20)
    }
    try await pause(milliseconds: Self.calmSeconds * 1_000)
    try postgres.stopImmediately()
    try await pause(milliseconds: minutes * 60_000 / speed)
    try await waitUntilMemoryIsFull(lines)
    try postgres.start()
    let back = SystemClock.realMicroseconds()
    let unsaved = try await withDeadline(run, seconds: Self.finishSecondsMax)
    var verdict = try world.verify(isLate: true)
    let first = try StoredFeed(url: world.url).firstCommit(after: back) ?? 0
    verdict.figures.insert(
      "\(minutes) min at \(speed)×, memory for \(memoryMinutes) min, first commit "
        + "\(max(first - back, 0) / 1000) ms after", at: 0)
    if !unsaved.isNone { verdict.complaints.append("\(unsaved) were not saved") }
    if !lines.text.contains(Self.fullWords) {
      verdict.complaints.append("memory was enough: nothing was proven")
    }
    return verdict
  }

  private static let fullWords = "responses are kept in the journal only"

  private func waitUntilMemoryIsFull(_ lines: Lines) async throws {
    let deadline = MonotonicClock.seconds() + Self.fullSecondsMax
    while !lines.text.contains(Self.fullWords), MonotonicClock.seconds() < deadline {
      try await pause(milliseconds: 20)
    }
  }

  private func pause(milliseconds: Int) async throws {
    try await Task.sleep(nanoseconds: UInt64(milliseconds) * 1_000_000)
  }

  private func withDeadline(
    _ run: Task<Unsaved, any Error>, seconds: Int
  ) async throws -> Unsaved {
    let alarm = Task {
      try await Task.sleep(nanoseconds: UInt64(seconds) * 1_000_000_000)
      run.cancel()
    }
    defer { alarm.cancel() }
    return try await run.value
  }

  private final class Lines: Sendable {
    private let bytes = Locked<[UInt8]>([])

    func add(_ line: [UInt8]) { bytes.withLock { $0 += line } }

    var text: String { String(decoding: bytes.withLock { $0 }, as: UTF8.self) }
  }
}
