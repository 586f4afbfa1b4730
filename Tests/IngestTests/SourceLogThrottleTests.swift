import Market
import Polling
import TestSupport
import Testing

@testable import Ingest

@Suite struct SourceLogThrottleTests {
  private let sina = SourceLogThrottle.Name(source: .sina, endpoint: nil)
  private let start = Timestamp(microseconds: 1_700_000_000_000_000)

  @Test func `each change is a line`() {
    var logThrottle = SourceLogThrottle()
    let line = logThrottle.changed(sina, to: .stalled, at: start)
    #expect(line == SourceLogThrottle.Line(name: sina, condition: .stalled))
    #expect(logThrottle.changed(sina, to: .ok, at: start.adding(seconds: 60))?.condition == .ok)
    #expect(logThrottle.settled(at: start.adding(seconds: SourceLogThrottle.spanSeconds)) == [])
  }

  @Test func `a source that flaps for an hour is logged seven times a quarter, and its last state`()
  {
    var logThrottle = SourceLogThrottle()
    var lines: [SourceLogThrottle.Line] = []
    for second in 0..<3_600 {
      let now = start.adding(seconds: Int64(second))
      lines += logThrottle.settled(at: now)
      if second % 3 == 0 {
        if let line = logThrottle.changed(sina, to: second % 2 == 0 ? .ok : .degraded, at: now) {
          lines.append(line)
        }
      }
    }
    lines += logThrottle.settled(at: start.adding(seconds: 3_600))
    #expect(lines.count == 4 * (SourceLogThrottle.changesMax + 1))
    #expect(lines.reduce(0) { $0 + $1.leftOut } == 1_200 - 4 * SourceLogThrottle.changesMax)
    #expect(lines.last?.condition == .degraded)
  }

  @Test func `one that flaps silences no other`() {
    var logThrottle = SourceLogThrottle()
    for _ in 0..<100 { _ = logThrottle.changed(sina, to: .degraded, at: start) }
    let other = SourceLogThrottle.Name(source: .sina, endpoint: "kline")
    #expect(logThrottle.changed(other, to: .stalled, at: start) != nil)
  }

  @Test func `a clock set back ends the quarter`() {
    var logThrottle = SourceLogThrottle()
    for _ in 0...SourceLogThrottle.changesMax {
      _ = logThrottle.changed(sina, to: .degraded, at: start)
    }
    let settled = logThrottle.settled(at: start.adding(seconds: -1))
    #expect(settled == [SourceLogThrottle.Line(name: sina, condition: .degraded, leftOut: 1)])
    #expect(logThrottle.changed(sina, to: .ok, at: start) != nil)
  }
}
