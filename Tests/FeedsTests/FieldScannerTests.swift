import Market
import TestSupport
import Testing

@testable import Feeds

/// The scanner against the strict parser of `ExactDecimal`, field by field.
@Suite struct FieldScannerTests {
  private enum Way: CaseIterable {
    case count, decimal, price, unlikePrice
  }

  private func scan(_ field: String, _ way: Way) -> (number: ExactDecimal, isPlain: Bool, left: Int)
  {
    let bytes = Array("\(field),".utf8) + Array(repeating: UInt8(ascii: "7"), count: 64)
    return bytes.withUnsafeBytes { buffer in
      guard let base = buffer.baseAddress else { return (.zero, false, 0) }
      var scanner = FieldScanner(position: base)
      let number =
        switch way {
        case .count: scanner.count()
        case .decimal: scanner.decimal()
        case .price: scanner.price()
        case .unlikePrice: scanner.unlikePrice()
        }
      return (number, scanner.isPlain, buffer.count - (scanner.position - base))
    }
  }

  private func check(_ field: String) {
    let strict = try? ExactDecimal(field)
    for way in Way.allCases {
      let scanned = scan(field, way)
      guard scanned.isPlain else { continue }
      #expect(scanned.number.description == strict?.description, "`\(field)` by \(way)")
      #expect(scanned.left == 64, "`\(field)` by \(way)")
    }
  }

  @Test(arguments: [
    "0", "7", "0.000", "1.000", "10.050", "100.050", "1234.560", "12345678", "123456789",
    "3956.5710", "10802.176", "1234567890.123", "123456789012.345", "9999999999999999", "0.1",
    "1.5", "12.34", "00012.500", "000000000",
  ])
  func `a plain field is taken whole`(_ field: String) {
    check(field)
    #expect(scan(field, .decimal).isPlain)
    #expect(scan(field, .price).isPlain)
  }

  @Test(arguments: [
    "", ".", "..", "1.", ".5", ".500", "1.2.3", "-1", "+1", " 1", "1 ", "1e5", "NaN", "12a", "1-2",
    "0x10", "12345678901234567", "1234567.", "12345678.", "123456789.", ".1234567", ".12345678",
    "1.2345.678", "12:34:56", "/", ":", "\u{7f}", "1\n2",
  ])
  func `a field that is no plain number is marked`(_ field: String) {
    for way in Way.allCases { #expect(!scan(field, way).isPlain, "\(way)") }
  }

  @Test(arguments: ["1.5", "12345678.5", "0.000", "1234567.123"])
  func `a count with a point is marked`(_ field: String) {
    #expect(!scan(field, .count).isPlain)
  }

  @Test(arguments: 1...4 as ClosedRange<UInt64>)
  func `whatever is taken for plain has the value the strict parser finds`(_ seed: UInt64) {
    var random = SplitMix(seed: seed)
    let alphabet = Array("00112233445566778899....-/:e ")
    for _ in 0..<5_000 {
      let length = Int.random(in: 0...18, using: &random)
      check(String((0..<length).map { _ in alphabet.randomElement(using: &random) ?? "0" }))
    }
  }

  @Test func `prices of changing length are followed`() {
    let fields = ["9.990", "10.000", "10.010", "100.000", "9.980", "0.000", "0", "1000.500", "1.5"]
    let bytes = Array((fields.joined(separator: ",") + ",").utf8) + Array(repeating: 0, count: 64)
    let scanned: [String] = bytes.withUnsafeBytes { buffer in
      guard let base = buffer.baseAddress else { return [] }
      var scanner = FieldScanner(position: base)
      let numbers = fields.map { _ in scanner.price().description }
      return scanner.isPlain ? numbers : []
    }
    #expect(scanned == fields)
  }
}
