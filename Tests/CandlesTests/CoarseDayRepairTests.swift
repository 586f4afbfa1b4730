import Candles
import Market
import TestSupport
import Testing

/// Days with rounded totals, held against bars.
@Suite struct CoarseDayRepairTests {
  /// The last minute's print is seen rounded, 5049 shares in all: 4950 are booked.
  private func coarseDay() throws -> (tape: Tape, day: KeptDay) {
    var tape = Tape()
    for second in stride(from: 0, through: 14_400, by: 15) {
      let at = Session.morningOpen + (second <= 7200 ? second : second + 5400)
      let quote = try quote(tape, second < 14_390 ? "09:30:00" : "15:00:00", at: at)
      tape.take(quote, seenAt: Timestamp(day: tape.day, secondOfDay: at))
    }
    tape.take(
      try quote(tape, "15:00:00", at: 15 * 3600 + 90), seenAt: tape.moment("15:01:30"))
    tape.advance(to: "15:40:00")
    return (tape, KeptDay(tape.output))
  }

  private func quote(_ tape: Tape, _ clock: String, at second: Int) throws -> Quote {
    let isLast = clock > "12"
    var quote = try tape.rounded(
      clock, last: "10.00", volume: isLast ? 5049 : 1000, high: "10.00", low: "10.00")
    quote.secondOfDay = Int32(second)
    if !isLast { quote.rounding = .exact }
    return quote
  }

  private func bars(_ day: KeptDay, last volume: Int64) -> [Candle] {
    var bars = day.ordered.filter { !(237...238).contains(Session.minute(of: $0)) }
    for place in bars.indices { bars[place].flags = [] }
    bars[bars.count - 1].volume = ExactDecimal(volume - 1000)
    bars[bars.count - 1].turnover = ExactDecimal((volume - 1000) * 10)
    return bars
  }

  @Test func `whole bars settle a day that ends on rounded totals`() throws {
    var (tape, day) = try coarseDay()
    #expect(day.certificate?.isCoarse == true && day.certificate?.isBalanced == true)
    #expect(day.certificate?.exchangeVolume == ExactDecimal(4950))
    let outcome = day.reconciled(with: bars(day, last: 5049), of: tape)
    #expect(outcome.disagreements.isEmpty && outcome.isDayVerified)
    #expect(outcome.revisions.allSatisfy { $0.cause == .kline && $0.candle.flags.isEmpty })
    day.take(outcome)
    #expect(day.certificate?.isCoarse == false && day.certificate?.isBalanced == true)
    #expect(day.certificate?.exchangeVolume == ExactDecimal(5049))
    #expect(day.certificate?.exchangeTurnover == ExactDecimal(50_490))
    #expect(day.ordered.last?.row == "10.00 10.00 10.00 10.00 4049 40490")
    #expect(day.dayCandle?.volume == ExactDecimal(5049) && day.dayCandle?.flags == [])
    tape.output = CandleOutput()
    #expect(day.reconciled(with: bars(day, last: 5049), of: tape).revisions.isEmpty)
  }

  @Test func `bars further off than the rounding settle nothing and are a disagreement`() throws {
    let (tape, day) = try coarseDay()
    let outcome = day.reconciled(with: bars(day, last: 5051), of: tape)
    #expect(outcome.certificate == nil && outcome.revisions.isEmpty)
    #expect(outcome.disagreements.map(\.field) == [.volume, .turnover])
    #expect(day.reconciled(with: [], of: tape) == Reconciliation.Outcome())
  }

  @Test func `a gap between rounded totals that bars miss by the rounding is no disagreement`()
    throws
  {
    var tape = Tape()
    try tape.seeExact("09:30:03", last: "10.00", volume: 1000)
    try tape.seeRounded("09:31:30", last: "10.00", volume: 2049)
    try tape.seeRounded("09:31:57", last: "10.00", volume: 2149)
    try tape.seeRounded("09:32:00", last: "10.00", volume: 2149)
    tape.advance(to: "09:33:00")
    var day = KeptDay(tape.output)
    #expect(day.gaps.map(\.gap.volume) == [ExactDecimal(950)])
    var bars = [day.ordered[0], day.ordered[0], day.ordered[0]]
    for (place, volume) in [1100, 1049, 0].enumerated() {
      bars[place].openedAt = tape.moment("09:3\(place):00")
      bars[place].closedAt = tape.moment("09:3\(place + 1):00")
      bars[place].volume = ExactDecimal(Int64(volume))
      bars[place].turnover = ExactDecimal(Int64(volume * 10))
      bars[place].flags = []
    }
    day.certificate = DayCertificate(
      symbol: tape.symbol, tradingDay: tape.day, exchangeVolume: nil, exchangeTurnover: nil,
      minuteVolume: .zero, minuteTurnover: .zero, gapVolume: .zero, gapTurnover: .zero,
      afterHoursVolume: .zero, afterHoursTurnover: .zero, minutesTraded: 0, minutesUntraded: 0,
      minutesMissing: 0)
    let outcome = day.reconciled(with: bars, of: tape)
    #expect(outcome.disagreements.isEmpty && outcome.gapChecks.map(\.reason) == [.barsDiffer])
    bars[1].volume = ExactDecimal(1200)
    #expect(!day.reconciled(with: bars, of: tape).disagreements.isEmpty)
  }
}

extension Session {
  fileprivate static func minute(of candle: Candle) -> Int {
    minute(of: candle.closedAt.shanghaiSecondOfDay)
  }
}
