import Commits
import EmbeddedPostgres
import Feeds
import Market
import Postgres
import Store
import TestSupport

/// A consumer that listens and sits idle in a transaction: commits must be as quick as without it,
/// and the queue that fills behind it must be seen. Both sides take turns on one server.
package struct ListenerTrial: Sendable {
  package var commits: Int
  package var instruments: Int

  package init(commits: Int, instruments: Int) {
    self.commits = commits
    self.instruments = instruments
  }

  package struct Verdict: Sendable {
    package var stored = 0
    /// Of a commit, µs p50: without the stuck listener, and with it.
    package var freeMicroseconds: Int64 = 0
    package var stuckMicroseconds: Int64 = 0
    /// Highest share of the queue that was seen.
    package var usage = ExactDecimal.zero
    package var complaints: [String] = []

    package var percent: Int64 { stuckMicroseconds * 100 / max(freeMicroseconds, 1) }
  }

  private static let turns = 6
  /// Beside a commit's own: enough to see in a queue of 8 GB.
  private static let strangeNotices = 1_000

  package func run() async throws -> Verdict {
    let cluster = try PrivateCluster.own(isDurable: true)
    let url = cluster.server.ownerConnectionString
    try Schema.apply(url: url, sources: SourceRegistry.rows)
    let writer = StoreWriter(url: cluster.server.connectionString)
    try await writer.connect()
    var samples = StoreSamples(seed: 1)
    var verdict = Verdict()
    var times: [Bool: [Int64]] = [true: [], false: []]
    var position: Int64 = 0
    for turn in 0..<Self.turns {
      let isStuck = turn % 2 == 1
      let listener = isStuck ? try StuckListener(url) : nil
      for _ in 0..<commits {
        position += 1
        let commit = samples.sweep(
          position: position, instruments: instruments,
          second: Session.morningOpen + Int(position) % 7_000)
        let clock = ContinuousClock()
        let start = clock.now
        let receipt = try await writer.commit(commit)
        let elapsed = clock.now - start
        // The first turn warms the server up.
        if turn > 0 { times[isStuck]?.append(Int64(elapsed / .microseconds(1))) }
        verdict.stored += receipt.seq == nil ? 0 : 1
        if let fault = receipt.notifyFault { verdict.complaints.append("\(fault)") }
      }
      if isStuck { try await look(url, writer, &verdict) }
      listener?.close()
      _ = try await writer.notificationQueue()
    }
    verdict.freeMicroseconds = median(times[false] ?? [])
    verdict.stuckMicroseconds = median(times[true] ?? [])
    if verdict.stored != commits * Self.turns { verdict.complaints.append("commits are missing") }
    if verdict.usage.isZero { verdict.complaints.append("no usage was seen") }
    await writer.disconnect()
    return verdict
  }

  private func look(
    _ url: String, _ writer: StoreWriter, _ verdict: inout Verdict
  ) async throws {
    try SQLProbe.run(
      """
      select count(pg_notify('strange', repeat('x', 7900) || n))
      from generate_series(1, \(Self.strangeNotices)) n
      """, url: url)
    let usage = try await writer.notificationQueue().usage
    verdict.usage = max(verdict.usage, usage)
  }

  private func median(_ times: [Int64]) -> Int64 {
    times.isEmpty ? 0 : times.sorted()[times.count / 2]
  }
}
