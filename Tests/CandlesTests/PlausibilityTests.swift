import Candles
import Market
import Testing

@Suite struct PlausibilityTests {
  func opened() throws -> Tape {
    var tape = Tape()
    try tape.see("09:30:30", last: "10.00", volume: 1000)
    return tape
  }

  @Test func `time, volume and turnover never go backwards within a day`() throws {
    var tape = try opened()
    try tape.see("09:30:27", last: "10.00", volume: 1100)
    try tape.see("09:30:33", last: "10.00", volume: 999, turnover: 10_000)
    try tape.see("09:30:33", last: "10.00", volume: 1000, turnover: 9_999)
    #expect(
      tape.verdicts.dropFirst().map { reason($0) } == [.lagging, .backwardStamp, .backwardStamp])
  }

  @Test func `a stamp ahead of the receiver's clock is refused`() throws {
    var tape = try opened()
    let quote = try tape.quote("09:41:00", last: "10.00", volume: 1100)
    tape.take(quote, seenAt: tape.moment("09:30:33"))
    #expect(reason(tape.verdicts.last) == .futureStamp)
  }

  @Test func `a price a thousand times too large is refused and its successor taken`() throws {
    var tape = try opened()
    try tape.see("09:30:33", last: "10000.00", volume: 1100, high: "10000.00", low: "10.00")
    #expect(reason(tape.verdicts.last) == .implausible)
    try tape.see("09:30:36", last: "10.01", volume: 1100, high: "10.01", low: "10.00")
    #expect(reason(tape.verdicts.last) == nil)
  }

  @Test func `a volume a thousand times too large is refused and its successor taken`() throws {
    var tape = try opened()
    try tape.see("09:30:33", last: "10.00", volume: 1_100_000, turnover: 11_000)
    #expect(reason(tape.verdicts.last) == .implausible)
    try tape.see("09:30:36", last: "10.01", volume: 1100)
    #expect(reason(tape.verdicts.last) == nil)
  }

  @Test func `the previous close does not change within a day`() throws {
    var tape = try opened()
    var quote = try tape.quote("09:30:33", last: "10.00", volume: 1100)
    quote.previousClose = ExactDecimal(9900)
    tape.take(quote, seenAt: quote.at)
    #expect(reason(tape.verdicts.last) == .implausible)
  }

  @Test func `until something trades the previous close may be put right`() throws {
    var tape = Tape()
    try tape.see("09:03:00", last: "0.00", volume: 0)
    for clock in ["09:15:00", "09:30:00", "09:30:15", "09:30:30", "09:30:45", "09:31:00"] {
      var quote = try tape.quote(clock, last: "0.00", volume: 0)
      quote.previousClose = try ExactDecimal("9.40")
      tape.take(quote, seenAt: quote.at)
    }
    tape.advance(to: "09:31:06")
    #expect(tape.minute("09:30")?.row == "9.40 9.40 9.40 9.40 0 0")
    var traded = try tape.quote("09:31:09", last: "9.50", volume: 100)
    traded.previousClose = try ExactDecimal("9.40")
    tape.take(traded, seenAt: traded.at)
    // Held until three answers agreed.
    #expect(
      tape.verdicts.map { reason($0) == nil } == [
        true, false, false, false, true, true, true, true,
      ])
  }

  @Test func `a weekend is no trading day`() throws {
    var tape = Tape()
    var quote = try tape.quote("09:31:00", last: "10.00", volume: 10)
    quote.tradingDay = quote.tradingDay.advanced(by: -1)
    tape.take(quote, seenAt: tape.moment("09:31:00"))
    #expect(reason(tape.verdicts.last) == .notATradingDay)
  }
}
