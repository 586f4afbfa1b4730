import AppStore
import Market
import PaperTrading

/// Dividends, bonuses, and what becomes of holdings whose instrument ends.
extension BrokerState {
  /// Whether an unfinished action is to be booked now, or taken back. A code ends with the day
  /// before, and not when orders for the next are taken.
  func isDue(_ action: CorporateAction, today: TradingDay) -> Bool {
    // Orders under a code of no rule could not be read again: such a rename waits for the rule.
    if action.terms.kind == .rename, action.withdrawnAt == nil,
      Instrument.classify(action.symbol) != nil,
      action.terms.successor.flatMap({ Instrument.classify($0) }) == nil
    {
      return false
    }
    let begun = action.terms.successor == nil ? day : min(day, today)
    return action.exDay <= begun && (!action.isBooked || rules.triesFailedActions)
  }

  /// Of those that are due, what one step does, on what was stored of the one before. What is taken
  /// back comes first, the newest before the older. Then comes what instruments become, behind what
  /// an earlier day gives for the code of that day; and then the rest.
  func due(of actions: [CorporateAction]) -> (actions: [CorporateAction], areAll: Bool) {
    let due = actions.filter { isDue($0, today: now.shanghaiDay) }
    let successions = due.filter { $0.terms.successor != nil && !$0.isBooked }
    if successions.isEmpty { return (due, true) }
    let withdrawn = successions.filter { $0.withdrawnAt != nil }
    let earlier = due.filter {
      $0.terms.successor == nil && !$0.isBooked && $0.exDay < successions[0].exDay
    }
    if withdrawn.isEmpty, !earlier.isEmpty { return (earlier, false) }
    var changed: Set<Symbol> = []
    let standing = successions.filter { $0.withdrawnAt == nil }
    let first = (withdrawn.reversed() + standing).prefix { action in
      guard let successor = action.terms.successor, !changed.contains(action.symbol) else {
        return false
      }
      changed.formUnion([action.symbol, successor])
      return true
    }
    return (Array(first), false)
  }

  /// Books what each account gets for what it held when the ex-day began. Where shares are merged,
  /// open sales end: their shares are frozen.
  /// - Parameter holders: all of them, or those in which it is not booked yet.
  mutating func book(_ action: CorporateAction, for holders: [Int64: ExactDecimal]) {
    var next = action
    for (account, held) in holders.sorted(by: { $0.key < $1.key }) {
      guard let amount = action.terms.amount(for: held) else { continue }
      if amount.isNegative { endSales(of: action.symbol, in: account) }
      change(account, by: &next) { (ledger) throws(LedgerRefusal) in
        try ledger.book(action.terms.kind, amount: amount, of: action.symbol)
      }
    }
    next.bookedOn = next.bookedOn ?? day
    step.actions[action.id] = next
  }

  /// Takes back what an action gave. Open sales end where they hold the shares.
  mutating func reverse(_ action: CorporateAction, of postings: [CorporateActionPosting]) {
    var next = action
    let (symbol, kind) = (action.symbol, action.terms.kind)
    // Once: when it is tried again, the code may have ended by another action.
    if action.reversedOn == nil {
      rules.ended[symbol] = nil
      if kind == .rename { endRenamed(by: action) }
    }
    // In others there is nothing to take back.
    next.failed.formIntersection(postings.map(\.accountID))
    for posting in postings {
      let account = posting.accountID
      let given = action.terms.successor == nil ? posting.shares : posting.successors
      let unit = action.terms.successor ?? symbol
      if let ledger = ledgers[account], ledger.balance(.shares(unit), .sellable) < given {
        endSales(of: unit, in: account)
      }
      change(account, by: &next) { (ledger) throws(LedgerRefusal) in
        if let succession = posting.succession(of: action) {
          return try ledger.reverse(succession, from: symbol, posting: posting.sequence)
        }
        return try ledger.reverse(
          kind, amount: kind == .dividend ? posting.cash : posting.shares, of: symbol,
          posting: posting.sequence)
      }
    }
    next.reversedOn = next.reversedOn ?? day
    step.actions[action.id] = next
  }

  /// What fails in one account stays open there.
  private mutating func change(
    _ account: Int64, by action: inout CorporateAction, cost: ExactDecimal? = nil,
    _ body: (inout AccountLedger) throws(LedgerRefusal) -> Posting
  ) {
    guard var ledger = ledgers[account] else { return }
    do throws(LedgerRefusal) {
      let posting = try body(&ledger)
      ledgers[account] = ledger
      let id = action.withdrawnAt == nil ? action.id : nil
      post(
        posting, of: account, action: id, description: action.terms.sentence(of: action.symbol),
        cost: cost)
      action.failed.remove(account)
    } catch {
      action.failed.insert(account)
      complaints.append(
        "corporate action \(action.id) is not booked in account \(account): \(error)")
    }
  }

  private mutating func endSales(of symbol: Symbol, in account: Int64) {
    for id in (openOrders[symbol] ?? []).sorted() {
      guard let order = orders[id]?.placed, order.account == account, order.side == .sell else {
        continue
      }
      withdraw(id, as: .cancelled)
    }
  }
}

// MARK: - Successors

extension BrokerState {
  /// Makes shares of the successor of what each account holds. Of a rename, orders and purchases
  /// go on; else they end, for their prices are of other shares. What is not traded on paper is
  /// not taken for what is: such a holding stays.
  /// - Parameter holders: what they hold and what they paid for it; all of them, or those in which
  ///   it is not booked yet.
  mutating func succeed(
    _ action: CorporateAction, of holders: [Int64: (held: ExactDecimal, cost: ExactDecimal)]
  ) {
    guard let successor = action.terms.successor else { return }
    var next = action
    let isRename = action.terms.kind == .rename
    if !isRename { endAll(of: action) }
    let isTraded = isRename || Instrument.classify(successor)?.isTradedOnPaper == true
    for (account, holding) in holders.sorted(by: { $0.key < $1.key }) where isTraded {
      guard let succession = action.terms.succession(of: holding.held) else { continue }
      change(account, by: &next, cost: holding.cost) { (ledger) throws(LedgerRefusal) in
        try ledger.succeed(action.terms.kind, by: succession, from: action.symbol)
      }
    }
    rules.follow(action)
    if isRename { rename(action.symbol, to: successor) }
    if action.bookedOn == nil { step.successions.append(action) }
    next.bookedOn = next.bookedOn ?? day
    step.actions[action.id] = next
  }

  private mutating func endAll(of action: CorporateAction) {
    let reason = action.terms.sentence(of: action.symbol)
    for id in (openOrders[action.symbol] ?? []).sorted() {
      withdraw(id, as: .cancelled, reason: reason)
    }
    for row in purchases.open(of: action.symbol) where row.state == .armed {
      set(.cancelled, ofPurchase: row.purchase.id, reason: reason)
    }
  }

  /// Orders and queue purchases that a rename took along, which was none.
  private mutating func endRenamed(by action: CorporateAction) {
    guard let successor = action.terms.successor else { return }
    let reason = "\(action.symbol) was not renamed"
    let renamed = purchases.open(of: successor).filter { $0.armedAs == action.symbol }
      .map(\.purchase.id)
    for id in (openOrders[successor] ?? []).sorted() {
      guard let row = orders[id]?.row,
        row.orderedAs == action.symbol || row.queuePurchaseID.map({ renamed.contains($0) }) == true
      else { continue }
      withdraw(id, as: .cancelled, reason: reason)
    }
    for id in renamed where purchases[id]?.state == .armed {
      set(.cancelled, ofPurchase: id, reason: reason)
    }
  }

  private mutating func rename(_ symbol: Symbol, to successor: Symbol) {
    for id in (openOrders[symbol] ?? []).sorted() {
      guard let order = orders[id], var ledger = ledgers[order.placed.account],
        let renamed = ledger.rename(order: id, to: successor)
      else { continue }
      if instruments[symbol]?.isActive(order.placed) == true { takeOut(order.placed) }
      ledgers[order.placed.account] = ledger
      openOrders[symbol]?.remove(id)
      orders[id]?.row.ledger = renamed
      set(order.row.state, of: id)
      if let rest = try? renamed.placed.quantity - renamed.filled,
        let instrument = Instrument.classify(successor)
      {
        let entry = TradingPhase.entry(of: instrument, at: moment) ?? moment.secondOfDay
        enter(
          renamed.placed, in: order.row.state, rest: rest,
          acceptance: Acceptance(entersAt: entry, worstPrice: renamed.worstPrice))
      }
    }
    if openOrders[symbol]?.isEmpty == true { openOrders[symbol] = nil }
    for var row in purchases.open(of: symbol) {
      row.purchase = row.purchase.renamed(to: successor)
      purchases[row.purchase.id] = row
      step.purchases[row.purchase.id] = row
    }
  }
}

extension CorporateActionTerms {
  /// For people; empty of what speaks for itself.
  func sentence(of symbol: Symbol) -> String {
    guard let successor else { return "" }
    if kind == .rename { return "\(symbol) became \(successor)" }
    let beside = cash.map { " and \($0.normalized) in cash" } ?? ""
    return "\(symbol) became \(perShare.normalized) \(successor)\(beside)"
  }
}

extension CorporateActionPosting {
  /// nil of a dividend or a bonus.
  func succession(of action: CorporateAction) -> Succession? {
    action.terms.successor.map { successor in
      Succession(
        successor: successor, taken: (try? ExactDecimal.zero - shares) ?? .zero, given: successors,
        cash: cash)
    }
  }
}

// MARK: - Accounts that are closed

extension BrokerState {
  /// Ends all orders and queue purchases of an account, at once; what it has stays in its books,
  /// and nothing changes them any more but the days and its corporate actions.
  mutating func close(account: Int64) {
    for id in orders.keys.sorted() {
      guard let order = orders[id], order.placed.account == account, order.row.ledger.isOpen else {
        continue
      }
      withdraw(id, as: .cancelled)
    }
    for id in purchases.open(of: account) { set(.cancelled, ofPurchase: id) }
    accounts[account]?.isClosed = true
    step.closed.append(account)
  }
}
