import Market
import TestSupport
import Testing

@Suite struct SymbolTests {
  @Test(arguments: ["sh600519", "AAPL", "gb_$ixic", "rt_hkHSI", "BTC/USD", "A", "0123456789abcdef"])
  func `a spelling survives a round trip`(_ spelling: String) throws {
    #expect(try #require(Symbol(spelling)).description == spelling)
  }

  @Test(arguments: [
    "", "0123456789abcdefg", "sh 600519", "sh600519,", "sh600519\n", "a=b", "茅台", "\u{0}",
  ])
  func `what could break a request or a row is no symbol`(_ spelling: String) {
    #expect(Symbol(spelling) == nil)
  }

  @Test func `order is the byte order of the spelling`() throws {
    let seed = UInt64.random(in: .min ... .max)
    var generator = SplitMix(seed: seed)
    let alphabet = Array("09AZaz_$.-/")
    let spellings = (0..<500).map { _ in
      String(
        (0..<Int.random(in: 1...16, using: &generator)).compactMap { _ in
          alphabet.randomElement(using: &generator)
        })
    }
    for (left, right) in zip(spellings, spellings.reversed()) {
      let (one, other) = (try #require(Symbol(left)), try #require(Symbol(right)))
      #expect(
        (one < other) == left.utf8.lexicographicallyPrecedes(right.utf8),
        "\(left) \(right), seed \(seed)")
      #expect((one == other) == (left == right), "seed \(seed)")
    }
  }

  @Test(arguments: [
    "sh600519", "SH600519", "Sh600519", "600519.SH", "600519.sh", "600519",
  ])
  func `every spelling of an A-share is the stored one`(_ spelling: String) {
    #expect(Symbol(anySpelling: spelling) == Symbol("sh600519"))
  }

  @Test(arguments: [
    ("920000", "bj920000"), ("900901", "sh900901"), ("200869", "sz200869"), ("300059", "sz300059"),
    ("430047", "bj430047"), ("510300", "sh510300"), ("159915", "sz159915"), ("399001", "sz399001"),
    ("000001.SZ", "sz000001"), ("000001.SH", "sh000001"), ("AAPL", "AAPL"), ("BRK.B", "BRK.B"),
    ("gb_$ixic", "gb_$ixic"), ("sh999999", "sh999999"),
  ])
  func `a spelling with one reading is read`(_ spelling: String, _ stored: String) {
    #expect(Symbol(anySpelling: spelling) == Symbol(stored))
  }

  @Test(arguments: [
    "000001", "000300", "999999", "600519.HK", "600519.", "600519.SH.SH", "60051.SH", "700", "",
    "sh600519 ", "茅台",
  ])
  func `an ambiguous or broken spelling is refused`(_ spelling: String) {
    #expect(Symbol(anySpelling: spelling) == nil)
  }
}
