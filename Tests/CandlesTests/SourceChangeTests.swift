import Candles
import Market
import Testing

extension Tape {
  /// What the second source makes of the day's totals: to the nearest lot, and to whole money, with
  /// a stamp of its own.
  func rounded(
    _ clock: String, last: String, volume: Int64, turnover: Int64? = nil, high: String? = nil,
    low: String? = nil
  ) throws -> Quote {
    var quote = try quote(
      clock, last: last, volume: volume, turnover: turnover, high: high, low: low)
    quote.volume = ExactDecimal((volume + 50) / 100 * 100)
    quote.rounding = Rounding(volume: 50, turnover: 1)
    return quote
  }

  mutating func seeRounded(
    _ clock: String, last: String, volume: Int64, turnover: Int64? = nil, seenAt: String? = nil
  ) throws {
    take(
      try rounded(
        clock, last: last, volume: volume, turnover: turnover,
        high: volume > 0 ? "10.50" : nil, low: volume > 0 ? "9.50" : nil),
      seenAt: moment(seenAt ?? clock))
  }

  /// As `see`, within the range that `seeRounded` shows.
  mutating func seeExact(
    _ clock: String, last: String, volume: Int64, turnover: Int64? = nil, seenAt: String? = nil
  ) throws {
    try see(
      clock, last: last, volume: volume, turnover: turnover, high: "10.50", low: "9.50",
      seenAt: seenAt)
  }

  mutating func change(at clock: String, to group: UInt32) {
    book.sourceChanged(at: moment(clock))
    self.group = group
  }

  var disputes: [DisputeEvent.Kind] {
    output.events.compactMap { if case .dispute(let event) = $0 { event.kind } else { nil } }
  }

  /// By the clock at which they open, as a store would hold them.
  var kept: KeptDay { KeptDay(output) }

  func keptMinute(_ clock: String) -> Candle? { kept.minutes[moment(clock + ":00")] }
}

/// One book, served by two sources in turn.
@Suite struct SourceChangeTests {
  @Test func `rounded totals are lower bounds, so exact ones that follow take nothing back`()
    throws
  {
    var tape = Tape()
    try tape.seeExact("09:30:03", last: "10.00", volume: 1049)
    tape.change(at: "09:30:06", to: 9)
    try tape.seeRounded("09:30:06", last: "10.00", volume: 1060)
    #expect(tape.book.formingCandle(at: 0)?.row == "10.00 10.50 9.50 10.00 1050 10599")
    // A trade that no lot shows: its money does.
    try tape.seeRounded("09:30:09", last: "10.01", volume: 1120, turnover: 11_200)
    #expect(tape.book.formingCandle(at: 0)?.row == "10.00 10.50 9.50 10.01 1050 11199")
    tape.change(at: "09:30:12", to: 0)
    try tape.seeExact("09:30:12", last: "10.00", volume: 1121, turnover: 11_210)
    try tape.seeExact("09:31:00", last: "10.00", volume: 1121, turnover: 11_210)
    tape.advance(to: "09:31:40")
    #expect(tape.verdicts.allSatisfy { $0 == .accepted(stateChanged: true) })
    #expect(tape.minute("09:30")?.row == "10.00 10.50 9.50 10.00 1121 11210")
    #expect(tape.minute("09:30")?.flags == .coarse)
    #expect(tape.disputes.isEmpty)
  }

  @Test func `totals that cannot be as much as what is booked are fewer totals`() throws {
    var tape = Tape()
    try tape.seeExact("09:30:03", last: "10.00", volume: 1050)
    try tape.seeRounded("09:30:06", last: "10.00", volume: 1000, turnover: 10_500)
    #expect(reason(tape.verdicts.last) == nil)
    try tape.seeRounded("09:30:09", last: "10.00", volume: 900, turnover: 10_500)
    #expect(reason(tape.verdicts.last) == .backwardStamp)
    try tape.seeRounded("09:30:12", last: "10.00", volume: 1000, turnover: 10_498)
    #expect(reason(tape.verdicts.last) == .backwardStamp)
    try tape.seeRounded("09:30:15", last: "10.00", volume: 1000, turnover: 10_499)
    #expect(reason(tape.verdicts.last) == nil)
  }

  @Test func `only minutes with a movement from or to a rounded total are coarse`() throws {
    var tape = Tape()
    try tape.seeExact("09:30:03", last: "10.00", volume: 1000)
    try tape.seeExact("09:30:57", last: "10.00", volume: 1100)
    tape.change(at: "09:31:03", to: 9)
    for clock in ["09:31:03", "09:31:18", "09:31:33", "09:31:48", "09:32:00"] {
      try tape.seeRounded(clock, last: "10.00", volume: 1100)
    }
    try tape.seeRounded("09:32:10", last: "10.00", volume: 1130)
    try tape.seeRounded("09:32:57", last: "10.00", volume: 1130)
    tape.change(at: "09:33:03", to: 0)
    try tape.seeExact("09:33:03", last: "10.00", volume: 1150)
    try tape.seeExact("09:33:57", last: "10.00", volume: 1250)
    try tape.seeExact("09:34:03", last: "10.00", volume: 1350)
    try tape.seeExact("09:35:00", last: "10.00", volume: 1450)
    tape.advance(to: "09:36:00")
    let minutes = ["09:30", "09:31", "09:32", "09:33", "09:34"].map { tape.keptMinute($0) }
    #expect(minutes.map { $0?.flags } == [[], .noTrade, .coarse, .coarse, []])
    #expect(minutes.map { $0?.volume } == [1100, 0, 0, 150, 200].map { ExactDecimal($0) })
    #expect(tape.output.gaps.isEmpty)
  }

  @Test func `the day's first totals are coarse if they are rounded, unless they are zero`() throws
  {
    var tape = Tape()
    try tape.seeRounded("09:25:03", last: "10.00", volume: 1000)
    try tape.seeRounded("09:31:00", last: "10.00", volume: 1000)
    tape.advance(to: "09:31:06")
    #expect(tape.minute("09:30")?.flags == .coarse)
    var other = Tape()
    try other.seeRounded("09:20:03", last: "10.20", volume: 0)
    try other.seeExact("09:25:03", last: "10.00", volume: 1000)
    try other.seeExact("09:31:00", last: "10.00", volume: 1000)
    other.advance(to: "09:31:06")
    #expect(other.minute("09:30")?.flags == [])
    #expect(other.minute("09:30")?.volume == ExactDecimal(1000))
  }

  @Test func `a price that moves without money is no trade, but of an index`() throws {
    for (symbol, rows) in [("sz000001", 0), ("sz399001", 1)] {
      var tape = Tape(symbol)
      try tape.seeRounded("09:30:03", last: "10.00", volume: 1000)
      for clock in ["09:30:18", "09:30:33", "09:30:48", "09:31:00"] {
        try tape.seeRounded(clock, last: "10.00", volume: 1000)
      }
      try tape.seeRounded("09:31:03", last: "10.20", volume: 1000)
      for clock in ["09:31:18", "09:31:33", "09:31:48", "09:32:00"] {
        try tape.seeRounded(clock, last: "10.20", volume: 1000)
      }
      tape.advance(to: "09:32:06")
      #expect(tape.minute("09:31")?.close.description == (rows == 0 ? "10.00" : "10.20"))
      #expect(tape.minute("09:31")?.flags == (rows == 0 ? .noTrade : .coarse))
    }
  }

  @Test func `a price at which the auction would match never stands`() throws {
    var tape = Tape("sz000001")
    for clock in ["09:20:00", "09:24:57", "09:30:00", "09:30:15", "09:30:30", "09:31:00"] {
      try tape.seeRounded(clock, last: "10.40", volume: 0)
    }
    tape.advance(to: "09:31:40")
    #expect(tape.minute("09:30")?.row == "9.90 9.90 9.90 9.90 0 0")
  }

  @Test func `a halted or delisted line with a price and fresh stamps makes no candle`() throws {
    for status in [QuoteStatus.haltedAllDay, .delisted] {
      var tape = Tape()
      for second in stride(from: 0, through: 180, by: 15) {
        let at = tape.moment("09:30:00").adding(seconds: Int64(second))
        var quote = try tape.rounded("09:30:00", last: "9.90", volume: 0)
        quote.secondOfDay = Int32(at.shanghaiSecondOfDay)
        (quote.bid, quote.ask, quote.status) = (.zero, .zero, status)
        if status == .delisted { quote.limits = .none }
        tape.take(quote, seenAt: at)
      }
      tape.advance(to: "15:40:00")
      #expect(tape.output.candles.isEmpty)
      #expect(tape.output.certificates.allSatisfy { !$0.isCoarse })
    }
  }

  // MARK: - Lag and stamps

  @Test func `fewer totals mean lag in the first sweeps after a change, then a contradiction`()
    throws
  {
    var tape = Tape()
    try tape.seeExact("09:30:03", last: "10.00", volume: 1000)
    try tape.seeExact("09:30:06", last: "10.00", volume: 2000)
    tape.change(at: "09:30:09", to: 9)
    for clock in ["09:30:09", "09:30:12", "09:30:15", "09:30:18", "09:30:21"] {
      try tape.seeRounded(clock, last: "10.00", volume: 1500)
      #expect(reason(tape.verdicts.last) == .lagging)
    }
    try tape.seeRounded("09:30:24", last: "10.00", volume: 1500)
    #expect(reason(tape.verdicts.last) == .backwardStamp)
    #expect(tape.disputes.isEmpty)
  }

  @Test func `an older stamp with no fewer totals goes on after a change`() throws {
    var tape = Tape()
    try tape.seeExact("09:30:03", last: "10.00", volume: 1000)
    tape.change(at: "09:30:30", to: 9)
    for second in stride(from: 30, through: 600, by: 15) {
      let at = tape.moment("09:30:00").adding(seconds: Int64(second))
      var quote = try tape.rounded("09:30:00", last: "10.00", volume: 1000)
      (quote.high, quote.low) = (try ExactDecimal("10.50"), try ExactDecimal("9.50"))
      quote.secondOfDay = Int32(at.shanghaiSecondOfDay)
      tape.take(quote, seenAt: at)
    }
    tape.change(at: "09:40:06", to: 0)
    for clock in ["09:40:06", "09:40:21", "09:40:36", "09:40:51", "09:41:06", "09:41:21"] {
      try tape.seeExact("09:30:03", last: "10.00", volume: 1000, seenAt: clock)
      #expect(reason(tape.verdicts.last) == nil)
    }
    // Nothing moves, so nothing is written again.
    #expect(tape.verdicts.last == .accepted(stateChanged: false))
    tape.advance(to: "09:42:00")
    #expect(tape.kept.ordered.count == 11 && tape.output.gaps.isEmpty)
    #expect(tape.kept.ordered.dropFirst().allSatisfy { $0.flags == .noTrade })
    // The same from one source is a lagging node.
    try tape.seeExact("09:41:30", last: "10.00", volume: 1100)
    try tape.seeExact("09:30:03", last: "10.00", volume: 1100, seenAt: "09:41:33")
    #expect(reason(tape.verdicts.last) == .lagging)
  }

  @Test func `what an exact total adds goes to the minute of the print it is stamped with`() throws
  {
    var tape = Tape()
    try tape.seeExact("09:30:03", last: "10.00", volume: 1000)
    tape.change(at: "09:30:48", to: 9)
    try tape.seeRounded("09:30:57", last: "10.00", volume: 1000)
    try tape.seeRounded("09:31:12", last: "10.00", volume: 1330)
    for clock in ["09:31:57", "09:32:57", "09:33:57"] {
      for step in stride(from: 0, to: 60, by: 15) {
        let at = tape.moment(clock).adding(seconds: Int64(step))
        var quote = try tape.rounded(clock, last: "10.00", volume: 1330)
        (quote.high, quote.low) = (try ExactDecimal("10.50"), try ExactDecimal("9.50"))
        quote.secondOfDay = Int32(at.shanghaiSecondOfDay)
        tape.take(quote, seenAt: at)
      }
    }
    tape.advance(to: "09:34:50")
    #expect(tape.keptMinute("09:31")?.volume == ExactDecimal(250))
    tape.change(at: "09:34:57", to: 0)
    try tape.seeExact("09:31:10", last: "10.00", volume: 1330, seenAt: "09:34:57")
    for clock in ["09:35:06", "09:35:21", "09:35:36", "09:35:51", "09:36:00"] {
      try tape.seeExact("09:31:10", last: "10.00", volume: 1330, seenAt: clock)
    }
    tape.advance(to: "09:36:06")
    #expect(tape.keptMinute("09:31")?.volume == ExactDecimal(330))
    #expect(tape.keptMinute("09:31")?.flags == .coarse)
    // Its other rows come in time: it is no late publisher.
    let others = tape.kept.ordered.dropFirst(2)
    #expect(others.count == 4 && others.allSatisfy { $0.flags == .noTrade })
  }

  @Test func `a print stamped before the last one booked stands with that one`() throws {
    var tape = Tape()
    try tape.seeExact("09:30:03", last: "10.00", volume: 1000)
    tape.change(at: "09:30:48", to: 9)
    try tape.seeRounded("09:30:57", last: "10.00", volume: 1000)
    // Traded at 09:30:58, and seen late.
    try tape.seeRounded("09:31:02", last: "10.00", volume: 1700)
    for clock in ["09:31:15", "09:31:30", "09:31:45", "09:32:00", "09:32:15", "09:32:30"] {
      try tape.seeRounded(clock, last: "10.00", volume: 1700)
    }
    tape.change(at: "09:32:33", to: 0)
    try tape.seeExact("09:30:58", last: "10.00", volume: 1700, seenAt: "09:32:33")
    try tape.seeExact("09:30:59", last: "10.00", volume: 1720, seenAt: "09:32:48")
    try tape.seeExact("09:33:00", last: "10.00", volume: 1720)
    tape.advance(to: "09:33:06")
    #expect(
      tape.kept.ordered.map(\.volume) == [1000, 720, 0].map { ExactDecimal($0) })
  }

  @Test func `a change of source ends the count of contradictions`() throws {
    var tape = Tape()
    try tape.seeExact("09:30:30", last: "10.00", volume: 1000)
    try tape.seeExact("09:30:33", last: "10.00", volume: 1100)
    for clock in ["09:30:36", "09:30:39"] {
      try tape.seeExact(clock, last: "10.00", volume: 900)
      #expect(reason(tape.verdicts.last) == .backwardStamp)
    }
    tape.change(at: "09:30:42", to: 9)
    tape.change(at: "09:30:45", to: 0)
    for clock in ["09:31:03", "09:31:06"] {
      try tape.seeExact(clock, last: "10.00", volume: 900)
      #expect(reason(tape.verdicts.last) == .backwardStamp)
    }
    #expect(tape.disputes.isEmpty)
    try tape.seeExact("09:31:09", last: "10.00", volume: 900)
    #expect(tape.disputes == [.corrected])
  }

  @Test func `older stamps of another source end a dispute as well as newer ones`() throws {
    var tape = Tape()
    try tape.seeExact("09:30:03", last: "10.00", volume: 1000)
    var clock = tape.moment("09:30:06")
    func see(_ tape: inout Tape, _ volume: Int64) throws {
      var quote = try tape.quote(
        "09:30:00", last: "10.00", volume: volume, high: "10.50", low: "9.50")
      quote.secondOfDay = Int32(clock.shanghaiSecondOfDay)
      tape.take(quote, seenAt: clock)
      clock = clock.adding(seconds: 3)
    }
    for _ in 0..<4 {
      try see(&tape, 3000)
      try see(&tape, 1100)
    }
    #expect(tape.disputes.last == .disputed)
    tape.change(at: "09:31:00", to: 9)
    for clock in ["09:31:03", "09:31:06", "09:31:09"] {
      try tape.seeExact("09:30:04", last: "10.00", volume: 1100, seenAt: clock)
    }
    #expect(tape.disputes.last == .settled)
  }
}
