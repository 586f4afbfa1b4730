import Candles
import TestSupport
import Testing

@testable import Market

/// Hours that are longer from a Monday on.
@Suite struct ChangedHoursTests {
  private static let monday = TradingDay(daysSince1970: 20_640)

  private func longer() throws -> TradingHours {
    let rules = RuleFile.parse(
      "cn,,,hours,09:30-11:30 13:00-16:00,2026-07-06,,notice\n"
        + "cn,,,closing_auction,15:57-16:00,2026-07-06,,notice", isOperators: true
    ).rules
    let book = RuleBook(operators: rules)
    let friday = Self.monday.advanced(by: -3)
    #expect(TradingHours(book.mainlandChina(on: friday)) == .mainlandChina)
    return try #require(TradingHours(book.mainlandChina(on: Self.monday)))
  }

  @Test func `from that day on there are the minutes of the longer day`() throws {
    let hours = try longer()
    var tape = Tape()
    tape.book.begin(Self.monday, hours: hours)
    try tape.see("15:30:03", last: "10.00", volume: 100)
    try tape.see("15:30:57", last: "10.01", volume: 300)
    try tape.see("15:31:03", last: "10.02", volume: 400)
    tape.advance(to: "15:32:00")
    #expect(tape.minute("15:30")?.volume == ExactDecimal(300 - 100))
    try tape.see("16:00:03", last: "10.02", volume: 500, seenAt: "16:01:06")
    tape.advance(to: "17:00:00")
    #expect(tape.day1?.closedAt == tape.moment("16:00:00"))
    #expect(tape.day1?.volume == ExactDecimal(500))
    let certificate = try #require(tape.output.certificates.last)
    #expect(certificate.isBalanced)
    let minutes =
      certificate.minutesTraded + certificate.minutesUntraded + certificate.minutesMissing
    #expect(Int(minutes) == hours.minutesPerDay)
  }

  @Test func `what is left of the day before ends by its own hours`() throws {
    var tape = Tape()
    try tape.see("14:00:00", last: "10.00", volume: 100)
    _ = tape.book.takeOutput()
    tape.book.begin(Self.monday.advanced(by: 1), hours: try longer())
    let output = tape.book.takeOutput()
    let certificate = try #require(output.certificates.last)
    #expect(certificate.tradingDay == Self.monday && certificate.exchangeVolume == nil)
    #expect(output.gaps.last?.to == tape.moment("15:00:00"))
  }

  @Test func `a row of a whole day that stands on into longer hours invents nothing`() throws {
    var tape = Tape()
    try tape.see("14:59:30", last: "10.00", volume: 100)
    try tape.see("15:00:03", last: "10.00", volume: 200)
    try tape.see("15:00:03", last: "10.00", volume: 200, seenAt: "15:35:00")
    tape.advance(to: "15:36:00")
    #expect(tape.output.certificates.last?.exchangeVolume == ExactDecimal(200))
    tape.output = CandleOutput()
    tape.book.begin(Self.monday.advanced(by: 1), hours: try longer())
    // It is suspended: other rows of the answer are of the next day.
    try tape.see("15:00:03", last: "10.00", volume: 200, seenAt: "33:10:00")
    #expect(tape.verdicts.last == .accepted(stateChanged: false))
    #expect(tape.output.candles.isEmpty && tape.output.gaps.isEmpty)
    #expect(tape.output.certificates.isEmpty && tape.output.events.isEmpty)
  }

  @Test func `a state of a day with other hours is restored with its own`() throws {
    let hours = try longer()
    var tape = Tape()
    tape.book.begin(Self.monday, hours: hours)
    try tape.see("15:59:30", last: "10.00", volume: 100)
    var copy = CandleBook()
    try copy.restore(sharedState: tape.book.sharedState) { day in
      day == Self.monday ? hours : nil
    }
    #expect(copy.rules.hours == hours)
    let index = tape.book.index(of: tape.symbol)
    try copy.restore(instrument: tape.symbol, state: tape.book.instrumentState(at: index))
    #expect(copy.formingCandle(at: 0) == tape.book.formingCandle(at: index))
  }

  @Test func `a state of a longer day is restored in a shorter one`() throws {
    let hours = try longer()
    var tape = Tape()
    tape.book.begin(Self.monday, hours: hours)
    try tape.see("15:59:30", last: "10.00", volume: 100)
    let state = tape.book.instrumentState(at: 0)
    var copy = CandleBook()
    try copy.restore(instrument: tape.symbol, state: state) { $0 == Self.monday ? hours : nil }
    #expect(copy.rules.hours == .mainlandChina)
    #expect(copy.instrumentState(at: 0) == state)
  }
}
