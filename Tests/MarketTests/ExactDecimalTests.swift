import Market
import TestSupport
import Testing

@Suite struct ExactDecimalTests {
  @Test(arguments: ["0", "1769.040", "-0.001", "9223372036854775807", "0.000000000000000001"])
  func `text survives a round trip with its own digits`(_ text: String) throws {
    #expect(try ExactDecimal(text).description == text)
  }

  @Test(arguments: [
    "", "-", ".", "1.", ".5", "12abc", "1.2.3", "1,5", "0x10", "--1", "+1", " 1", "NaN", "1e5",
  ])
  func `anything but a plain decimal is malformed`(_ text: String) {
    #expect(throws: ExactDecimalError.malformed) { try ExactDecimal(text) }
  }

  @Test(arguments: ["9223372036854775808", "99999999999999999999", "0.0000000000000000001"])
  func `what does not fit overflows`(_ text: String) {
    #expect(throws: ExactDecimalError.overflow) { try ExactDecimal(text) }
  }

  @Test func `a decimal takes twelve bytes, whatever its units`() {
    #expect(MemoryLayout<ExactDecimal>.stride == 12)
    for units in [0, 1, -1, 1 << 32, -(1 << 32), Int64.max, Int64.min] {
      #expect(ExactDecimal(units: units, scale: 18).units == units)
    }
  }

  @Test func `comparison and hashing ignore trailing zeros`() throws {
    let short = try ExactDecimal("1.2")
    let long = try ExactDecimal("1.2000")
    #expect(short == long)
    #expect(short.hashValue == long.hashValue)
    #expect(try ExactDecimal("-1.21") < short)
    #expect(try ExactDecimal("9223372036854775807") > ExactDecimal("0.000000000000000001"))
  }

  @Test(arguments: [
    ("2", "3", 2, "0.67"), ("1", "8", 2, "0.13"), ("-1", "8", 2, "-0.13"), ("1", "3", 0, "0"),
    ("10", "0.003", 1, "3333.3"),
  ])
  func `division rounds half away from zero`(
    _ left: String, _ right: String, _ places: UInt8, _ expected: String
  ) throws {
    let quotient = try ExactDecimal(left).divided(by: ExactDecimal(right), scale: places)
    #expect(quotient.description == expected)
  }

  @Test(arguments: [("2.5", "3"), ("-2.5", "-3"), ("1.005", "1"), ("0.4999", "0")])
  func `rounding is half away from zero`(_ text: String, _ expected: String) throws {
    #expect(try ExactDecimal(text).rounded(places: 0).description == expected)
  }

  @Test func `random sums, differences and products agree with 128-bit integers`() throws {
    let seed = UInt64.random(in: .min ... .max)
    var generator = SplitMix(seed: seed)
    for _ in 0..<20_000 {
      let left = generator.decimal()
      let right = generator.decimal()
      let scale = max(left.scale, right.scale)
      let a = Int128(left.units) * power(scale - left.scale)
      let b = Int128(right.units) * power(scale - right.scale)
      #expect(try (left + right) == ExactDecimal(units: Int64(a + b), scale: scale), "seed \(seed)")
      #expect(try (left - right) == ExactDecimal(units: Int64(a - b), scale: scale), "seed \(seed)")
      #expect((left < right) == (a < b), "seed \(seed)")
      #expect((left == right) == (a == b), "seed \(seed)")
      let small = ExactDecimal(units: right.units % 1000, scale: right.scale)
      let product = Int128(left.units) * Int128(small.units)
      let exact = try left * small
      #expect(
        Int128(exact.units) * power(left.scale + small.scale - exact.scale) == product,
        "seed \(seed)")
    }
  }

  @Test func `overflow is reported by every operation`() throws {
    let top = ExactDecimal(units: .max, scale: 0)
    #expect(throws: ExactDecimalError.overflow) { try top + ExactDecimal(1) }
    #expect(throws: ExactDecimalError.overflow) {
      try ExactDecimal(units: .min, scale: 0) - ExactDecimal(1)
    }
    #expect(throws: ExactDecimalError.overflow) { try top * ExactDecimal(2) }
    #expect(throws: ExactDecimalError.overflow) { try top.rescaled(places: 1) }
    #expect(throws: ExactDecimalError.divisionByZero) { try top.divided(by: .zero, scale: 2) }
  }
}

private func power(_ exponent: UInt8) -> Int128 {
  (0..<exponent).reduce(Int128(1)) { product, _ in product * 10 }
}

extension SplitMix {
  fileprivate mutating func decimal() -> ExactDecimal {
    ExactDecimal(
      units: Int64.random(in: -1_000_000_000_000...1_000_000_000_000, using: &self),
      scale: UInt8.random(in: 0...5, using: &self))
  }
}
