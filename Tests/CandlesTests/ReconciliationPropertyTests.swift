import Candles
import Market
import TestSupport
import TestTraits
import Testing

/// Random days, watched by the real book with outages, then held against bars.
@Suite(.ownThread) struct ReconciliationPropertyTests {
  private func outages(_ random: inout SplitMix) -> [Range<Int>] {
    (0..<Int.random(in: 0...4, using: &random)).map { _ in
      let start = Int.random(in: Session.morningOpen...Session.afternoonClose - 60, using: &random)
      return start..<start + Int.random(in: 10...4000, using: &random)
    }
  }

  /// Watches a day until `end`, but for the outages.
  private func watch(
    _ day: TradedDay, with tape: inout Tape, outages: [Range<Int>], until end: Int,
    random: inout SplitMix
  ) {
    var second = Session.morningOpen - 5 * 60
    while second < end {
      second += [3, 3, 3, 3, 5, 9].randomElement(using: &random) ?? 3
      if outages.contains(where: { $0.contains(second) }) { continue }
      let moment = Timestamp(day: day.day, secondOfDay: second)
      tape.take(day.quote(at: second), seenAt: moment)
    }
  }

  private func watched(
    _ day: TradedDay, _ tape: inout Tape, random: inout SplitMix
  ) -> KeptDay {
    let outages = outages(&random)
    watch(day, with: &tape, outages: outages, until: 15 * 3600 + 120, random: &random)
    // What an outage over the close leaves is seen after it.
    tape.take(day.quote(at: 15 * 3600 + 1200), seenAt: tape.moment("15:30:00"))
    tape.advance(to: "15:40:00")
    return KeptDay(tape.output)
  }

  @Test(arguments: [12, 400, 4000])
  func `true bars make true minutes, close every gap and leave residual zero`(
    _ tradesMax: Int
  ) throws {
    let seed = UInt64.random(in: .min ... .max)
    var random = SplitMix(seed: seed)
    for _ in 0..<30 {
      var tape = Tape()
      let day = try TradedDay(tape, tradesMax: tradesMax, random: &random)
      var kept = watched(day, &tape, random: &random)
      let before = try #require(kept.certificate)
      #expect(before.isBalanced, "seed \(seed)")
      let outcome = kept.reconciled(with: day.bars, of: tape)
      kept.take(outcome)
      #expect(kept.ordered.map(\.values) == day.minutes.map(\.values), "seed \(seed)")
      #expect(kept.ordered.map(\.flags) == day.minutes.map(\.flags), "seed \(seed)")
      #expect(kept.gaps.isEmpty && outcome.disagreements.isEmpty, "seed \(seed)")
      #expect(kept.certificate?.isBalanced == true, "seed \(seed)")
      #expect(kept.certificate?.minutesMissing == 0, "seed \(seed)")
      let again = kept.reconciled(with: day.bars, of: tape)
      #expect(again.revisions.isEmpty && again.candles.isEmpty, "seed \(seed)")
      #expect(again.certificate == kept.certificate, "seed \(seed)")
    }
  }

  @Test func `wrong bars in every gap change nothing but what they disagree about`() throws {
    let seed = UInt64.random(in: .min ... .max)
    var random = SplitMix(seed: seed)
    var disagreed = 0
    for _ in 0..<40 {
      var tape = Tape()
      let day = try TradedDay(tape, tradesMax: 400, random: &random)
      let kept = watched(day, &tape, random: &random)
      var bars = day.bars
      for place in bars.indices {
        bars[place].volume = try bars[place].volume + ExactDecimal(100)
        bars[place].turnover = try bars[place].turnover.map { try $0 + ExactDecimal(1000) }
      }
      let outcome = kept.reconciled(with: bars, of: tape)
      #expect(outcome.revisions.isEmpty && outcome.candles.isEmpty, "seed \(seed)")
      #expect(outcome.closedGaps.isEmpty && outcome.certificate == nil, "seed \(seed)")
      #expect(Set(outcome.gapChecks.map(\.gap)) == Set(kept.gaps.map(\.id)), "seed \(seed)")
      #expect(!outcome.disagreements.isEmpty, "seed \(seed)")
      disagreed += outcome.disagreements.count
    }
    #expect(disagreed > 100, "seed \(seed)")
  }

  @Test func `bars of any quality leave the account balanced`() throws {
    let seed = UInt64.random(in: .min ... .max)
    var random = SplitMix(seed: seed)
    for _ in 0..<60 {
      var tape = Tape()
      let day = try TradedDay(tape, tradesMax: 400, random: &random)
      var kept = watched(day, &tape, random: &random)
      var bars = day.bars
      for place in bars.indices {
        if Int.random(in: 0..<100, using: &random) == 0 { bars[place].turnover = nil }
        if Int.random(in: 0..<300, using: &random) == 0 { bars[place].volume = ExactDecimal(700) }
        let noise = ExactDecimal(units: .random(in: -3...3, using: &random), scale: 4)
        bars[place].turnover = try bars[place].turnover.map { $0.isZero ? $0 : try $0 + noise }
      }
      bars.removeAll { _ in Int.random(in: 0..<400, using: &random) == 0 }
      kept.take(kept.reconciled(with: bars, of: tape))
      let certificate = try #require(kept.certificate)
      let volume = try kept.ordered.reduce(ExactDecimal.zero) { try $0 + $1.volume }
      let turnover = try kept.ordered.reduce(ExactDecimal.zero) {
        try $0 + ($1.turnover ?? .zero)
      }
      let unseen = try kept.gaps.reduce(ExactDecimal.zero) { try $0 + $1.gap.volume }
      let unseenTurnover = try kept.gaps.reduce(ExactDecimal.zero) { try $0 + $1.gap.turnover }
      #expect(certificate.isBalanced, "seed \(seed)")
      #expect(
        volume == certificate.minuteVolume && turnover == certificate.minuteTurnover, "seed \(seed)"
      )
      #expect(
        unseen == certificate.gapVolume && unseenTurnover == certificate.gapTurnover, "seed \(seed)"
      )
    }
  }

  @Test func `bars stand for a close that nobody saw, unless they contradict what was seen`()
    throws
  {
    let seed = UInt64.random(in: .min ... .max)
    var random = SplitMix(seed: seed)
    for _ in 0..<30 {
      var tape = Tape()
      let day = try TradedDay(tape, tradesMax: 900, random: &random)
      let end = Int.random(in: Session.morningOpen + 60...Session.closingAuction, using: &random)
      watch(day, with: &tape, outages: outages(&random), until: end, random: &random)
      var next = day.quote(at: Session.dayReset)
      next.tradingDay = day.day.advanced(by: 1)
      tape.take(next, seenAt: next.at)
      var kept = KeptDay(tape.output)
      #expect(kept.certificate?.exchangeVolume == nil, "seed \(seed)")
      var wrong = day.bars
      wrong[0].volume = try wrong[0].volume + ExactDecimal(10_000_000)
      let isWatched = kept.gaps.contains { $0.gap.from > tape.moment("09:31:06") }
      if isWatched {
        let refused = kept.reconciled(with: wrong, of: tape)
        #expect(refused.certificate?.exchangeVolume == nil, "seed \(seed)")
        let closes = kept.gaps.filter { $0.gap.cause == .unseenClose }.map(\.id)
        #expect(Set(closes).isDisjoint(with: refused.closedGaps), "seed \(seed)")
        #expect(!refused.disagreements.isEmpty, "seed \(seed)")
      }
      kept.take(kept.reconciled(with: day.bars, of: tape))
      #expect(kept.ordered.map(\.values) == day.minutes.map(\.values), "seed \(seed)")
      #expect(kept.gaps.isEmpty && kept.certificate?.isBalanced == true, "seed \(seed)")
      #expect(kept.dayCandle?.volume ?? .zero == day.volume, "seed \(seed)")
    }
  }
}
