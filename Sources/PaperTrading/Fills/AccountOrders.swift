import Market

/// The open orders of one account in one instrument, and which of their fills are booked.
///
/// A row's fills are pending until the next accepted row confirms it. Each row is judged once; what
/// it changed is kept for as long as it may be taken out, and restored then.
struct AccountOrders: Sendable {
  /// What a row changed.
  struct Change: Sendable {
    let row: Int64
    /// Those that it changed, as they were before it.
    let orders: [RestingOrder.Standing]
    let takings: Takings
    /// What it led to, as it is once the row is confirmed.
    let events: [FillEvent]
  }

  private var book: AccountInBook
  /// Of the newest rows that changed something, oldest first.
  private var changes: [Change] = []
  /// Whether the events of the newest change are booked.
  private var isConfirmed = true
  /// Orders that had ended when the newest row came.
  private var ended: Set<Int64> = []
  private(set) var ladder = PriceLadder()
  /// Whether the place is another than the one that was taken to be stored.
  private(set) var isMoved = false

  init(_ instrument: Instrument) { book = AccountInBook(instrument) }

  /// As they were stored.
  init(_ instrument: Instrument, at place: TradingPlace) {
    self.init(instrument)
    (book.orders, book.takings, changes) = (place.orders, place.takings, place.changes)
    (isConfirmed, ended) = (place.isConfirmed, place.ended)
    updateLadder()
  }

  /// All orders with their places as of the newest row; ended ones until their rows are settled.
  var orders: [RestingOrder] { book.orders }

  func order(_ id: Int64) -> RestingOrder? { book.orders.first { $0.order.id == id } }

  /// Whether what the newest row made of the order waits for its confirmation.
  func isPending(_ order: Int64) -> Bool {
    !isConfirmed && changes.last?.events.contains { $0.order == order } ?? false
  }

  /// Whether no fill is among what may be taken back.
  var isSettled: Bool { changes.allSatisfy { $0.events.isEmpty } }

  mutating func enter(_ order: RestingOrder) {
    book.orders.append(order)
    (isMoved, ladder) = (true, .busy)
  }

  /// Takes effect at once: the caller asks `TradingPhase.cancellation` when that may be.
  mutating func cancel(_ order: Int64) {
    ended.insert(order)
    book.end(order)
    isMoved = true
    settle(from: changes.first?.row)
  }

  /// The instrument's next row, which continues the day.
  /// - Parameters:
  ///   - before: the row that came before.
  ///   - oldest: the first row that may still be taken out.
  mutating func accept(
    _ row: Snapshot, behind before: Snapshot?, phases: [TradingPhase], oldest: Int64
  ) -> [FillEvent] {
    var events = confirm()
    let (orders, takings) = (book.orders, book.takings)
    let results = book.accept(SeenBook(row, behind: before, phases: phases))
    let changed = zip(orders, book.orders).filter { $0 != $1 }.map(\.0.standing)
    if !results.isEmpty || book.takings != takings || !changed.isEmpty {
      let change = Change(
        row: row.stamp.sequence, orders: changed, takings: takings,
        events: results.map { event(of: $0) })
      events += change.events.compactMap(\.pending)
      (isConfirmed, isMoved) = (change.events.isEmpty, true)
      changes.append(change)
    }
    settle(from: oldest)
    return events
  }

  /// Books what the newest row led to: the next one was accepted, or the day is certified.
  mutating func confirm() -> [FillEvent] {
    guard !isConfirmed, let newest = changes.last else { return [] }
    (isConfirmed, isMoved) = (true, true)
    for order in book.orders where order.isDone { ended.insert(order.order.id) }
    return newest.events
  }

  /// Restores what rows from that one on changed.
  mutating func withdraw(from sequence: Int64) -> [FillEvent] {
    var events: [FillEvent] = []
    while let change = changes.last, change.row >= sequence {
      for event in change.events.reversed() {
        switch event {
        case .booked(let fill): events.append(isConfirmed ? .reversed(fill) : .dropped(fill))
        case .released(let order) where isConfirmed: events.append(.heldAgain(order: order))
        default: break
        }
      }
      (isConfirmed, isMoved) = (true, true)
      book.restore(change.orders, takings: change.takings)
      changes.removeLast()
    }
    // An order that has ended is not sent again: its account lacks what is reversed.
    for id in ended { book.end(id) }
    settle(from: changes.first?.row)
    return events
  }

  /// What is stored.
  mutating func takePlace() -> TradingPlace {
    isMoved = false
    return TradingPlace(
      takings: book.takings, orders: book.orders, changes: changes, isConfirmed: isConfirmed,
      ended: ended)
  }

  private func event(of result: AccountInBook.Result) -> FillEvent {
    switch result {
    case .cancelled(let order, let reason): return .cancelled(order: order, reason: reason)
    case .released(let order): return .released(order: order)
    case .fill(let id, let evidence):
      guard let fill = Fill(order: id, symbol: book.instrument.symbol, evidence: evidence) else {
        preconditionFailure("evidence without a fill is dropped where it is made")
      }
      return .booked(fill)
    }
  }

  /// Forgets what rows before that one changed, with the orders that ended in them.
  private mutating func settle(from oldest: Int64?) {
    let hadChanges = !changes.isEmpty
    changes.removeAll { change in oldest.map { change.row < $0 } ?? true }
    // Who goes on must not take back what cannot be taken back any more.
    if hadChanges, changes.isEmpty { isMoved = true }
    if book.orders.contains(where: \.isDone) {
      let changed = Set(changes.lazy.flatMap(\.orders).map(\.id))
      book.orders.removeAll { $0.isDone && !changed.contains($0.order.id) }
      ended.formIntersection(changed)
    }
    updateLadder()
  }

  /// Rows concern it while one of them may be taken out.
  private mutating func updateLadder() {
    ladder = PriceLadder()
    for order in book.orders { ladder.add(order) }
    if !changes.isEmpty || !book.takings.isEmpty { ladder = .busy }
  }
}

extension FillEvent {
  /// What is shown of an event before it is confirmed.
  fileprivate var pending: FillEvent? {
    if case .booked(let fill) = self { .pending(fill) } else { nil }
  }
}
