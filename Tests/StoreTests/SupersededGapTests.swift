import Commits
import Market
import TestSupport
import TestTraits
import Testing

@testable import Store

@Suite(.ownThread) struct SupersededGapTests {
  private func gap(_ volume: Int64, to minute: Int64, _ cause: GapCause = .outage) -> Gap {
    Gap(
      symbol: StoreSamples.symbol(0), tradingDay: StoreSamples.day, from: StoreSamples.start,
      to: StoreSamples.start.adding(seconds: minute * 60), volume: ExactDecimal(volume),
      turnover: ExactDecimal(volume * 10), cause: cause)
  }

  private func commit(_ position: Int64, open: [Gap], closed: [Gap] = []) -> Commit {
    var commit = Commit(
      position: JournalPosition(position), knownAt: StoreSamples.start.adding(seconds: position))
    commit.instruments = [InstrumentRow(symbol: StoreSamples.symbol(0), source: .live)]
    commit.gaps = open
    commit.closedGaps = closed
    return commit
  }

  @Test func `a gap that another took in is closed in the commit that opens the other`()
    async throws
  {
    let database = try StoreDatabase()
    let writer = try await freshWriter(database)
    _ = try await writer.commit(commit(1, open: [gap(5, to: 10), gap(7, to: 20)]))
    let receipt = try await writer.commit(
      commit(2, open: [gap(12, to: 20)], closed: [gap(5, to: 10), gap(7, to: 20)]))
    #expect(receipt.repairs.supersededGaps == 2 && receipt.repairs.closedGaps == 0)
    #expect(
      try database.execute(
        "select volume, state, closed_by from candled.gaps order by id") == [
          ["5", "closed", "superseded"], ["7", "closed", "superseded"], ["12", "open", nil],
        ])
    #expect(
      try database.execute("select closed_gap_ids, gap_ids from candled.change order by seq")
        == [["{}", "{1,2}"], ["{1,2}", "{3}"]])
  }

  @Test func `of two equal gaps one is closed`() async throws {
    let database = try StoreDatabase()
    let writer = try await freshWriter(database)
    _ = try await writer.commit(commit(1, open: [gap(5, to: 10), gap(5, to: 10)]))
    _ = try await writer.commit(commit(2, open: [], closed: [gap(5, to: 10)]))
    #expect(
      try database.execute("select state from candled.gaps order by id")
        == [["open"], ["closed"]])
  }

  @Test func `volume that was taken back is a gap below zero, of no other cause`() async throws {
    let database = try StoreDatabase()
    let writer = try await freshWriter(database)
    _ = try await writer.commit(commit(1, open: [gap(-5, to: 10, .correction)]))
    #expect(
      try database.execute("select volume, cause from candled.gaps") == [["-5", "correction"]])
    let receipt = try await writer.commit(commit(2, open: [gap(-5, to: 10, .outage)]))
    #expect(receipt.refusals.rows == 1)
  }
}
