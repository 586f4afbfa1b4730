import AppStore
import PaperTrading

/// What users are told without asking.
extension BrokerState {
  /// Of an order its end, and what was taken back; parts of it are on streams alone. What a queue
  /// purchase has ordered is shown as the purchase.
  mutating func notify(_ kind: OrderEventRow.Kind, of order: PaperOrder, reason: String?) {
    let name = kind == .fill ? order.row.state.name : kind.rawValue
    guard let event = TradingNotice.Event(rawValue: name) else { return }
    let isTakenBack = event == .reversed || event == .kept
    guard isTakenBack || order.row.queuePurchaseID == nil else { return }
    var notice = notice(.order, event, of: order.placed.account)
    notice.describe(order.row)
    notice.reason = reason
    step.notices.append(notice)
  }

  /// - Parameter order: that the purchase has made.
  mutating func notify(_ row: PurchaseRow, order: PaperOrder?) {
    let purchase = row.purchase
    guard let event = TradingNotice.Event(rawValue: row.state.rawValue) else { return }
    var notice = notice(.purchase, event, of: purchase.account)
    if let order { notice.describe(order.row) }
    (notice.symbol, notice.purchaseID, notice.side) = (purchase.symbol, purchase.id, .buy)
    (notice.quantity, notice.reason) = (purchase.quantity, row.reason)
    step.notices.append(notice)
    if !row.state.isOpen, purchases.isEmpty(of: purchase.account) {
      step.notices.append(self.notice(.purchase, .queueEmpty, of: purchase.account))
    }
  }

  private func notice(
    _ kind: TradingNotice.Kind, _ event: TradingNotice.Event, of account: Int64
  ) -> TradingNotice {
    TradingNotice(kind, event, accountID: account, day: day, at: now)
  }
}
