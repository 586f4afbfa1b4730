import Market
import PaperTrading
import TestSupport
import Testing

/// Fees against a second implementation: whole thousandths of a yuan in 128 bits, a rate as a
/// fraction.
@Suite struct FeeTests {
  private static let codes = [
    "sh600000", "sz300750", "sh688001", "bj920000", "sh510300", "sz123001",
  ]
  private static let day = "2026-07-06"

  private func instrument(_ code: String) throws -> Instrument {
    try #require(Symbol(code).flatMap(Instrument.classify))
  }

  /// In cents. `milli` is in thousandths.
  private static func cents(_ milli: Int128, per: Int128, of whole: Int128) -> Int128 {
    let (numerator, denominator) = (milli * per, whole * 10)
    return (2 * numerator + denominator) / (2 * denominator)
  }

  private static func expected(_ milli: Int128, code: String, isSale: Bool) -> [Int128] {
    if milli == 0 { return [0, 0, 0] }
    let isStock = !["sh51", "sz12"].contains(String(code.prefix(4)))
    let commission = max(cents(milli, per: 25, of: 100_000), 500)
    let stamp = isSale && isStock ? cents(milli, per: 5, of: 10_000) : 0
    let transfer = isStock ? cents(milli, per: 10, of: 1_000_000) : 0
    return [commission, stamp, transfer]
  }

  private static func cents(_ amount: ExactDecimal) throws -> Int128 {
    Int128(try amount.rescaled(places: 2).units)
  }

  @Test func `every fee equals a second implementation to the cent`() throws {
    let seed = UInt64.random(in: 1...1_000_000)
    var random = SplitMix(seed: seed)
    for _ in 0..<20_000 {
      let code = try #require(Self.codes.randomElement(using: &random))
      let side = Bool.random(using: &random) ? Side.buy : .sell
      let milli = Int64.random(
        in: 0...(Bool.random(using: &random) ? 30_000_000 : 900_000_000_000), using: &random)
      let terms = FeeTerms(
        instrument: try instrument(code), side: side, day: try #require(TradingDay(Self.day)))
      let fees = try FeeSchedule.standard.cumulative(
        of: ExactDecimal(units: milli, scale: 3), terms: terms)
      let found = try [fees.commission, fees.stampDuty, fees.transferFee].map(Self.cents)
      let expected = Self.expected(Int128(milli), code: code, isSale: side == .sell)
      #expect(found == expected, "seed \(seed): \(code) \(side) \(milli)")
    }
  }

  @Test func `the fees of an order do not depend on how many fills it took`() throws {
    let seed = UInt64.random(in: 1...1_000_000)
    var random = SplitMix(seed: seed)
    let terms = FeeTerms(
      instrument: try instrument("sz000001"), side: .sell,
      day: try #require(TradingDay(Self.day)))
    for _ in 0..<500 {
      var (sum, amount) = (ExactDecimal.zero, ExactDecimal.zero)
      for _ in 0..<Int.random(in: 1...20, using: &random) {
        let fill = ExactDecimal(units: .random(in: 1...5_000_000, using: &random), scale: 2)
        let before = try FeeSchedule.standard.cumulative(of: amount, terms: terms)
        amount = try amount + fill
        let fees = try FeeSchedule.standard.cumulative(of: amount, terms: terms) - before
        #expect(!fees.commission.isNegative && !fees.stampDuty.isNegative)
        sum = try sum + fees.total()
      }
      let whole = try FeeSchedule.standard.cumulative(of: amount, terms: terms).total()
      #expect(sum == whole, "seed \(seed)")
    }
  }

  @Test func `the minimum commission is of an order that was filled`() throws {
    let terms = FeeTerms(
      instrument: try instrument("sh600000"), side: .buy,
      day: try #require(TradingDay(Self.day)))
    #expect(try FeeSchedule.standard.cumulative(of: .zero, terms: terms) == .none)
    let small = try FeeSchedule.standard.cumulative(of: ExactDecimal(100), terms: terms)
    #expect(small.commission == ExactDecimal(5) && small.stampDuty.isZero)
  }
}
