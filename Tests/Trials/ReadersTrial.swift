import Commits
import EmbeddedPostgres
import Feeds
import Ingest
import Logging
import Market
import Operations
import Platform
import Postgres
import Reader
import Store
import TestSupport

/// Readers who take what all sessions of a server share: its lock table, its connections, and, by
/// not reading, its old rows. Commits beside them are held against commits without them, in turns
/// on one server, and in each turn of theirs a daemon starts. They come again as often as they are
/// ended.
package struct ReadersTrial: Sendable {
  package var commits: Int
  package var instruments: Int

  package init(commits: Int, instruments: Int) {
    self.commits = commits
    self.instruments = instruments
  }

  package struct Verdict: Sendable {
    package var stored = 0
    /// Of a commit, µs p99: without the readers, and beside them.
    package var freeMicroseconds: Int64 = 0
    package var besideMicroseconds: Int64 = 0
    package var starts = 0
    /// The longest a starting daemon waited for its lease and its writer.
    package var startMillisecondsMax: Int64 = 0
    /// Most sessions of readers that were there at once.
    package var sessionsMax = 0
    /// Attempts on the lock table, all refused.
    package var locksRefused = 0
    package var ended = 0
    package var complaints: [String] = []

    package var percent: Int64 { besideMicroseconds * 100 / max(freeMicroseconds, 1) }
  }

  private static let turns = 6
  private static let muteReaders = 4
  /// A daemon tries once a second, and the supervisor looks every two. Between its look and the
  /// crowd's return a connection is free for a tenth of a second: more, where the machine is idle.
  private static let startSecondsMax = 60

  package func run() async throws -> Verdict {
    let cluster = try PrivateCluster.own(isDurable: true)
    let server = cluster.server
    let admin = server.ownerConnectionString
    try Schema.apply(url: admin, sources: SourceRegistry.rows)
    try SQLProbe.run("create role alice login in role candled_reader", url: admin)
    let ended = Locked(0)
    let log = Logger(label: "keeper") { label in
      LineLogHandler(
        label: label, control: LogControl(level: .info, format: .text), mask: SecretMask(),
        isJournal: false,
        write: { _ in ended.withLock { $0 += 1 } })
    }
    let keeper = PostgresSupervisor(server, log: log)
    let watch = Task { await keeper.keepRunning() }
    var verdict = try await turns(server)
    watch.cancel()
    await watch.value
    verdict.ended = ended.withLock { $0 }
    if verdict.stored != commits * Self.turns { verdict.complaints.append("commits are missing") }
    if verdict.ended == 0 { verdict.complaints.append("no reader's session was ended") }
    return verdict
  }

  private func turns(_ server: EmbeddedServer) async throws -> Verdict {
    let writer = StoreWriter(url: server.connectionString)
    try await writer.connect()
    var samples = StoreSamples(seed: 1)
    var verdict = Verdict()
    var times: [Bool: [Int64]] = [true: [], false: []]
    var position: Int64 = 0
    for turn in 0..<Self.turns {
      let isCrowded = turn % 2 == 1
      let crowd = isCrowded ? try Crowd(server, mute: Self.muteReaders) : nil
      if isCrowded { try await start(server, &verdict) }
      for _ in 0..<commits {
        position += 1
        let commit = samples.sweep(
          position: position, instruments: instruments,
          second: Session.morningOpen + Int(position) % 7_000)
        let start = ContinuousClock.now
        let receipt = try await writer.commit(commit)
        let elapsed = ContinuousClock.now - start
        // The first turn warms the server up.
        if turn > 0 { times[isCrowded]?.append(Int64(elapsed / .microseconds(1))) }
        verdict.stored += receipt.seq == nil ? 0 : 1
      }
      if let crowd {
        let end = crowd.leave()
        verdict.sessionsMax = max(verdict.sessionsMax, end.sessionsMax)
        verdict.locksRefused += end.locksRefused
        verdict.complaints += end.complaints
      }
    }
    verdict.freeMicroseconds = percentile99(times[false] ?? [])
    verdict.besideMicroseconds = percentile99(times[true] ?? [])
    await writer.disconnect()
    return verdict
  }

  /// What a daemon does that starts: it adopts the server, looks at the schema, and begins two
  /// sessions of its role. For those it may wait.
  private func start(_ server: EmbeddedServer, _ verdict: inout Verdict) async throws {
    let start = ContinuousClock.now
    do {
      try server.start()
      try Schema.applyIfDifferent(url: server.ownerConnectionString, sources: SourceRegistry.rows)
    } catch {
      verdict.complaints.append("a start was refused: \(error)")
      return
    }
    let writer = HistoryWriter(url: server.connectionString)
    var lease: StoreReader?
    while true {
      do throws(StoreError) {
        if lease == nil { lease = try StoreReader(url: server.connectionString) }
        try await writer.connect()
        break
      } catch {
        let waited = ContinuousClock.now - start
        guard waited < .seconds(Self.startSecondsMax), error.isTransient else {
          verdict.complaints.append("a start was refused: \(error)")
          return
        }
      }
      try await Task.sleep(nanoseconds: 700_000_000)
    }
    verdict.starts += 1
    verdict.startMillisecondsMax = max(
      verdict.startMillisecondsMax, Int64((ContinuousClock.now - start) / .milliseconds(1)))
    await writer.disconnect()
    withExtendedLifetime(lease) {}
  }

  private func percentile99(_ times: [Int64]) -> Int64 {
    times.isEmpty ? 0 : times.sorted()[times.count * 99 / 100]
  }
}
