import Market

/// The open orders of one account in one instrument, and which of their fills are booked.
///
/// A row's fills are pending until the next accepted row confirms it. The last rows are kept with
/// what they led to: when one is taken out, the others are applied again without it, and what no
/// longer follows is reversed.
package struct AccountOrders: Sendable, Hashable {
  struct Entry: Sendable, Hashable {
    let step: AccountInBook.Step
    /// What the step led to, as it is once the row is confirmed.
    var events: [FillEvent] = []

    var row: Snapshot? {
      if case .row(let row) = step { row } else { nil }
    }

    var isRow: Bool {
      if case .row = step { true } else { false }
    }
  }

  package let symbol: Symbol
  /// The orders as of the steps before those that are kept.
  private(set) var base: AccountInBook
  private var current: AccountInBook
  private(set) var kept: [Entry] = []
  /// Whether the events of the newest row are booked.
  private(set) var isConfirmed = true
  /// Orders that had ended when the newest row came.
  private(set) var ended: Set<Int64> = []
  /// The number that each order's newest fill was given.
  private(set) var sequences: [Int64: Int32] = [:]

  /// A false row is taken out when three answers have contradicted it, and two may come in a row.
  package static let rowsMax = 8

  package init(_ instrument: Instrument) {
    symbol = instrument.symbol
    base = AccountInBook(instrument)
    current = base
  }

  /// As a checkpoint has it: what the steps led to follows again.
  /// - Parameter fills: of each step, the numbers of its fills.
  init?(
    base: AccountInBook, steps: [(step: AccountInBook.Step, fills: [Int32])], isConfirmed: Bool,
    ended: Set<Int64>, sequences: [Int64: Int32]
  ) {
    symbol = base.instrument.symbol
    (self.base, current) = (base, base)
    (self.isConfirmed, self.ended) = (isConfirmed, ended)
    for (step, fills) in steps {
      var entry = Entry(step: step)
      var numbers = fills[...]
      for result in current.apply(step) {
        guard case .fill(let order, _) = result else {
          entry.events.append(event(of: result))
          continue
        }
        guard let number = numbers.popFirst() else { return nil }
        self.sequences[order] = number - 1
        entry.events.append(event(of: result))
      }
      guard numbers.isEmpty else { return nil }
      kept.append(entry)
    }
    self.sequences = sequences
  }

  /// All orders with their places as of the newest row; ended ones until their rows are settled.
  package var orders: [RestingOrder] { current.orders }

  package var lastRow: Snapshot? { current.last }

  /// Whether the exchange has it in its book.
  package func isActive(_ order: Int64) -> Bool {
    current.orders.contains { $0.order.id == order && !$0.isDone }
  }

  /// Whether what the newest row made of the order waits for its confirmation.
  package func isPending(_ order: Int64) -> Bool {
    guard !isConfirmed, let newest = newestRow else { return false }
    return kept[newest].events.contains { $0.order == order }
  }

  /// Whether no fill is among what may be taken back.
  package var isSettled: Bool { kept.indices.allSatisfy { kept[$0].events.isEmpty } }

  /// Whether all open orders came behind the newest row.
  var isUnseen: Bool {
    var entered: Set<Int64> = []
    for entry in kept.suffix(from: newestRow.map { $0 + 1 } ?? 0) {
      if case .order(let order) = entry.step { entered.insert(order.order.id) }
    }
    return current.orders.allSatisfy { $0.isDone || entered.contains($0.order.id) }
  }

  package mutating func enter(_ order: RestingOrder) { record(.order(order)) }

  /// Takes effect at once: the caller asks `TradingPhase.cancellation` when that may be.
  package mutating func cancel(_ order: Int64) {
    ended.insert(order)
    record(.cancellation(order))
  }

  private mutating func record(_ step: AccountInBook.Step) {
    _ = current.apply(step)
    kept.append(Entry(step: step))
    settle()
  }

  /// The instrument's next row. One that does not continue the day does nothing: who accepts rows
  /// takes the false one out first.
  package mutating func accept(_ row: Snapshot) -> [FillEvent] {
    guard current.continues(row) else { return [] }
    var events = confirm()
    let results = current.apply(.row(row))
    var entry = Entry(step: .row(row))
    for result in results { entry.events.append(event(of: result)) }
    events += entry.events.compactMap(\.pending)
    kept.append(entry)
    isConfirmed = false
    settle()
    return events
  }

  /// Books what the newest row led to: the next one was accepted, or the day is certified.
  package mutating func confirm() -> [FillEvent] {
    guard !isConfirmed, let newest = newestRow else { return [] }
    isConfirmed = true
    for order in current.orders where order.isDone { ended.insert(order.order.id) }
    return kept[newest].events
  }

  /// A row that was taken out.
  /// - Returns: what changes; nil where it is no longer kept, so that the caller starts again from
  ///   the rows that it has stored.
  package mutating func withdraw(row sequence: Int64) -> [FillEvent]? {
    guard let index = kept.firstIndex(where: { $0.row?.stamp.sequence == sequence }) else {
      return nil
    }
    let booked = kept.indices.flatMap { isPending($0) ? [] : kept[$0].events }
    let pending = kept.indices.flatMap { isPending($0) ? kept[$0].events : [] }
    isConfirmed = isConfirmed || index == newestRow
    kept.remove(at: index)
    replay(reusing: booked + pending)
    // An order that has ended is not sent again: its account lacks what is reversed.
    for order in current.orders where !order.isDone && ended.contains(order.order.id) {
      record(.cancellation(order.order.id))
    }
    return changes(booked: booked, pending: pending)
  }

  private var newestRow: Int? { kept.lastIndex { $0.isRow } }

  private func isPending(_ index: Int) -> Bool { !isConfirmed && index == newestRow }
}

// MARK: - Replay

extension AccountOrders {
  /// Applies all kept steps to `base`. A fill that follows as it did before is the same fill.
  private mutating func replay(reusing events: [FillEvent]) {
    var known: [FillEvidence: [Fill]] = [:]
    for case .booked(let fill) in events { known[fill.evidence, default: []].append(fill) }
    current = base
    for index in kept.indices {
      let results = current.apply(kept[index].step)
      kept[index].events = []
      for result in results {
        var same: Fill?
        if case .fill(let order, let evidence) = result {
          same = known[evidence]?.first { $0.order == order }
        }
        kept[index].events.append(same.map { .booked($0) } ?? event(of: result))
      }
    }
  }

  private mutating func event(of result: AccountInBook.Result) -> FillEvent {
    switch result {
    case .cancelled(let order, let reason): return .cancelled(order: order, reason: reason)
    case .released(let order): return .released(order: order)
    case .fill(let id, let evidence):
      guard let fill = FillRules.derive(evidence) else {
        preconditionFailure("evidence without a fill is dropped where it is made")
      }
      let sequence = sequences[id, default: 0] + 1
      sequences[id] = sequence
      return .booked(
        Fill(
          order: id, sequence: sequence, symbol: symbol, side: evidence.side,
          quantity: fill.quantity, price: fill.price, evidence: evidence))
    }
  }

  /// What no longer follows, the newest first, then what follows only now.
  private func changes(booked: [FillEvent], pending: [FillEvent]) -> [FillEvent] {
    let standing = Set(kept.flatMap(\.events))
    var changes: [FillEvent] = []
    for case .booked(let fill) in pending.reversed() where !standing.contains(.booked(fill)) {
      changes.append(.dropped(fill))
    }
    for case .booked(let fill) in booked.reversed() where !standing.contains(.booked(fill)) {
      changes.append(.reversed(fill))
    }
    for case .released(let order) in booked where !standing.contains(.released(order: order)) {
      changes.append(.heldAgain(order: order))
    }
    let known = Set(booked)
    let shown = Set(pending)
    for index in kept.indices {
      for event in kept[index].events where !known.contains(event) {
        if !isPending(index) {
          changes.append(event)
        } else if !shown.contains(event), let pending = event.pending {
          changes.append(pending)
        }
      }
    }
    return changes
  }

  /// Forgets rows beyond `rowsMax`, with the orders that ended in them.
  private mutating func settle() {
    while kept.count(where: { $0.isRow }) > Self.rowsMax {
      _ = base.apply(kept.removeFirst().step)
      let settled = Set(base.orders.filter { $0.isDone }.map { $0.order.id })
      if settled.isEmpty { continue }
      ended.subtract(settled)
      for id in settled { sequences[id] = nil }
      base.orders.removeAll { settled.contains($0.order.id) }
      current.orders.removeAll { settled.contains($0.order.id) }
    }
  }
}

extension FillEvent {
  /// What is shown of an event before it is confirmed.
  fileprivate var pending: FillEvent? {
    if case .booked(let fill) = self { .pending(fill) } else { nil }
  }
}
