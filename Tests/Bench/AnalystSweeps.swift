/// Sweeps of the product's writer, alone and while another session adds up all candles, in turns.
///
/// What is judged is the CPU time of the writer's server process: on two cores that others use,
/// wall time is mostly what the machine has left. It is printed beside it, with the load.

import Commits
import Ingest
import Journal
import Market
import Store
import TestSupport

func sweepsBesideScans(_ database: StoreDatabase) async throws {
  // The writer's own series: those of the questions are another source's from now on.
  try database.execute(
    "truncate candled.quote; update candled.instrument set source = 3 where source = 1")
  var bench = try await SweepBench(database)
  try await bench.run()
  report([bench.alone.cpu, bench.beside.cpu])
  report([bench.alone.wall, bench.beside.wall])
  Machine.describe()
  printLine("  \(bench.scans) scans of all candles begun beside the sweeps")
  check(
    "CPU of a sweep's commit beside a scan ÷ alone",
    bench.beside.cpu.median / bench.alone.cpu.median, atMost: 1.1, "×")
}

private struct SweepBench {
  private static let turns = 8
  /// A minute of sweeps: one of them stores its candles.
  private static let sweeps = 20
  private static let pauseMilliseconds: UInt64 = 1_000
  private static let scan = "select trading_day, sum(volume) from candle group by trading_day"

  private let writer: StoreWriter
  private let account: ProcessAccount
  private let peer: BareConnection
  private var market = MovingMarket()
  private var pipeline = Pipeline()
  private var position: Int64 = 0
  var alone = (cpu: BenchRow("CPU, alone"), wall: BenchRow("wall, alone"))
  var beside = (cpu: BenchRow("CPU, beside a scan"), wall: BenchRow("wall, beside a scan"))
  var scans = 0

  init(_ database: StoreDatabase) async throws {
    writer = StoreWriter(url: database.url)
    try await writer.connect()
    _ = try await writer.load()
    peer = try BareConnection(url: database.url)
    try peer.run("set max_parallel_workers_per_gather = 0")
    account = ProcessAccount(
      pid: try peer.firstRow(
        "select pid from pg_stat_activity where application_name = 'candled writer'")[0])
    for _ in 0..<Self.sweeps { _ = try await writer.commit(try sweep()) }
  }

  mutating func run() async throws {
    for turn in 0..<Self.turns {
      for _ in 0..<Self.sweeps {
        try await Task.sleep(nanoseconds: Self.pauseMilliseconds * 1_000_000)
        if turn % 2 == 1, peer.isIdle() {
          try peer.send(Self.scan)
          scans += 1
        }
        let commit = try sweep()
        let before = (cpu: try account.milliseconds(), wall: milliseconds())
        _ = try await writer.commit(commit)
        let cpu = try account.milliseconds() - before.cpu
        let wall = milliseconds() - before.wall
        if turn % 2 == 0 {
          alone.cpu.rounds.append(cpu)
          alone.wall.rounds.append(wall)
        } else {
          beside.cpu.rounds.append(cpu)
          beside.wall.rounds.append(wall)
        }
      }
      peer.cancel()
    }
    await writer.disconnect()
  }

  private mutating func sweep() throws -> Commit {
    market.advance(changing: 0.3)
    for entry in market.entries() {
      position += 1
      pipeline.process(entry, at: JournalPosition(position))
    }
    guard let commit = pipeline.takeCommit() else {
      throw BenchFailure(description: "a sweep that changed rows gave no commit")
    }
    return commit
  }
}
