import Market
import Testing

@testable import Ingest

@Suite struct DiskForecastTests {
  private let first = TradingDay.first(of: 2026)

  private func history(_ free: [Int64], of name: String = "database") -> DiskHistory {
    var history = DiskHistory()
    for (number, bytes) in free.enumerated() {
      history.add(
        DiskHistory.Sample(day: first.advanced(by: number), name: name, freeBytes: bytes))
    }
    return history
  }

  @Test func `a disk that fills evenly is full when nothing is left`() {
    let filling = history((0...10).map { 1_000 - 10 * Int64($0) })
    #expect(filling.fullOn(of: "database") == first.advanced(by: 10 + 90))
    #expect(filling.fullOn(of: "journal") == nil)
  }

  @Test func `without a week of days, or without growth, there is no forecast`() {
    #expect(history((0...6).map { 1_000 - 10 * Int64($0) }).fullOn(of: "database") == nil)
    #expect(history((0...9).map { 1_000 + Int64($0) }).fullOn(of: "database") == nil)
    #expect(history((0...9).map { 1 << 50 - Int64($0) }).fullOn(of: "database") == nil)
  }

  @Test func `the most of a day counts, not what a drill takes of it, and four weeks of days`() {
    var filling = history((0...99).map { 10_000 - 10 * Int64($0) })
    let last = first.advanced(by: 99)
    for free: Int64 in [8_000, 9_122, 10] {
      filling.add(DiskHistory.Sample(day: last, name: "database", freeBytes: free))
    }
    #expect(filling.samples.count == 29)
    // 168 in 28 days.
    #expect(filling.fullOn(of: "database") == last.advanced(by: 9_122 / (168 / 28)))
  }

  @Test func `a history is read as it was written, without what is none`() {
    var both = history([5, 4])
    both.add(DiskHistory.Sample(day: first.advanced(by: 1), name: "journal", freeBytes: 9))
    #expect(DiskHistory(text: both.text) == both)
    #expect(DiskHistory(text: "x\n2026-01-01 database many\n" + both.text) == both)
  }
}
