import Market
import Testing

@testable import Ingest

@Suite struct SilenceMonitorTests {
  private let calendar = TradingCalendar.shanghai
  private let symbols = ["sh600000", "sh600519"].compactMap { Symbol($0) }
  private var watch = SilenceMonitor()

  private func at(_ hour: Int, _ minute: Int, _ second: Int = 0) throws -> Timestamp {
    let day = try #require(TradingDay("2026-07-06"))
    return Timestamp(day: day, secondOfDay: hour * 3_600 + minute * 60 + second)
  }

  private mutating func changes(at moment: Timestamp) -> [SilenceMonitor.Change] {
    watch.changes(at: moment, calendar: calendar, hours: .mainlandChina) { [symbols] in symbols[$0]
    }
  }

  /// The first is refused from 10:02 on, and silent at 10:03:03.
  private mutating func fallSilent() throws -> [SilenceMonitor.Change] {
    watch.accepted(0, at: try at(10, 2))
    for second in stride(from: 3, through: 63, by: 3) {
      watch.refused(0, reason: .lagging, at: try at(10, 2, second))
      watch.accepted(1, at: try at(10, 2, second))
    }
    return changes(at: try at(10, 3, 3))
  }

  @Test mutating func `an instrument whose rows are refused for a minute is silent`() throws {
    let found = try fallSilent()
    #expect(
      found == [SilenceMonitor.Change(symbol: symbols[0], reason: "lagging", since: try at(10, 2))])
    #expect(watch.counts == ["lagging": 1])
  }

  @Test(arguments: [(11, 30), (15, 0), (20, 0)])
  mutating func `out of session no instrument is silent or reported`(
    _ hour: Int, _ minute: Int
  ) throws {
    _ = try fallSilent()
    #expect(changes(at: try at(hour, minute)) == [])
    #expect(watch.counts == [:])
    #expect(changes(at: try at(hour, minute, 30)) == [])
  }

  @Test mutating func `a row that is accepted brings it back`() throws {
    _ = try fallSilent()
    watch.accepted(0, at: try at(10, 3, 6))
    #expect(
      changes(at: try at(10, 3, 15)) == [
        SilenceMonitor.Change(symbol: symbols[0], reason: nil, since: try at(10, 3, 6))
      ])
    #expect(watch.counts == [:])
  }

  @Test mutating func `one that is asked for no more is neither silent nor back`() throws {
    _ = try fallSilent()
    #expect(changes(at: try at(10, 3, 30)) == [] && watch.counts == ["lagging": 1])
    #expect(changes(at: try at(10, 5)) == [] && watch.counts == [:])
  }

  @Test func `the log orders silent instruments by their last row`() throws {
    let changes = [
      SilenceMonitor.Change(symbol: symbols[1], reason: "missing", since: try at(10, 3, 59)),
      SilenceMonitor.Change(symbol: symbols[0], reason: "lagging", since: try at(10, 2, 1)),
    ]
    let now = try at(10, 5)
    #expect(
      SilenceMonitor.Change.silent([changes[1]], at: now) == "since 10:02: sh600000 (lagging)")
    #expect(
      SilenceMonitor.Change.silent(changes, at: now)
        == "since 10:02: sh600000 (lagging); since 10:03: sh600519 (missing)")
    #expect(
      SilenceMonitor.Change.silent(Array(repeating: changes[1], count: 7), at: now)
        .hasSuffix("sh600000 (lagging) and 2 more"))
    #expect(SilenceMonitor.Change.back(changes) == "sh600519, sh600000")
  }
}
