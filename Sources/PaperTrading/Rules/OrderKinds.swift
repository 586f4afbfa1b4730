import Market

/// Which orders an exchange takes. Limit orders are taken everywhere; stop orders are the house's,
/// which sends them when their price is reached.
enum OrderKinds {
  /// Of shares and funds. [PAGE] Convertible bonds are traded by limit orders alone (questions on
  /// Zhongtai's XTP: "可转债不支持市价单").
  static let market: [Exchange: Set<OrderKind>] = [
    // [RULE]
    .shanghai: [.fiveBestThenCancel, .fiveBestThenLimit, .ownBest, .oppositeBest],
    // [RULE]
    .shenzhen: [.fiveBestThenCancel, .ownBest, .oppositeBest, .immediateOrCancel, .allOrCancel],
    // [GK]
    .beijing: [.fiveBestThenCancel, .fiveBestThenLimit, .ownBest, .oppositeBest],
  ]

  static func require(
    _ order: Order, of instrument: Instrument, costIsBounded: Bool, at moment: TradingMoment
  ) throws(Refusal) {
    let isContinuous =
      TradingPhase.current(of: instrument, at: moment)?.name == .continuous
    var taken: Set<OrderKind> = [.limit, .stopLimit]
    if instrument.kind != .convertibleBond {
      taken.formUnion(market[instrument.exchange] ?? [])
      taken.insert(.stop)
    }
    if !taken.contains(order.kind) {
      let names = taken.map(\.name).sorted()
      throw Refusal(
        .kind, field: "kind",
        "\(instrument.exchange.name) takes no \(order.kind.name) order of a "
          + "\(instrument.kind.name): use " + names.joined(separator: ", "))
    }
    if order.kind.isMarket, !isContinuous {
      throw Refusal(
        .kind, field: "kind", "\(order.kind.name) is accepted in continuous trading only")
    }
    // [RULE] Shanghai takes none on a day without price limits; elsewhere one needs a protection,
    // since nothing else bounds what it costs.
    let isPriced = !order.kind.isMarket && order.kind != .stop
    if !isPriced, !costIsBounded, order.limit == nil || instrument.exchange == .shanghai {
      throw Refusal(
        .kind, field: "kind", "\(order.kind.name) is not accepted on a day without price limits")
    }
    try requireTime(of: order, isContinuous: isContinuous)
  }

  private static func requireTime(of order: Order, isContinuous: Bool) throws(Refusal) {
    if order.kind.isMarket, order.timeInForce != .day {
      throw Refusal(
        .timeInForce, field: "time_in_force",
        "a \(order.kind.name) order is a day order, and not \(order.timeInForce.name)")
    }
    if order.kind == .stop, order.side == .buy, order.timeInForce == .goodTillCancelled {
      throw Refusal(
        .timeInForce, field: "time_in_force",
        "a stop order that buys is paid for within the day's price limits, and so ends with the "
          + "day: use day, or stop_limit")
    }
    guard order.timeInForce.isImmediate else { return }
    if order.kind.isStop {
      throw Refusal(
        .timeInForce, field: "time_in_force",
        "a stop order waits: use day or gtc, and not \(order.timeInForce.name)")
    }
    if !isContinuous {
      throw Refusal(
        .timeInForce, field: "time_in_force",
        "\(order.timeInForce.name) is accepted in continuous trading only")
    }
  }
}
