import Market

/// An order as the ledger sees it: what it has filled, paid and frozen.
///
/// Amounts and fees are those of all its fills of a day together, rounded once; a fill books what
/// they grew by. So nothing drifts, and the least commission is paid once an order and day.
package struct LedgerOrder: Sendable, Hashable {
  package private(set) var placed: Order
  /// By which a buy freezes cash, and beyond which nothing fills. A sale without a limit has none.
  package let worstPrice: ExactDecimal?
  /// Shares bought may be sold on the same day.
  package let settlesSameDay: Bool
  package let schedule: FeeSchedule
  package private(set) var terms: FeeTerms

  /// The quantity that was filled on all its days.
  package var filled: ExactDecimal
  /// Price × quantity of the day's fills, exact.
  package var turnover: ExactDecimal
  /// The fees of the day's fills.
  package var paid: Fees
  /// Frozen cash of a buy, frozen shares of a sale.
  package internal(set) var frozen: ExactDecimal
  package internal(set) var isOpen = true

  package init(
    _ placed: Order, worstPrice: ExactDecimal?, settlesSameDay: Bool, schedule: FeeSchedule,
    terms: FeeTerms, filled: ExactDecimal = .zero, turnover: ExactDecimal = .zero,
    paid: Fees = .none, frozen: ExactDecimal = .zero, isOpen: Bool = true
  ) {
    self.isOpen = isOpen
    self.placed = placed
    self.worstPrice = worstPrice
    self.settlesSameDay = settlesSameDay
    self.schedule = schedule
    self.terms = terms
    self.filled = filled
    self.turnover = turnover
    self.paid = paid
    self.frozen = frozen
  }

  package var id: Int64 { placed.id }
  package var isBuy: Bool { placed.side == .buy }
  var unit: LedgerUnit { .shares(placed.symbol) }

  /// Cash is counted to the cent.
  package static let cashPlaces: UInt8 = 2
  private static let cent = ExactDecimal(units: 1, scale: cashPlaces)

  /// The rest of it, to be accepted again on another day.
  package func renewed(on day: TradingDay) -> LedgerOrder {
    LedgerOrder(
      placed, worstPrice: worstPrice, settlesSameDay: settlesSameDay, schedule: schedule,
      terms: FeeTerms(instrument: terms.instrument, side: terms.side, day: day), filled: filled)
  }

  /// The same order, where its instrument has another code.
  package func renamed(to symbol: Symbol) -> LedgerOrder {
    var order = self
    order.placed = placed.renamed(to: symbol)
    let instrument = Instrument.classify(symbol) ?? terms.instrument
    order.terms = FeeTerms(instrument: instrument, side: terms.side, day: terms.day)
    return order
  }

  func rest() throws(ExactDecimalError) -> ExactDecimal { try placed.quantity - filled }

  private static func amount(of turnover: ExactDecimal) throws(ExactDecimalError) -> ExactDecimal {
    try turnover.rescaled(places: cashPlaces)
  }

  private func cost(of turnover: ExactDecimal) throws(ExactDecimalError) -> ExactDecimal {
    let amount = try Self.amount(of: turnover)
    return try amount + (try schedule.cumulative(of: amount, terms: terms).total())
  }

  /// What an open order holds: a sale the shares of the rest; a buy what the rest may still cost,
  /// all at the worst price, with the fees that this adds; a cent at least, for a posting without
  /// entries is none.
  func toFreeze() throws(ExactDecimalError) -> ExactDecimal {
    let rest = try rest()
    guard isOpen, rest.isPositive else { return .zero }
    guard isBuy, let worstPrice else { return rest }
    let worst = try turnover + (try rest * worstPrice)
    return max(try cost(of: worst) - (try cost(of: turnover)), Self.cent)
  }

  func allows(_ price: ExactDecimal) -> Bool {
    guard let worstPrice else { return true }
    return isBuy ? price <= worstPrice : price >= worstPrice
  }

  /// What so much more makes of it, or so much less. A sale never pays more than it brought: the
  /// least commission may exceed a small fill, and is then taken from the next ones.
  /// - Returns: the order with new totals, and what they changed by.
  func filling(
    _ quantity: ExactDecimal, at price: ExactDecimal
  ) throws(ExactDecimalError) -> (order: LedgerOrder, amount: ExactDecimal, fees: Fees) {
    var next = self
    next.filled = try filled + quantity
    next.turnover = try turnover + (try price * quantity)
    let total = try Self.amount(of: next.turnover)
    let amount = try total - (try Self.amount(of: turnover))
    let due = try schedule.cumulative(of: total, terms: terms)
    if isBuy {
      next.paid = due
    } else if quantity.isNegative {
      next.paid = try due.capped(at: total)
    } else {
      next.paid = try paid.adding(try (try due - paid).capped(at: amount))
    }
    return (next, amount, try next.paid - paid)
  }
}

extension Fees {
  fileprivate func adding(_ other: Fees) throws(ExactDecimalError) -> Fees {
    Fees(
      commission: try commission + other.commission, stampDuty: try stampDuty + other.stampDuty,
      transferFee: try transferFee + other.transferFee)
  }

  /// At most so much of them: duty first, the broker's own last.
  fileprivate func capped(at most: ExactDecimal) throws(ExactDecimalError) -> Fees {
    let stampDuty = min(stampDuty, most)
    let transferFee = min(transferFee, try most - stampDuty)
    let rest = try most - stampDuty - transferFee
    return Fees(
      commission: min(commission, rest), stampDuty: stampDuty, transferFee: transferFee)
  }
}
