import Testing

@testable import Feeds
@testable import Market

@Suite struct SecurityTableTests {
  private static let table = QuotedSecurityTable(of: "sina", on: nil)

  private func classified(_ symbol: Symbol) -> QuotedSecurity {
    let instrument = Instrument.classify(symbol)
    return QuotedSecurity(
      CodePlanRow(
        kind: instrument?.kind,
        countsLots: instrument?.kind == .index && instrument?.exchange == .shanghai))
  }

  @Test func `the table says of every code what the classification says`() throws {
    for exchange in ["sh", "sz", "bj"] {
      for prefix in 0..<1000 {
        for tail in ["001", "999"] {
          let digits = String(String(1000 + prefix).dropFirst())
          let symbol = try #require(Symbol(exchange + digits + tail))
          #expect(Self.table[symbol.low] == classified(symbol), "\(symbol)")
        }
      }
    }
  }

  @Test(
    arguments: [
      ("sh600519", QuotedSecurity.tradesAtPrices), ("sh510300", .tradesAtPrices),
      ("sz300750", .tradesAtPrices), ("bj920000", .tradesAtPrices),
      ("sh000001", [.countsLots, .index]), ("sz399001", .index), ("bj899050", .index),
      ("sh118060", .convertible), ("sz123001", .convertible), ("sh900901", []),
      ("sz200012", []), ("sh204001", []), ("sh580001", []),
    ] as [(String, QuotedSecurity)])
  func `kinds are what the decoder needs`(_ text: String, _ security: QuotedSecurity) throws {
    let symbol = try #require(Symbol(text))
    #expect(Self.table[symbol.low] == security)
  }
}
