import Market

/// One instrument on one day, for all accounts that trade it: a function of the inputs, in order.
package struct InstrumentTrading: Sendable {
  package let instrument: Instrument
  package private(set) var last: MarketRow?
  package private(set) var seal = SealWatch()
  private var accounts: [Int64: AccountOrders] = [:]
  /// The newest, oldest first.
  private var kept: [MarketRow] = []

  package init(_ instrument: Instrument) { self.instrument = instrument }

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

  private mutating func accept(_ row: MarketRow) -> [FillEvent] {
    last = row
    kept.append(row)
    if kept.count > AccountOrders.rowsMax { kept.removeFirst() }
    if let band = row.band { seal.observe(row.snapshot, limitUp: band.upper) }
    return each { $0.accept(row.snapshot) }
  }

  /// A row that an account did not see, because it came later, is none of its own.
  private mutating func withdraw(from first: Int64) -> [FillEvent] {
    let taken = kept.filter { $0.snapshot.stamp.sequence >= first }
    kept.removeLast(taken.count)
    last = kept.last
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
    kept.first { other in
      let old = other.snapshot
      return !row.continues(old) || old.high > row.high || old.low < row.low && old.low.isPositive
        || old.turnover > row.turnover && row.rounding == .exact && old.rounding == .exact
    }?.snapshot.stamp.sequence
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
  package var isSettled: Bool { accounts.values.allSatisfy(\.isSettled) }

  /// The place of an order, and what it may have by now: for people.
  package func progress(of order: Order) -> String? {
    guard let last,
      let resting = accounts[order.account]?.orders.first(where: {
        $0.order.id == order.id
      }), let queue = resting.queue
    else { return nil }
    let ahead = queue.front.map { "ahead=\($0) " } ?? ""
    return ahead + "possible=\(resting.possible(in: last.snapshot))"
  }
}
