/// The state of a broker that begins to lead.

import AppStore
import Market
import PaperTrading

extension BrokerState {
  /// Everything, as the last step left it.
  /// - Parameter beat: called while it is read.
  /// - Throws: `store`.
  init(
    from table: BrokerTable, at now: Timestamp, calendar: TradingCalendar,
    schedule: FeeSchedule, beat: () throws(AppStoreError) -> Void
  ) throws(AppStoreError) {
    let cursor = try table.cursor()
    self.init(
      day: cursor.day ?? Self.day(at: now, calendar: calendar), now: now, schedule: schedule)
    if cursor.day == nil { step.day = day }
    // Of a day that another broker began, or this process before it was started again.
    RuleBook.begin(day)
    feed.sequence = cursor.quoteSequence
    (newest.order, newest.purchase) = (cursor.newestOrder, cursor.newestPurchase)
    for (row, fills, events) in try table.orders(on: day) {
      let (id, symbol) = (row.ledger.id, row.ledger.placed.symbol)
      orders[id] = PaperOrder(row: row, fills: fills, events: events)
      guard row.ledger.isOpen else { continue }
      openOrders[symbol, default: []].insert(id)
      if row.state == .pendingCancel { closing.insert(id) }
    }
    try beat()
    for fill in try table.fills(on: day) {
      fills[FillKey(order: fill.orderID, evidence: fill.evidence)] = fill.posting
    }
    for row in try table.purchases() { purchases[row.purchase.id] = row }
    try beat()
    loadPlaces(try table.places())
    try beat()
    let holders = try table.accounts([]).map(\.id)
    let traders = orders.values.map(\.placed.account) + purchases.accounts
    try addAccounts(Set(holders + traders), from: table)
    countPlaced()
  }

  /// What was booked is in the ledger. An order whose place cannot be read waits for the end of its
  /// day.
  private mutating func loadPlaces(_ rows: [PlaceRow]) {
    for row in rows {
      var isRead = false
      trade(row.symbol) { trading in
        isRead = trading.restore(row.body, of: row.accountID)
        return []
      }
      feed.recheck(row.symbol)
      if isRead { continue }
      complaints.append(
        "orders of account \(row.accountID) in \(row.symbol) wait: their places cannot be read")
    }
    touched = []
  }

  /// Adds the accounts that are not known yet.
  mutating func addAccounts(
    _ ids: Set<Int64>, from table: BrokerTable
  ) throws(AppStoreError) {
    let missing = ids.filter { accounts[$0] == nil }.sorted()
    if missing.isEmpty { return }
    for account in try table.accounts(missing) { accounts[account.id] = account }
    let loaded = try table.books.ledgers(of: missing, on: day)
    for (id, var ledger) in loaded where accounts[id] != nil {
      // Of a day that was begun by a wrong clock.
      if ledger.tradingDay > day { ledger.reopen(day) }
      ledgers[id] = ledger
    }
    settle()
  }
}
