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

  /// Version 3 as it was written: without the marks of the day, and without them in the last run of
  /// equal numbers of each day before. `book` has one checkpoint.
  private func versionThree(_ book: CandleBook) throws -> [UInt8] {
    var (book, bare) = (book, book)
    bare.memories[0].forget()
    var bytes = book.instrumentState(at: 0)
    bytes[0] = 3
    // Behind it: no gap opened, none closed, no dispute.
    let run = bytes.count - 4
    #expect(bytes.suffix(3) == [0, 0, 0] && (3..<128).contains(bytes[run]))
    bytes[run] -= 2
    // Behind them: how many checkpoints there are, and whether a dispute.
    let marks = bare.instrumentState(at: 0).count - 4
    #expect(bytes[marks..<marks + 3] == [0, 0, 2])
    bytes.removeSubrange(marks..<marks + 2)
    return bytes
  }

  @Test func `state that version 3 stored goes on as it was`() throws {
    var fresh = Tape()
    try fresh.see("09:30:30", last: "10.00", volume: 100)
    try fresh.see("09:30:33", last: "10.10", volume: 200)
    fresh.book.memories[0].checkpoints = Array(fresh.book.memories[0].checkpoints.prefix(1))
    var book = CandleBook()
    try book.restore(sharedState: fresh.book.sharedState)
    try book.restore(instrument: fresh.symbol, state: versionThree(fresh.book))
    #expect(book.instruments[0].state == fresh.book.instruments[0].state)
    let checkpoints = fresh.book.memories[0].checkpoints.map(\.state)
    #expect(book.memories[0].checkpoints.map(\.state) == checkpoints && checkpoints.count == 1)
  }

  @Test func `shared state of version 3 names no change of source`() throws {
    var tape = Tape()
    try tape.see("09:30:30", last: "10.00", volume: 100)
    let state = tape.book.sharedState
    #expect(state.suffix(2) == [0, 0])
    var book = CandleBook()
    try book.restore(sharedState: [3] + state.dropFirst().dropLast(2))
    #expect(book.changedSourceAt == nil && book.progress == tape.book.progress)
  }
}
