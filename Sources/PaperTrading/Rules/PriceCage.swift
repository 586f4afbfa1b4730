import Market

/// How far a limit order may reach beyond the book while trading is continuous. Auctions, halts,
/// market orders and funds have no cage. It is judged where an order comes to the exchange.
enum PriceCage {
  /// Why the limit of an order is beyond the cage; nil where it is not, or there is none.
  static func sentence(
    on order: Order, of instrument: Instrument, in snapshot: Snapshot
  ) -> String? {
    let side = order.side
    let day = snapshot.stamp.day
    guard let limit = order.limit,
      let cage = RuleBook.current.cage(of: instrument, on: day),
      let cageLimit = cage.limit(of: side, in: snapshot, tick: instrument.tickSize(on: day)),
      !side.reaches(limit, from: cageLimit)
    else { return nil }
    return "\(limit) is \(side == .buy ? "above" : "below") \(cageLimit), the price cage of a "
      + "\(side.name) order"
  }
}

extension CageRule {
  /// The highest price of a purchase, the lowest of a sale; nil without any price to refer to.
  fileprivate func limit(
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

  /// Of a purchase: the best ask, else the best bid, the last price, the previous close.
  private func referencePrice(of side: Side, in snapshot: Snapshot) -> ExactDecimal? {
    let best = [snapshot.opposite(of: side).first?.price, snapshot.own(of: side).first?.price]
    let prices = (isOfLast ? [] : best) + [snapshot.last, snapshot.previousClose]
    return prices.lazy.compactMap { $0 }.first { $0.isPositive }
  }
}
