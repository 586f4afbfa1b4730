/// One transaction that stores a sweep in which every instrument changed, against PostgreSQL's own
/// floor: the same rows, already encoded, by COPY and the plainest MERGE over libpq alone.
///
/// Both sides take turns on one durable cluster (fsync on), so that a disk that is slow today is
/// slow for both. Ours also encodes the rows, tells equal ones from different ones, moves the
/// journal position, writes the change row and notifies. The processors' time of both ends shows
/// what of the difference is whose, also where other programs wait for the same cores.

import Commits
import EmbeddedPostgres
import Glibc
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
  report([bench.bareServer, bench.bareClient, bench.server, bench.client])
  printLine("  the last row closes a minute too: \(bench.candles) candles beside its quotes")
  check("a commit takes", bench.ours.median, atMost: 40, "ms p50")
  check("against the bare side", bench.ours.median / bench.bare.median, atMost: 1.15, "×")
  check("its server's CPU", bench.server.median / bench.bareServer.median, atMost: 1.1, "×")
}

/// By the clock, and of a core in this process and in a server's.
private struct Times {
  var elapsed: Double
  var client: Double
  var server: Double

  func since(_ start: Times) -> Times {
    Times(
      elapsed: elapsed - start.elapsed, client: client - start.client,
      server: server - start.server)
  }
}

private struct CommitBench {
  private static let rounds = 101
  private static let warmingRounds = 5

  private let writer: StoreWriter
  private let peer: BareMerge
  private let account: ProcessAccount
  private var market = MovingMarket()
  private var pipeline = Pipeline()
  private var position: Int64 = 0
  var ours = BenchRow("candled: commit")
  var bare = BenchRow("floor: bare COPY + MERGE")
  var closing = BenchRow("candled: commit that closes a minute")
  var bareServer = BenchRow("floor: CPU of the server")
  var bareClient = BenchRow("floor: CPU of the client")
  var server = BenchRow("candled: CPU of the server")
  var client = BenchRow("candled: CPU of the client")
  var candles = 0

  init(_ database: StoreDatabase) async throws {
    writer = StoreWriter(url: database.url)
    try await writer.connect()
    _ = try await writer.load()
    _ = try await writer.commit(try Self.sweep(&market, &pipeline, &position))
    peer = try BareMerge(url: database.url)
    let process = try database.value(
      """
      select pid
      from pg_stat_activity
      where datname = current_database() and application_name = 'candled writer'
      """)
    account = ProcessAccount(pid: process ?? "")
  }

  mutating func run() async throws {
    for round in 0..<Self.rounds + Self.warmingRounds {
      market.advance(changing: 1)
      let commit = try Self.sweep(&market, &pipeline, &position)
      let before = try times(of: account)
      _ = try await writer.commit(commit)
      let ours = try times(of: account).since(before)
      let rows = try peer.encodedRows()
      let start = try times(of: peer.account)
      try peer.store(rows)
      let floor = try times(of: peer.account).since(start)
      if round < Self.warmingRounds { continue }
      bare.rounds.append(floor.elapsed)
      bareServer.rounds.append(floor.server)
      bareClient.rounds.append(floor.client)
      if commit.candles.isEmpty {
        self.ours.rounds.append(ours.elapsed)
        server.rounds.append(ours.server)
        client.rounds.append(ours.client)
      } else {
        closing.rounds.append(ours.elapsed)
        candles = commit.candles.count
      }
    }
    await writer.disconnect()
  }

  private func times(of account: ProcessAccount) throws -> Times {
    Times(
      elapsed: milliseconds(), client: milliseconds(CLOCK_PROCESS_CPUTIME_ID),
      server: try account.milliseconds())
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
