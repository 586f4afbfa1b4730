import Candles
import Market
import Testing

@Suite struct GapRuleTests {
  @Test func `volume that passed unseen goes to a gap and never into a minute`() throws {
    var tape = Tape()
    try tape.see("09:30:30", last: "10.00", volume: 100)
    try tape.see("09:50:10", last: "10.50", volume: 5100)
    try tape.see("09:50:22", last: "10.40", volume: 5150)
    try tape.see("09:50:34", last: "10.40", volume: 5150)
    try tape.see("09:50:46", last: "10.40", volume: 5150)
    try tape.see("09:51:00", last: "10.40", volume: 5150)
    tape.advance(to: "09:51:06")
    let gap = try #require(tape.output.gaps.first)
    #expect(tape.output.gaps.count == 1)
    #expect(gap.from == tape.moment("09:30:30") && gap.to == tape.moment("09:50:10"))
    #expect(gap.volume == ExactDecimal(5000) && gap.cause == .outage)
    #expect(tape.minute("09:30")?.flags == .partial)
    #expect(tape.minute("09:31") == nil && tape.minute("09:49") == nil)
    #expect(tape.minute("09:50")?.flags == .partial)
    #expect(tape.minute("09:50")?.row == "10.50 10.50 10.40 10.40 50 500")
  }

  @Test func `a late start is a gap from the open`() throws {
    var tape = Tape()
    try tape.see("10:05:07", last: "10.00", volume: 7000)
    let gap = try #require(tape.output.gaps.first)
    #expect(gap.cause == .lateStart && gap.volume == ExactDecimal(7000))
    #expect(gap.from == tape.moment("09:30:00") && gap.to == tape.moment("10:05:07"))
  }

  @Test func `the opening auction has its row though all that follows passed unseen`() throws {
    var tape = Tape()
    try tape.see("09:25:05", last: "10.00", volume: 5000)
    try tape.see("09:34:03", last: "10.20", volume: 6000)
    try tape.see("09:35:00", last: "10.20", volume: 6100)
    tape.advance(to: "09:35:06")
    let gap = try #require(tape.output.gaps.first)
    #expect(gap.volume == ExactDecimal(1000) && gap.from == tape.moment("09:30:00"))
    #expect(tape.minute("09:30")?.flags == .partial)
    #expect(tape.minute("09:30")?.row == "10.00 10.00 10.00 10.00 5000 50000")
    #expect(tape.minute("09:31") == nil)
  }

  @Test func `an outage inside one minute is none`() throws {
    var tape = Tape()
    try tape.see("09:30:03", last: "10.00", volume: 100)
    try tape.see("09:30:57", last: "10.10", volume: 900)
    #expect(tape.output.gaps.isEmpty)
  }

  @Test func `an outage over lunch counts trading time only`() throws {
    var tape = Tape()
    try tape.see("11:29:58", last: "10.00", volume: 100)
    tape.output = CandleOutput()
    try tape.see("13:00:05", last: "10.10", volume: 180)
    #expect(tape.output.gaps.isEmpty)
    try tape.see("13:00:20", last: "10.10", volume: 180)
    try tape.see("14:00:00", last: "10.10", volume: 400)
    #expect(tape.output.gaps.map(\.volume) == [ExactDecimal(220)])
  }

  @Test func `an outage that ends on a boundary leaves the next minute whole`() throws {
    var tape = Tape()
    try tape.see("09:31:00", last: "10.00", volume: 100)
    tape.output = CandleOutput()
    try tape.see("09:33:00", last: "10.00", volume: 500)
    for clock in ["09:33:14", "09:33:28", "09:33:42", "09:33:56", "09:34:01"] {
      try tape.see("09:33:00", last: "10.00", volume: 500, seenAt: clock)
    }
    tape.advance(to: "09:34:06")
    #expect(tape.minute("09:32") == nil)
    #expect(tape.minute("09:33")?.flags == .noTrade)
  }

  @Test func `a gap that yesterday's last line ends, seen today, ends with that line`() throws {
    var tape = Tape()
    try tape.see("14:00:30", last: "10.00", volume: 100)
    tape.output = CandleOutput()
    let line = try tape.quote("15:00:03", last: "10.10", volume: 900)
    let tomorrow = tape.day.advanced(by: 1)
    tape.take(line, seenAt: Timestamp(day: tomorrow, secondOfDay: 9 * 3600))
    let gap = try #require(tape.output.gaps.first)
    #expect(gap.from == tape.moment("14:00:30") && gap.to == tape.moment("15:00:03"))
    #expect(tape.output.gaps.map(\.volume) == [ExactDecimal(800)])
    #expect(tape.output.certificates.map(\.exchangeVolume) == [ExactDecimal(900)])
  }

  @Test func `a silent feed's minute is given up as partial and announced as missing`() throws {
    var tape = Tape()
    try tape.see("09:30:30", last: "10.00", volume: 100)
    tape.advance(to: "09:31:35")
    #expect(tape.output.candles.isEmpty)
    tape.advance(to: "09:32:36")
    #expect(tape.minute("09:30")?.flags == .partial)
    let announced = tape.output.events.compactMap { event in
      if case .minuteComplete(let minute) = event { minute } else { nil }
    }
    #expect(announced.map(\.missing) == [0, 1])
    #expect(announced.map(\.traded) == [1, 0])
    #expect(tape.output.events.contains { if case .feedStalled = $0 { true } else { false } })
  }
}
