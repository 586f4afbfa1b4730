import Candles
import Commits
import Feeds
import Journal
import Market
import Operations
import TestSupport
import Testing

@testable import Ingest

/// Odd members on their way through the pipeline, and groups of sources that serve one market.
@Suite struct OptionalMemberFlowTests {
  @Test func `a row without an odd member is booked, and the member is counted`() throws {
    var pipeline = Pipeline()
    var sweep = SinaSweep(seed: 7)
    let row = sweep.row(index: 0)
    var fields = SinaSweep.line(row).split(
      separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
    fields[13] = ArraySlice("9.9.9".utf8)
    let at = try #require(Timestamp(rfc3339: "2026-07-06T15:10:00+08:00"))
    let digest = pipeline.process(
      .quotes(
        group: 0, symbols: Array(row.symbol.utf8), requestedAt: at, receivedAt: at, status: 200,
        body: Array(fields.joined(separator: [UInt8(ascii: ",")]))), at: JournalPosition(1))
    #expect(digest.accepted == 1 && digest.rejected == 0)
    #expect(digest.dropped.map(\.member) == [.bookDepth])
    #expect(pipeline.counters.droppedMembers == [.bookDepth: 1])
    #expect(pipeline.counters.rejectedRows.isEmpty)
  }

  @Test func `no two sources share a group, however many requests each has`() {
    let stage = QuoteStage(.live, rules: CandleRules(), calendar: .shanghai)
    let sources = SourceRegistry.liveSources(of: .live).map(\.mainSeries)
    #expect(sources.count > 1)
    var groups: Set<UInt32> = []
    for source in sources {
      for group in UInt16(0)...50_000 { groups.insert(stage.bookGroup(group, of: source)) }
    }
    #expect(groups.count == sources.count * 50_001)
  }
}
