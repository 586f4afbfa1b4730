import Feeds
import Market
import TestSupport
import Testing

@Suite struct KeyUsageTests {
  private let day = TradingDay(daysSince1970: 20_640)

  @Test func `a row of the ledger is one line of words`() {
    var usage = KeyUsage(source: .mairui, label: "mairui-1", day: day, requests: 17)
    #expect(usage.text == "mairui mairui-1 2026-07-06 17")
    usage.parkedUntil = Timestamp(day: day.advanced(by: 1), secondOfDay: 600)
    usage.parkedReason = .quota
    #expect(usage.text == "mairui mairui-1 2026-07-06 17 quota 1783354200000000")
    #expect(usage.journalKey == "key/mairui/mairui-1")
  }

  @Test func `a row survives a round trip`() {
    for source in SourceRegistry.series.map(\.source) {
      for reason in [nil] + KeyParking.allCases {
        let usage = KeyUsage(
          source: source, label: "a.B_9-", day: day, requests: 0,
          parkedUntil: reason.map { _ in Timestamp(microseconds: 1) }, parkedReason: reason)
        #expect(KeyUsage(text: usage.text) == usage)
      }
    }
  }

  @Test(arguments: [
    "", "mairui", "mairui a 2026-07-06", "mairui a 2026-07-06 1 ", "mairui a 2026-07-06 01",
    "mairui a 2026-07-06 -1", "mairui a 2026-07-06 1 quota", "mairui a 2026-07-06 1 sleep 5",
    "nobody a 2026-07-06 1", "mairui a/b 2026-07-06 1", "mairui  2026-07-06 1",
    "mairui a 2026-02-30 1", "mairui a 2026-07-06 1 quota 5 6", "mairui a 2026-07-06 1 quota +5",
  ])
  func `what is no row is refused`(_ text: String) {
    #expect(KeyUsage(text: text) == nil)
  }

  @Test func `a label is short and plain, and its journal key has at most 64 bytes`() {
    let longest = String(repeating: "a", count: KeyUsage.labelBytesMax)
    #expect(KeyUsage.isLabel(longest))
    #expect(!KeyUsage.isLabel(longest + "a"))
    #expect(["", "a b", "a/b", "键"].filter(KeyUsage.isLabel) == [])
    for source in SourceRegistry.series.map(\.source) {
      let usage = KeyUsage(source: source, label: longest, day: day, requests: 1)
      #expect(usage.journalKey.utf8.count <= 64)
    }
  }
}
