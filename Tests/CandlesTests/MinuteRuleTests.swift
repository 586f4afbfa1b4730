import Candles
import Market
import Testing

@Suite struct MinuteRuleTests {
  @Test func `a snapshot stamped on the boundary belongs to the minute that ends there`() throws {
    var tape = Tape()
    try tape.see("09:30:03", last: "10.00", volume: 100)
    try tape.see("09:31:00", last: "10.05", volume: 300)
    try tape.see("09:31:03", last: "10.02", volume: 350)
    tape.advance(to: "09:31:06")
    #expect(tape.minute("09:30")?.row == "10.00 10.05 10.00 10.05 300 3000")
    try tape.see("09:32:03", last: "10.02", volume: 350)
    tape.advance(to: "09:32:06")
    #expect(tape.minute("09:31")?.row == "10.02 10.02 10.02 10.02 50 500")
  }

  @Test(arguments: [Session.morningClose, Session.afternoonClose])
  func `the last minute of a session is final in time beside the time-out of another`(
    _ close: Int
  ) throws {
    var rules = CandleRules()
    // Two minutes after its end a minute is given up: as the grace of the one that ends a session
    // is over, so is the time of the one before it.
    rules.sourceTimeoutSeconds = 120 - rules.graceSeconds
    var tape = Tape()
    tape.book = CandleBook(rules: rules)
    let clock = { (second: Int) in
      [second / 3_600, second / 60 % 60, second % 60].map { ($0 < 10 ? "0" : "") + "\($0)" }
        .joined(separator: ":")
    }
    for second in stride(from: close - 180, through: close + 48, by: 12) {
      try tape.see(
        clock(min(second, close)), last: "10.00", volume: second < close - 20 ? 100 : 300,
        seenAt: clock(second))
    }
    tape.advance(to: clock(close + 60))
    #expect(tape.minute(String(clock(close - 60).prefix(5)))?.volume == ExactDecimal(200))
  }

  @Test func `the opening auction folds into the first minute with the day's own open`() throws {
    var tape = Tape()
    try tape.see("09:20:00", last: "0.00", volume: 0)
    try tape.see("09:25:00", last: "10.00", volume: 1000)
    try tape.see("09:30:57", last: "10.10", volume: 1500)
    try tape.see("09:31:03", last: "10.10", volume: 1500)
    tape.advance(to: "09:31:06")
    #expect(tape.minute("09:30")?.row == "10.00 10.10 10.00 10.10 1500 15000")
  }

  @Test func `indicative prices before the first trade make no candle`() throws {
    var tape = Tape()
    try tape.see("09:16:00", last: "10.50", volume: 0)
    try tape.see("09:24:00", last: "11.00", volume: 0)
    try tape.see("09:31:00", last: "10.00", volume: 100, high: "10.00", low: "10.00")
    tape.advance(to: "09:32:00")
    #expect(tape.minute("09:30")?.row == "10.00 10.00 10.00 10.00 100 1000")
  }

  @Test func `a minute without trades is flat at the last price`() throws {
    var tape = Tape()
    try tape.see("09:30:30", last: "10.00", volume: 100)
    for clock in ["09:30:45", "09:31:00", "09:31:15", "09:31:30", "09:31:45", "09:32:00"] {
      try tape.see("09:30:30", last: "10.00", volume: 100, seenAt: clock)
    }
    tape.advance(to: "09:32:06")
    let candle = try #require(tape.minute("09:31"))
    #expect(candle.row == "10.00 10.00 10.00 10.00 0 0")
    #expect(candle.flags == .noTrade)
  }

  @Test func `before its first trade an instrument is flat at the previous close`() throws {
    var tape = Tape()
    for clock in ["09:30:00", "09:30:15", "09:30:30", "09:30:45", "09:31:00"] {
      try tape.see("09:29:00", last: "0.00", volume: 0, seenAt: clock)
    }
    tape.advance(to: "09:31:06")
    #expect(tape.minute("09:30")?.row == "9.90 9.90 9.90 9.90 0 0")
  }

  @Test func `a halted instrument has no candles`() throws {
    var tape = Tape()
    var quote = try tape.quote("09:29:00", last: "0.00", volume: 0)
    quote.bid = .zero
    quote.ask = .zero
    quote.status = .haltedAllDay
    for second in stride(from: 0, through: 120, by: 15) {
      tape.take(quote, seenAt: tape.moment("09:30:00").adding(seconds: Int64(second)))
    }
    tape.advance(to: "09:33:00")
    #expect(tape.output.candles.isEmpty)
  }

  @Test func `a day extreme that moved across a boundary marks the candle`() throws {
    var tape = Tape()
    try tape.see("09:30:58", last: "10.00", volume: 100)
    try tape.see("09:31:01", last: "10.00", volume: 200, high: "10.30", low: "10.00")
    try tape.see(
      "09:31:58", last: "10.00", volume: 200, high: "10.30", low: "10.00", seenAt: "09:31:10")
    try tape.see(
      "09:32:00", last: "10.00", volume: 300, high: "10.30", low: "9.80", seenAt: "09:32:00")
    tape.advance(to: "09:32:06")
    let candle = try #require(tape.minute("09:31"))
    #expect(candle.high == ExactDecimal(units: 10_30, scale: 2))
    #expect(candle.flags.contains(.extremeAmbiguous))
  }

  @Test func `a straggler after the lunch bell folds into the last minute of the morning`() throws {
    var tape = Tape()
    try tape.see("11:29:59", last: "10.00", volume: 100)
    tape.output = CandleOutput()
    try tape.see("11:30:04", last: "10.20", volume: 160)
    tape.advance(to: "11:31:00")
    #expect(tape.minute("11:29")?.volume == ExactDecimal(60))
    #expect(tape.minute("13:00") == nil)
  }

  @Test func `no minute takes shape during lunch`() throws {
    var tape = Tape()
    try tape.see("11:29:57", last: "10.00", volume: 100)
    #expect(tape.book.formingCandle(at: 0)?.openedAt == tape.moment("11:29:00"))
    try tape.see("11:29:57", last: "10.00", volume: 100, seenAt: "11:30:06")
    tape.advance(to: "11:32:00")
    #expect(tape.minute("11:29") != nil)
    #expect(tape.book.formingCandle(at: 0) == nil)
    try tape.see("11:29:57", last: "10.00", volume: 100, seenAt: "13:00:03")
    #expect(tape.book.formingCandle(at: 0)?.openedAt == tape.moment("13:00:00"))
  }

  @Test func `the closing print belongs to the last minute`() throws {
    var tape = Tape()
    try tape.see("14:59:57", last: "10.00", volume: 100)
    try tape.see("15:00:03", last: "10.20", volume: 900)
    tape.advance(to: "15:01:00")
    #expect(tape.minute("14:59")?.volume == ExactDecimal(800))
    #expect(tape.minute("14:59")?.close == ExactDecimal(units: 10_20, scale: 2))
  }

  @Test func `a print for a final minute is a revision, not a new candle`() throws {
    var tape = Tape()
    try tape.see("09:30:30", last: "10.00", volume: 100)
    try tape.see("09:30:30", last: "10.00", volume: 100, seenAt: "09:30:45")
    try tape.see("09:30:30", last: "10.00", volume: 100, seenAt: "09:31:00")
    tape.advance(to: "09:31:06")
    try tape.see("09:30:59", last: "10.01", volume: 130, seenAt: "09:31:08")
    #expect(tape.output.candles.count == 1)
    #expect(tape.output.revisions.map(\.candle.row) == ["10.00 10.01 10.00 10.01 130 1300"])
    #expect(tape.output.gaps.isEmpty)
    // The next minute, in which nothing trades, goes on from it.
    for second in ["09:31:30", "09:31:45", "09:32:00"] {
      try tape.see("09:30:59", last: "10.01", volume: 130, seenAt: second)
    }
    tape.advance(to: "09:32:06")
    #expect(tape.minute("09:31")?.row == "10.01 10.01 10.01 10.01 0 0")
  }
}
