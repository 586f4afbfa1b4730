/// The state of a broker that begins to lead.

import AppStore
import Market
import PaperTrading

extension BrokerState {
  /// Everything, as the last step left it.
  /// - Throws: `store`.
  init(
    from table: BrokerTable, ledgers books: LedgerTable, at now: Timestamp,
    calendar: TradingCalendar
  ) throws(AppStoreError) {
    let cursor = try table.cursor()
    self.init(day: cursor.day ?? Self.day(at: now, calendar: calendar), now: now)
    if cursor.day == nil { step.day = day }
    quoteSequence = cursor.quoteSequence
    (newest.order, newest.purchase) = (cursor.newestOrder, cursor.newestPurchase)
    for (row, fills, events) in try table.orders(on: day, schedule: Self.schedule) {
      let (id, symbol) = (row.ledger.id, row.ledger.placed.symbol)
      orders[id] = PaperOrder(row: row, fills: fills, events: events)
      guard row.ledger.isOpen else { continue }
      openOrders[symbol, default: []].insert(id)
      if row.state == .pendingCancel { closing.insert(id) }
    }
    for fill in try table.fills(on: day) {
      fills[FillKey(order: fill.orderID, evidence: fill.evidence)] = fill.posting
    }
    for row in try table.purchases() { purchases[row.purchase.id] = row }
    for row in try table.inputs() {
      newest.place = row.place
      guard row.day == day, let instrument = Instrument.classify(row.symbol) else { continue }
      var trading = instruments.removeValue(forKey: row.symbol) ?? InstrumentTrading(instrument)
      // What followed is in the ledger.
      _ = trading.apply(row.input)
      instruments[row.symbol] = trading
    }
    for (id, order) in orders where order.row.ledger.isOpen {
      orders[id]?.row.progress = instruments[order.placed.symbol]?.progress(of: order.placed)
    }
    let holders = try table.accounts([]).map(\.id)
    let traders = orders.values.map(\.placed.account) + purchases.values.map(\.purchase.account)
    try addAccounts(Set(holders + traders), from: table, ledgers: books)
  }

  /// Those that are not known yet.
  mutating func addAccounts(
    _ ids: Set<Int64>, from table: BrokerTable, ledgers books: LedgerTable
  ) throws(AppStoreError) {
    let missing = ids.filter { accounts[$0] == nil }.sorted()
    if missing.isEmpty { return }
    for account in try table.accounts(missing) { accounts[account.id] = account }
    let loaded = try books.ledgers(of: missing, on: day, schedule: Self.schedule)
    for (id, ledger) in loaded where accounts[id] != nil { ledgers[id] = ledger }
    settle()
  }
}
