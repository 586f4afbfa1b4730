import Market
import PaperTrading
import TestSupport

@testable import AppStore

/// Executes commands as the broker does, without an exchange: a limit order rests until a test
/// fills it, a market order is filled at once.
actor StandInBroker {
  static let marketPrice = ExactDecimal(units: 1_000, scale: 2)
  private static let term: Int64 = 7
  private static let evidence =
    "model=certain/1 basis=passive side=buy after=2026-07-06/34200/1 front=500"

  private let connection: AppConnection
  private var day: TradingDay
  private var rows: [Int64: OrderRow] = [:]
  private var counts: [Int64: Int32] = [:]
  private var newest: Int64 = 0
  private var step = BrokerStep()
  private var statements: [String] = []

  init(_ database: StoreDatabase, day: TradingDay = StoreSamples.day) throws {
    connection = try AppConnection(url: database.url, application: "broker")
    self.day = day
    try database.execute("update candled_app.gateway_lease set term = \(Self.term)")
  }

  private var now: Timestamp { Timestamp(day: day, secondOfDay: 36_000) }

  /// Until its task is cancelled.
  func run() async {
    while !Task.isCancelled {
      _ = try? execute()
      try? await Task.sleep(for: .milliseconds(5))
    }
  }

  @discardableResult
  func execute() throws -> Int {
    try change { (table, sequence) throws(AppStoreError) in
      // One a step: the books that it changes are read from the database.
      let pending = try table.pending(limit: 1)
      for command in pending { try execute(command, sequence: sequence + 1) }
      return pending.count
    }
  }

  /// A part of an order that rests.
  func fill(_ id: Int64, quantity: Int64, price: ExactDecimal) throws {
    try change { (_, _) throws(AppStoreError) in
      guard let account = rows[id]?.ledger.placed.account else { throw .unknownAccount }
      var ledger = try self.ledger(of: account)
      try booking { () throws(LedgerRefusal) in
        try fill(id, quantity: ExactDecimal(quantity), price: price, in: &ledger)
      }
    }
  }

  /// Its day is over.
  func expire(_ id: Int64) throws {
    try change { (_, _) throws(AppStoreError) in
      guard let account = rows[id]?.ledger.placed.account else { throw .unknownAccount }
      var ledger = try self.ledger(of: account)
      try booking { () throws(LedgerRefusal) in
        record(try ledger.end(id), as: .expired, event: .expired)
      }
    }
  }

  /// Another day begins: what was bought may be sold.
  func begin(_ day: TradingDay, in account: Int64) throws {
    self.day = day
    try settle(account)
  }

  /// The next day begins: what was bought may be sold.
  func settle(_ account: Int64) throws {
    try change { (_, _) throws(AppStoreError) in
      var ledger = try self.ledger(of: account)
      try booking { () throws(LedgerRefusal) in
        if let posting = try ledger.settle(day) { post(posting, of: account) }
      }
    }
  }

  private func change<Value>(
    _ body: (BrokerTable, Int64) throws(AppStoreError) -> Value
  ) throws -> Value {
    let table = BrokerTable(connection)
    return try table.step(term: Self.term) { (sequence) throws(AppStoreError) in
      step = BrokerStep()
      statements = []
      let value = try body(table, sequence)
      for statement in statements { try connection.execute(statement, context: "test") }
      try table.write(step)
      return value
    }
  }

  private func booking(_ body: () throws(LedgerRefusal) -> Void) throws(AppStoreError) {
    do throws(LedgerRefusal) { try body() } catch {
      throw .invalid(field: error.code, expected: error.description)
    }
  }

  private func ledger(of account: Int64) throws(AppStoreError) -> AccountLedger {
    let ledgers = try LedgerTable(connection).ledgers(
      of: [account], on: day)
    return ledgers[account] ?? AccountLedger(tradingDay: day)
  }

  private func execute(_ command: PendingCommand, sequence: Int64) throws(AppStoreError) {
    let result: CommandResult
    var ledger = try self.ledger(of: command.accountID)
    do throws(LedgerRefusal) {
      result = try execute(command, in: &ledger)
    } catch {
      result = .refused(CommandRefusal(error))
    }
    step.outcomes.append((command.id, CommandOutcome(sequence: sequence, result: result)))
  }

  private func execute(
    _ command: PendingCommand, in ledger: inout AccountLedger
  ) throws(LedgerRefusal) -> CommandResult {
    switch command.request {
    case .deposit(let amount, let type, let description):
      let posting = try ledger.deposit(amount, type: type)
      post(posting, of: command.accountID, command: command.id, description: description)
      return .done(.posting, posting.sequence)
    case .withdraw(let amount, let description):
      let posting = try ledger.withdraw(amount)
      post(posting, of: command.accountID, command: command.id, description: description)
      return .done(.posting, posting.sequence)
    case .order(let request): return try accept(request, of: command, in: &ledger)
    case .cancel(let id):
      try end(id, as: .cancelled, event: .cancelled, of: command, in: &ledger)
      return .done(.order, id)
    case .replace(let id, let change):
      guard let placed = rows[id]?.ledger.placed else { throw .unknownOrder(id) }
      try end(id, as: .replaced, event: .replaced, of: command, in: &ledger)
      return try accept(
        OrderRequest(
          symbol: placed.symbol, side: placed.side, kind: placed.kind,
          timeInForce: change.timeInForce ?? placed.timeInForce,
          quantity: change.quantity ?? placed.quantity, limit: change.limit ?? placed.limit,
          stop: change.stop ?? placed.stop), of: command, in: &ledger)
    case .arm(let purchase):
      statements.append(
        """
        insert into queue_purchase
          (id, account_id, command_id, symbol, quantity, trigger, state, changed_at)
        values (\(command.id), \(command.accountID), \(command.id), '\(purchase.symbol)',
          \(purchase.quantity), '\(purchase.terms.text)', 'armed', now())
        """)
      return .done(.purchase, command.id)
    case .disarm(let id):
      statements.append("update queue_purchase set state = 'cancelled' where id = \(id)")
      return .done(.purchase, id)
    case .close:
      for (id, row) in rows.sorted(by: { $0.key < $1.key })
      where row.ledger.isOpen && row.ledger.placed.account == command.accountID {
        try end(id, as: .cancelled, event: .cancelled, of: command, in: &ledger)
      }
      step.closed.append(command.accountID)
      return .done(.account, command.accountID)
    case nil: throw .overflow
    }
  }

  private func accept(
    _ request: OrderRequest, of command: PendingCommand, in ledger: inout AccountLedger
  ) throws(LedgerRefusal) -> CommandResult {
    newest += 1
    let id = newest
    let placed = Order(
      id: id, account: command.accountID, symbol: request.symbol, side: request.side,
      kind: request.kind, timeInForce: request.timeInForce, quantity: request.quantity,
      limit: request.limit, stop: request.stop)
    guard let instrument = Instrument.classify(request.symbol) else { throw .unknownOrder(id) }
    let accepted = try ledger.accept(
      LedgerOrder(
        placed, worstPrice: request.limit ?? Self.marketPrice, settlesSameDay: false,
        schedule: .standard, terms: FeeTerms(instrument: instrument, side: placed.side, day: day)))
    rows[id] = OrderRow(
      ledger: accepted.order, commandID: command.id, acceptedAt: now, state: .accepted)
    record(accepted, as: .accepted, event: .accepted)
    if request.kind.isMarket {
      try fill(id, quantity: request.quantity, price: Self.marketPrice, in: &ledger)
    }
    return .done(.order, id)
  }

  private func end(
    _ id: Int64, as state: OrderState, event: OrderEventRow.Kind, of command: PendingCommand,
    in ledger: inout AccountLedger
  ) throws(LedgerRefusal) {
    guard rows[id]?.ledger.placed.account == command.accountID else { throw .unknownOrder(id) }
    record(try ledger.end(id), as: state, event: event)
  }

  private func fill(
    _ id: Int64, quantity: ExactDecimal, price: ExactDecimal, in ledger: inout AccountLedger
  ) throws(LedgerRefusal) {
    let filled = try ledger.fill(id, quantity: quantity, price: price)
    let count = Int32(step.fills.count + 1) + (counts[-id] ?? 0)
    counts[-id] = count
    var row = FillRow(
      sequence: count, posting: filled, filledAt: now, evidence: Self.evidence)
    row.possibleSoFar = filled.order.filled
    step.fills.append(row)
    record(filled, as: filled.order.isOpen ? .partiallyFilled : .filled, event: .fill)
  }

  private func record(
    _ change: OrderPosting, as state: OrderState, event: OrderEventRow.Kind
  ) {
    let id = change.order.id
    rows[id]?.ledger = change.order
    rows[id]?.state = state
    step.orders[id] = rows[id]
    post(change.posting, of: change.order.placed.account)
    counts[id, default: 0] += 1
    var row = OrderEventRow(orderID: id, sequence: counts[id] ?? 1, kind: event, at: now)
    row.postingSequence = change.posting.sequence
    step.events.append(row)
  }

  private func post(
    _ posting: Posting, of account: Int64, command: Int64? = nil, description: String = ""
  ) {
    var row = PostingRow(accountID: account, posting: posting, at: now)
    (row.commandID, row.description) = (command, description)
    step.postings.append(row)
  }
}
