import Market
import PaperTrading
import Testing

/// What becomes of a holding whose code ends, in the books alone.
@Suite struct SuccessionTests {
  private static let day = TradingDay(daysSince1970: 20_640)
  private static let old = "sh600837"
  private static let new = "sh601211"

  private func terms(
    _ kind: CorporateActionTerms.Kind, _ ratio: String, cash: String? = nil
  ) throws -> CorporateActionTerms? {
    CorporateActionTerms(
      kind, into: try #require(Symbol(Self.new)), perShare: try ExactDecimal(ratio),
      cash: try cash.map { try ExactDecimal($0) })
  }

  private func books(_ ledger: AccountLedger) -> [String] {
    ledger.balances.filter { !$0.value.isZero && $0.key.kind.isOwn }
      .map { "\($0.key.unit.text) \($0.key.kind.rawValue) \($0.value)" }.sorted()
  }

  /// With shares to sell, shares of the day, and shares for an order.
  private func holding() throws -> AccountLedger {
    let symbol = try #require(Symbol(Self.old))
    let unit = LedgerUnit.shares(symbol)
    var ledger = AccountLedger(
      tradingDay: Self.day,
      balances: [
        Book(unit, .market): ExactDecimal(-1_200), Book(unit, .sellable): ExactDecimal(1_000),
        Book(unit, .today): ExactDecimal(200),
      ])
    let order = Order(
      id: 1, account: 1, symbol: symbol, side: .sell, kind: .limit, quantity: ExactDecimal(300),
      limit: ExactDecimal(11))
    _ = try ledger.accept(
      LedgerOrder(
        order, worstPrice: ExactDecimal(11), settlesSameDay: false, schedule: .standard,
        terms: FeeTerms(
          instrument: try #require(Instrument.classify(symbol)), side: .sell, day: Self.day)))
    return ledger
  }

  @Test func `a rename moves each book as it is, and the order sells under the new code`() throws {
    var ledger = try holding()
    let (old, new) = (try #require(Symbol(Self.old)), try #require(Symbol(Self.new)))
    let renaming = try #require(try terms(.rename, "1")?.succession(of: ledger.held(of: old)))
    let posting = try ledger.succeed(.rename, by: renaming, from: old)
    #expect(posting.event.kind == .rename)
    #expect(
      books(ledger) == ["\(new) frozen 300", "\(new) sellable 700", "\(new) today 200"])
    #expect(ledger.rename(order: 1, to: new)?.placed.symbol == new)
    let filled = try ledger.fill(1, quantity: ExactDecimal(300), price: ExactDecimal(11))
    #expect(filled.posting.entries.map(\.book.unit).contains(.shares(new)))
    #expect(!filled.posting.entries.map(\.book.unit).contains(.shares(old)))
  }

  @Test func `a merger waits for shares that are frozen or were bought today`() throws {
    var ledger = try holding()
    let old = try #require(Symbol(Self.old))
    let merger = try #require(try terms(.merger, "0.62")?.succession(of: ledger.held(of: old)))
    let before = books(ledger)
    #expect(throws: LedgerRefusal.self) { try ledger.succeed(.merger, by: merger, from: old) }
    #expect(books(ledger) == before)
    _ = try ledger.end(1)
    _ = try ledger.settle(Self.day.advanced(by: 1))
    let posting = try ledger.succeed(.merger, by: merger, from: old)
    #expect(books(ledger) == ["\(Self.new) sellable 744"])
    _ = try ledger.reverse(merger, from: old, posting: posting.sequence)
    #expect(books(ledger) == ["\(Self.old) sellable 1200"])
  }

  @Test(arguments: [
    ("0.62", Int64(1), "1"), ("0.62", 100, "62"), ("0.1339", 1_000, "134"),
    ("0.1339", 1_100, "147"), ("0.1339", 3, "0"), ("0.5", 1, "1"), ("4.4337", 100, "443"),
  ])
  func `a part of a half or more is a share, and a smaller one is lost`(
    _ ratio: String, _ held: Int64, _ given: String
  ) throws {
    let succession = try terms(.merger, ratio)?.succession(of: ExactDecimal(held))
    #expect(succession.map { "\($0.given)" } == given)
  }

  @Test func `cash beside the shares is to the cent, and none is no amount`() throws {
    let succession = try terms(.merger, "0.5", cash: "1.2345")?.succession(of: ExactDecimal(7))
    #expect(succession?.cash == (try ExactDecimal("8.64")))
    #expect(try terms(.merger, "0.5", cash: "0") == nil)
    #expect(try terms(.merger, "0") == nil)
  }
}
