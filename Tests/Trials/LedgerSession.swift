import AppStore
import Glibc
import Ledgers
import Market
import PaperTrading
import Platform
import TestSupport

/// The broker of the trial at work: steps, and after each of them the comparison.
struct LedgerSession {
  struct Counts: Sendable {
    var steps = 0
    var days = 0
    var audits = 0
    var fills = 0
    var reversals = 0
    var actions = 0
    var refused = 0
  }

  let connection: AppConnection
  private let database: LedgerDatabase
  private let accounts: [Int64]
  private var broker: PaperBroker
  private var model = PaperModel()
  private(set) var counts = Counts()
  private(set) var complaints: [String] = []
  private var random: SplitMix

  private static let complaintsMax = 20
  /// An audit of everything reads millions of rows.
  private static let statementSeconds = 1_800
  private static let commandsMax = 4_000
  private static let stepsPerAudit = 100
  private static let idleMicroseconds: UInt32 = 500

  init(
    _ database: LedgerDatabase, accounts: [Int64], seed: UInt64, day: TradingDay,
    fault: PaperBroker.Fault?
  ) throws {
    self.database = database
    self.accounts = accounts
    connection = try AppConnection(
      url: database.url, application: "paper broker", statementSeconds: Self.statementSeconds)
    random = SplitMix(seed: seed ^ 0xA5A5)
    broker = try PaperBroker(
      connection, accounts: accounts, seed: seed, day: day, fault: fault)
    try database.store.execute("update candled_app.gateway_lease set term = \(PaperBroker.term)")
  }

  /// Steps until nobody sends and nothing waits, or something is wrong.
  mutating func serve(
    while isRunning: () -> Bool, trial: LedgerTrial, log: (String) -> Void
  ) throws {
    while true {
      let wasRunning = isRunning()
      let beginsDay = counts.steps % trial.stepsPerDay == trial.stepsPerDay - 1
      let action = beginsDay ? try makeAction() : nil
      let facts = try broker.run(limit: Self.commandsMax, beginsDay: beginsDay, action: action)
      if facts.isEmpty {
        if !wasRunning { return }
        usleep(Self.idleMicroseconds)
        continue
      }
      counts.steps += 1
      if beginsDay { counts.days += 1 }
      for fact in facts { replay(fact) }
      try compare()
      if counts.steps % Self.stepsPerAudit == 0 { try audit() }
      if counts.steps % Self.stepsPerAudit == 0 {
        log("step \(counts.steps), \(counts.fills) fills, \(complaints.count) complaints")
      }
      if complaints.count >= Self.complaintsMax { return }
    }
  }

  /// Every other day.
  private mutating func makeAction() throws -> PaperAction? {
    if waiting == nil, Bool.random(using: &random) {
      let traded = PaperInstrument.all[Int.random(in: 0..<4, using: &random)]
      let cents = Bool.random(using: &random) ? Int64.random(in: 1...50, using: &random) : nil
      let day = TradingDay(daysSince1970: broker.day.daysSince1970 + 1)
      let isMerger = Int.random(in: 0..<4, using: &random) == 0
      let others = PaperInstrument.all.map(\.symbol).filter { $0 != traded.symbol }
      waiting = try database.makeAction(
        traded.symbol, day: day, cents: cents,
        successor: isMerger ? others.randomElement(using: &random) : nil)
    }
    return waiting
  }

  /// One for a day that has not begun.
  private var waiting: PaperAction?

  // MARK: The model

  private mutating func replay(_ fact: PaperFact) {
    switch fact {
    case .command(let command, let orderID, let outcome):
      let reason = execute(command, orderID: orderID)
      if reason != nil { counts.refused += 1 }
      let code = outcome.answer.prefix { $0 != ":" }
      if outcome.isDone ? reason != nil : reason != String(code) {
        complain(
          "command \(command.id) \(command.request as Any): \(outcome.answer), "
            + "the model \(reason ?? "does it")")
      }
    case .fill(let order, let quantity, let thousandths):
      counts.fills += 1
      model.fill(order, quantity: Int(quantity), price: Int(thousandths))
    case .reversal(let order, let quantity, let thousandths, let isDone):
      counts.reversals += isDone ? 1 : 0
      if model.reverse(order, quantity: Int(quantity), price: Int(thousandths)) != isDone {
        complain("order \(order): a fill of \(quantity) is taken back: \(isDone)")
      }
    case .day(let account, let renewed):
      waiting = nil
      if model.beginDay(of: account) != renewed { complain("account \(account): orders renewed") }
    case .dividend(let account, let cents):
      counts.actions += 1
      model.dividend(Int(cents), to: account)
    case .bonus(let account, let symbol, let shares):
      counts.actions += 1
      model.bonus(Int(shares), of: "\(symbol)", to: account)
    case .merger(let account, let symbol, let successor):
      counts.actions += 1
      model.merge("\(symbol)", into: "\(successor)", of: account)
    }
  }

  private mutating func execute(_ command: PendingCommand, orderID: Int64) -> String? {
    let account = command.accountID
    switch command.request {
    case .deposit(let amount, _, _):
      return model.deposit(amount.whole(places: 2).map { Int($0) }, to: account)
    case .withdraw(let amount, _):
      return model.withdraw(amount.whole(places: 2).map { Int($0) }, from: account)
    case .cancel(let order): return model.cancel(order, of: account)
    case .order(let request):
      guard let traded = PaperInstrument.bySymbol[request.symbol] else { return "unknown" }
      return model.order(
        orderID,
        PaperModel.Paper(
          account: account, symbol: "\(request.symbol)", kind: traded.kind,
          isBuy: request.side == .buy, quantity: Int(request.quantity.whole(places: 0) ?? 0),
          limit: request.limit?.whole(places: 3).map { Int($0) },
          isForDays: request.timeInForce == .goodTillCancelled,
          isSameDay: traded.settlesSameDay))
    case .replace, .arm, .disarm, .close, nil: return "unknown"
    }
  }

  private mutating func complain(_ sentence: String) {
    if complaints.count < Self.complaintsMax { complaints.append(sentence) }
  }

  // MARK: Comparison

  private mutating func compare() throws {
    let stored = try LedgerTable(connection).balances(of: accounts)
    for account in accounts {
      for (name, book, expected) in expectations(of: account) {
        let found = stored[account]?[book] ?? .zero
        let places: UInt8 = book.unit == .cash ? 2 : 0
        if found.whole(places: places) != Int64(expected) {
          complain(
            "step \(counts.steps), account \(account): \(name) is \(found), "
              + "the model has \(expected)")
        }
      }
    }
  }

  private func expectations(of account: Int64) -> [(name: String, book: Book, value: Int)] {
    let own = model.accounts[account] ?? PaperModel.Account()
    var rows: [(String, Book, Int)] = [
      ("available", Book(.cash, .available), model.available(account)),
      ("frozen", Book(.cash, .frozen), model.frozenCash(account)),
      ("paid in", Book(.cash, .world), own.withdrawn - own.deposited),
      ("spent", Book(.cash, .market), own.spent),
      ("commission", Book(.cash, .commission), own.charges.commission),
      ("stamp duty", Book(.cash, .stampDuty), own.charges.stamp),
      ("transfer fee", Book(.cash, .transferFee), own.charges.transfer),
      ("income", Book(.cash, .income), -own.income),
    ]
    for traded in PaperInstrument.all {
      let (symbol, unit) = ("\(traded.symbol)", LedgerUnit.shares(traded.symbol))
      rows += [
        ("\(symbol) sellable", Book(unit, .sellable), model.sellable(symbol, of: account)),
        ("\(symbol) today", Book(unit, .today), model.today(symbol, of: account)),
        ("\(symbol) frozen", Book(unit, .frozen), model.frozen(symbol, of: account)),
      ]
    }
    return rows
  }

  private mutating func audit() throws {
    counts.audits += 1
    for finding in try LedgerAudit(connection).findings() { complain("\(finding)") }
  }

  /// A broker that starts again must go on from the same books and orders.
  func compareReloaded() throws -> [String] {
    let loaded = try LedgerTable(connection).ledgers(
      of: accounts, on: broker.day)
    return accounts.compactMap { account in
      guard let old = broker.ledgers[account], let new = loaded[account] else {
        return broker.ledgers[account] == nil ? nil : "account \(account) was not loaded"
      }
      let isSame =
        old.balances == new.balances && old.openOrders == new.openOrders
        && old.sequence == new.sequence
      return isSame ? nil : "account \(account) is loaded differently"
    }
  }
}
