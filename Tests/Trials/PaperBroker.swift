import AppStore
import Market
import PaperTrading
import TestSupport

/// A broker without an exchange: it executes commands as the gateway's will, and a generator says
/// what fills, at which price, and what is taken back.
struct PaperBroker {
  /// A fault on purpose, which the trial must find.
  enum Fault: String, Sendable, CaseIterable {
    case dearCommission, soldOnItsDay, freeDuty, forgottenFill, unaskedDeposit
  }

  private let connection: AppConnection
  private let accounts: [Int64]
  private var random: SplitMix
  private let fault: Fault?
  private let schedule: FeeSchedule

  private(set) var ledgers: [Int64: AccountLedger]
  private var rows: [Int64: OrderRow] = [:]
  private var eventCounts: [Int64: Int32] = [:]
  private var fillCounts: [Int64: Int32] = [:]
  /// Of today, to be taken back.
  private var fills: [(account: Int64, posting: Posting)] = []
  private var newestOrder: Int64 = 0
  private(set) var day: TradingDay
  private(set) var steps = 0

  private var step = BrokerStep()
  private var facts: [PaperFact] = []

  static let term: Int64 = 7
  /// Never used: all accounts are loaded.
  private static let empty = AccountLedger(tradingDay: TradingDay(daysSince1970: 0))
  private static let evidence = "model=certain/1 basis=book side=buy after=2026-07-06/34200/1"

  init(
    _ connection: AppConnection, accounts: [Int64], seed: UInt64, day: TradingDay, fault: Fault?
  ) throws {
    self.connection = connection
    self.accounts = accounts
    self.day = day
    self.fault = fault
    random = SplitMix(seed: seed)
    let rate: Int64 = fault == .dearCommission ? 26 : 25
    schedule = FeeSchedule(
      commissionRate: ExactDecimal(units: rate, scale: 5), commissionMin: ExactDecimal(5))
    ledgers = try LedgerTable(connection).ledgers(of: accounts, on: day)
  }

  private var now: Timestamp {
    Timestamp(day: day, secondOfDay: 10 * 3600).adding(seconds: Int64(steps))
  }

  /// - Returns: what was done; nothing where no command waited.
  /// - Parameter action: a corporate action that the day begins with, once it is in the database.
  mutating func run(
    limit: Int, beginsDay: Bool, action: PaperAction?
  ) throws -> [PaperFact] {
    step = BrokerStep()
    facts = []
    let table = BrokerTable(connection)
    try table.step(term: Self.term) { (sequence) throws(AppStoreError) in
      let pending = try table.pending(limit: limit)
      if pending.isEmpty { return }
      steps += 1
      if beginsDay { try beginDay(action, over: table) }
      var next = sequence
      for command in pending {
        next += 1
        execute(command, sequence: next)
      }
      trade()
      try table.write(step)
    }
    return facts
  }

  // MARK: Commands

  private mutating func execute(_ command: PendingCommand, sequence: Int64) {
    let account = command.accountID
    var orderID: Int64 = 0
    let result: CommandResult
    do throws(LedgerRefusal) {
      switch command.request {
      case .deposit(let amount, let type, let description):
        let amount = fault == .unaskedDeposit ? amount.rounded(places: 0) : amount
        let posting = try ledgers[account, default: Self.empty].deposit(amount, type: type)
        post(posting, of: account, command: command.id, description: description)
        result = .done(.posting, posting.sequence)
      case .withdraw(let amount, let description):
        let posting = try ledgers[account, default: Self.empty].withdraw(amount)
        post(posting, of: account, command: command.id, description: description)
        result = .done(.posting, posting.sequence)
      case .order(let request):
        orderID = newestOrder + 1
        try accept(request, id: orderID, command: command)
        newestOrder = orderID
        result = .done(.order, orderID)
      case .cancel(let id):
        guard rows[id]?.ledger.placed.account == account else { throw .unknownOrder(id) }
        let ended = try ledgers[account, default: Self.empty].end(id)
        record(ended, as: .cancelled, event: .cancelled)
        result = .done(.order, id)
      case .replace, .arm, .disarm, .close, nil:
        result = .refused(CommandRefusal("unknown", "not of this trial"))
      }
    } catch {
      result = .refused(CommandRefusal(error))
    }
    let outcome = CommandOutcome(sequence: sequence, result: result)
    step.outcomes.append((command.id, outcome))
    facts.append(.command(command, orderID: orderID, outcome: outcome))
  }

  private mutating func accept(
    _ request: OrderRequest, id: Int64, command: PendingCommand
  ) throws(LedgerRefusal) {
    guard let traded = PaperInstrument.bySymbol[request.symbol] else { throw .unknownOrder(id) }
    let placed = Order(
      id: id, account: command.accountID, symbol: request.symbol, side: request.side,
      kind: request.kind, timeInForce: request.timeInForce, quantity: request.quantity,
      limit: request.limit, stop: request.stop)
    let order = LedgerOrder(
      placed, worstPrice: request.limit,
      settlesSameDay: traded.settlesSameDay || fault == .soldOnItsDay, schedule: schedule,
      terms: FeeTerms(
        instrument: traded.instrument, side: fault == .freeDuty ? .buy : request.side, day: day))
    let accepted = try ledgers[command.accountID, default: Self.empty].accept(order)
    rows[id] = OrderRow(
      ledger: accepted.order, commandID: command.id, acceptedAt: now, state: .accepted)
    record(accepted, as: .accepted, event: .accepted)
  }

  // MARK: What becomes of orders

  /// Some of the open orders fill in part or whole; some fills of the day are taken back.
  private mutating func trade() {
    for account in accounts {
      for id in (ledgers[account]?.openOrders.keys).map({ $0.sorted() }) ?? [] {
        if Int.random(in: 0..<100, using: &random) < 45 { fill(id, of: account) }
      }
    }
    for _ in 0..<(fills.count / 200) {
      reverse(fills.remove(at: Int.random(in: 0..<fills.count, using: &random)))
    }
  }

  private mutating func fill(_ id: Int64, of account: Int64) {
    guard let order = ledgers[account]?.openOrders[id],
      let traded = PaperInstrument.bySymbol[order.placed.symbol],
      let rest = try? order.placed.quantity - order.filled
    else { return }
    let isWhole = Int.random(in: 0..<3, using: &random) > 0
    let quantity = isWhole ? rest.units : Int64.random(in: 1...rest.units, using: &random)
    let limit = order.worstPrice?.whole(places: traded.places) ?? 2_000
    let better = Int64.random(in: 0...max(limit / 20, 0), using: &random)
    let units = order.isBuy ? max(limit - better, 1) : limit + better
    let price = ExactDecimal(units: units, scale: traded.places)
    guard
      let filled = try? ledgers[account, default: Self.empty].fill(
        id, quantity: ExactDecimal(quantity), price: price)
    else { return }
    fillCounts[id, default: 0] += 1
    step.fills.append(
      FillRow(
        sequence: fillCounts[id] ?? 1, posting: filled, filledAt: now, evidence: Self.evidence))
    record(filled, as: filled.order.isOpen ? .partiallyFilled : .filled, event: .fill)
    fills.append((account, filled.posting))
    if fault == .forgottenFill, steps == 3 { return }
    let thousandths = price.whole(places: 3) ?? 0
    facts.append(.fill(order: id, quantity: quantity, thousandths: thousandths))
  }

  private mutating func reverse(_ fill: (account: Int64, posting: Posting)) {
    let event = fill.posting.event
    guard let id = event.orderID, let quantity = event.quantity, let price = event.price else {
      return
    }
    let ended = rows[id].map(\.ledger)
    let reversed = try? ledgers[fill.account, default: Self.empty].reverse(
      fill.posting, ended: ended)
    if let reversed {
      let state = rows[id]?.state ?? .accepted
      let isUntouched = reversed.order.isOpen && reversed.order.filled.isZero
      record(reversed, as: isUntouched ? .accepted : state, event: .reversed)
    }
    facts.append(
      .reversal(
        order: id, quantity: quantity.units, thousandths: price.whole(places: 3) ?? 0,
        isDone: reversed != nil))
  }

  // MARK: Days

  private mutating func beginDay(
    _ action: PaperAction?, over table: BrokerTable
  ) throws(AppStoreError) {
    var costs: [Int64: (held: ExactDecimal, cost: ExactDecimal)] = [:]
    if let action, action.successor != nil { costs = try table.costs(of: action.symbol) }
    day = TradingDay(daysSince1970: day.daysSince1970 + 1)
    fills = []
    rows = rows.filter { $0.value.ledger.isOpen }
    for account in accounts {
      let open = (ledgers[account]?.openOrders ?? [:]).values.sorted { $0.id < $1.id }
      for order in open {
        guard let ended = try? ledgers[account, default: Self.empty].end(order.id) else { continue }
        record(ended, as: .expired, event: nil)
      }
      if let settled = try? ledgers[account, default: Self.empty].settle(day) {
        post(settled, of: account)
      }
      if let action, let successor = action.successor, let (held, cost) = costs[account] {
        merge(action, into: successor, held: held, cost: cost, of: account)
      }
      facts.append(.day(account: account, renewed: renew(open, of: account)))
      if let action, action.successor == nil { pay(action, to: account) }
    }
  }

  private mutating func renew(_ open: [LedgerOrder], of account: Int64) -> Set<Int64> {
    var renewed: Set<Int64> = []
    for order in open {
      if order.placed.timeInForce == .goodTillCancelled,
        let accepted = try? ledgers[account, default: Self.empty].accept(order.renewed(on: day))
      {
        let state = accepted.order.filled.isZero ? OrderState.accepted : .partiallyFilled
        record(accepted, as: state, event: nil)
        renewed.insert(order.id)
      } else {
        addEvent(.expired, of: order.id, posting: nil)
      }
    }
    return renewed
  }

  private mutating func merge(
    _ action: PaperAction, into successor: Symbol, held: ExactDecimal, cost: ExactDecimal,
    of account: Int64
  ) {
    let terms = CorporateActionTerms(
      .merger, into: successor, perShare: ExactDecimal(units: 62, scale: 2), cash: nil)
    guard let succession = terms?.succession(of: held),
      let posting = try? ledgers[account, default: Self.empty].succeed(
        .merger, by: succession, from: action.symbol)
    else { return }
    post(posting, of: account, action: action.id, cost: cost)
    facts.append(.merger(account: account, symbol: action.symbol, successor: successor))
  }

  private mutating func pay(_ action: PaperAction, to account: Int64) {
    guard let ledger = ledgers[account] else { return }
    let unit = LedgerUnit.shares(action.symbol)
    let held = [BookKind.sellable, .today, .frozen].reduce(Int64(0)) {
      $0 + ledger.balance(unit, $1).units
    }
    if held == 0 { return }
    if let cash = action.cashPerShare {
      let cents = held * cash
      let amount = ExactDecimal(units: cents, scale: 2)
      guard
        let posting = try? ledgers[account, default: Self.empty].book(
          .dividend, amount: amount, of: action.symbol)
      else { return }
      post(posting, of: account, action: action.id)
      facts.append(.dividend(account: account, cents: cents))
    } else if held >= 10 {
      let shares = ExactDecimal(held / 10)
      guard
        let posting = try? ledgers[account, default: Self.empty].book(
          .bonus, amount: shares, of: action.symbol)
      else { return }
      post(posting, of: account, action: action.id)
      facts.append(.bonus(account: account, symbol: action.symbol, shares: held / 10))
    }
  }

  // MARK: Rows

  private mutating func post(
    _ posting: Posting, of account: Int64, command: Int64? = nil, action: Int64? = nil,
    description: String = "", cost: ExactDecimal? = nil
  ) {
    var row = PostingRow(accountID: account, posting: posting, at: now)
    row.cost = cost
    row.commandID = command
    row.corporateActionID = action
    row.description = description
    step.postings.append(row)
  }

  private mutating func record(
    _ change: OrderPosting, as state: OrderState, event: OrderEventRow.Kind?
  ) {
    let id = change.order.id
    rows[id]?.ledger = change.order
    rows[id]?.state = state
    step.orders[id] = rows[id]
    post(change.posting, of: change.order.placed.account)
    if let event { addEvent(event, of: id, posting: change.posting.sequence) }
  }

  private mutating func addEvent(_ kind: OrderEventRow.Kind, of id: Int64, posting: Int64?) {
    eventCounts[id, default: 0] += 1
    var row = OrderEventRow(
      orderID: id, sequence: eventCounts[id] ?? 1, kind: kind, at: now)
    row.postingSequence = posting
    step.events.append(row)
  }
}

/// A corporate action that is in the database: cents a share, a tenth of the shares as a bonus, or
/// 0.62 shares of a successor for each.
struct PaperAction: Sendable {
  let id: Int64
  let symbol: Symbol
  let cashPerShare: Int64?
  let successor: Symbol?
}
