/// Sweeps of the product's writer, in turns: alone, while a session of another PostgreSQL adds up
/// rows of its own, and while a session beside the writer adds up all candles.
///
/// The stranger shares the processor's caches and the memory with the writer, and nothing of the
/// database: what the scan costs beyond it is the database's. What is compared is the CPU time of
/// the writer's server process: on two cores that others use, wall time is mostly what the machine
/// has left. It is printed beside it, with the load.

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
  for row in [\SweepTurn.cpu, \SweepTurn.wall] { report(bench.turns.map { $0[keyPath: row] }) }
  Machine.describe()
  for turn in bench.turns.dropFirst() {
    printLine("  \(turn.name): \(turn.scans) scans begun beside the sweeps")
  }
  let medians = bench.turns.map(\.cpu.median)
  check(
    "CPU of a sweep's commit beside a scan ÷ beside a stranger's", medians[2] / medians[1],
    atMost: 1.1, "×")
  check(
    "CPU of a sweep's commit beside a scan ÷ alone", medians[2] / medians[0], atMost: 1.1, "×")
}

/// What the writer's sweeps are measured beside.
private struct SweepTurn {
  let name: String
  /// Who scans; nil for nobody.
  let scanner: BareConnection?
  let scan: String
  var cpu: BenchRow
  var wall: BenchRow
  var scans = 0

  init(_ name: String, scanner: BareConnection? = nil, scan: String = "") throws {
    self.name = name
    self.scanner = scanner
    self.scan = scan
    cpu = BenchRow("CPU, \(name)")
    wall = BenchRow("wall, \(name)")
    try scanner?.run("set max_parallel_workers_per_gather = 0")
  }

  mutating func begin() throws {
    guard let scanner, scanner.isIdle() else { return }
    try scanner.send(scan)
    scans += 1
  }
}

private struct SweepBench {
  private static let rounds = 3
  /// A minute of sweeps: one of them stores its candles.
  private static let sweeps = 20
  private static let pauseMilliseconds: UInt64 = 1_000

  private let writer: StoreWriter
  private let account: ProcessAccount
  private var market = MovingMarket()
  private var pipeline = Pipeline()
  private var position: Int64 = 0
  private let stranger: PrivateCluster
  var turns: [SweepTurn]

  init(_ database: StoreDatabase) async throws {
    writer = StoreWriter(url: database.url)
    try await writer.connect()
    _ = try await writer.load()
    let beside = try BareConnection(url: database.url)
    account = ProcessAccount(
      pid: try beside.firstRow(
        "select pid from pg_stat_activity where application_name = 'candled writer'")[0])
    stranger = try PrivateCluster.own(isDurable: true)
    let elsewhere = try BareConnection(url: stranger.freshDatabase(named: "stranger"))
    try elsewhere.run(Self.strangersRows)
    turns = [
      try SweepTurn("alone"),
      try SweepTurn("beside a stranger's scan", scanner: elsewhere, scan: Self.scan),
      try SweepTurn("beside a scan", scanner: beside, scan: Self.scan),
    ]
    for _ in 0..<Self.sweeps { _ = try await writer.commit(try sweep()) }
  }

  private static let scan =
    "select trading_day, sum(volume) from candle group by trading_day"
  /// Of the width of candles, and far more than the processor's caches hold.
  private static let strangersRows = """
    create table candle as
    select
      n::integer as instrument_id, '2026-01-01'::date + (n % 250)::integer as trading_day,
      clock_timestamp() as opened_at, 1::smallint as state, 12.34::numeric as open,
      12.35::numeric as high, 12.33::numeric as low, 12.34::numeric as close,
      (n % 9973)::numeric as volume, (n % 99991)::numeric as turnover
    from generate_series(1, 5000000) as n
    """

  mutating func run() async throws {
    for _ in 0..<Self.rounds {
      for turn in turns.indices {
        for _ in 0..<Self.sweeps {
          try await Task.sleep(nanoseconds: Self.pauseMilliseconds * 1_000_000)
          try turns[turn].begin()
          let commit = try sweep()
          let before = (cpu: try account.milliseconds(), wall: milliseconds())
          _ = try await writer.commit(commit)
          turns[turn].cpu.rounds.append(try account.milliseconds() - before.cpu)
          turns[turn].wall.rounds.append(milliseconds() - before.wall)
        }
        turns[turn].scanner?.cancel()
      }
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
