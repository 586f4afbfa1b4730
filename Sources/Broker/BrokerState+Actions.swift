import AppStore
import Market
import PaperTrading

/// Dividends and bonuses.
extension BrokerState {
  /// Books what each account gets for what it held when the ex-day began. Where shares are merged,
  /// open sales end: their shares are frozen.
  mutating func book(_ action: CorporateAction, for holders: [Int64: ExactDecimal]) {
    var count = 0
    for (account, held) in holders.sorted(by: { $0.key < $1.key }) {
      guard let amount = action.terms.amount(for: held) else { continue }
      if amount.isNegative { endSales(of: action.symbol, in: account) }
      guard var ledger = ledgers[account] else { continue }
      do throws(LedgerRefusal) {
        let posting = try ledger.book(action.terms.kind, amount: amount, of: action.symbol)
        ledgers[account] = ledger
        post(posting, of: account, action: action.id)
        count += 1
      } catch {
        complaints.append(
          "corporate action \(action.id) is not booked in account \(account): \(error)")
      }
    }
    step.bookings.append(
      CorporateActionBooking(actionID: action.id, day: day, accounts: count, at: now))
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
