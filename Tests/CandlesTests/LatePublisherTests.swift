import Candles
import Market
import TestSupport
import Testing

@Suite struct LatePublisherTests {
  /// A row every 3 s that is 200 s old when it comes, while others of its answer are fresh.
  private func lateDay(_ late: Int, trades: TradedDay) -> Tape {
    var tape = Tape()
    for second in stride(from: Session.morningOpen, through: Session.morningOpen + 3600, by: 3) {
      var row = trades.quote(at: second - late)
      row.secondOfDay = Int32(max(second - late, Session.auctionMatch))
      tape.take(row, seenAt: Timestamp(day: tape.day, secondOfDay: second))
    }
    return tape
  }

  @Test(arguments: [UInt64.random(in: 0...UInt64.max)])
  func `rows that come 200 s late make the same minutes, without a gap`(seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    let trades = try TradedDay(Tape(), tradesMax: 3000, random: &random)
    let late = KeptDay(lateDay(201, trades: trades).output)
    let prompt = KeptDay(lateDay(0, trades: trades).output)
    #expect(late.gaps.isEmpty, "seed \(seed)")
    #expect(late.minutes.count > 50, "seed \(seed)")
    for (openedAt, candle) in late.minutes {
      #expect(prompt.minutes[openedAt]?.values == candle.values, "seed \(seed)")
    }
  }

  @Test func `minutes of a late publisher wait instead of passing for untraded`() throws {
    var random = SplitMix(seed: 7)
    let trades = try TradedDay(Tape(), tradesMax: 3000, random: &random)
    let tape = lateDay(200, trades: trades)
    // Until its first print showed how late it is.
    let settledAt = tape.moment("09:35:00")
    let final = tape.output.candles.filter { $0.openedAt >= settledAt }
    #expect(!final.isEmpty)
    #expect(
      tape.output.revisions.allSatisfy {
        $0.candle.openedAt < settledAt || !$0.candle.volume.isZero
      })
    #expect(final.filter { $0.flags.contains(.noTrade) }.count < final.count / 4)
  }

  @Test func `a late print flattens the minutes after it at its own price`() throws {
    var tape = Tape()
    try tape.see("09:30:57", last: "10.00", volume: 100)
    for clock in [
      "09:31:10", "09:31:25", "09:31:40", "09:31:55", "09:32:10", "09:32:25",
      "09:32:40", "09:32:55", "09:33:08",
    ] {
      try tape.see("09:30:57", last: "10.00", volume: 100, seenAt: clock)
    }
    try tape.see("09:30:59", last: "10.20", volume: 300, seenAt: "09:33:12")
    let kept = KeptDay(tape.output)
    #expect(kept.gaps.isEmpty)
    #expect(kept.minutes[tape.moment("09:30:00")]?.row == "10.00 10.20 10.00 10.20 300 3000")
    #expect(kept.minutes[tape.moment("09:31:00")]?.row == "10.20 10.20 10.20 10.20 0 0")
    #expect(tape.book.formingCandle(at: 0)?.close == (try ExactDecimal("10.20")))
  }

  @Test func `a print on the very second an outage ends belongs to the outage`() throws {
    var tape = Tape()
    try tape.see("09:31:00", last: "10.00", volume: 100)
    try tape.see("09:33:00", last: "10.00", volume: 500)
    try tape.see("09:33:00", last: "10.00", volume: 600, seenAt: "09:33:03")
    #expect(tape.output.gaps.map(\.cause) == [.outage])
    #expect(tape.output.gaps.map(\.volume) == [ExactDecimal(500)])
    #expect(tape.output.gaps.map(\.to) == [tape.moment("09:33:00")])
  }

  @Test func `a print that an outage hid moves the flat minutes since the outage`() throws {
    var tape = Tape()
    try tape.see("09:31:00", last: "10.00", volume: 100)
    try tape.see("09:32:50", last: "10.00", volume: 500, seenAt: "09:33:10")
    for clock in ["09:33:24", "09:33:38", "09:33:52", "09:34:06", "09:34:20", "09:34:34"] {
      try tape.see("09:32:50", last: "10.00", volume: 500, seenAt: clock)
    }
    for clock in ["09:34:48", "09:35:02", "09:35:16"] {
      try tape.see("09:32:50", last: "10.00", volume: 500, seenAt: clock)
    }
    try tape.see("09:32:55", last: "10.20", volume: 600, seenAt: "09:35:20")
    let kept = KeptDay(tape.output)
    #expect(tape.output.gaps.map(\.volume) == [ExactDecimal(500)])
    for (clock, flags) in [("09:33:00", .partial), ("09:34:00", .noTrade)] as [(_, CandleFlags)] {
      #expect(kept.minutes[tape.moment(clock)]?.row == "10.20 10.20 10.20 10.20 0 0", "\(clock)")
      #expect(kept.minutes[tape.moment(clock)]?.flags == flags)
    }
    #expect(tape.book.formingCandle(at: 0)?.close == (try ExactDecimal("10.20")))
  }

  @Test func `a print behind an outage adds no minute from before it to the gap`() throws {
    var tape = Tape()
    try tape.see("09:30:30", last: "10.00", volume: 100)
    for clock in ["09:30:44", "09:30:58", "09:31:12", "09:31:26", "09:31:40", "09:31:54"] {
      try tape.see("09:30:30", last: "10.00", volume: 100, seenAt: clock)
    }
    try tape.see("09:30:30", last: "10.00", volume: 100, seenAt: "09:34:00")
    try tape.see("09:34:00", last: "10.00", volume: 600, seenAt: "09:34:03")
    #expect(tape.output.gaps.map(\.from) == [tape.moment("09:31:54")])
    #expect(tape.output.gaps.map(\.to) == [tape.moment("09:34:00")])
    #expect(tape.output.gaps.map(\.volume) == [ExactDecimal(500)])
  }
}
