import Market
import Testing

@testable import Candles

/// What a restart knows of rounded totals and of a change of source.
@Suite struct SourceChangeStateTests {
  private func restarted(_ tape: Tape) throws -> Tape {
    var (tape, copy) = (tape, tape)
    copy.book = CandleBook()
    try copy.book.restore(sharedState: tape.book.sharedState)
    try copy.book.restore(instrument: tape.symbol, state: tape.book.instrumentState(at: 0))
    return copy
  }

  @Test func `a restart knows that totals were rounded and since when a source serves`() throws {
    var tape = Tape()
    try tape.seeExact("09:30:03", last: "10.00", volume: 1000)
    tape.change(at: "09:30:06", to: 9)
    try tape.seeRounded("09:30:06", last: "10.00", volume: 1130)
    var copy = try restarted(tape)
    for place in 0..<2 {
      var one = place == 0 ? tape : copy
      try one.seeRounded("09:30:18", last: "10.00", volume: 900)
      #expect(reason(one.verdicts.last) == .lagging)
      try one.seeRounded("09:30:57", last: "10.00", volume: 1130)
      one.change(at: "09:31:03", to: 0)
      try one.seeExact("09:31:06", last: "10.00", volume: 1130)
      try one.seeExact("09:32:00", last: "10.00", volume: 1130)
      one.advance(to: "09:32:40")
      if place == 0 { tape = one } else { copy = one }
    }
    #expect(tape.keptMinute("09:31")?.flags == .coarse)
    #expect(copy.kept.ordered == tape.kept.ordered)
  }

  @Test func `rows held against the day are still rounded after a restart`() throws {
    var tape = Tape()
    try tape.seeExact("09:30:03", last: "10.00", volume: 1000)
    try tape.seeExact("09:30:06", last: "10.00", volume: 3000)
    try tape.seeRounded("09:30:09", last: "10.00", volume: 1130)
    try tape.seeRounded("09:30:12", last: "10.00", volume: 1140)
    var copy = try restarted(tape)
    try tape.seeRounded("09:30:15", last: "10.00", volume: 1150)
    try copy.seeRounded("09:30:15", last: "10.00", volume: 1150)
    #expect(tape.disputes == [.corrected] && copy.disputes == tape.disputes)
    #expect(copy.book.instruments[0].state == tape.book.instruments[0].state)
    #expect(tape.book.instruments[0].state?.booked.volume == ExactDecimal(1150))
    #expect(tape.book.instruments[0].state?.booked.isCoarse == true)
  }
}
