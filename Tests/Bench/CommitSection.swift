/// One transaction that stores a sweep in which every instrument changed, against PostgreSQL's own
/// floor: the same rows, already encoded, by COPY and the plainest MERGE over libpq alone.
///
/// Both sides take turns on one durable cluster (fsync on), so that a disk that is slow today is
/// slow for both. Ours also tells equal rows from different ones, moves the journal position,
/// writes the change row and notifies.

import Commits
import EmbeddedPostgres
import Ingest
import Journal
import Market
import Store
import TestSupport

let commitSection = BenchSection(
  name: "commit", title: "one commit of 5,400 changed quotes, fsync on"
) { _ in
  let database = try StoreDatabase.alone(isDurable: true)
  defer { try? database.server.stopImmediately() }
  var bench = try await CommitBench(database)
  try await bench.run()
  report([bench.bare, bench.ours, bench.closing])
  printLine("  the last row closes a minute too: \(bench.candles) candles beside its quotes")
  check("a commit takes", bench.ours.median, atMost: 40, "ms p50")
  check("against the bare side", bench.ours.median / bench.bare.median, atMost: 2.5, "×")
}

private struct CommitBench {
  private static let rounds = 101
  private static let warmingRounds = 5

  private let writer: StoreWriter
  private let peer: BareMerge
  private var market = MovingMarket()
  private var pipeline = Pipeline()
  private var position: Int64 = 0
  var ours = BenchRow("candled: commit")
  var bare = BenchRow("floor: bare COPY + MERGE")
  var closing = BenchRow("candled: commit that closes a minute")
  var candles = 0

  init(_ database: StoreDatabase) async throws {
    writer = StoreWriter(url: database.url)
    try await writer.connect()
    _ = try await writer.load()
    _ = try await writer.commit(try Self.sweep(&market, &pipeline, &position))
    peer = try BareMerge(url: database.url)
  }

  mutating func run() async throws {
    for round in 0..<Self.rounds + Self.warmingRounds {
      market.advance(changing: 1)
      let commit = try Self.sweep(&market, &pipeline, &position)
      let start = milliseconds()
      _ = try await writer.commit(commit)
      let elapsed = milliseconds() - start
      let rows = try peer.encodedRows()
      let floor = try peer.store(rows)
      if round < Self.warmingRounds { continue }
      bare.rounds.append(floor)
      if commit.candles.isEmpty {
        ours.rounds.append(elapsed)
      } else {
        closing.rounds.append(elapsed)
        candles = commit.candles.count
      }
    }
    await writer.disconnect()
  }

  private static func sweep(
    _ market: inout MovingMarket, _ pipeline: inout Pipeline, _ position: inout Int64
  ) throws -> Commit {
    for entry in market.entries() {
      position += 1
      pipeline.process(entry, at: JournalPosition(position))
    }
    guard let commit = pipeline.takeCommit() else {
      throw BenchFailure(description: "a sweep that changed every row gave no commit")
    }
    return commit
  }
}
