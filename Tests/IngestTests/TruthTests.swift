import ExchangeSimulator
import Ledgers
import Market
import TestExchange
import TestTraits
import Testing
import Trials

/// Whole days against the exchange's own ledgers, on a small market; `script/trials` runs whole
/// ones. The ledgers share no code with the candle book.
@Suite(.ownThread) struct TruthTests {
  private func differences(_ day: MemoryDay) -> [String] {
    day.recorder.observableLedger().differences(
      candles: Array(day.rows.candles.values), gaps: day.rows.gaps,
      certificates: Array(day.rows.certificates.values))
  }

  @Test(arguments: [1, 2] as [UInt64])
  func `a day watched without a break equals the ledger and has the true totals`(
    seed: UInt64
  ) throws {
    var plan = MemoryDay.Plan(seed: seed)
    plan.instruments = 60
    var day = MemoryDay(plan)
    day.run()
    #expect(differences(day) == [])
    let truth = day.recorder.trueLedger()
    #expect(truth.differences(certificates: Array(day.rows.certificates.values)) == [])
    let (moved, total) = truth.displacement(candles: Array(day.rows.candles.values))
    #expect(moved > 0 && moved * 40 < total, "\(moved) of \(total)")
    #expect(try day.rows.misstatements() == [])
    #expect(!day.rows.certificates.isEmpty && day.rows.gaps.isEmpty)
    #expect(day.rows.rejections.allSatisfy { $0.reason == .unknownSymbol })
  }

  @Test func `outages of any length cost candles and never volume`() throws {
    var plan = MemoryDay.Plan(seed: 3)
    plan.instruments = 16
    // Over the open, 1, 20 and 90 minutes, over lunch, over the close.
    plan.outages = [
      34_150..<34_450, 36_030..<36_092, 36_600..<37_800, 41_000..<47_400, 48_000..<53_400,
      53_940..<54_300,
    ]
    var day = MemoryDay(plan)
    day.run()
    #expect(differences(day) == [])
    #expect(try day.rows.misstatements() == [])
    #expect(!day.rows.certificates.isEmpty && !day.rows.gaps.isEmpty)
  }

  @Test func `a market asked for in several batches equals the ledger`() throws {
    for var trial in [
      TruthTrial.broken(seed: 1, instruments: 30), .alternating(seed: 1, instruments: 30),
    ] {
      trial.plan.batchSymbolsMax = 11
      let complaints = try trial.run().complaints
      #expect(complaints == [])
    }
  }

  @Test func `prints on the edges of outages are where the ledger has them`() throws {
    var plan = MemoryDay.Plan(seed: 5)
    plan.instruments = 60
    // A node that is far behind teaches nothing; those that are not answer as every second minute
    // begins, and rows stamped before that still come.
    plan.staleLagSeconds = 600
    plan.staleSpells = stride(from: 34_920, to: 41_040, by: 120).map { $0 + 12..<$0 + 120 }
    var day = MemoryDay(plan)
    day.run()
    #expect(differences(day) == [])
    #expect(try day.rows.misstatements() == [])
    let counts = Dictionary(grouping: day.rows.gaps, by: \.symbol).mapValues(\.count)
    #expect(counts.values.max() == plan.staleSpells.count)
  }

  @Test func `a late start with stale nodes behind it equals the ledger`() throws {
    var plan = MemoryDay.Plan(seed: 4)
    plan.instruments = 16
    plan.start = 13 * 3600 + 10 * 60 + 7
    plan.staleSpells = [50_000..<50_009, 51_000..<51_040, 52_800..<52_830]
    var day = MemoryDay(plan)
    day.run()
    #expect(differences(day) == [])
    #expect(try day.rows.misstatements() == [])
    #expect(day.rows.gaps.contains { $0.cause == .lateStart })
  }

  @Test func `a false row of the auction that the decoder refuses asks for no correction`() throws {
    var trial = TruthTrial.deceived(seed: 1, instruments: 60)
    trial.plan.falseRows?.instrumentsPerMille = 1000
    trial.plan.falseRows?.kinds = [.highWithinLimits]
    let verdict = try trial.run()
    #expect(verdict.complaints == [])
    let auction = verdict.falseRows.filter { $0.stamp.shanghaiSecondOfDay < 34_200 }
    #expect(auction.contains { $0.fate == .refused })
    #expect(auction.contains { $0.fate != .refused })
  }
}
