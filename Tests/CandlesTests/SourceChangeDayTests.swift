import Candles
import Market
import Testing

/// What becomes of minutes and days over a change of source.
@Suite struct SourceChangeDayTests {
  /// Two exact totals around a change, `first` to `last`, with nothing in between.
  private func changed(
    _ first: (String, Int64), _ last: (String, Int64), isRoundedFirst: Bool
  ) throws -> Tape {
    var tape = Tape()
    if isRoundedFirst {
      try tape.seeRounded(first.0, last: "10.00", volume: first.1)
      tape.change(at: last.0, to: 0)
      try tape.seeExact(last.0, last: "10.00", volume: last.1)
    } else {
      try tape.seeExact(first.0, last: "10.00", volume: first.1)
      tape.change(at: last.0, to: 9)
      try tape.seeRounded(last.0, last: "10.00", volume: last.1)
    }
    return tape
  }

  @Test(arguments: [true, false])
  func `a change within the longest silence leaves no gap and no minute twice`(
    isRoundedFirst: Bool
  ) throws {
    var tape = try changed(("09:30:50", 1000), ("09:31:05", 1200), isRoundedFirst: isRoundedFirst)
    try tape.seeExact("09:31:57", last: "10.00", volume: 1300)
    try tape.seeExact("09:32:00", last: "10.00", volume: 1300)
    tape.advance(to: "09:32:40")
    #expect(tape.output.gaps.isEmpty)
    #expect(tape.output.candles.map(\.openedAt).count == 2)
    #expect(tape.kept.ordered.map(\.openedAt) == tape.output.candles.map(\.openedAt))
    let late = try changed(("09:30:50", 1000), ("09:31:06", 1200), isRoundedFirst: isRoundedFirst)
    #expect(late.output.gaps.count == 1)
  }

  @Test(arguments: [true, false])
  func `the opening auction stays in the first minute over a change`(
    isRoundedFirst: Bool
  ) throws {
    var tape = try changed(("09:25:03", 1049), ("09:25:12", 1049), isRoundedFirst: isRoundedFirst)
    try tape.seeExact("09:30:30", last: "10.00", volume: 1149)
    try tape.seeExact("09:31:00", last: "10.00", volume: 1149)
    tape.advance(to: "09:31:06")
    #expect(tape.minute("09:30")?.volume == ExactDecimal(1149))
    #expect(tape.minute("09:30")?.flags == .coarse && tape.output.gaps.isEmpty)
  }

  @Test(arguments: [true, false])
  func `lunch is no silence between two sources`(isRoundedFirst: Bool) throws {
    var tape = try changed(("11:29:57", 1000), ("13:00:05", 1100), isRoundedFirst: isRoundedFirst)
    tape.output.gaps = []
    try tape.seeExact("13:00:57", last: "10.00", volume: 1300)
    try tape.seeExact("13:01:00", last: "10.00", volume: 1300)
    tape.advance(to: "13:01:40")
    #expect(tape.output.gaps.isEmpty)
    #expect(tape.minute("13:00")?.flags == .coarse)
  }

  @Test(arguments: [true, false])
  func `the closing print is the last minute's, whichever source shows it`(
    isRoundedFirst: Bool
  ) throws {
    var tape = Tape()
    try tape.seeExact("14:56:57", last: "10.00", volume: 1000)
    if isRoundedFirst { tape.change(at: "14:57:00", to: 9) }
    for minute in ["14:57", "14:58", "14:59"] {
      for second in ["12", "27", "42", "57"] {
        if isRoundedFirst {
          try tape.seeRounded("\(minute):\(second)", last: "10.00", volume: 1000)
        } else {
          let clock = "\(minute):\(second)"
          try tape.seeExact("14:56:57", last: "10.00", volume: 1000, seenAt: clock)
        }
      }
    }
    tape.change(at: "15:00:03", to: isRoundedFirst ? 0 : 9)
    if isRoundedFirst {
      try tape.seeExact("15:00:02", last: "10.20", volume: 5049, seenAt: "15:00:06")
      try tape.seeExact("15:00:02", last: "10.20", volume: 5049, seenAt: "15:01:30")
    } else {
      try tape.seeRounded("15:00:06", last: "10.20", volume: 5049)
      try tape.seeRounded("15:01:30", last: "10.20", volume: 5049)
    }
    tape.advance(to: "15:40:00")
    let last = try #require(tape.minute("14:59"))
    #expect(last.flags == .coarse && last.close.description == "10.20")
    #expect(last.volume == ExactDecimal(isRoundedFirst ? 4049 : 3950))
    #expect(["14:57", "14:58"].allSatisfy { tape.minute($0)?.flags == .noTrade })
    #expect(tape.output.certificates.last?.isBalanced == true)
    #expect(tape.output.certificates.last?.isCoarse == !isRoundedFirst)
    #expect(tape.day1?.flags == (isRoundedFirst ? [] : .coarse))
  }

  /// Where an exact total puts what a rounded one left out, after nobody had looked for a while and
  /// nothing traded since.
  @Test(arguments: [
    ("09:30:58", gap: 280, minute: 0), ("09:31:40", gap: 280, minute: 0),
    ("09:33:20", gap: 250, minute: 30),
  ])
  func `what was rounded away before an outage goes where its stamp says, or passed unseen`(
    stamp: String, gap: Int64, minute: Int64
  ) throws {
    var tape = Tape()
    try tape.seeExact("09:30:03", last: "10.00", volume: 1000)
    tape.change(at: "09:30:57", to: 9)
    try tape.seeRounded("09:30:57", last: "10.00", volume: 1000)
    try tape.seeRounded("09:31:15", last: "10.00", volume: 1000)
    for second in stride(from: 0, through: 135, by: 15) {
      let clock = tape.moment("09:32:15").adding(seconds: Int64(second))
      var quote = try tape.rounded(
        "09:32:15", last: "10.00", volume: 1280, high: "10.50", low: "9.50")
      quote.secondOfDay = Int32(clock.shanghaiSecondOfDay)
      tape.take(quote, seenAt: clock)
    }
    tape.change(at: "09:34:33", to: 0)
    try tape.seeExact(stamp, last: "10.00", volume: 1280, seenAt: "09:34:33")
    try tape.seeExact("09:34:48", last: "10.00", volume: 1280)
    try tape.seeExact("09:35:00", last: "10.00", volume: 1280)
    tape.advance(to: "09:35:40")
    let gaps = tape.output.gaps.filter { !tape.output.closedGaps.contains($0) }
    #expect(gaps.map(\.volume) == [ExactDecimal(gap)])
    #expect(gaps.allSatisfy { $0.from < $0.to })
    #expect(tape.keptMinute("09:33")?.volume == ExactDecimal(minute))
  }

  @Test func `a day that ends on rounded totals is settled by an exact one that comes later`()
    throws
  {
    for exact in [Int64(5049), 4950] {
      var tape = Tape()
      try tape.seeExact("14:59:57", last: "10.00", volume: 1000)
      tape.output = CandleOutput()
      tape.change(at: "15:00:03", to: 9)
      try tape.seeRounded("15:00:06", last: "10.20", volume: 5049, turnover: 49_501)
      try tape.seeRounded("15:01:30", last: "10.20", volume: 5049, turnover: 49_501)
      tape.advance(to: "15:40:00")
      let coarse = try #require(tape.output.certificates.last)
      #expect(coarse.isCoarse && coarse.isBalanced)
      #expect(coarse.exchangeVolume == ExactDecimal(4950))
      tape.change(at: "15:41:00", to: 0)
      try tape.seeExact(
        "15:00:02", last: "10.20", volume: exact, turnover: 49_500, seenAt: "15:41:00")
      let certificate = try #require(tape.output.certificates.last)
      #expect(!certificate.isCoarse && certificate.isBalanced)
      #expect(certificate.exchangeVolume == ExactDecimal(exact))
      #expect(tape.kept.dayCandle?.volume == ExactDecimal(exact))
      #expect(tape.kept.dayCandle?.flags == [])
      #expect(tape.keptMinute("14:59")?.volume == ExactDecimal(exact - 1000))
      #expect(tape.disputes.isEmpty)
    }
  }

  @Test func `the session after the close is no less than an exact source said`() throws {
    var tape = Tape()
    try tape.seeExact("15:00:02", last: "10.00", volume: 1000, seenAt: "15:01:30")
    var exact = try tape.quote(
      "15:06:00", last: "10.00", volume: 1000, high: "10.50", low: "9.50")
    exact.afterHours = AfterHours(volume: ExactDecimal(1549), turnover: ExactDecimal(15_490))
    tape.take(exact, seenAt: tape.moment("15:06:00"))
    tape.change(at: "15:07:00", to: 9)
    var rounded = try tape.rounded(
      "15:07:00", last: "10.00", volume: 1000, high: "10.50", low: "9.50")
    rounded.afterHours = AfterHours(volume: ExactDecimal(1500), turnover: ExactDecimal(15_490))
    tape.take(rounded, seenAt: tape.moment("15:07:00"))
    tape.advance(to: "15:40:00")
    let candle = tape.output.candles.first { $0.timeframe == .afterHours }
    #expect(candle?.volume == ExactDecimal(1549) && candle?.turnover == ExactDecimal(15_490))
    #expect(candle?.flags == .coarse)
  }

  // MARK: - Limits

  private func band(_ lower: String, _ upper: String) throws -> StatedLimits {
    .band(PriceBand(lower: try ExactDecimal(lower), upper: try ExactDecimal(upper)))
  }

  /// One row at 11.50, beyond the ten per cent around 9.90.
  private func seen(_ limits: StatedLimits, last: String = "11.50") throws -> Tape {
    var tape = Tape()
    var quote = try tape.quote("09:30:03", last: last, volume: 100, high: last, low: last)
    quote.open = quote.last
    quote.limits = limits
    tape.take(quote, seenAt: tape.moment("09:30:03"))
    return tape
  }

  @Test func `limits that the exchange states stand before our own table`() throws {
    #expect(reason(try seen(.unstated).verdicts.last) == .outsideBand)
    #expect(reason(try seen(.none).verdicts.last) == nil)
    #expect(reason(try seen(band("7.92", "11.88")).verdicts.last) == nil)
    #expect(reason(try seen(band("9.41", "10.40"), last: "10.50").verdicts.last) == .outsideBand)
    #expect(reason(try seen(.unstated, last: "10.50").verdicts.last) == nil)
  }
}
