import Market

/// How many shares or units an order may have, by the rules of its day.
enum OrderSizes {
  static func require(
    _ order: Order, of instrument: Instrument, holding: Holding, on day: TradingDay
  ) throws(Refusal) {
    guard let lot = instrument.lot(on: day), let quantity = whole(order.quantity) else {
      throw Refusal(
        .quantity, field: "quantity", "\(order.quantity) is not a whole positive number")
    }
    try requireLots(of: order, quantity: quantity, lot: lot, holding: holding)
    let isMarket = order.kind.isMarket || order.kind == .stop
    let rule = RuleBook.current.orderMost(of: instrument, on: day)
    guard let most = isMarket ? rule?.market : rule?.limit, quantity > most else { return }
    throw Refusal(
      .size, field: "quantity",
      "\(quantity) is above \(most), the most of one \(isMarket ? "market" : "limit") order")
  }

  private static func requireLots(
    of order: Order, quantity: Int64, lot: OrderLot, holding: Holding
  ) throws(Refusal) {
    let (minimum, step) = (Int64(lot.minimum), Int64(lot.increment))
    if order.side == .buy {
      if quantity >= minimum, quantity % step == 0 { return }
      let steps = step == 1 ? "\(minimum) or more" : "a multiple of \(step)"
      throw Refusal(.lot, field: "quantity", "\(quantity) is not \(steps)")
    }
    let sellable = whole(holding.sellable) ?? 0
    if step == 1 {
      // All that is left, where it is less than an order has at least.
      if quantity >= minimum || quantity == sellable { return }
      throw Refusal(
        .remainder, field: "quantity",
        "\(quantity) is below \(minimum): less is sold only as the whole rest of \(sellable)")
    }
    let (odd, rest) = (quantity % step, sellable % step)
    if odd == 0 || odd == rest { return }
    throw Refusal(
      .remainder, field: "quantity",
      "\(quantity) ends in an odd \(odd): sell a multiple of \(step)"
        + (rest == 0 ? "" : ", or with the whole odd rest of \(rest)"))
  }

  /// nil unless positive and whole.
  static func whole(_ quantity: ExactDecimal) -> Int64? {
    let plain = quantity.normalized
    return plain.scale == 0 && plain.isPositive ? plain.units : nil
  }
}
