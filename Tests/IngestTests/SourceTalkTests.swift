import Market
import Polling
import Testing

@testable import Ingest

@Suite struct SourceTalkTests {
  private let sina = SourceTalk.Name(source: .sina, endpoint: nil)
  private let start = Timestamp(microseconds: 1_700_000_000_000_000)

  @Test func `each change is a line`() {
    var talk = SourceTalk()
    let line = talk.changed(sina, to: .stalled, at: start)
    #expect(line == SourceTalk.Line(name: sina, condition: .stalled))
    #expect(talk.changed(sina, to: .ok, at: start.adding(seconds: 60))?.condition == .ok)
    #expect(talk.settled(at: start.adding(seconds: SourceTalk.spanSeconds)) == [])
  }

  @Test func `a source that flaps for an hour is told of seven times a quarter, and how it ended`()
  {
    var talk = SourceTalk()
    var lines: [SourceTalk.Line] = []
    for second in 0..<3_600 {
      let now = start.adding(seconds: Int64(second))
      lines += talk.settled(at: now)
      if second % 3 == 0 {
        if let line = talk.changed(sina, to: second % 2 == 0 ? .ok : .degraded, at: now) {
          lines.append(line)
        }
      }
    }
    lines += talk.settled(at: start.adding(seconds: 3_600))
    #expect(lines.count == 4 * (SourceTalk.changesMax + 1))
    #expect(lines.reduce(0) { $0 + $1.leftOut } == 1_200 - 4 * SourceTalk.changesMax)
    #expect(lines.last?.condition == .degraded)
  }

  @Test func `one that flaps silences no other`() {
    var talk = SourceTalk()
    for _ in 0..<100 { _ = talk.changed(sina, to: .degraded, at: start) }
    let other = SourceTalk.Name(source: .sina, endpoint: "kline")
    #expect(talk.changed(other, to: .stalled, at: start) != nil)
  }

  @Test func `a clock set back ends the quarter`() {
    var talk = SourceTalk()
    for _ in 0...SourceTalk.changesMax { _ = talk.changed(sina, to: .degraded, at: start) }
    let settled = talk.settled(at: start.adding(seconds: -1))
    #expect(settled == [SourceTalk.Line(name: sina, condition: .degraded, leftOut: 1)])
    #expect(talk.changed(sina, to: .ok, at: start) != nil)
  }
}
