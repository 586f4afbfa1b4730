import Ingest
import Journal
import Market
import TestSupport
import Testing

/// The crash guarantee without processes: wherever a run is cut off, and whenever it last
/// committed, what it stored plus the journal behind it gives the rows of the run that went on.
@Suite struct RestartEquivalenceTests {
  /// Runs a recording, stopping before the entries in `cuts`. Commits are made at random, so that a
  /// restart has something to read again.
  private func interrupted(
    _ recording: Recording, at cuts: Set<Int>, random: inout SplitMix
  ) throws -> Tables {
    var tables = Tables()
    var pipeline = Pipeline()
    var cutsLeft = cuts
    var next = 0
    while next < recording.entries.count {
      if cutsLeft.remove(next) != nil {
        pipeline = try Pipeline(stored: tables.stored)
        next = Int(tables.position.sequence)
      }
      pipeline.process(recording.entries[next], at: JournalPosition(Int64(next + 1)))
      next += 1
      if Int.random(in: 0..<4, using: &random) == 0, let commit = pipeline.takeCommit() {
        tables.take(commit)
      }
    }
    if let commit = pipeline.takeCommit() { tables.take(commit) }
    return tables
  }

  private func check(
    _ recording: Recording, _ cuts: Set<Int>, _ random: inout SplitMix, seed: UInt64
  ) throws {
    let tables = try interrupted(recording, at: cuts, random: &random)
    #expect(tables.differences(from: recording.tables) == [], "seed \(seed)")
    #expect(tables.candlesTwice.isEmpty, "seed \(seed)")
  }

  @Test func `a day cut at random entries, outages included, stores the same rows`() throws {
    let seed = UInt64.random(in: .min ... .max)
    var random = SplitMix(seed: seed)
    var plan = Recording.Plan(seed: seed)
    plan.outages = [36_000..<36_075, 40_000..<41_200, 41_390..<46_815, 53_990..<54_020]
    let recording = Recording(plan)
    #expect(recording.tables.candles.count > 1000 && !recording.tables.gaps.isEmpty)
    let cuts = Set((0..<300).map { _ in Int.random(in: recording.entries.indices, using: &random) })
    try check(recording, cuts, &random, seed: seed)
  }
}
