import Market
import Testing

@Suite struct InstrumentTests {
  private static let codes: [(String, InstrumentKind, Board)] = [
    ("sh600519", .stock, .main), ("sh601318", .stock, .main),
    ("sh603288", .stock, .main), ("sh605117", .stock, .main), ("sh688981", .stock, .star),
    ("sh689009", .stock, .star), ("sh000001", .index, .main), ("sh000688", .index, .main),
    ("sh510300", .fund, .main), ("sh588000", .fund, .main), ("sh508000", .fund, .main),
    ("sh110059", .convertibleBond, .main), ("sh118060", .convertibleBond, .main),
    ("sh132018", .convertibleBond, .main), ("sh900901", .bShare, .main), ("sh204001", .repo, .main),
    ("sz000001", .stock, .main), ("sz001979", .stock, .main), ("sz002594", .stock, .main),
    ("sz003816", .stock, .main), ("sz300059", .stock, .chiNext), ("sz301236", .stock, .chiNext),
    ("sz302132", .stock, .chiNext), ("sz399001", .index, .main), ("sz159915", .fund, .main),
    ("sz161725", .fund, .main), ("sz180101", .fund, .main), ("sz123107", .convertibleBond, .main),
    ("sz127056", .convertibleBond, .main), ("sz200869", .bShare, .main), ("sz131810", .repo, .main),
    ("bj920000", .stock, .beijing), ("bj430047", .stock, .beijing), ("bj836826", .stock, .beijing),
    ("bj873169", .stock, .beijing), ("bj889001", .stock, .beijing), ("bj899050", .index, .beijing),
  ]

  @Test(arguments: codes)
  func `the prefix decides kind and board`(
    _ spelling: String, _ kind: InstrumentKind, _ board: Board
  ) throws {
    let symbol = try #require(Symbol(spelling))
    let instrument = try #require(Instrument.classify(symbol))
    #expect(instrument.symbol == symbol)
    #expect(instrument.exchange.prefix == spelling.prefix(2))
    #expect(instrument.kind == kind)
    #expect(instrument.board == board)
  }

  @Test(arguments: [
    "sh580001", "sh300059", "sh920000", "sz600519", "bj600519", "bj900001", "sh60051", "sh6005190",
    "sh60051a", "SH600519", "600519", "AAPL", "gb_$ixic", "sh",
  ])
  func `a code outside the code plans is no instrument`(_ spelling: String) throws {
    let symbol = try #require(Symbol(spelling))
    #expect(Instrument.classify(symbol) == nil)
  }

  @Test(arguments: [
    ("sh600519", "0.01"), ("sh688981", "0.01"), ("bj920000", "0.01"), ("sh510300", "0.001"),
    ("sh900901", "0.001"), ("sz200869", "0.01"), ("sz127056", "0.001"), ("sh204001", "0.005"),
    ("sz131810", "0.001"), ("sh000001", "0.0001"), ("sz399001", "0.001"),
  ])
  func `each kind has its tick`(_ spelling: String, _ tick: String) throws {
    #expect(try instrument(spelling).tickSize.description == tick)
  }

  @Test(arguments: [
    ("sh600519", 100, 100), ("sh688981", 200, 1), ("bj920000", 100, 1), ("sz159915", 100, 100),
    ("sz127056", 10, 10),
  ])
  func `each kind has its lot`(_ spelling: String, _ minimum: Int, _ increment: Int) throws {
    let lot = try #require(try instrument(spelling).lot)
    #expect(lot.minimum == minimum)
    #expect(lot.increment == increment)
  }

  @Test func `an index has no lot`() throws {
    #expect(try instrument("sz399001").lot == nil)
  }
}

/// The instrument of a spelling the test vouches for.
func instrument(_ spelling: String) throws -> Instrument {
  try #require(Symbol(spelling).flatMap(Instrument.classify))
}
