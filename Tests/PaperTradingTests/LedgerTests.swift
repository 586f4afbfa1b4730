import Market
import PaperTrading
import TestSupport
import Testing

@Suite struct LedgerTests {
  private static let day = TradingDay(daysSince1970: 20_640)
  private static let next = TradingDay(daysSince1970: 20_641)

  private func decimal(_ text: String) throws -> ExactDecimal { try ExactDecimal(text) }

  private func order(
    _ side: Side, _ quantity: Int64, at limit: String?, id: Int64 = 1,
    symbol: String = "sh600519", settlesSameDay: Bool = false
  ) throws -> LedgerOrder {
    let symbol = try #require(Symbol(symbol))
    let instrument = try #require(Instrument.classify(symbol))
    let limit = try limit.map(decimal)
    let placed = Order(
      id: id, account: 1, symbol: symbol, side: side, kind: .limit,
      quantity: ExactDecimal(quantity), limit: limit)
    return LedgerOrder(
      placed, worstPrice: limit, settlesSameDay: settlesSameDay, schedule: .standard,
      terms: FeeTerms(instrument: instrument, side: side, day: Self.day))
  }

  private func funded(_ amount: String) throws -> AccountLedger {
    var ledger = AccountLedger(tradingDay: Self.day)
    _ = try ledger.deposit(decimal(amount), type: .bank)
    return ledger
  }

  private func cash(_ ledger: AccountLedger, _ kind: BookKind) -> String {
    "\(ledger.balance(.cash, kind))"
  }

  private func shares(_ ledger: AccountLedger, _ kind: BookKind) throws -> String {
    "\(ledger.balance(.shares(try #require(Symbol("sh600519"))), kind))"
  }

  @Test func `a buy of less than half a cent freezes a cent, for each posting moves something`()
    throws
  {
    var ledger = try funded("1")
    let accepted = try ledger.accept(order(.buy, 1, at: "0.003"))
    #expect(accepted.posting.entries.count == 2 && cash(ledger, .frozen) == "0.01")
    let ended = try ledger.end(1)
    #expect(ended.posting.entries.count == 2 && cash(ledger, .available) == "1.00")
  }

  @Test func `a buy freezes its limit and the worst fees, and a better price frees the rest`()
    throws
  {
    var ledger = try funded("100000")
    _ = try ledger.accept(order(.buy, 1_000, at: "50.00"))
    // 50000.00, commission 12.50, transfer fee 0.50.
    #expect(cash(ledger, .frozen) == "50013.00")
    #expect(cash(ledger, .available) == "49987.00")
    _ = try ledger.fill(1, quantity: decimal("100"), price: decimal("40.00"))
    // 4000.00, the least commission 5.00, 0.04; the rest at worst 45000.00, 7.25, 0.45.
    #expect(cash(ledger, .frozen) == "45007.70")
    #expect(cash(ledger, .available) == "50987.26")
    _ = try ledger.end(1)
    #expect(cash(ledger, .frozen) == "0.00" && cash(ledger, .available) == "95994.96")
    #expect(cash(ledger, .commission) == "5.00" && cash(ledger, .transferFee) == "0.04")
    #expect(ledger.openOrders.isEmpty)
  }

  @Test func `the least commission is paid once an order, not once a fill`() throws {
    var ledger = try funded("100000")
    _ = try ledger.accept(order(.buy, 300, at: "50.00"))
    for _ in 0..<3 { _ = try ledger.fill(1, quantity: decimal("100"), price: decimal("50")) }
    #expect(cash(ledger, .commission) == "5.00" && ledger.openOrders.isEmpty)
  }

  @Test func `a sale pays no more than it brings, and the rest of the fee later`() throws {
    var ledger = try funded("1000")
    _ = try ledger.accept(order(.buy, 10, at: "1.00"))
    _ = try ledger.fill(1, quantity: decimal("10"), price: decimal("1.00"))
    _ = try ledger.settle(Self.next)
    _ = try ledger.withdraw(ledger.balance(.cash, .available))
    _ = try ledger.accept(order(.sell, 10, at: "1.00", id: 2))
    let first = try ledger.fill(2, quantity: decimal("2"), price: decimal("1.00"))
    #expect("\(try first.fees.total())" == "2.00" && cash(ledger, .available) == "0.00")
    let second = try ledger.fill(2, quantity: decimal("8"), price: decimal("1.00"))
    #expect("\(try second.fees.total())" == "3.01" && cash(ledger, .available) == "4.99")
  }

  @Test func `what was bought today is sold tomorrow, or today where the rules allow it`() throws {
    var ledger = try funded("100000")
    _ = try ledger.accept(order(.buy, 100, at: "50.00"))
    _ = try ledger.fill(1, quantity: decimal("100"), price: decimal("50.00"))
    let sale = try order(.sell, 100, at: "50.00", id: 2)
    let refusal = #expect(throws: LedgerRefusal.self) { try ledger.accept(sale) }
    #expect(refusal?.code == "shares")
    let settled = try ledger.settle(Self.next)
    #expect(settled?.entries.count == 2 && settled?.tradingDay == Self.next)
    _ = try ledger.accept(sale)
    #expect(try shares(ledger, .frozen) == "100" && shares(ledger, .sellable) == "0")
    #expect(try ledger.settle(Self.next) == nil)

    var bonds = try funded("100000")
    _ = try bonds.accept(
      order(.buy, 10, at: "100.00", symbol: "sz128136", settlesSameDay: true))
    _ = try bonds.fill(1, quantity: decimal("10"), price: decimal("100.00"))
    _ = try bonds.accept(order(.sell, 10, at: nil, id: 2, symbol: "sz128136", settlesSameDay: true))
  }

  @Test func `what is not there is refused, and nothing changes`() throws {
    var ledger = try funded("5012.00")
    let before = ledger.balances
    #expect(throws: LedgerRefusal.self) { try ledger.withdraw(decimal("5012.01")) }
    #expect(throws: LedgerRefusal.self) { try ledger.accept(order(.buy, 100, at: "50.08")) }
    #expect(throws: LedgerRefusal.self) { try ledger.accept(order(.sell, 1, at: "1.00")) }
    #expect(throws: LedgerRefusal.beyondOrder(1)) { try ledger.accept(order(.buy, 1, at: nil)) }
    #expect(throws: LedgerRefusal.unknownOrder(7)) { try ledger.end(7) }
    for amount in ["0", "-1", "0.001"] {
      #expect(throws: LedgerRefusal.invalidAmount(try decimal(amount))) {
        try ledger.deposit(decimal(amount), type: .applePay)
      }
    }
    #expect(ledger.balances == before && ledger.sequence == 1)
    _ = try ledger.accept(order(.buy, 100, at: "50.06"))
    #expect(cash(ledger, .frozen) == "5011.05")
    for (quantity, price) in [("101", "50.00"), ("1", "50.07"), ("0", "50.00")] {
      #expect(throws: LedgerRefusal.beyondOrder(1)) {
        try ledger.fill(1, quantity: decimal(quantity), price: decimal(price))
      }
    }
    #expect(throws: LedgerRefusal.duplicateOrder(1)) {
      try ledger.accept(order(.buy, 1, at: "1.00"))
    }
  }

  @Test func `a fill that is taken back leaves what would be without it`() throws {
    var ledger = try funded("100000")
    _ = try ledger.accept(order(.buy, 300, at: "50.00"))
    _ = try ledger.fill(1, quantity: decimal("100"), price: decimal("49.00"))
    let before = ledger.balances
    let fill = try ledger.fill(1, quantity: decimal("100"), price: decimal("48.00")).posting
    let reversal = try ledger.reverse(fill).posting
    #expect(reversal.event == .reversal(order: 1, of: fill.sequence))
    #expect(ledger.balances.filter { $0.key.kind.isOwn } == before.filter { $0.key.kind.isOwn })
    #expect(ledger.balances.filter { !$0.key.kind.isOwn } == before.filter { !$0.key.kind.isOwn })
    #expect("\(ledger.openOrders[1]?.filled ?? .zero)" == "100")
    let again = try ledger.fill(1, quantity: decimal("200"), price: decimal("50.00"))
    #expect(!again.order.isOpen)
    _ = try ledger.reverse(again.posting, ended: again.order)
    #expect(cash(ledger, .frozen) == "0.00" && ledger.openOrders.isEmpty)
    #expect(try shares(ledger, .today) == "100")
    _ = try ledger.settle(Self.next)
    #expect(throws: LedgerRefusal.final(fill.sequence)) { try ledger.reverse(fill) }
  }

  @Test func `an order for days is a new one each day, with a least commission of its own`() throws
  {
    var ledger = try funded("100000")
    _ = try ledger.accept(order(.buy, 200, at: "10.00"))
    _ = try ledger.fill(1, quantity: decimal("100"), price: decimal("10.00"))
    let order = try ledger.end(1).order
    _ = try ledger.settle(Self.next)
    let renewed = try ledger.accept(order.renewed(on: Self.next)).order
    #expect("\(renewed.frozen)" == "1005.01" && "\(renewed.filled)" == "100")
    _ = try ledger.fill(1, quantity: decimal("100"), price: decimal("10.00"))
    #expect(cash(ledger, .commission) == "10.00" && ledger.openOrders.isEmpty)
  }

  @Test func `dividends and bonus shares come from their own books`() throws {
    var ledger = try funded("100")
    let symbol = try #require(Symbol("sh600519"))
    _ = try ledger.book(.dividend, amount: decimal("12.5"), of: symbol)
    _ = try ledger.book(.bonus, amount: decimal("30"), of: symbol)
    #expect(cash(ledger, .available) == "112.50" && cash(ledger, .income) == "-12.50")
    #expect(try shares(ledger, .sellable) == "30" && shares(ledger, .market) == "-30")
    #expect(throws: LedgerRefusal.self) {
      try ledger.book(.bonus, amount: decimal("-31"), of: symbol)
    }
    _ = try ledger.book(.bonus, amount: decimal("-15"), of: symbol)
    #expect(try shares(ledger, .sellable) == "15")
  }

  /// Random events; the trial of the ledger compares with a model besides.
  @Test func `entries of every posting add up to 0 in each unit, and balances to all entries`()
    throws
  {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SplitMix(seed: seed)
    var ledger = try funded("1000000")
    var (totals, postings): ([Book: ExactDecimal], [Posting]) = (ledger.balances, [])
    for id in 1...2_000 as ClosedRange<Int64> {
      let side: Side = Bool.random(using: &random) ? .buy : .sell
      let limit = ExactDecimal(units: .random(in: 1...9_999, using: &random), scale: 2)
      let quantity = Int64.random(in: 1...500, using: &random)
      if let accepted = try? ledger.accept(order(side, quantity, at: "\(limit)", id: id)) {
        postings.append(accepted.posting)
      }
      for open in ledger.openOrders.keys.sorted() {
        let part = ExactDecimal(.random(in: 1...300, using: &random))
        let price = ledger.openOrders[open]?.worstPrice ?? limit
        if let fill = try? ledger.fill(open, quantity: part, price: price) {
          postings.append(fill.posting)
          if id % 5 == 0, let back = try? ledger.reverse(fill.posting, ended: fill.order) {
            postings.append(back.posting)
          }
        } else if let end = try? ledger.end(open) {
          postings.append(end.posting)
        }
      }
      if id % 20 == 0, let settled = try ledger.settle(Self.day) { postings.append(settled) }
    }
    for posting in postings {
      var sums: [LedgerUnit: ExactDecimal] = [:]
      for entry in posting.entries {
        sums[entry.book.unit] = try (sums[entry.book.unit] ?? .zero) + entry.amount
        totals[entry.book] = try (totals[entry.book] ?? .zero) + entry.amount
        #expect(totals[entry.book] == entry.balanceAfter, "seed \(seed)")
        #expect(!entry.book.kind.isOwn || !entry.balanceAfter.isNegative, "seed \(seed)")
      }
      #expect(sums.values.allSatisfy(\.isZero) && !posting.entries.isEmpty, "seed \(seed)")
    }
    #expect(postings.map(\.sequence) == Array(2...Int64(postings.count + 1)), "seed \(seed)")
    #expect(totals == ledger.balances && postings.count > 1_000, "seed \(seed)")
  }
}

@Suite struct CommandRequestTests {
  private static let requests: [CommandRequest] = [
    .deposit(ExactDecimal(units: 1_050, scale: 2), type: .linePay, description: "零用 50 %=\n"),
    .withdraw(ExactDecimal(3), description: ""),
    .cancel(order: 17),
    .replace(order: 3, OrderChange(quantity: ExactDecimal(200), limit: ExactDecimal(7))),
    .replace(order: 4, OrderChange(timeInForce: .goodTillCancelled, stop: ExactDecimal(9))),
    .disarm(purchase: 5), .close,
  ]

  @Test(arguments: requests) func `a request is its text and back`(_ request: CommandRequest) {
    #expect(CommandRequest(text: request.text) == request)
    #expect(!request.text.contains("\n"))
  }

  @Test func `a queue purchase is its text and back`() throws {
    let terms = PurchaseTerms(
      triggers: [
        .near(permille: 5), .sealed(seconds: 30), .queueAtMost(ExactDecimal(10_000)),
        .queueWorthAtMost(ExactDecimal(5)), .resealed,
      ], window: 34_200..<53_100, carriesOver: true)
    let request = CommandRequest.arm(
      PurchaseRequest(
        symbol: try #require(Symbol("sz000001")), quantity: ExactDecimal(100), terms: terms))
    #expect(
      request.text == "arm symbol=sz000001 quantity=100 when=near:5,sealed:30,queue:10000,worth:5,"
        + "resealed,window:34200-53100,carries")
    #expect(CommandRequest(text: request.text) == request)
  }

  @Test func `an order is its text and back, and equal amounts are the same text`() throws {
    let symbol = try #require(Symbol("sh600519"))
    for kind in OrderKind.allCases {
      for force in TimeInForce.allCases {
        var order = OrderRequest(
          symbol: symbol, side: .sell, kind: kind, timeInForce: force,
          quantity: ExactDecimal(100), limit: try ExactDecimal("12.30"))
        let text = CommandRequest.order(order).text
        #expect(CommandRequest(text: text) == .order(order))
        order.limit = try ExactDecimal("12.3")
        #expect(CommandRequest.order(order).text == text)
      }
    }
  }

  @Test(arguments: [
    "", "deposit", "deposit amount=1", "deposit amount=x type=Bank description=",
    "deposit amount=1 type=Cash description=", "cancel order=x", "cancel order=1 order=2", "sing",
    "withdraw amount=1 description=%z1", "replace limit=1", "replace order=1 force=ever", "disarm",
    "arm symbol=sz000001 quantity=100", "arm symbol=sz000001 quantity=100 when=carries",
    "arm symbol=sz000001 quantity=100 when=sealed:x",
    "arm symbol=sz000001 quantity=100 when=resealed,window:2-1",
    "arm symbol=sz000001 quantity=100 when=near:400",
  ])
  func `what is no request is none`(_ text: String) {
    #expect(CommandRequest(text: text) == nil)
  }
}
