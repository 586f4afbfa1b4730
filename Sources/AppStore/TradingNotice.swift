import Market
import PaperTrading
import Postgres

/// What became of an order or a queue purchase, as its user is told without asking: in the inbox,
/// on streams and by webhooks.
package struct TradingNotice: Sendable, Hashable {
  package enum Kind: String, Sendable, CaseIterable {
    case order, purchase
  }

  package enum Event: String, Sendable, CaseIterable {
    case armed, ordered, filled, rejected, cancelled, expired
    /// A fill was taken back; or it stands without its rows, because what it gave is used.
    case reversed, kept
    /// The account's last open purchase has ended.
    case queueEmpty = "queue_empty"
  }

  package var kind: Kind
  package var event: Event
  package var accountID: Int64
  package var symbol: Symbol?
  package var orderID: Int64?
  package var purchaseID: Int64?
  package var side: Side?
  package var quantity: ExactDecimal?
  /// As it is with the event; `turnover` is its price × quantity.
  package var filled: ExactDecimal?
  package var turnover: ExactDecimal?
  /// Why a purchase was rejected.
  package var reason: String?
  package var day: TradingDay
  /// By the broker's clock.
  package var at: Timestamp

  package init(
    _ kind: Kind, _ event: Event, accountID: Int64, day: TradingDay, at: Timestamp
  ) {
    self.kind = kind
    self.event = event
    self.accountID = accountID
    self.day = day
    self.at = at
  }

  package mutating func describe(_ order: OrderRow) {
    let (ledger, placed) = (order.ledger, order.ledger.placed)
    (symbol, side) = (placed.symbol, placed.side)
    (orderID, purchaseID) = (placed.id, order.queuePurchaseID)
    (quantity, filled, turnover) = (placed.quantity, ledger.filled, ledger.turnover)
  }
}

extension BrokerTable {
  private static let insertNotices = Statement(
    name: "insert_trading_notices",
    sql: """
      insert into notification (
        user_id, kind, event, account_id, symbol, order_id, queue_purchase_id, side, quantity,
        filled, turnover, reason, trading_day, observed_at)
      select
        a.user_id, n.kind, n.event, a.id, nullif(n.symbol, ''), nullif(n.ordered, '')::bigint,
        nullif(n.purchase, '')::bigint, nullif(n.side, ''), nullif(n.quantity, '')::numeric,
        nullif(n.filled, '')::numeric, nullif(n.turnover, '')::numeric, nullif(n.reason, ''),
        n.day::date, \(TextColumns.moment("n.at"))
      from \(TextColumns.unnest(14)) as n (
        place, kind, event, account, symbol, ordered, purchase, side, quantity, filled, turnover,
        reason, day, at)
      join account a on a.id = n.account::bigint
      order by n.place::integer
      """)

  /// In their order.
  func write(notices: [TradingNotice]) throws(AppStoreError) {
    var rows = TextColumns(14)
    for (place, notice) in notices.enumerated() {
      rows.append(
        [
          "\(place)", notice.kind.rawValue, notice.event.rawValue, "\(notice.accountID)",
          notice.symbol.text, notice.orderID.text, notice.purchaseID.text,
          notice.side?.name ?? "", notice.quantity.text, notice.filled.text, notice.turnover.text,
          notice.reason ?? "", "\(notice.day)", "\(notice.at.microseconds)",
        ])
    }
    try run(Self.insertNotices, rows)
  }
}
