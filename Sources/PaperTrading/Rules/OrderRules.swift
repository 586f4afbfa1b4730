import Market

/// Whether the exchange would take an order, by the rules of its day. What it costs is not judged
/// here: the ledger freezes cash at `Acceptance.worstPrice` and refuses what it lacks.
package enum OrderRules {
  /// - Parameters:
  ///   - snapshot: the newest of the instrument.
  ///   - holding: of a sale, what the account has.
  package static func judge(
    _ order: Order, of traded: TradedInstrument, against snapshot: Snapshot?,
    holding: Holding = .none, at moment: TradingMoment
  ) throws(Refusal) -> Acceptance {
    let instrument = traded.instrument
    try requireTradable(instrument)
    guard let snapshot, snapshot.previousClose.isPositive else {
      throw Refusal(.halted, field: "symbol", "\(order.symbol) has no price today")
    }
    try requireOpen(snapshot, symbol: order.symbol)
    let band = traded.band(previousClose: snapshot.previousClose, on: moment.day)
    let widest = traded.widestBand(previousClose: snapshot.previousClose, on: moment.day)
    try OrderKinds.require(order, of: instrument, costIsBounded: widest != nil, at: moment)
    guard let entry = TradingPhase.entry(of: instrument, at: moment) else {
      throw sessionRefusal(of: instrument, at: moment)
    }
    try OrderSizes.require(order, of: instrument, holding: holding, on: moment.day)
    try requireSellable(order, holding: holding)
    try requirePrices(of: order, traded, band: band, on: moment.day)
    try judgeCage(order, instrument: instrument, snapshot: snapshot, moment: moment)
    return Acceptance(
      entersAt: entry, worstPrice: order.limit ?? protection(of: order, within: widest))
  }

  /// A stop that sells may be released on a later day, whose limits are others: it has none, for it
  /// costs nothing.
  private static func protection(of order: Order, within band: PriceBand?) -> ExactDecimal? {
    if order.side == .buy { return band?.upper }
    return order.kind == .stop ? nil : band?.lower
  }

  private static func requireTradable(_ instrument: Instrument) throws(Refusal) {
    if instrument.isTradedOnPaper { return }
    throw Refusal(
      .instrument, field: "symbol",
      "\(instrument.symbol) is of kind \(instrument.kind.name) at the exchange "
        + "\(instrument.exchange.name), which is not traded on paper")
  }

  private static func requireOpen(_ snapshot: Snapshot, symbol: Symbol) throws(Refusal) {
    switch snapshot.trading {
    case .normal, .preOpen, .auction: break
    case .halted, .delisted, .notListed:
      throw Refusal(
        .halted, field: "symbol", "\(symbol) does not trade: it is \(snapshot.trading.name)")
    }
  }

  private static func sessionRefusal(of instrument: Instrument, at moment: TradingMoment) -> Refusal
  {
    let isFixed = TradingPhase.current(of: instrument, at: moment)?.name == .afterHours
    return Refusal(
      .session, field: "time",
      isFixed
        ? "the fixed-price session is not offered: its queue is not published"
        : "the last session of \(moment.day) has ended: orders for the next are taken from 16:00")
  }

  private static func requireSellable(_ order: Order, holding: Holding) throws(Refusal) {
    guard order.side == .sell, order.quantity > holding.sellable else { return }
    let today =
      holding.today.isZero ? "" : "; \(holding.today) were bought today and are sold from tomorrow"
    throw Refusal(
      .sellable, field: "quantity",
      "\(order.quantity) is above \(holding.sellable), which can be sold today" + today)
  }

  /// A market order may do without a price; any price must be one of the exchange's.
  private static func requirePrices(
    of order: Order, _ traded: TradedInstrument, band: PriceBand?, on day: TradingDay
  ) throws(Refusal) {
    let needsLimit = order.kind == .limit || order.kind == .stopLimit
    if needsLimit, order.limit == nil {
      throw Refusal(.price, field: "limit", "a \(order.kind.name) order needs a limit price")
    }
    if order.kind.isStop != (order.stop != nil) {
      throw Refusal(
        .price, field: "stop",
        order.kind.isStop
          ? "a \(order.kind.name) order needs a stop price"
          : "a \(order.kind.name) order has no stop price")
    }
    if order.kind == .stop, order.limit != nil {
      throw Refusal(.price, field: "limit", "a \(order.kind.name) order has no limit price")
    }
    for (field, price) in [("limit", order.limit), ("stop", order.stop)] {
      guard let price else { continue }
      try requireTick(price, field: field, tick: traded.instrument.tickSize(on: day))
      if let band, !band.contains(price) {
        throw Refusal(
          .band, field: field,
          "\(price) is outside the day's limits \(band.lower)–\(band.upper)")
      }
    }
  }

  private static func requireTick(
    _ price: ExactDecimal, field: String, tick: ExactDecimal
  ) throws(Refusal) {
    guard price.isPositive else {
      throw Refusal(.price, field: field, "\(price) is not a positive price")
    }
    let steps = try? price.divided(by: tick, scale: 0) * tick
    if steps != price {
      throw Refusal(.tick, field: field, "\(price) is not a multiple of the tick \(tick)")
    }
  }

  /// An order that the house sends later is judged again by the book that it meets then. A queue
  /// purchase can wait until its price is inside.
  private static func judgeCage(
    _ order: Order, instrument: Instrument, snapshot: Snapshot, moment: TradingMoment
  ) throws(Refusal) {
    let phase = TradingPhase.current(of: instrument, at: moment)?.name
    let isJudged =
      phase == .continuous
      || order.origin == .queuePurchase && phase != .openingAuction && phase != .closingAuction
    guard order.kind == .limit, isJudged,
      let sentence = PriceCage.sentence(on: order, of: instrument, in: snapshot)
    else { return }
    throw Refusal(.cage, field: "limit", sentence + " now")
  }
}
