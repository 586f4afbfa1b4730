/// From the last byte of a sweep to a follower that has its rows: the daemon as it runs, the
/// exchange on loopback, a durable PostgreSQL and a `CandledClient`, all at once.
///
/// The daemon's clock is stepped: it goes on to the next sweep as soon as one is stored, so the
/// follower reads while the next answers come in. In a real day it has three seconds for that.

import CandledClient
import ExchangeSimulator
import Ingest
import Logging
import Market
import Operations
import TestSupport

let latencySection = BenchSection(
  name: "latency", title: "last byte of a sweep → a follower has its rows, 5,400 instruments"
) { _ in
  let day = try SimulatedDay()
  defer { day.end() }
  var bench = LatencyBench()
  try await bench.run(day)
  report([bench.total, bench.commit])
  printLine(
    "  \(bench.total.rounds.count) sweeps, "
      + "\(decimals(bench.quotesPerSweep, 0)) changed quotes in each, "
      + "\(bench.unmatched) more could not be matched")
  check("the follower has a sweep after", bench.total.median, atMost: 80, "ms p50")
  check("the follower has a sweep after", bench.total.quantile(0.99), atMost: 200, "ms p99")
}

private struct LatencyBench {
  private static let sweeps = 240

  var total = BenchRow("candled: last byte → follower")
  var commit = BenchRow("of which: the commit")
  /// Changes whose answers the engine had already forgotten.
  var unmatched = 0
  private var quotes = 0

  var quotesPerSweep: Double { Double(quotes) / Double(max(total.rounds.count, 1)) }

  mutating func run(_ day: SimulatedDay) async throws {
    let settings = try day.settings(from: Session.morningOpen - 3, to: Session.morningClose)
    let daemon = try Daemon(settings: settings, log: Logger(label: "bench") { _ in Silence() })
    let (ready, announce) = AsyncStream.makeStream(of: DaemonHandle.self)
    let running = Task {
      defer { announce.finish() }
      return try await daemon.run { announce.yield($0) }
    }
    for await handle in ready {
      do {
        try await follow(handle)
      } catch {
        handle.engine.stop()
        throw error
      }
      handle.engine.stop()
    }
    _ = try await running.value
  }

  private mutating func follow(_ handle: DaemonHandle) async throws {
    let client = try await CandledClient.connect(handle.storeURL)
    let snapshot = try await client.snapshot()
    var lastResponse: Timestamp?
    for try await case .change(let change) in client.follow(after: snapshot) {
      let seenAt = EngineClock.realNow()
      let commits = await commits(of: handle.engine, from: change.seq)
      defer { lastResponse = commits.answeredAt }
      // A timer's commit has no answer of its own; the first sweep brings the whole market.
      guard let answeredAt = commits.answeredAt, answeredAt != lastResponse, lastResponse != nil
      else {
        continue
      }
      guard commits.sequence == change.seq else {
        unmatched += 1
        continue
      }
      total.rounds.append(Double(seenAt.microseconds(since: answeredAt)) / 1000)
      commit.rounds.append(Double(commits.duration.microseconds) / 1000)
      quotes += change.quotes.count
      if total.rounds.count == Self.sweeps { return }
    }
  }

  /// The engine's commits once it knows of the change; a follower may be quicker.
  private func commits(of engine: Engine, from seq: Int64) async -> CommitAccount {
    while true {
      let commits = await engine.report(on: []).status.commits
      if commits.sequence >= seq { return commits }
      try? await Task.sleep(nanoseconds: 100_000)
    }
  }
}

private struct Silence: LogHandler {
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.critical

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {}
}
