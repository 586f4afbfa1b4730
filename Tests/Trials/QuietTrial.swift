import Commits
import EmbeddedPostgres
import ExchangeSimulator
import Feeds
import Ingest
import Journal
import Market
import Postgres
import Store
import TestExchange
import TestSupport

/// Sweeps that say what the last one said must cost the database nothing. Over lunch, when the
/// exchange itself is silent, through the pipeline and the writer as in the daemon.
package struct QuietTrial: Sendable {
  package var sweeps: Int
  package var instruments: Int

  package init(sweeps: Int, instruments: Int) {
    self.sweeps = sweeps
    self.instruments = instruments
  }

  package struct Verdict: Sendable {
    package var snapshots = 0
    package var changes = 0
    package var writtenRows = 0
    package var walBytes: Int64 = 0
    package var complaints: [String] = []
  }

  /// The bar (issue: Quiet).
  private static let walBytesMax: Int64 = 8 << 10

  package func run() async throws -> Verdict {
    // Vacuuming is the server's own affair, and a transaction.
    let cluster = try PrivateCluster.own(more: ["autovacuum": "off"])
    let url = cluster.server.ownerConnectionString
    try Schema.apply(url: url, sources: SourceRegistry.rows)
    try SQLProbe.run("create extension pg_walinspect", url: url)
    let writer = StoreWriter(url: url)
    try await writer.connect()
    var pipeline = try Pipeline(stored: await writer.load())
    var market = SimulatedMarket(
      seed: 1, day: TradingDay(daysSince1970: 20_640), instruments: instruments)
    let lunch = Timestamp(day: market.day, secondOfDay: 12 * 3600)
    market.advance(to: lunch)
    try await sweep(&market, at: lunch, number: 0, through: &pipeline, to: writer)
    let before = try state(url)
    for number in 1...sweeps {
      let moment = lunch.adding(seconds: Int64(number) * 3)
      try await sweep(&market, at: moment, number: number, through: &pipeline, to: writer)
    }
    let after = try state(url)
    var verdict = Verdict()
    verdict.snapshots = pipeline.counters.snapshots
    verdict.walBytes = try Self.walBytes(from: before.wal, url)
    verdict.changes = Int(after.seq - before.seq)
    verdict.writtenRows = Int(after.rows - before.rows)
    if before.seq == 0 { verdict.complaints.append("the first sweep wrote nothing") }
    if verdict.snapshots != (sweeps + 1) * instruments {
      verdict.complaints.append("\(verdict.snapshots) snapshots were taken in")
    }
    if verdict.walBytes > Self.walBytesMax { verdict.complaints.append("WAL was written") }
    if verdict.changes != 0 { verdict.complaints.append("a change was announced") }
    if verdict.writtenRows != 0 { verdict.complaints.append("rows were written") }
    await writer.disconnect()
    return verdict
  }

  private func sweep(
    _ market: inout SimulatedMarket, at moment: Timestamp, number: Int,
    through pipeline: inout Pipeline, to writer: StoreWriter
  ) async throws {
    let symbols = market.symbols
    let batch = 799
    for (group, start) in stride(from: 0, to: symbols.count, by: batch).enumerated() {
      var part = Array(symbols[start..<min(start + batch, symbols.count)])
      if group > 0 { part.insert(symbols[0], at: 0) }
      let list = Array(part.map(\.description).joined(separator: ",").utf8)
      let entry = JournalEntry.quotes(
        group: UInt16(group), symbols: list, requestedAt: moment, receivedAt: moment,
        body: market.body(for: part))
      pipeline.process(entry, at: JournalPosition(Int64(number * 100 + group + 1)))
    }
    if let commit = pipeline.takeCommit() { _ = try await writer.commit(commit) }
  }

  /// What transactions logged since `start`. Records without a transaction's number are upkeep and
  /// come whether or not anybody writes: who runs, every 15 s; checkpoints; pages that a reader
  /// pruned.
  private static func walBytes(from start: String, _ url: String) throws -> Int64 {
    // Something to end at: an empty stretch cannot be read.
    let end =
      try SQLProbe.run(
        "select pg_logical_emit_message(true, 'quiet', 'the end')", url: url
      ).first?.first ?? nil
    let bytes =
      try SQLProbe.run(
        """
        select coalesce(sum(record_length), 0)
        from pg_get_wal_records_info('\(start)', '\(end ?? "")')
        where xid <> '0' and resource_manager <> 'LogicalMessage'
        """, url: url
      ).first?.first ?? nil
    guard let bytes = bytes.flatMap({ Int64($0) }) else {
      throw TrialFailure("the log cannot be measured from \(start) to \(end ?? "nowhere")")
    }
    return bytes
  }

  private func state(_ url: String) throws -> (wal: String, seq: Int64, rows: Int64) {
    let row = try SQLProbe.run(
      """
      select pg_current_wal_insert_lsn(),
        (select coalesce(max(seq), 0) from candled.change),
        (select sum(n_tup_ins + n_tup_upd + n_tup_del) from pg_stat_user_tables
          where relname in ('candle', 'quote', 'change'))
      """, url: url
    ).first
    func number(_ index: Int) -> Int64 { row?[index].flatMap { Int64($0) } ?? 0 }
    return (row?[0] ?? "", number(1), number(2))
  }
}
