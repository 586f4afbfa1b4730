import Market

/// One instrument on one day, for all accounts that trade it: a function of the inputs, in order.
package struct InstrumentTrading: Sendable, Hashable {
  package let instrument: Instrument
  private(set) var accounts: [Int64: AccountOrders] = [:]
  /// The newest rows, oldest first.
  private(set) var kept: [SeenRow] = []
  /// What was known of the seal behind the rows before those.
  private(set) var settledSeal = SealWatch()

  /// A row, and what is known of the seal with it.
  struct SeenRow: Sendable, Hashable {
    let row: MarketRow
    let seal: SealWatch

    var snapshot: Snapshot { row.snapshot }
  }

  package init(_ instrument: Instrument) { self.instrument = instrument }

  /// As a checkpoint has it.
  init(
    _ instrument: Instrument, settledSeal: SealWatch, rows: [MarketRow],
    accounts: [Int64: AccountOrders]
  ) {
    self.init(instrument)
    self.settledSeal = settledSeal
    for row in rows { see(row) }
    self.accounts = accounts
  }

  package var last: MarketRow? { kept.last?.row }

  /// - Returns: what follows, by account in ascending order.
  package mutating func apply(_ input: FillInput) -> [FillEvent] {
    switch input {
    case .row(let row): return accept(row)
    case .withdrawal(let first): return withdraw(from: first)
    case .certificate: return each { $0.confirm() }
    case .entry(let order):
      accounts[order.order.account, default: AccountOrders(instrument)].enter(order)
      return []
    case .end(let order, let account):
      accounts[account]?.cancel(order)
      return []
    }
  }

  private mutating func each(_ body: (inout AccountOrders) -> [FillEvent]) -> [FillEvent] {
    var events: [FillEvent] = []
    for account in accounts.keys.sorted() {
      guard var orders = accounts.removeValue(forKey: account) else { continue }
      events += body(&orders)
      accounts[account] = orders
    }
    return events
  }

  private mutating func see(_ row: MarketRow) {
    var seal = kept.last?.seal ?? settledSeal
    if let band = row.band { seal.observe(row.snapshot, limitUp: band.upper) }
    kept.append(SeenRow(row: row, seal: seal))
    if kept.count > AccountOrders.rowsMax { settledSeal = kept.removeFirst().seal }
  }

  private mutating func accept(_ row: MarketRow) -> [FillEvent] {
    see(row)
    return each { $0.accept(row.snapshot) }
  }

  /// A row that an account did not see, because it came later, is none of its own.
  private mutating func withdraw(from first: Int64) -> [FillEvent] {
    let taken = kept.filter { $0.snapshot.stamp.sequence >= first }
    kept.removeLast(taken.count)
    var events: [FillEvent] = []
    for row in taken.reversed() {
      events += each { $0.withdraw(row: row.snapshot.stamp.sequence) ?? [] }
    }
    return events
  }
}

extension InstrumentTrading {
  /// Whether the feed may have sent the row behind those that are kept.
  package func continues(_ row: Snapshot) -> Bool {
    last.map { row.continues($0.snapshot) } ?? true
  }

  /// The first of the kept rows that `row`, with which the feed corrects itself, contradicts: what
  /// stands behind it cannot be trusted either.
  package func firstContradicted(by row: Snapshot) -> Int64? {
    kept.first { row.contradicts($0.snapshot) }?.snapshot.stamp.sequence
  }

  /// Whether the newest row orders a purchase: the one before made it a candidate, and this one
  /// shows the same and does not contradict it.
  /// - Parameter armedAt: of rows that were stamped before, none makes it a candidate.
  package func orders(_ purchase: QueuePurchase, armedAt: Timestamp) -> Bool {
    guard kept.count > 1, let newest = kept.last else { return false }
    let candidate = kept[kept.count - 2]
    let stamp = candidate.snapshot.stamp
    let armedSecond =
      armedAt.shanghaiDay == stamp.day ? Int32(armedAt.shanghaiSecondOfDay) : 0
    return armedAt < Timestamp(day: stamp.day, secondOfDay: Int(stamp.secondOfDay))
      && !newest.snapshot.contradicts(candidate.snapshot)
      && [candidate, newest].allSatisfy { seen in
        seen.row.band.map {
          purchase.fires(
            on: seen.snapshot, limitUp: $0.upper, watch: seen.seal, armedSecond: armedSecond)
        } ?? false
      }
  }

  package func isActive(_ order: Order) -> Bool {
    accounts[order.account]?.isActive(order.id) ?? false
  }

  /// The second after which the exchange has it; nil where it has not.
  package func entry(of order: Order) -> Int? {
    accounts[order.account]?.orders.first { $0.order.id == order.id }?.entersAt
  }

  package func isPending(_ order: Order) -> Bool {
    accounts[order.account]?.isPending(order.id) ?? false
  }

  /// Whether anything could still be taken back.
  package var isSettled: Bool { accounts.values.allSatisfy { $0.isSettled } }

  /// Whether no open order has seen a row, and nothing could be taken back: nobody needed the rows
  /// before.
  package var isUnseen: Bool { isSettled && accounts.values.allSatisfy { $0.isUnseen } }

  /// What an order may have by now; nil before it has met a book, and once it was taken out of it.
  package func progress(of order: Order) -> OrderProgress? {
    guard let last,
      let resting = accounts[order.account]?.orders.first(where: { $0.order.id == order.id }),
      resting.queue != nil || resting.isDone && resting.filled == resting.quantity.wholeShares,
      let earlier = try? order.quantity - resting.quantity,
      let possible = try? earlier + resting.possible(in: last.snapshot)
    else { return nil }
    // At other prices a better order may come before it, so that nobody asks: not to be written
    // with each row.
    let ahead = resting.queue.flatMap { $0.isAtLimit ? $0.front : nil }
    return OrderProgress(possible: possible, ahead: ahead)
  }
}

/// What is known of an order beside its fills.
package struct OrderProgress: Sendable, Hashable {
  /// What some flow of orders would have given it, on all its days: those before with what was
  /// certain on them.
  package let possible: ExactDecimal
  /// In the queue at the price limit: at most so many shares stand before it.
  package let ahead: Int64?
}

extension OrderProgress {
  /// `possible=200 ahead=1200`.
  package var text: String {
    "possible=\(possible)" + (ahead.map { " ahead=\($0)" } ?? "")
  }

  /// nil for what is none.
  package init?(text: String) {
    guard let values = WordValues(text.split(separator: " ")),
      let possible = values.decimal("possible")
    else { return nil }
    self.init(possible: possible, ahead: values.integer("ahead"))
  }
}
