/// The state of a broker that begins to lead.

import AppStore
import Market
import PaperTrading

extension BrokerState {
  /// Everything, as the last step left it.
  /// - Parameter beat: called while it is read.
  /// - Throws: `store`.
  init(
    from table: BrokerTable, ledgers books: LedgerTable, at now: Timestamp,
    calendar: TradingCalendar, schedule: FeeSchedule,
    beat: () throws(AppStoreError) -> Void
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
    try loadInstruments(from: table, beat: beat)
    try beat()
    for symbol in openOrders.keys where instruments[symbol]?.isUnseen == true {
      feed.recheck(symbol)
    }
    for (id, order) in orders where order.row.ledger.isOpen {
      orders[id]?.row.progress = instruments[order.placed.symbol]?.progress(of: order.placed)
    }
    let holders = try table.accounts([]).map(\.id)
    let traders = orders.values.map(\.placed.account) + purchases.accounts
    try addAccounts(Set(holders + traders), from: table, ledgers: books)
    countPlaced()
  }

  /// Checkpoints, and the inputs behind them: what followed is in the ledger.
  private mutating func loadInstruments(
    from table: BrokerTable, beat: () throws(AppStoreError) -> Void
  ) throws(AppStoreError) {
    let checkpoints = try table.checkpoints()
    var isWhole = true
    for row in checkpoints {
      let trading = Instrument.classify(row.symbol).flatMap {
        InstrumentTrading($0, checkpoint: row.body)
      }
      isWhole = isWhole && trading != nil
      instruments[row.symbol] = trading
      newest.place = max(newest.place, row.place)
    }
    if isWhole {
      for row in try table.inputsBehindCheckpoints() { replay(row) }
    } else {
      // Of another version: all of the day is still there.
      (instruments, newest.place) = ([:], 0)
      var rows = try table.inputs(behind: 0, limit: Self.inputsAtOnce)
      while let last = rows.last {
        for row in rows { replay(row) }
        try beat()
        rows = try table.inputs(behind: last.place, limit: Self.inputsAtOnce)
      }
    }
  }

  static let inputsAtOnce = 10_000

  private mutating func replay(_ row: FillInputRow) {
    newest.place = max(newest.place, row.place)
    guard row.day == day, let instrument = Instrument.classify(row.symbol) else { return }
    var trading = instruments.removeValue(forKey: row.symbol) ?? InstrumentTrading(instrument)
    _ = trading.apply(row.input)
    instruments[row.symbol] = trading
    uncovered.add(row.place, of: row.symbol)
  }

  /// Adds the accounts that are not known yet.
  mutating func addAccounts(
    _ ids: Set<Int64>, from table: BrokerTable, ledgers books: LedgerTable
  ) throws(AppStoreError) {
    let missing = ids.filter { accounts[$0] == nil }.sorted()
    if missing.isEmpty { return }
    for account in try table.accounts(missing) { accounts[account.id] = account }
    let loaded = try books.ledgers(of: missing, on: day)
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
