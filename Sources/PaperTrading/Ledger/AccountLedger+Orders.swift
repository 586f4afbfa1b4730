import Market

/// A posting of an order, and the order as it is then.
package struct OrderPosting: Sendable {
  package var posting: Posting
  package var order: LedgerOrder
  /// What a fill added, or a reversal took back: its price, and fees.
  package var amount = ExactDecimal.zero
  package var fees = Fees.none
}

extension AccountLedger {
  /// Freezes what the order may take: cash at its worst price with fees, or shares.
  /// - Throws: `overdrawn`, `duplicateOrder`, `invalidAmount`, `beyondOrder`, `overflow`.
  package mutating func accept(_ order: LedgerOrder) throws(LedgerRefusal) -> OrderPosting {
    if openOrders[order.id] != nil { throw .duplicateOrder(order.id) }
    guard order.placed.quantity.isPositive, order.filled < order.placed.quantity else {
      throw .invalidAmount(order.placed.quantity)
    }
    if order.isBuy, order.worstPrice == nil { throw .beyondOrder(order.id) }
    var order = order
    try order.freeze()
    let posting = try post(LedgerEvent(kind: .acceptance, orderID: order.id)) {
      (movement) throws(ExactDecimalError) in
      let source = order.source
      try movement.move(order.frozen, of: source.unit, from: source.kind, to: .frozen)
    }
    openOrders[order.id] = order
    return OrderPosting(posting: posting, order: order)
  }

  /// Books a part of an open order; with the last one the order ends.
  /// - Throws: `unknownOrder`, `beyondOrder`, `overflow`.
  package mutating func fill(
    _ id: Int64, quantity: ExactDecimal, price: ExactDecimal
  ) throws(LedgerRefusal) -> OrderPosting {
    let before = try openOrder(id)
    guard quantity.isPositive, price.isPositive, before.allows(price) else {
      throw .beyondOrder(id)
    }
    let (next, amount, fees) = try before.changed(by: quantity, at: price)
    guard next.filled <= next.placed.quantity else { throw .beyondOrder(id) }
    var order = next
    order.isOpen = order.filled < order.placed.quantity
    try order.freeze()
    let event = LedgerEvent.fill(order: id, quantity: quantity, price: price)
    let posting = try post(event) { (movement) throws(ExactDecimalError) in
      let release = try before.frozen - order.frozen
      if order.isBuy {
        try movement.move(release, of: .cash, from: .frozen, to: .available)
        try movement.move(amount, of: .cash, from: .available, to: .market)
        try movement.move(quantity, of: order.unit, from: .market, to: order.bought)
      } else {
        try movement.move(release, of: order.unit, from: .frozen, to: .market)
        try movement.move(amount, of: .cash, from: .market, to: .available)
      }
      try movement.pay(fees)
    }
    openOrders[id] = order.isOpen ? order : nil
    return OrderPosting(posting: posting, order: order, amount: amount, fees: fees)
  }

  /// Frees what the rest of an order has frozen.
  /// - Throws: `unknownOrder`.
  package mutating func end(_ id: Int64) throws(LedgerRefusal) -> OrderPosting {
    let before = try openOrder(id)
    var order = before
    order.isOpen = false
    order.frozen = .zero
    let posting = try post(LedgerEvent(kind: .end, orderID: id)) {
      (movement) throws(ExactDecimalError) in
      let source = order.source
      try movement.move(before.frozen, of: source.unit, from: .frozen, to: source.kind)
    }
    openOrders[id] = nil
    return OrderPosting(posting: posting, order: order)
  }

  /// Takes a fill of the day back. Of an open order the rest grows again, and what it needs is
  /// frozen; one that has ended stays so. From the next day on fills are final.
  /// - Parameter ended: the order as it ended, if it has.
  /// - Throws: `overdrawn` where the shares are sold or the money spent, `unknownOrder`, `final`.
  package mutating func reverse(
    _ fill: Posting, ended: LedgerOrder? = nil
  ) throws(LedgerRefusal) -> OrderPosting {
    let id = fill.event.orderID ?? 0
    guard let quantity = fill.event.quantity, let price = fill.event.price else {
      throw .unknownOrder(id)
    }
    guard fill.tradingDay == tradingDay else { throw .final(fill.sequence) }
    guard let before = openOrders[id] ?? ended else { throw .unknownOrder(id) }
    let (next, amount, fees) = try before.changed(by: quantity.negated, at: price)
    var order = next
    try order.freeze()
    let event = LedgerEvent.reversal(order: id, of: fill.sequence)
    let posting = try post(event) { (movement) throws(ExactDecimalError) in
      if order.isBuy {
        try movement.move(quantity, of: order.unit, from: order.bought, to: .market)
        try movement.move(amount, of: .cash, from: .available, to: .market)
        let freeze = try order.frozen - before.frozen
        try movement.move(freeze, of: .cash, from: .available, to: .frozen)
      } else {
        let target = order.isOpen ? BookKind.frozen : .sellable
        try movement.move(quantity, of: order.unit, from: .market, to: target)
        try movement.move(amount, of: .cash, from: .market, to: .available)
      }
      try movement.pay(fees)
    }
    if order.isOpen { openOrders[id] = order }
    return OrderPosting(posting: posting, order: order, amount: amount, fees: fees)
  }

  private func openOrder(_ id: Int64) throws(LedgerRefusal) -> LedgerOrder {
    guard let order = openOrders[id] else { throw .unknownOrder(id) }
    return order
  }
}

extension LedgerOrder {
  fileprivate var bought: BookKind { settlesSameDay ? .sellable : .today }
  /// The book of which it freezes a part.
  fileprivate var source: Book { isBuy ? Book(.cash, .available) : Book(unit, .sellable) }

  fileprivate mutating func freeze() throws(LedgerRefusal) {
    do throws(ExactDecimalError) { frozen = try toFreeze() } catch { throw .overflow }
  }

  fileprivate func changed(
    by quantity: ExactDecimal, at price: ExactDecimal
  ) throws(LedgerRefusal) -> (LedgerOrder, ExactDecimal, Fees) {
    do throws(ExactDecimalError) {
      let (order, amount, fees) = try filling(quantity, at: price)
      return (order, amount, fees)
    } catch {
      throw .overflow
    }
  }
}

extension ExactDecimal {
  /// Safe of amounts that were parsed or computed: the least Int64 is none of them.
  var negated: ExactDecimal { ExactDecimal(units: 0 &- units, scale: scale) }
}

extension Movement {
  fileprivate mutating func pay(_ fees: Fees) throws(ExactDecimalError) {
    try move(fees.commission, of: .cash, from: .available, to: .commission)
    try move(fees.stampDuty, of: .cash, from: .available, to: .stampDuty)
    try move(fees.transferFee, of: .cash, from: .available, to: .transferFee)
  }
}
