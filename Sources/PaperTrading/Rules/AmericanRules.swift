import Market

/// Orders in American stocks: any number of shares, parts of a share with restrictions.
enum AmericanRules {
  static let quantityPlacesMax: UInt8 = 9

  static func sizeRefusal(of order: Order) -> Refusal? {
    let quantity = order.quantity.normalized
    guard quantity.isPositive else {
      return Refusal(.quantity, field: "quantity", "\(order.quantity) is not positive")
    }
    if quantity.scale > quantityPlacesMax {
      return Refusal(
        .quantity, field: "quantity",
        "\(order.quantity) has more than \(quantityPlacesMax) decimal places")
    }
    guard quantity.scale > 0 else { return nil }
    if order.timeInForce != .day {
      return Refusal(
        .timeInForce, field: "time_in_force",
        "a part of a share is a day order, and not \(order.timeInForce.name)")
    }
    if order.kind != .market, order.kind != .limit {
      return Refusal(
        .kind, field: "kind",
        "a part of a share is a market or limit order, and not \(order.kind.name)")
    }
    return nil
  }
}
