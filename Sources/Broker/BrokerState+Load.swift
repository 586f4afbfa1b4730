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
    try loadInstruments(from: table, firstInput: cursor.inputPlace, beat: beat)
    try beat()
    for symbol in openOrders.keys where instruments[symbol]?.isUnseen == true {
      feed.recheck(symbol)
    }
    for (id, order) in orders where order.row.ledger.isOpen {
      orders[id]?.row.progress = instruments[order.placed.symbol]?.progress(of: order.placed)
    }
    let holders = try table.accounts([]).map(\.id)
    let traders = orders.values.map(\.placed.account) + purchases.accounts
    try addAccounts(Set(holders + traders), from: table)
    countPlaced()
  }

  /// Checkpoints, and the inputs behind them: what followed is in the ledger.
  /// - Parameter place: of the first input that is in no checkpoint.
  private mutating func loadInstruments(
    from table: BrokerTable, firstInput place: Int64, beat: () throws(AppStoreError) -> Void
  ) throws(AppStoreError) {
    let checkpoints = try table.checkpoints()
    for row in checkpoints {
      instruments[row.symbol] = Instrument.classify(row.symbol).flatMap {
        InstrumentTrading($0, checkpoint: row.body)
      }
    }
    var covered: [Symbol: Int64] = [:]
    if instruments.count == checkpoints.count {
      for row in checkpoints { covered[row.symbol] = row.place }
      newest.place = covered.values.max() ?? 0
    } else {
      // Of another version: all of the day is still there.
      instruments = [:]
    }
    try table.inputs(from: covered.isEmpty ? 0 : place, beat: beat) { row in
      newest.place = max(newest.place, row.place)
      guard row.place > covered[row.symbol, default: 0],
        instruments.apply(row.input, to: row.symbol) != nil
      else { return }
      uncovered.add(row.place, of: row.symbol)
    }
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

// MARK: - Checkpoints

/// Inputs of the fill model that a start has to read: they are in no checkpoint.
struct UncoveredInputs: Sendable {
  /// The place of each instrument's first input that is in no checkpoint.
  var places: [Symbol: Int64] = [:]
  /// So many may be behind the oldest before that is put into one.
  var inputsMax = BrokerOptions.uncoveredInputsMax

  mutating func add(_ place: Int64, of symbol: Symbol) {
    if places[symbol] == nil { places[symbol] = place }
  }

  /// The instruments whose inputs have waited the longest, if that is long enough.
  func due(behind newest: Int64, limit: Int) -> [Symbol] {
    places.filter { newest - $0.value >= inputsMax }.sorted { $0.value < $1.value }
      .prefix(limit).map(\.key)
  }
}

/// How much a start reads: the inputs of a day are many, what they come to is little.
extension BrokerState {
  /// Of a step: a part of its inputs, so that no step writes the checkpoints of a whole market.
  private static let inputsPerCheckpoint = 32
  private static let checkpointsMin = 16

  mutating func writeCheckpoints() {
    if step.inputs.isEmpty { return }
    let count = max(step.inputs.count / Self.inputsPerCheckpoint, Self.checkpointsMin)
    for symbol in uncovered.due(behind: newest.place, limit: count) {
      guard let trading = instruments[symbol] else { continue }
      step.checkpoints.append(
        CheckpointRow(symbol: symbol, place: newest.place, body: trading.checkpoint))
      uncovered.places[symbol] = nil
    }
    step.inputPlace = uncovered.places.values.min() ?? newest.place + 1
  }
}
