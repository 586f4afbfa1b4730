import Commits
import History
import Ingest
import Journal
import Market
import TestSupport
import Testing

/// A journal replayed without a database: into commits, and against the tables they make.
@Suite struct `A journal replay` {
  private let path: String
  private static let sweeps = 9

  /// Sweeps of two instruments every 20 s, with a timer behind each.
  init() throws {
    path = try PrivateCluster.freshDirectory() + "/journal"
    let writer = try JournalWriter(directory: path)
    var sample = SinaSweep(seed: 3)
    let rows = [sample.row(index: 0), sample.row(index: 8)]
    for sweep in 0..<Self.sweeps {
      let at = Timestamp(
        day: StoreSamples.day, secondOfDay: Session.morningOpen + 20 + sweep * 20)
      let lines = rows.map { row in
        var row = row
        (row.open, row.high, row.low) = (row.last, row.last, row.last)
        row.volume = Int64(sweep + 1) * 100
        row.turnover = row.last * row.volume
        row.time = String("\(at)".dropFirst(11).prefix(8))
        return SinaSweep.line(row)
      }
      try writer.append(
        .quotes(
          group: 0, symbols: Array(rows.map(\.symbol).joined(separator: ",").utf8),
          requestedAt: at, receivedAt: at, body: Array(lines.joined())))
      try writer.append(.timer(at: at.adding(milliseconds: 100)))
    }
    try writer.sync()
  }

  private func replay() throws -> JournalReplay { try JournalReplay(Pipeline(), of: [path]) }

  private func tables() throws -> (StoredTables, JournalPosition) {
    var (replay, tables) = (try replay(), StoredTables())
    while let commit = try replay.nextCommit() { tables.take(commit) }
    return (tables, replay.pipeline.position)
  }

  @Test func `makes a commit of the entries of a second, to the last one`() throws {
    var replay = try replay()
    var positions: [Int64] = []
    while let commit = try replay.nextCommit() { positions.append(commit.position.sequence) }
    #expect(positions == (1...Self.sweeps).map { Int64($0 * 2) })
    #expect(replay.pipeline.counters.entries == Self.sweeps * 2)
  }

  @Test func `finds no difference from the tables it makes itself`() throws {
    let (tables, position) = try tables()
    #expect(!tables.candles.isEmpty && !tables.quoteRows.isEmpty)
    #expect(tables.quoteRows.count == 2)
    var replay = try replay()
    #expect(try replay.differences(from: tables, at: position).total == 0)
  }

  @Test func `compares up to the entry that the tables stand at`() throws {
    var (first, tables) = (try replay(), StoredTables())
    let commit = try #require(try first.nextCommit())
    tables.take(commit)
    var second = try replay()
    #expect(try second.differences(from: tables, at: commit.position).total == 0)
    #expect(second.pipeline.position == commit.position)
  }

  @Test func `refuses tables that stand beyond the journal's end`() throws {
    let (tables, _) = try tables()
    var replay = try replay()
    let error = #expect(throws: HistoryError.self) {
      try replay.differences(from: tables, at: JournalPosition(1_000))
    }
    #expect(error?.code == .journalMismatch)
    #expect(error?.description.contains("stands at journal entry 1000") == true)
  }
}
