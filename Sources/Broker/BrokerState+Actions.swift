import AppStore
import Market
import PaperTrading

/// Dividends and bonuses.
extension BrokerState {
  /// Whether an unfinished action is to be booked now, or taken back.
  func isDue(_ action: CorporateAction) -> Bool {
    action.exDay <= day && (!action.isBooked || rules.triesFailedActions)
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
    // In others there is nothing to take back.
    next.failed.formIntersection(postings.map(\.accountID))
    for posting in postings {
      let (account, amount) = (posting.accountID, posting.amount)
      let unit = LedgerUnit.shares(action.symbol)
      if action.terms.kind == .bonus, let ledger = ledgers[account],
        ledger.balance(unit, .sellable) < amount
      {
        endSales(of: action.symbol, in: account)
      }
      change(account, by: &next) { (ledger) throws(LedgerRefusal) in
        try ledger.reverse(
          action.terms.kind, amount: amount, of: action.symbol, posting: posting.sequence)
      }
    }
    next.reversedOn = next.reversedOn ?? day
    step.actions[action.id] = next
  }

  /// What fails in one account stays open there.
  private mutating func change(
    _ account: Int64, by action: inout CorporateAction,
    _ body: (inout AccountLedger) throws(LedgerRefusal) -> Posting
  ) {
    guard var ledger = ledgers[account] else { return }
    do throws(LedgerRefusal) {
      let posting = try body(&ledger)
      ledgers[account] = ledger
      post(posting, of: account, action: action.withdrawnAt == nil ? action.id : nil)
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
