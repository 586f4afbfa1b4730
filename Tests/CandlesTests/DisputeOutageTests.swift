import Candles
import Market
import Testing

/// Nobody looked for a while beside a false row.
extension DisputeTests {
  /// What is handed out, takes shape or passed unseen is the day's volume. Between a minute's end
  /// and its grace it is not told.
  private func expectAccounted(
    _ tape: Tape, _ volume: Int64, _ location: SourceLocation = #_sourceLocation
  ) throws {
    let kept = KeptDay(tape.output)
    var sum = tape.book.formingCandle(at: 0)?.volume ?? .zero
    for minute in kept.ordered { sum = try sum + minute.volume }
    for gap in kept.gaps { sum = try sum + gap.gap.volume }
    #expect(sum == ExactDecimal(volume), sourceLocation: location)
  }

  private func rows(_ tape: Tape, from clock: String) -> [String] {
    KeptDay(tape.output).ordered.filter { $0.openedAt >= tape.moment(clock) }.map {
      "\($0.volume) \($0.flags.rawValue)"
    }
  }

  /// Polled every 12 s, it hid a minute's end from 09:30:48 to 09:31:12.
  @Test func `a false row proves nothing of the time it hid`() throws {
    var tape = Tape()
    for (clock, volume) in [
      ("09:30:36", 1000), ("09:30:48", 1100), ("09:31:00", 9000), ("09:31:12", 1200),
      ("09:31:24", 1300),
    ] {
      try tape.see(clock, last: "10.00", volume: Int64(volume))
    }
    try expectAccounted(tape, 9000)
    try tape.see("09:31:36", last: "10.00", volume: 1400)
    #expect(kinds(tape) == [.corrected])
    try expectAccounted(tape, 1400)
    try tape.see("09:31:48", last: "10.00", volume: 1500)
    try tape.see("09:32:00", last: "10.00", volume: 1600)
    tape.advance(to: "09:32:06")
    try expectAccounted(tape, 1600)
    #expect(tape.output.gaps.map(\.cause) == [.outage])
    #expect(tape.output.gaps.map(\.from) == [tape.moment("09:30:48")])
    #expect(tape.output.gaps.map(\.to) == [tape.moment("09:31:12")])
    #expect(
      rows(tape, from: "09:30:00")
        == ["1100 \(CandleFlags.partial.rawValue)", "400 \(CandleFlags.partial.rawValue)"])
  }

  @Test func `a false row right after a long outage is no volume taken back`() throws {
    var tape = Tape()
    try tape.see("10:20:03", last: "10.00", volume: 900)
    try tape.see("10:20:12", last: "10.00", volume: 1000)
    try tape.see("10:40:00", last: "10.00", volume: 9000)
    try expectAccounted(tape, 9000)
    try tape.see("10:40:12", last: "10.00", volume: 3000)
    try tape.see("10:40:24", last: "10.00", volume: 3100)
    try expectAccounted(tape, 9000)
    try tape.see("10:40:36", last: "10.00", volume: 3200)
    #expect(kinds(tape) == [.corrected])
    try expectAccounted(tape, 3200)
    #expect(tape.output.gaps.map(\.cause) == [.lateStart, .outage])
    #expect(tape.output.gaps.last?.from == tape.moment("10:20:12"))
    #expect(tape.output.gaps.last?.to == tape.moment("10:40:12"))
    #expect(tape.output.gaps.last?.volume == ExactDecimal(2000))
    try tape.see("10:41:00", last: "10.00", volume: 3300)
    tape.advance(to: "10:41:06")
    #expect(
      rows(tape, from: "10:20:00")
        == ["100 \(CandleFlags.partial.rawValue)", "300 \(CandleFlags.partial.rawValue)"])
  }

  /// The last answer was under way while the minute was given up.
  @Test func `a minute that was given up stays partial when a false row is taken out`() throws {
    var tape = try tapeWithFalseRow()
    try tape.see("09:30:39", last: "10.00", volume: 1200)
    try tape.see("09:30:42", last: "10.00", volume: 1300)
    tape.advance(to: "09:31:36")
    #expect(minuteRows(tape)[tape.moment("09:30:00")]?.flags == .partial)
    try tape.see("09:30:45", last: "10.00", volume: 1400)
    #expect(kinds(tape) == [.corrected])
    #expect(minuteRows(tape)[tape.moment("09:30:00")]?.flags == .partial)
    try expectAccounted(tape, 1400)
    try tape.see("09:31:42", last: "10.00", volume: 1500)
    try expectAccounted(tape, 1500)
    #expect(tape.output.gaps.map(\.from) == [tape.moment("09:30:45")])
  }

  @Test func `readings that come back do not put unseen volume into a minute`() throws {
    var tape = Tape()
    for (clock, volume) in [
      ("09:30:30", 1000), ("09:30:33", 5000), ("09:30:36", 1100), ("09:30:39", 1200),
      ("09:30:42", 1300), ("09:31:12", 5200), ("09:31:15", 5300), ("09:31:18", 5400),
    ] {
      try tape.see(clock, last: "10.00", volume: Int64(volume))
    }
    #expect(kinds(tape) == [.corrected, .undone])
    try expectAccounted(tape, 5400)
    #expect(tape.output.gaps.map(\.from) == [tape.moment("09:30:33")])
    #expect(tape.output.gaps.map(\.to) == [tape.moment("09:31:12")])
    #expect(tape.output.gaps.map(\.volume) == [ExactDecimal(200)])
    #expect(minuteRows(tape)[tape.moment("09:30:00")]?.volume == ExactDecimal(5000))
    #expect(minuteRows(tape)[tape.moment("09:30:00")]?.flags == .partial)
  }

  @Test func `numbers that no market has are remembered or forgotten, and stored`() throws {
    var tape = Tape()
    let huge = Int64.max / 100
    func row(_ clock: String, _ part: Int64) throws -> Quote {
      var quote = try tape.quote(clock, last: "10.00", volume: huge - part, turnover: huge - part)
      for price in [\Quote.open, \.high, \.low, \.last, \.previousClose] {
        quote[keyPath: price] = ExactDecimal(units: huge - part % 2, scale: 6)
      }
      quote.afterHours = AfterHours(volume: ExactDecimal(part), turnover: ExactDecimal(part))
      return quote
    }
    for (place, clock) in ["09:30:30", "09:31:03", "09:32:06", "09:32:09"].enumerated() {
      let quote = try row(clock, Int64(10_000_000 - place * 1_000_000))
      tape.take(quote, seenAt: quote.at)
      tape.book = try restarted(tape.book)
    }
    for clock in ["09:32:12", "09:32:15", "09:32:18"] {
      let quote = try row(clock, 8_500_000)
      tape.take(quote, seenAt: quote.at)
      tape.book = try restarted(tape.book)
    }
    #expect(tape.verdicts.count == 7)
    try expectConserved(tape)
  }
}
