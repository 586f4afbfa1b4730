/// Commands of users, executed in their order: each is judged by the state it finds.

import AppStore
import Market
import PaperTrading

extension CommandRequest {
  /// Whether prices of its moment matter.
  fileprivate var isForMarket: Bool {
    switch self {
    case .order, .replace, .arm: true
    case .deposit, .withdraw, .cancel, .disarm, .close: false
    }
  }
}

extension BrokerState {
  /// Open orders and armed purchases of an account, and of all accounts of a user together: each is
  /// looked at with every row of its instrument.
  static let openOfAccountMax = 500
  static let openOfUserMax = 1_000
  /// Orders of a user on a day, ended ones included: each is kept until the day is over, and read
  /// when one begins to lead. One every 1.4 seconds of the sessions.
  static let placedOfUserMax = 10_000
  /// How long a command may wait that is executed at the prices of its moment.
  static let waitedMicrosecondsMax: Int64 = 60_000_000

  /// Executes a command, or refuses it with nothing changed.
  /// - Parameter row: the newest of the instrument that it names.
  mutating func execute(_ command: PendingCommand, row: (Symbol) -> FeedRow?) -> CommandResult {
    do throws(CommandRefusal) {
      guard let request = command.request else {
        throw CommandRefusal("unknown", "this version of the broker does not know the command")
      }
      guard let account = accounts[command.accountID] else {
        throw CommandRefusal("account", "there is no such account")
      }
      if account.isClosed { throw CommandRefusal("closed", "the account is closed") }
      if request.isForMarket { try requireMoment(of: command) }
      switch request {
      case .deposit, .withdraw: return .done(.posting, try move(request, command: command))
      case .order(let order): return .done(.order, try place(order, command: command, row: row))
      case .cancel(let id):
        try cancel(id, of: command.accountID)
        return .done(.order, id)
      case .replace(let id, let change):
        return .done(.order, try replace(id, by: change, command: command, row: row))
      case .arm(let purchase):
        return .done(.purchase, try arm(purchase, command: command, row: row))
      case .disarm(let id):
        try disarm(id, of: command.accountID)
        return .done(.purchase, id)
      case .close:
        close(account: command.accountID)
        return .done(.account, command.accountID)
      }
    } catch {
      return .refused(error)
    }
  }

  /// What was asked for at other prices is not done at those of now, nor by a clock that may be
  /// wrong by a day.
  private func requireMoment(of command: PendingCommand) throws(CommandRefusal) {
    if command.waitedMicroseconds > Self.waitedMicrosecondsMax {
      throw CommandRefusal(
        "late",
        "it waited \(command.waitedMicroseconds / 1_000_000) s for a gateway that executes, at "
          + "most \(Self.waitedMicrosecondsMax / 1_000_000) are allowed: send it again")
    }
    if clock.isDayUncertain {
      throw CommandRefusal(
        "clock",
        "the database server's clock is not confirmed yet, so that the day is not known: try "
          + "again in five minutes")
    }
  }

  /// What the request of a command is about; nil where no row is needed.
  func symbol(of command: PendingCommand) -> Symbol? {
    switch command.request {
    case .order(let order): order.symbol
    case .arm(let purchase): purchase.symbol
    case .replace(let id, _): orders[id]?.placed.symbol
    default: nil
    }
  }

  // MARK: Money

  private mutating func move(
    _ request: CommandRequest, command: PendingCommand
  ) throws(CommandRefusal) -> Int64 {
    guard var ledger = ledgers[command.accountID] else {
      throw CommandRefusal("account", "there is no such account")
    }
    do throws(LedgerRefusal) {
      var text = ""
      let posting: Posting
      switch request {
      case .deposit(let amount, let type, let description):
        posting = try ledger.deposit(amount, type: type)
        text = description
      case .withdraw(let amount, let description):
        posting = try ledger.withdraw(amount)
        text = description
      default: return 0
      }
      ledgers[command.accountID] = ledger
      post(posting, of: command.accountID, command: command.id, description: text)
      return posting.sequence
    } catch {
      throw CommandRefusal(error)
    }
  }

  // MARK: Orders

  /// An order that the exchange would take and the account can pay.
  struct Placed {
    let accepted: OrderPosting
    let resting: RestingOrder
    let ledger: AccountLedger
  }

  private mutating func place(
    _ request: OrderRequest, command: PendingCommand, row: (Symbol) -> FeedRow?
  ) throws(CommandRefusal) -> Int64 {
    try requireRoom(in: command.accountID)
    let order = Order(
      id: newest.order + 1, account: command.accountID, symbol: request.symbol,
      side: request.side, kind: request.kind, timeInForce: request.timeInForce,
      quantity: request.quantity, limit: request.limit, stop: request.stop)
    place(try judge(order, by: row(request.symbol)), command: command.id, purchase: nil)
    return order.id
  }

  private func requireRoom(in account: Int64) throws(CommandRefusal) {
    guard let user = accounts[account]?.userID else { return }
    var (ofAccount, ofUser) = (0, 0)
    for id in accounts.accounts(ofUser: user) {
      let count = (ledgers[id]?.openOrders.count ?? 0) + purchases.armedCount(of: id)
      ofUser += count
      if id == account { ofAccount += count }
    }
    if ofAccount >= Self.openOfAccountMax {
      throw CommandRefusal(
        "too_many", "an account has at most \(Self.openOfAccountMax) open orders")
    }
    if ofUser >= Self.openOfUserMax {
      throw CommandRefusal(
        "too_many", "the accounts of a user have at most \(Self.openOfUserMax) open orders")
    }
    try requireFewPlaced(in: account)
  }

  private func requireFewPlaced(in account: Int64) throws(CommandRefusal) {
    guard let user = accounts[account]?.userID else { return }
    if newest.placed[user, default: 0] >= Self.placedOfUserMax {
      throw CommandRefusal(
        "too_many", "a user places at most \(Self.placedOfUserMax) orders a day")
    }
  }

  /// Counts anew: of the orders that are known.
  mutating func countPlaced() {
    newest.placed = [:]
    for order in orders.values {
      guard let user = accounts[order.placed.account]?.userID else { continue }
      newest.placed[user, default: 0] += 1
    }
  }

  /// - Parameters:
  ///   - ledger: as it is when the order is judged; nil: as it is now.
  ///   - old: which ends when the order is placed.
  func judge(
    _ order: Order, by row: FeedRow?, ledger: AccountLedger? = nil, replacing old: Int64? = nil
  ) throws(CommandRefusal) -> Placed {
    guard let instrument = Instrument.classify(order.symbol) else {
      throw CommandRefusal(
        "instrument", "\(order.symbol) is not traded on paper: it is no instrument of China")
    }
    guard accounts[order.account]?.market == Self.market else {
      throw CommandRefusal("instrument", "\(order.symbol) is traded in accounts of market A alone")
    }
    if let sentence = rules.end(of: order.symbol, row: row) {
      throw CommandRefusal(Refusal.Code.halted.rawValue, sentence)
    }
    guard var ledger = ledger ?? ledgers[order.account] else {
      throw CommandRefusal("account", "there is no such account")
    }
    let unit = LedgerUnit.shares(order.symbol)
    var traded =
      row?.market.traded(instrument)
      ?? TradedInstrument(instrument, statedLimits: StatedLimits.none)
    traded.isOnSameDayList = rules.sameDayFunds.contains(order.symbol)
    if row?.isSpecialTreatment == true {
      try requireFewSpecial(order, of: instrument, replacing: old)
    }
    let acceptance: Acceptance
    do throws(Refusal) {
      acceptance = try OrderRules.judge(
        order, of: traded, against: row?.snapshot,
        holding: Holding(
          sellable: ledger.balance(unit, .sellable), today: ledger.balance(unit, .today)),
        at: moment)
    } catch {
      throw CommandRefusal(error.code.rawValue, error.description)
    }
    do throws(LedgerRefusal) {
      let accepted = try ledger.accept(
        LedgerOrder(
          order, worstPrice: acceptance.worstPrice,
          settlesSameDay: traded.sellsSameDay(on: moment.day), schedule: rules.schedule,
          terms: FeeTerms(instrument: instrument, side: order.side, day: day)))
      return Placed(
        accepted: accepted, resting: resting(order, acceptance: acceptance, row: row?.market),
        ledger: ledger)
    } catch {
      throw CommandRefusal(error)
    }
  }

  /// [RULE] A person buys at most so many of a share under special treatment on a day, in all
  /// accounts and by all ways of trading (SSE 风险警示板股票交易管理办法 §14; both exchanges since
  /// 2020-12-14 and in their rules of 2026-07-06). Orders that are neither filled nor cancelled
  /// count.
  private static let specialSharesMax = ExactDecimal(500_000)

  private func requireFewSpecial(
    _ order: Order, of instrument: Instrument, replacing old: Int64?
  ) throws(CommandRefusal) {
    guard order.side == .buy, instrument.kind == .stock, instrument.exchange != .beijing else {
      return
    }
    let user = accounts[order.account]?.userID
    var sum = order.quantity
    for other in orders.values {
      let placed = other.placed
      guard placed.symbol == order.symbol, placed.side == .buy,
        accounts[placed.account]?.userID == user
      else { continue }
      let isWhole = other.row.ledger.isOpen && placed.id != old
      sum = (try? sum + (isWhole ? placed.quantity : other.row.ledger.filled)) ?? sum
    }
    guard sum > Self.specialSharesMax else { return }
    throw CommandRefusal(
      Refusal.Code.size.rawValue,
      "quantity: a person buys at most \(Self.specialSharesMax) of a share under special treatment "
        + "a day, and \(sum) would be bought")
  }

  /// It sees no row that the exchange stamped before it came, whatever our clock says; and only a
  /// row of its day shows the day's limits.
  private func resting(_ order: Order, acceptance: Acceptance, row: MarketRow?) -> RestingOrder {
    let isToday = row?.snapshot.stamp.day == day
    let seen = isToday ? Int(row?.snapshot.stamp.secondOfDay ?? 0) : 0
    return RestingOrder(
      order,
      acceptance: Acceptance(
        entersAt: max(acceptance.entersAt, seen), worstPrice: acceptance.worstPrice),
      on: day, band: isToday ? row?.band : nil)
  }

  mutating func place(_ placed: Placed, command: Int64?, purchase: Int64?) {
    let order = placed.accepted.order.placed
    ledgers[order.account] = placed.ledger
    newest.order = order.id
    if let user = accounts[order.account]?.userID { newest.placed[user, default: 0] += 1 }
    var row = OrderRow(
      ledger: placed.accepted.order, commandID: command, acceptedAt: now, state: .received)
    row.queuePurchaseID = purchase
    orders[order.id] = PaperOrder(row: row)
    record(placed.accepted, as: order.kind.isStop ? .held : .accepted, event: .accepted)
    enter(placed.resting)
  }

  /// An open order of the account.
  private func open(_ id: Int64, of account: Int64) throws(CommandRefusal) -> PaperOrder {
    guard let order = orders[id], order.placed.account == account, order.row.ledger.isOpen else {
      throw CommandRefusal("unknown_order", "there is no open order \(id)")
    }
    return order
  }

  private mutating func cancel(_ id: Int64, of account: Int64) throws(CommandRefusal) {
    let order = try open(id, of: account)
    close(CollectionOfOne(id))
    if orders[id]?.row.ledger.isOpen == true, order.row.state != .pendingCancel {
      set(.pendingCancel, of: id)
      addEvent(.pendingCancel, of: id)
    }
  }

  private mutating func replace(
    _ id: Int64, by change: OrderChange, command: PendingCommand, row: (Symbol) -> FeedRow?
  ) throws(CommandRefusal) -> Int64 {
    try requireFewPlaced(in: command.accountID)
    let old = try open(id, of: command.accountID)
    let placed = old.placed
    guard old.row.state != .pendingCancel, canCancel(placed),
      instruments[placed.symbol]?.isPending(placed) != true
    else {
      throw CommandRefusal("pending", "order \(id) cannot be taken back now: try again")
    }
    guard let quantity = try? (change.quantity ?? placed.quantity) - old.row.ledger.filled,
      var ledger = ledgers[command.accountID]
    else { throw CommandRefusal("quantity", "the quantity has too many digits") }
    do throws(LedgerRefusal) {
      _ = try ledger.end(id)
    } catch {
      throw CommandRefusal(error)
    }
    // A stop that was reached is in the market: its next is, too.
    let isReached = placed.kind == .stopLimit && old.row.state != .held && change.stop == nil
    let order = Order(
      id: newest.order + 1, account: placed.account, symbol: placed.symbol, side: placed.side,
      kind: isReached ? .limit : placed.kind,
      timeInForce: change.timeInForce ?? placed.timeInForce, quantity: quantity,
      limit: change.limit ?? placed.limit, stop: isReached ? nil : change.stop ?? placed.stop)
    let next = try judge(order, by: row(placed.symbol), ledger: ledger, replacing: id)
    withdraw(id, as: .replaced)
    place(next, command: command.id, purchase: nil)
    return order.id
  }

  // MARK: Queue purchases

  /// Refusals that do not depend on the price: with one of them nothing is armed.
  private static let refusesArming: Set<Refusal.Code> = [
    .instrument, .quantity, .lot, .remainder, .size, .halted,
  ]

  private mutating func arm(
    _ request: PurchaseRequest, command: PendingCommand, row: (Symbol) -> FeedRow?
  ) throws(CommandRefusal) -> Int64 {
    try requireRoom(in: command.accountID)
    let purchase = QueuePurchase(
      id: newest.purchase + 1, account: command.accountID, symbol: request.symbol,
      quantity: request.quantity, terms: request.terms)
    guard let row = row(request.symbol) else {
      throw CommandRefusal("halted", "\(request.symbol) has no price")
    }
    let market = row.market
    guard let limitUp = market.band?.upper else {
      throw CommandRefusal(
        "band",
        isBandUnknown(of: request.symbol, in: market)
          ? "the price limits of \(request.symbol) are not known: no source states them"
          : "\(request.symbol) has no price limits today")
    }
    do throws(CommandRefusal) {
      _ = try judge(purchase.order(id: newest.order + 1, limitUp: limitUp), by: row)
    } catch {
      // One that ends with a day that is over would be of no use.
      let isOver = error.code == Refusal.Code.session.rawValue && !purchase.terms.carriesOver
      if isOver || Self.refusesArming.contains(where: { $0.rawValue == error.code }) { throw error }
    }
    newest.purchase = purchase.id
    let armed = PurchaseRow(
      purchase: purchase, commandID: command.id, state: .armed, changedAt: now)
    purchases[purchase.id] = armed
    step.purchases[purchase.id] = armed
    notify(armed, order: nil)
    return purchase.id
  }

  private func isBandUnknown(of symbol: Symbol, in row: MarketRow) -> Bool {
    Instrument.classify(symbol).map { row.traded($0).hasUnknownBand(on: day) } ?? false
  }

  private mutating func disarm(_ id: Int64, of account: Int64) throws(CommandRefusal) {
    guard let row = purchases[id], row.purchase.account == account, row.state == .armed else {
      throw CommandRefusal("unknown_purchase", "there is no armed queue purchase \(id)")
    }
    set(.cancelled, ofPurchase: id)
  }
}
