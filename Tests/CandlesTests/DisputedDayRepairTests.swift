import Candles
import Market
import TestSupport
import TestTraits
import Testing

/// Days on which rows contradicted each other, held against true bars.
@Suite(.ownThread) struct DisputedDayRepairTests {
  /// What a watcher is served at a second of such a day.
  private typealias Serving = (_ second: Int, _ round: Int) throws -> Quote

  private func watch(_ tape: inout Tape, through end: Int, _ serve: Serving) rethrows {
    for (round, second) in stride(from: Session.morningOpen, to: end, by: 3).enumerated()
    where !(Session.morningClose + 60..<Session.afternoonOpen).contains(second) {
      tape.take(try serve(second, round), seenAt: Timestamp(day: tape.day, secondOfDay: second))
    }
  }

  private func endDay(_ day: TradedDay, _ tape: inout Tape) {
    tape.advance(to: "15:40:00")
    var next = day.quote(at: Session.dayReset)
    next.tradingDay = day.day.advanced(by: 1)
    tape.take(next, seenAt: next.at)
  }

  private func adding(_ shares: Int64, to quote: Quote, at second: Int) throws -> Quote {
    var quote = quote
    quote.secondOfDay = Int32(second)
    quote.volume = try quote.volume + ExactDecimal(shares)
    quote.turnover = try quote.turnover + ExactDecimal(shares * 10)
    return quote
  }

  /// Two readings in turn from a second on, and the true one alone from another.
  private func disputedDay(
    from begin: Int, to end: Int, _ day: TradedDay, _ tape: inout Tape
  ) throws {
    try watch(&tape, through: Session.afternoonClose + 120) { second, round in
      let isDisputed = (begin..<end).contains(second)
      let shares: Int64 = isDisputed && round % 2 == 0 ? 1_000_000 : 0
      return try adding(shares, to: day.quote(at: second), at: min(second, 15 * 3600 + 6))
    }
    endDay(day, &tape)
  }

  private func expectHealed(_ day: TradedDay, _ tape: Tape, _ comment: Comment) {
    var kept = KeptDay(tape.output)
    kept.take(kept.reconciled(with: day.bars, of: tape))
    #expect(kept.ordered.map(\.values) == day.minutes.map(\.values), comment)
    #expect(kept.gaps.isEmpty && kept.certificate?.isBalanced == true, comment)
    #expect(kept.certificate?.exchangeVolume == day.volume, comment)
  }

  private func kinds(_ tape: Tape) -> [DisputeEvent.Kind] {
    tape.output.events.compactMap { if case .dispute(let event) = $0 { event.kind } else { nil } }
  }

  @Test(arguments: [1, 2, 3, UInt64.random(in: .min ... .max)])
  func `true bars heal a day whose dispute was settled`(_ seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    for _ in 0..<2 {
      var tape = Tape()
      let day = try TradedDay(tape, tradesMax: 2000, random: &random)
      let begin = Int.random(in: 36_000...40_000, using: &random)
      try disputedDay(from: begin, to: begin + 150, day, &tape)
      #expect(kinds(tape).contains(.disputed), "seed \(seed)")
      expectHealed(day, tape, "seed \(seed)")
    }
  }

  @Test(arguments: [1, 2, 3, UInt64.random(in: .min ... .max)])
  func `true bars heal a day that ended in a dispute`(_ seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    for _ in 0..<2 {
      var tape = Tape()
      let day = try TradedDay(tape, tradesMax: 2000, random: &random)
      let begin = Int.random(in: 50_000...53_800, using: &random)
      try disputedDay(from: begin, to: 86_400, day, &tape)
      #expect(kinds(tape).last == .disputed, "seed \(seed)")
      expectHealed(day, tape, "seed \(seed)")
    }
  }

  /// The bars never had the trades that were taken back.
  @Test(arguments: [1, 2, 3, UInt64.random(in: .min ... .max)])
  func `true bars heal a day on which volume was taken back`(_ seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    for _ in 0..<2 {
      var tape = Tape()
      let day = try TradedDay(tape, tradesMax: 2000, random: &random)
      let trade = Int.random(in: 36_000...38_000, using: &random)
      let bust = Int.random(in: trade + 600...Session.afternoonClose + 30, using: &random)
      try watch(&tape, through: Session.afternoonClose + 120) { second, _ in
        let shares: Int64 = (trade..<bust).contains(second) ? 1_000_000 : 0
        return try adding(shares, to: day.quote(at: second), at: second)
      }
      endDay(day, &tape)
      #expect(kinds(tape) == [.corrected], "seed \(seed)")
      #expect(tape.output.gaps.map(\.cause) == [.correction], "seed \(seed)")
      expectHealed(day, tape, "seed \(seed)")
    }
  }

  /// Polled every 12 s: the same row, served three times, was looked at three times.
  @Test func `answers that repeat a held row prove that the feed was alive`() throws {
    var tape = Tape()
    try tape.see("09:30:12", last: "10.00", volume: 1000)
    try tape.see("09:30:24", last: "10.00", volume: 9000)
    for seen in ["09:30:36", "09:30:48", "09:31:00", "09:31:12"] {
      try tape.see("09:30:30", last: "10.00", volume: 1100, seenAt: seen)
    }
    #expect(kinds(tape) == [.corrected])
    #expect(tape.output.gaps.isEmpty)
  }
}
