import Market

/// How many shares or units an order may have. The lots themselves are `Instrument.lot`.
enum OrderSizes {
  /// The most that a limit order may have.
  static let limitMax: [RuleRow<Int64>] = [
    // [RULE]
    RuleRow(kind: .stock, board: .star, value: 100_000),
    // [RULE] SZSE 创业板交易特别规定 §2.8.
    RuleRow(kind: .stock, board: .chiNext, value: 300_000),
    // [RULE] SSE §3.3.9, SZSE §3.3.10, of shares and funds (股（份）). [GK] At Beijing, too.
    RuleRow(kind: .stock, value: 1_000_000),
    RuleRow(kind: .fund, value: 1_000_000),
    // [GK]
    RuleRow(kind: .convertibleBond, value: 1_000_000),
  ]

  /// The most that a market order may have; a kind without a row has that of a limit order.
  static let marketMax: [RuleRow<Int64>] = [
    // [RULE]
    RuleRow(kind: .stock, board: .star, value: 50_000),
    // [RULE] SZSE 创业板交易特别规定 §2.8.
    RuleRow(kind: .stock, board: .chiNext, value: 150_000),
    // [RULE] [GK] At Beijing, too.
    RuleRow(kind: .stock, value: 1_000_000),
  ]

  static func require(
    _ order: Order, of instrument: Instrument, holding: Holding
  ) throws(Refusal) {
    guard let lot = instrument.lot, let quantity = whole(order.quantity) else {
      throw Refusal(
        .quantity, field: "quantity", "\(order.quantity) is not a whole positive number")
    }
    try requireLots(of: order, quantity: quantity, lot: lot, holding: holding)
    let isMarket = order.kind.isMarket || order.kind == .stop
    let most =
      (isMarket ? marketMax.value(for: instrument) : nil)
      ?? limitMax.value(for: instrument)
    guard let most, quantity > most else { return }
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
