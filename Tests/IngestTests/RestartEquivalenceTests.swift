import ExchangeSimulator
import Ingest
import Journal
import Ledgers
import Market
import TestExchange
import TestSupport
import Testing
import Trials

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
    var plan = Recording.plan(seed: seed)
    plan.instruments = 24
    plan.batchSymbolsMax = 10
    plan.outages = [36_000..<36_075, 40_000..<41_200, 41_390..<46_815, 53_990..<54_020]
    let recording = Recording(plan)
    #expect(recording.tables.candles.count > 1000 && !recording.tables.gaps.isEmpty)
    let cuts = Set((0..<300).map { _ in Int.random(in: recording.entries.indices, using: &random) })
    try check(recording, cuts, &random, seed: seed)
  }

  @Test func `cuts between batches, at minute boundaries, in an outage and at day end do not show`()
    throws
  {
    let seed = UInt64.random(in: .min ... .max)
    var random = SplitMix(seed: seed)
    var plan = Recording.plan(seed: seed)
    plan.start = 14 * 3600 + 50 * 60
    plan.cadenceSeconds = 3
    plan.outages = [53_700..<53_790]
    let recording = Recording(plan)
    var cuts: Set<Int> = []
    for minute in 0..<46 {
      // Around each boundary and its timers, entry by entry.
      for second in [0, 3, 6, 7, 36] {
        let entry = recording.entry(at: plan.start + minute * 60 + second)
        cuts.formUnion(entry..<min(entry + 3, recording.entries.count))
      }
    }
    let outage = recording.entry(at: 53_700)
    cuts.formUnion(outage - 2..<outage + 3)
    cuts.formUnion(recording.entries.count - 4..<recording.entries.count)
    try check(recording, cuts, &random, seed: seed)
  }

  @Test func `an instrument no longer asked for is not vouched for after a restart`() throws {
    var market = SimulatedMarket(
      seed: 3, day: TradingDay(daysSince1970: 20_640), instruments: 12)
    let dropped = market.symbols[3]
    let others = market.symbols.filter { $0 != dropped }
    func response(_ second: Int, _ symbols: [Symbol]) -> JournalEntry {
      let now = Timestamp(day: market.day, secondOfDay: second)
      market.advance(to: now)
      return .response(asking: symbols, body: market.body(for: symbols), at: now)
    }
    let all = market.symbols
    var entries = stride(from: 36_000, to: 36_030, by: 3).map { response($0, all) }
    entries += stride(from: 36_030, to: 36_300, by: 3).map { response($0, others) }
    entries += stride(from: 36_300, to: 36_400, by: 3).map { response($0, all) }
    func run(_ cuts: [Int]) throws -> Tables {
      var tables = Tables()
      var pipeline = Pipeline()
      for (place, entry) in entries.enumerated() {
        if cuts.contains(place) { pipeline = try Pipeline(stored: tables.stored) }
        pipeline.process(entry, at: JournalPosition(Int64(place + 1)))
        if let commit = pipeline.takeCommit() { tables.take(commit) }
      }
      return tables
    }
    let whole = try run([])
    #expect(whole.gaps.contains { $0.symbol == dropped && $0.cause == .outage })
    // As the request changes, and again as it changes back.
    let restarted = try run([10, 100])
    #expect(restarted.differences(from: whole) == [])
  }

  @Test func `a restart stands at the moment it was stopped`() throws {
    let recording = Recording(
      {
        var plan = Recording.plan(seed: 2)
        plan.end = plan.start + 120
        return plan
      }())
    let pipeline = try Pipeline(stored: recording.tables.stored)
    #expect(pipeline.knownAt == recording.tables.knownAt)
  }
}
