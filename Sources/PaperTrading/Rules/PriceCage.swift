import Market

/// How far a limit order may reach beyond the book while trading is continuous. Auctions, halts,
/// market orders and funds have no cage. It is judged where an order comes to the exchange.
struct PriceCage: Sendable {
  enum Reference: Sendable {
    /// Of a purchase: the best ask, else the best bid, the last price, the previous close.
    case book
    /// The last price, else the previous close.
    case last
  }

  let permille: Int64
  /// At least this many ticks; 0: the share alone counts.
  let ticks: Int64
  var reference = Reference.book

  static let table: [RuleRow<PriceCage>] = [
    // [RULE]
    RuleRow(kind: .stock, board: .main, value: PriceCage(permille: 20, ticks: 10)),
    RuleRow(kind: .stock, board: .chiNext, value: PriceCage(permille: 20, ticks: 10)),
    // [PAGE] A course of 2026-08 that quotes the rules of 2026-07-06: 102 % and 98 % alone, without
    // the ten ticks of the other boards; one older source adds them.
    RuleRow(kind: .stock, board: .star, value: PriceCage(permille: 20, ticks: 0)),
    // [PAGE] The same course, and a client that quotes the rule: 105 % and 95 %, or ten ticks.
    RuleRow(kind: .stock, board: .beijing, value: PriceCage(permille: 50, ticks: 10)),
    // [GK]
    RuleRow(kind: .convertibleBond, value: PriceCage(permille: 100, ticks: 0, reference: .last)),
  ]

  /// Why the limit of an order is beyond the cage; nil where it is not, or there is none.
  static func sentence(
    on order: Order, of instrument: Instrument, in snapshot: Snapshot
  ) -> String? {
    let side = order.side
    guard let limit = order.limit, let cage = table.value(for: instrument),
      let cageLimit = cage.limit(of: side, in: snapshot, tick: instrument.tickSize),
      !side.reaches(limit, from: cageLimit)
    else { return nil }
    return "\(limit) is \(side == .buy ? "above" : "below") \(cageLimit), the price cage of a "
      + "\(side.name) order"
  }

  /// The highest price of a purchase, the lowest of a sale; nil without any price to refer to.
  private func limit(
    of side: Side, in snapshot: Snapshot, tick: ExactDecimal
  ) -> ExactDecimal? {
    guard let price = referencePrice(of: side, in: snapshot) else { return nil }
    let sign: Int64 = side == .buy ? 1 : -1
    let factor = ExactDecimal(units: 1000 + sign * permille, scale: 3)
    let distance = ExactDecimal(units: sign * ticks * tick.units, scale: tick.scale)
    // A price and its share lie far within 64 bits; one that does not bounds nothing.
    guard let share = try? (price * factor).divided(by: tick, scale: 0) * tick,
      let step = try? price + distance
    else { return nil }
    return side == .buy ? max(share, step) : min(share, step)
  }

  private func referencePrice(of side: Side, in snapshot: Snapshot) -> ExactDecimal? {
    let best = [snapshot.opposite(of: side).first?.price, snapshot.own(of: side).first?.price]
    let prices = (reference == .book ? best : []) + [snapshot.last, snapshot.previousClose]
    return prices.lazy.compactMap { $0 }.first { $0.isPositive }
  }
}
