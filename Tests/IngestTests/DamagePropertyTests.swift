import Ingest
import Market
import TestSupport
import Testing
import Trials

/// Answers damaged at random on their way: whatever is made of them, the account adds up.
@Suite struct DamagePropertyTests {
  private func damage(_ body: inout [UInt8], _ random: inout SplitMix) {
    guard !body.isEmpty else { return }
    let place = Int.random(in: body.indices, using: &random)
    switch Int.random(in: 0..<4, using: &random) {
    case 0:
      for _ in 0..<3 {
        let bit = UInt8(1) << UInt8.random(in: 0..<8, using: &random)
        body[Int.random(in: body.indices, using: &random)] ^= bit
      }
    case 1: body.removeLast(body.count - place)
    case 2:
      let end = min(place + Int.random(in: 1..<400, using: &random), body.count)
      body.removeSubrange(place..<end)
    default:
      let from = Int.random(in: body.indices, using: &random)
      let piece = Array(body[from..<min(from + 300, body.count)])
      body.insert(contentsOf: piece, at: place)
    }
  }

  @Test func `random damage to one answer in twenty stores nothing impossible`() {
    let seed = UInt64.random(in: .min ... .max)
    var random = SplitMix(seed: seed)
    var plan = Recording.plan(seed: seed)
    // The last hour, so that the day is certified.
    plan.start = 14 * 3600
    plan.instruments = 24
    plan.cadenceSeconds = 6
    plan.damage = { body, second, _ in
      // Its end is heard whole: what the last answer claims is the day's total.
      if second < 14 * 3600 + 59 * 60, Int.random(in: 0..<20, using: &random) == 0 {
        damage(&body, &random)
      }
    }
    let recording = Recording(plan)
    let tables = recording.tables
    #expect(!tables.rejections.isEmpty, "seed \(seed)")
    #expect(tables.candlesTwice.isEmpty, "seed \(seed)")
    #expect(tables.certificates.count > 15, "seed \(seed)")
    for certificate in tables.certificates.values where certificate.exchangeVolume != nil {
      #expect(certificate.isBalanced, "seed \(seed): \(certificate)")
    }
    for candle in tables.candles.values {
      let prices = [candle.open, candle.high, candle.low, candle.close]
      #expect(prices.allSatisfy { $0.isPositive }, "seed \(seed): \(candle)")
      #expect(
        candle.low <= min(candle.open, candle.close)
          && max(candle.open, candle.close) <= candle.high, "seed \(seed): \(candle)")
      #expect(!candle.volume.isNegative, "seed \(seed): \(candle)")
      #expect(candle.turnover?.isNegative == false, "seed \(seed): \(candle)")
    }
    #expect(
      tables.gaps.allSatisfy { !$0.volume.isNegative && $0.from <= $0.to }, "seed \(seed)")
  }
}
