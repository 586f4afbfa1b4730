import Market

/// One instrument on one day, for all accounts that trade it.
///
/// The places of orders are stored as they change, with the newest rows and what those changed. Who
/// starts with them confirms and takes back what another process has shown or booked. What stood
/// behind the stored rows has moved no order: it goes on with a longer interval, of which all that
/// is certain still is.
package struct InstrumentTrading: Sendable {
  package let instrument: Instrument
  /// Of the day of its last row.
  private var phases: [TradingPhase]
  private var phasesDay: TradingDay?
  private var accounts: [Int64: AccountOrders] = [:]
  /// The newest rows, oldest first: those that may be taken out, and the one before.
  private var kept: [SeenRow] = []
  /// What was known of the seal when the first of them came.
  private var earlierSeal = SealWatch()
  /// Whether the stored rows are to be replaced, though no order has moved.
  private var areRowsNew = false
  /// The newest of the rows that another process saw, maybe with others behind it.
  private var newestRead: Int64 = 0
  /// Whether there may be places to store.
  package private(set) var isMoved = false
  /// Of all accounts.
  private var ladder = PriceLadder()

  /// A false row is taken out when three answers have contradicted it, and two may come in a row.
  package static let rowsMax = 8

  package init(_ instrument: Instrument) {
    self.instrument = instrument
    phases = TradingPhase.all(of: instrument)
  }

  package var last: MarketRow? { kept.last?.row }

  private var seal: SealWatch { kept.last?.seal ?? earlierSeal }

  package mutating func enter(_ order: RestingOrder) {
    accounts[order.order.account, default: AccountOrders(instrument)].enter(order)
    (ladder, isMoved) = (.busy, true)
  }

  /// Takes effect at once: the caller asks `TradingPhase.cancellation` when that may be.
  package mutating func cancel(_ order: Int64, of account: Int64) {
    accounts[account]?.cancel(order)
    isMoved = true
    updateLadder()
  }

  /// The next row. One that does not continue the day does nothing: who accepts rows takes the
  /// false one out first.
  /// - Returns: what follows, by account in ascending order.
  package mutating func accept(_ row: MarketRow) -> [FillEvent] {
    guard continues(row.snapshot) else { return [] }
    let day = row.snapshot.stamp.day
    if phasesDay != day {
      (phases, phasesDay) = (TradingPhase.all(of: instrument, on: day), day)
    }
    let before = last?.snapshot
    see(row)
    let hasTraded = before?.volume != row.snapshot.volume
    if isEndOfInterval(row.snapshot, behind: before, hasTraded: hasTraded) {
      (areRowsNew, isMoved) = (true, true)
    }
    let isBehindAuction = hasTraded && hasPassedAuction(behind: before, at: row.snapshot.second)
    func concerns(_ ladder: PriceLadder) -> Bool {
      ladder.concerns(row.snapshot, hasTraded: hasTraded) || isBehindAuction && ladder.hasQueues
    }
    guard concerns(ladder) else { return [] }
    let (phases, oldest) = (phases, kept.suffix(Self.rowsMax).first?.sequence ?? 0)
    return each { orders in
      guard concerns(orders.ladder) else { return [] }
      return orders.accept(row.snapshot, behind: before, phases: phases, oldest: oldest)
    }
  }

  /// Who goes on with the stored rows must not take for matched what came where nothing is, nor for
  /// an auction's what came before it.
  private func isEndOfInterval(
    _ row: Snapshot, behind before: Snapshot?, hasTraded: Bool
  ) -> Bool {
    guard let before, !accounts.isEmpty else { return false }
    return before.trading != row.trading
      || phases.contains {
        $0.isMatching && $0.hasEnded(by: row.second, since: before.second)
      }
      || hasTraded && !SeenBook.hasMatched(from: before, to: row, phases: phases)
  }

  private func hasPassedAuction(behind before: Snapshot?, at second: Int) -> Bool {
    let first = before?.second ?? 0
    return phases.contains { $0.isAuction && $0.hasEnded(by: second, since: first) }
  }

  private mutating func see(_ row: MarketRow) {
    var seal = seal
    if let band = row.band { seal.observe(row.snapshot, limitUp: band.upper) }
    // Of an instrument that was never sealed, nothing is to be known.
    let isOfInterest = [seal, self.seal].contains { $0.isSealed || $0.wasSealed }
    if isOfInterest, seal != self.seal { (areRowsNew, isMoved) = (true, true) }
    kept.append(SeenRow(row: row, seal: seal))
    if kept.count > Self.rowsMax + 1 { earlierSeal = kept.removeFirst().seal }
  }

  /// Takes out that row and all behind it. One that an account did not see, because it came later,
  /// is none of its own.
  package mutating func withdraw(from first: Int64) -> [FillEvent] {
    let count = kept.count
    kept.removeAll { $0.sequence >= first }
    if kept.count < count { (areRowsNew, isMoved) = (true, true) }
    return each { $0.withdraw(from: first) }
  }

  /// The day's totals were certified: they confirm the newest row.
  package mutating func confirm() -> [FillEvent] { each { $0.confirm() } }

  private mutating func each(_ body: (inout AccountOrders) -> [FillEvent]) -> [FillEvent] {
    var found: [(account: Int64, events: [FillEvent])] = []
    var index = accounts.startIndex
    while index < accounts.endIndex {
      let events = body(&accounts.values[index])
      if !events.isEmpty { found.append((accounts.keys[index], events)) }
      accounts.formIndex(after: &index)
    }
    updateLadder()
    return found.sorted { $0.account < $1.account }.flatMap(\.events)
  }

  private mutating func updateLadder() {
    ladder = PriceLadder()
    for orders in accounts.values {
      ladder.add(orders.ladder)
      if orders.isMoved { isMoved = true }
    }
  }
}

// MARK: - Places

extension InstrumentTrading {
  /// The account whose place is the instrument's own: its rows, and what is known of the seal.
  private static let ownAccount: Int64 = 0

  /// What is to be stored since it was asked last, by account.
  package mutating func takePlaces() -> [(account: Int64, body: [UInt8])] {
    var places: [(account: Int64, body: [UInt8])] = []
    isMoved = false
    for (account, orders) in accounts where orders.isMoved {
      if let place = accounts[account]?.takePlace() { places.append((account, place.body)) }
    }
    if areRowsNew || !places.isEmpty {
      areRowsNew = false
      let seen = SeenRows(rows: kept, earlierSeal: earlierSeal)
      places.append((Self.ownAccount, seen.body))
    }
    return places
  }

  /// A place as it was stored.
  /// - Returns: whether it is one.
  package mutating func restore(_ body: [UInt8], of account: Int64) -> Bool {
    if account == Self.ownAccount {
      guard let seen = SeenRows(body: body) else { return false }
      (kept, earlierSeal) = (seen.rows, seen.earlierSeal)
      newestRead = kept.last?.sequence ?? 0
      return true
    }
    guard let place = TradingPlace(body: body, account: account, symbol: instrument.symbol) else {
      return false
    }
    accounts[account] = AccountOrders(instrument, at: place)
    updateLadder()
    return true
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
    kept.suffix(Self.rowsMax).first { row.contradicts($0.snapshot) }?.sequence
  }

  /// Whether the newest row orders a purchase: the one before made it a candidate, and this one
  /// shows the same and does not contradict it.
  /// - Parameter armedAt: of rows that were stamped before, none makes it a candidate.
  package func orders(_ purchase: QueuePurchase, armedAt: Timestamp) -> Bool {
    guard kept.count > 1, let newest = kept.last else { return false }
    let candidate = kept[kept.count - 2]
    if candidate.sequence <= newestRead { return false }
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
    accounts[order.account]?.order(order.id)?.isDone == false
  }

  /// The second after which the exchange has it; nil where it has not.
  package func entry(of order: Order) -> Int? {
    accounts[order.account]?.order(order.id)?.entersAt
  }

  package func isPending(_ order: Order) -> Bool {
    accounts[order.account]?.isPending(order.id) ?? false
  }

  /// Whether anything could still be taken back.
  package var isSettled: Bool { accounts.values.allSatisfy { $0.isSettled } }

  /// Open orders, and those that ended in rows that may be taken out.
  package var orders: [RestingOrder] { accounts.values.flatMap(\.orders) }

  /// What an order may have by now; nil before it has met a book, and once it was taken out of it.
  package func progress(of order: Order) -> OrderProgress? {
    guard let last, let resting = accounts[order.account]?.order(order.id),
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

  /// Whether it is to be stored: of what stands before an order a sixteenth must have left. With
  /// each row some do, and of all orders in the queue; what is stored stays the most there is.
  package func replaces(_ stored: OrderProgress?) -> Bool {
    guard let stored, possible == stored.possible, let ahead, let most = stored.ahead else {
      return self != stored
    }
    return ahead > most || most - ahead > most / 16
  }
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
