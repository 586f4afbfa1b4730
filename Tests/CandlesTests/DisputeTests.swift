import Candles
import Market
import TestSupport
import Testing

/// Rule 2a of docs/candle-rules.md: no refusal that rests on memory lasts, and no single row counts
/// against it.
@Suite struct DisputeTests {
  /// Two quiet minutes, then a row whose volume and money are three times too large.
  func tapeWithFalseRow() throws -> Tape {
    var tape = Tape()
    try tape.see("09:30:30", last: "10.00", volume: 1000)
    try tape.see("09:30:33", last: "10.00", volume: 1100)
    try tape.see("09:30:36", last: "10.00", volume: 3300)
    return tape
  }

  func kinds(_ tape: Tape) -> [DisputeEvent.Kind] {
    tape.output.events.compactMap { if case .dispute(let event) = $0 { event.kind } else { nil } }
  }

  func minuteRows(_ tape: Tape) -> [Timestamp: Candle] { KeptDay(tape.output).minutes }

  @Test func `three agreeing answers take out what a false row booked`() throws {
    var tape = try tapeWithFalseRow()
    try tape.see("09:30:39", last: "10.00", volume: 1200)
    try tape.see("09:30:42", last: "10.00", volume: 1300)
    #expect(kinds(tape).isEmpty)
    try tape.see("09:30:45", last: "10.00", volume: 1400)
    #expect(kinds(tape) == [.corrected])
    try tape.see("09:31:00", last: "10.00", volume: 1500)
    tape.advance(to: "09:31:06")
    #expect(tape.minute("09:30")?.row == "10.00 10.00 10.00 10.00 1500 15000")
  }

  @Test func `a minute that was final before the correction is revised with its cause`() throws {
    var tape = Tape()
    try tape.see("09:30:54", last: "10.00", volume: 1000)
    try tape.see("09:30:57", last: "10.00", volume: 9000)
    try tape.see("09:31:00", last: "10.00", volume: 1100)
    try tape.see("09:31:03", last: "10.00", volume: 1200)
    tape.advance(to: "09:31:40")
    #expect(tape.minute("09:30")?.volume == ExactDecimal(9000))
    try tape.see("09:31:42", last: "10.00", volume: 1300)
    #expect(minuteRows(tape)[tape.moment("09:30:00")]?.volume == ExactDecimal(1100))
    #expect(tape.output.revisions.map(\.cause) == [.correction])
  }

  @Test func `a row that continues the standing totals clears the count`() throws {
    var tape = try tapeWithFalseRow()
    try tape.see("09:30:39", last: "10.00", volume: 1200)
    try tape.see("09:30:42", last: "10.00", volume: 1300)
    try tape.see("09:30:45", last: "10.00", volume: 3400)
    try tape.see("09:30:48", last: "10.00", volume: 1500)
    try tape.see("09:30:51", last: "10.00", volume: 1600)
    #expect(kinds(tape).isEmpty)
    try tape.see("09:30:54", last: "10.00", volume: 1700)
    #expect(kinds(tape) == [.corrected])
  }

  @Test func `rows of a lagging node are no evidence`() throws {
    var tape = Tape()
    try tape.see("09:30:30", last: "10.00", volume: 1000)
    try tape.see("09:30:33", last: "10.00", volume: 1100)
    for _ in 0..<5 {
      let old = try tape.quote("09:30:30", last: "10.00", volume: 1000)
      tape.take(old, seenAt: tape.moment("09:30:33"))
      #expect(reason(tape.verdicts.last) == .lagging)
    }
    #expect(kinds(tape).isEmpty)
  }

  @Test func `a bust that no recent minute holds leaves the account as a gap below zero`() throws {
    var tape = Tape()
    var volume: Int64 = 0
    for second in stride(from: 3, through: 57, by: 3) {
      volume += 1000
      try tape.see("09:30:\(second)", last: "10.00", volume: volume)
    }
    for (clock, volume) in [("09:31:00", 9100), ("09:31:03", 9200), ("09:31:06", 9300)] {
      try tape.see(clock, last: "10.00", volume: Int64(volume))
    }
    #expect(kinds(tape) == [.corrected])
    #expect(tape.output.gaps.map(\.cause) == [.correction])
    #expect(tape.output.gaps.map(\.volume) == [ExactDecimal(-9900)])
    try tape.see("15:00:03", last: "10.00", volume: 9300, seenAt: "15:01:00")
    tape.advance(to: "15:36:00")
    #expect(tape.output.certificates.last?.exchangeVolume == ExactDecimal(9300))
    #expect(tape.output.certificates.last?.isBalanced == true)
  }

  @Test func `volume taken back after the close is in the certificate`() throws {
    var tape = Tape()
    try tape.see("14:59:57", last: "10.00", volume: 1000)
    try tape.see("15:00:00", last: "10.00", volume: 5000)
    for clock in ["15:00:30", "15:00:33", "15:00:36"] {
      try tape.see(clock, last: "10.00", volume: 4900)
    }
    try tape.see("15:00:36", last: "10.00", volume: 4900, seenAt: "15:01:03")
    tape.advance(to: "15:36:00")
    #expect(kinds(tape) == [.corrected])
    #expect(tape.output.certificates.map(\.exchangeVolume) == [ExactDecimal(4900)])
    #expect(tape.output.certificates.allSatisfy { $0.isBalanced })
  }

  @Test func `of two readings served in turn neither is booked`() throws {
    var tape = Tape()
    try tape.see("09:30:30", last: "10.00", volume: 1000)
    for (round, second) in stride(from: 33, to: 120, by: 6).enumerated() {
      let clock = "09:3\(second / 60):"
      try tape.see(
        "\(clock)\(second % 60)", last: "10.00", volume: Int64(3000 + round * 10))
      try tape.see(
        "\(clock)\(second % 60 + 3)", last: "10.00", volume: Int64(1100 + round * 10))
    }
    #expect(kinds(tape) == [.disputed])
    for (clock, volume) in [("09:32:03", 1300), ("09:32:06", 1400), ("09:32:09", 1500)] {
      try tape.see(clock, last: "10.00", volume: Int64(volume))
    }
    #expect(kinds(tape) == [.disputed, .settled])
    #expect(tape.output.gaps.map(\.cause) == [.dispute])
    #expect(tape.output.gaps.map(\.volume) == [ExactDecimal(240)])
    #expect(minuteRows(tape)[tape.moment("09:30:00")]?.volume == ExactDecimal(1000))
    #expect(minuteRows(tape)[tape.moment("09:30:00")]?.flags == .partial)
    try expectConserved(tape)
  }

  @Test func `a day that ends in a dispute has no balanced certificate`() throws {
    var tape = Tape()
    try tape.see("14:59:00", last: "10.00", volume: 1000)
    for second in stride(from: 3, to: 57, by: 6) {
      try tape.see("14:59:\(second)", last: "10.00", volume: 3000)
      try tape.see("14:59:\(second + 3)", last: "10.00", volume: 1100)
    }
    #expect(kinds(tape) == [.disputed])
    tape.advance(to: "15:36:00")
    #expect(tape.output.certificates.allSatisfy { !$0.isBalanced })
  }

  @Test func `readings that a correction replaced come back and undo it`() throws {
    var tape = Tape()
    try tape.see("09:30:30", last: "10.00", volume: 1000)
    try tape.see("09:30:33", last: "10.00", volume: 5000)
    for (clock, volume) in [("09:30:36", 1100), ("09:30:39", 1200), ("09:30:42", 1300)] {
      try tape.see(clock, last: "10.00", volume: Int64(volume))
    }
    #expect(kinds(tape) == [.corrected])
    for (clock, volume) in [("09:31:03", 5200), ("09:31:06", 5300), ("09:31:09", 5400)] {
      try tape.see(clock, last: "10.00", volume: Int64(volume))
    }
    #expect(kinds(tape) == [.corrected, .undone])
    let kept = KeptDay(tape.output)
    let gaps = try kept.gaps.reduce(ExactDecimal.zero) { try $0 + $1.gap.volume }
    try tape.see("15:00:03", last: "10.00", volume: 5400, seenAt: "15:01:00")
    tape.advance(to: "15:36:00")
    #expect(!gaps.isNegative)
    #expect(tape.output.certificates.last?.isBalanced == true)
    try expectConserved(tape)
  }

  @Test func `the first row of a day is held against yesterday's close`() throws {
    var tape = Tape()
    try tape.see("14:59:57", last: "10.00", volume: 1000)
    try tape.see("15:00:03", last: "10.00", volume: 1000, seenAt: "15:35:00")
    tape.advance(to: "15:36:00")
    func tomorrow(_ clock: String, _ previousClose: String, _ volume: Int64) throws -> Quote {
      var quote = try tape.quote(clock, last: "0.00", volume: 0)
      quote.tradingDay = tape.day.advanced(by: 1)
      quote.previousClose = try ExactDecimal(previousClose)
      quote.volume = ExactDecimal(volume)
      return quote
    }
    let other = try tomorrow("09:20:00", "33.00", 0)
    tape.take(other, seenAt: other.at)
    #expect(reason(tape.verdicts.last) == .implausible)
    let own = try tomorrow("09:20:03", "10.00", 0)
    tape.take(own, seenAt: own.at)
    #expect(reason(tape.verdicts.last) == nil)
  }

  @Test func `an adjusted reference price is taken after three answers, without alarm`() throws {
    var tape = Tape()
    try tape.see("15:00:03", last: "10.00", volume: 1000, seenAt: "15:35:00")
    tape.advance(to: "15:36:00")
    tape.output = CandleOutput()
    for clock in ["09:15:00", "09:15:03", "09:15:06", "09:15:09"] {
      var quote = try tape.quote(clock, last: "0.00", volume: 0)
      quote.tradingDay = tape.day.advanced(by: 1)
      quote.previousClose = try ExactDecimal("9.50")
      tape.take(quote, seenAt: quote.at)
    }
    #expect(tape.verdicts.suffix(4).map { reason($0) } == [.implausible, .implausible, nil, nil])
    #expect(kinds(tape).isEmpty)
  }

  @Test func `a price outside the legal band never becomes a candle`() throws {
    var tape = Tape()
    try tape.see("09:30:30", last: "10.00", volume: 1000)
    let prices: [(String, String, String)] = [
      ("100.00", "100.00", "10.00"), ("20.00", "20.00", "10.00"), ("10.00", "50.00", "10.00"),
      ("10.00", "10.00", "2.00"),
    ]
    for (place, (last, high, low)) in prices.enumerated() {
      let volume = 1100 + Int64(place) * 200
      let quote = try tape.quote(
        "09:30:\(33 + place * 6)", last: last, volume: volume, high: high, low: low)
      tape.take(quote, seenAt: quote.at)
      #expect(reason(tape.verdicts.last) == .outsideBand)
      try tape.see("09:30:\(36 + place * 6)", last: "10.00", volume: volume + 100)
      #expect(reason(tape.verdicts.last) == nil)
    }
    try tape.see("09:31:00", last: "10.00", volume: 2000)
    tape.advance(to: "09:31:06")
    #expect(tape.minute("09:30")?.row == "10.00 10.00 10.00 10.00 2000 20000")
    #expect(kinds(tape).isEmpty)
  }

  @Test func `trading beyond the band is taken after three growing answers, with an alarm`() throws
  {
    var tape = Tape()
    for (place, volume) in [1000, 1000, 1000, 1100, 1200, 1300].enumerated() {
      try tape.see(
        "09:30:\(30 + place * 3)", last: "13.00", volume: Int64(volume),
        turnover: Int64(volume) * 13)
    }
    #expect(tape.verdicts.map { reason($0) == nil } == [false, false, false, false, true, true])
    #expect(kinds(tape) == [.bandUnknown])
    try tape.see("09:31:00", last: "14.00", volume: 1400, turnover: 18_200)
    tape.advance(to: "09:31:06")
    #expect(tape.minute("09:30")?.row == "10.00 14.00 10.00 14.00 1400 18200")
  }

  @Test func `a false high within the band is taken out when the day's high falls again`() throws {
    var tape = Tape()
    try tape.see("09:30:30", last: "10.00", volume: 1000)
    let quote = try tape.quote(
      "09:30:33", last: "10.00", volume: 1100, high: "10.80", low: "10.00")
    tape.take(quote, seenAt: quote.at)
    for (clock, volume) in [("09:30:36", 1200), ("09:30:39", 1300), ("09:30:42", 1400)] {
      try tape.see(clock, last: "10.00", volume: Int64(volume))
    }
    try tape.see("09:31:00", last: "10.00", volume: 1500)
    tape.advance(to: "09:31:06")
    #expect(kinds(tape) == [.corrected])
    #expect(tape.minute("09:30")?.row == "10.00 10.00 10.00 10.00 1500 15000")
  }
}

// MARK: - What must not be taken for a false row, and what must

extension DisputeTests {
  @Test func `after the close a node that is behind corrects nothing`() throws {
    var tape = Tape()
    try tape.see("14:59:57", last: "10.00", volume: 1000)
    try tape.see("15:00:00", last: "10.00", volume: 5000)
    try tape.see("15:00:00", last: "10.00", volume: 5200, seenAt: "15:00:03")
    for second in stride(from: 6, to: 30, by: 6) {
      let old = try tape.quote("15:00:00", last: "10.00", volume: 5000)
      tape.take(old, seenAt: tape.moment("15:00:\(second)"))
      let new = try tape.quote("15:00:00", last: "10.00", volume: 5200)
      tape.take(new, seenAt: tape.moment("15:00:\(second + 3)"))
    }
    #expect(!kinds(tape).contains(.corrected))
  }

  @Test func `a false row before the day's end is not certified`() throws {
    var tape = Tape()
    try tape.see("15:00:03", last: "10.00", volume: 1000, seenAt: "15:30:00")
    try tape.see("15:34:30", last: "10.00", volume: 3000)
    for clock in ["15:35:00", "15:35:30"] { try tape.see(clock, last: "10.00", volume: 1000) }
    tape.advance(to: "15:36:00")
    #expect(tape.output.certificates.isEmpty)
    try tape.see("15:36:30", last: "10.00", volume: 1000)
    #expect(tape.output.certificates.map(\.exchangeVolume) == [ExactDecimal(1000)])
    #expect(tape.output.certificates.allSatisfy { $0.isBalanced })
  }

  @Test func `a false row with the standing stamp of a halted instrument does not last`() throws {
    var tape = Tape()
    try tape.see("10:00:00", last: "10.00", volume: 1000)
    let halted = try tape.quote("10:00:00", last: "10.00", volume: 1000)
    tape.take(halted, seenAt: tape.moment("10:00:03"))
    let wrong = try tape.quote("10:00:00", last: "10.00", volume: 3000)
    tape.take(wrong, seenAt: tape.moment("10:00:06"))
    for second in stride(from: 9, to: 90, by: 3) {
      tape.take(halted, seenAt: tape.moment("10:0\(second / 60):\(second % 60)"))
    }
    #expect(kinds(tape) == [.corrected])
    try tape.see("15:00:03", last: "10.00", volume: 1000, seenAt: "15:01:30")
    tape.advance(to: "15:36:00")
    try expectConserved(tape)
    #expect(tape.output.certificates.last?.exchangeVolume == ExactDecimal(1000))
  }

  @Test func `honest volume that overtakes the false total undoes nothing`() throws {
    var tape = try tapeWithFalseRow()
    var volume: Int64 = 1200
    for second in stride(from: 39, to: 84, by: 3) {
      let clock = "09:3\(second / 60):\(second % 60)"
      try tape.see(clock, last: "10.00", volume: volume)
      volume += 400
    }
    #expect(volume > 3300)
    #expect(kinds(tape) == [.corrected])
    #expect(tape.output.gaps.isEmpty)
  }

  @Test func `volume taken back long after it traded leaves the quiet minutes alone`() throws {
    var tape = Tape()
    try tape.see("09:59:57", last: "10.00", volume: 1000)
    tape.output = CandleOutput()
    try tape.see("10:00:00", last: "10.00", volume: 1500)
    for second in stride(from: 3, to: 1200, by: 3) {
      let clock = "10:\(second / 60):\(second % 60)"
      try tape.see(clock, last: "10.00", volume: 1500)
    }
    for clock in ["10:20:00", "10:20:03", "10:20:06"] {
      try tape.see(clock, last: "10.00", volume: 1400)
    }
    #expect(tape.output.gaps.map(\.cause) == [.correction])
    #expect(tape.output.gaps.map(\.volume) == [ExactDecimal(-100)])
    #expect(minuteRows(tape)[tape.moment("09:59:00")]?.volume == ExactDecimal(500))
    let quiet = minuteRows(tape).values.filter { $0.openedAt > tape.moment("09:59:00") }
    #expect(quiet.count > 15 && quiet.allSatisfy { $0.flags == .noTrade })
  }

  @Test func `single rows that lag in volume do not suspend an honest instrument`() throws {
    var tape = Tape()
    var volume: Int64 = 9000
    for second in stride(from: 0, to: 600, by: 3) {
      volume += 10
      let isFalse = second % 99 == 30
      let clock = "10:\(second / 60):\(second % 60)"
      try tape.see(clock, last: "10.00", volume: isFalse ? volume / 3 : volume)
    }
    #expect(kinds(tape).isEmpty)
  }

  @Test func `a row beyond the band that stands still is taken after a minute of answers`() throws {
    var tape = Tape()
    for second in stride(from: 0, to: 90, by: 3) {
      try tape.see(
        "09:3\(second / 60):\(second % 60)", last: "13.00", volume: 1000, turnover: 13_000)
    }
    #expect(kinds(tape) == [.bandUnknown])
    #expect(reason(tape.verdicts.last) == nil)
  }

  @Test func `answers that show a band wrong prove the time they took`() throws {
    for isStampMoving in [false, true] {
      var tape = Tape()
      try tape.see("09:30:30", last: "10.00", volume: 1000)
      for second in stride(from: 33, to: 105, by: 3) {
        let clock = "09:3\(second / 60):\(second % 60)"
        try tape.see(
          isStampMoving ? clock : "09:30:33", last: "13.00", volume: 1100, seenAt: clock)
      }
      try tape.see("09:31:45", last: "13.00", volume: 1200)
      try tape.see("09:32:00", last: "13.00", volume: 1300)
      tape.advance(to: "09:32:07")
      #expect(kinds(tape) == [.bandUnknown])
      #expect(tape.output.gaps.isEmpty, "moving stamps: \(isStampMoving)")
      #expect(minuteRows(tape)[tape.moment("09:31:00")]?.flags == [])
    }
  }

  @Test func `late first prints of a halted instrument leave a state that can be read`() throws {
    var tape = Tape()
    var halted = try tape.quote("09:30:30", last: "0.00", volume: 0)
    halted.status = .haltedOneHour
    (halted.bid, halted.ask) = (.zero, .zero)
    for second in stride(from: 0, to: 2400, by: 12) {
      let at = Timestamp(day: tape.day, secondOfDay: Session.morningOpen + second)
      tape.take(halted, seenAt: at)
    }
    try tape.see("10:00:10", last: "10.00", volume: 100, seenAt: "10:10:00")
    try tape.see("10:01:10", last: "10.00", volume: 200, seenAt: "10:10:03")
    try tape.see("10:02:10", last: "10.00", volume: 300, seenAt: "10:10:06")
    _ = try restarted(tape.book)
    #expect(tape.output.gaps.isEmpty)
  }
}

/// Why a row was refused or held; nil for one that was taken.
func reason(_ verdict: CandleBook.Verdict?) -> RejectionReason? {
  switch verdict {
  case .rejected(let reason, _), .held(let reason, _): reason
  case .accepted, nil: nil
  }
}
