import Market

/// A row of the feed, with the legal prices of its day.
package struct MarketRow: Sendable, Hashable {
  package var snapshot: Snapshot
  /// nil where no limit applies, or it is not known.
  package var band: PriceBand?

  package init(_ snapshot: Snapshot, band: PriceBand?) {
    self.snapshot = snapshot
    self.band = band
  }

  package func traded(_ instrument: Instrument) -> TradedInstrument {
    let isKnown = PriceLimit.isKnown(for: instrument, on: snapshot.stamp.day)
    return TradedInstrument(
      instrument, statedLimits: band.map { .band($0) } ?? (isKnown ? .none : .unstated))
  }
}

/// All that decides the fills of an instrument on a day, in the order in which it came: the same
/// inputs give the same fills. Written as one line of text, so that a database can keep them and
/// another process can go on where one was killed.
package enum FillInput: Sendable, Hashable {
  case row(MarketRow)
  /// From the row of this number on, all were taken out.
  case withdrawal(from: Int64)
  /// The day's totals were certified.
  case certificate
  case entry(RestingOrder)
  /// Cancelled, expired or replaced.
  case end(order: Int64, account: Int64)

  package var text: String {
    switch self {
    case .row(let row): "row \(row.text)"
    case .withdrawal(let sequence): "withdrawal from=\(sequence)"
    case .certificate: "certificate"
    case .entry(let order): "entry \(order.text)"
    case .end(let order, let account): "end order=\(order) account=\(account)"
    }
  }

  /// nil for what is no input, whole.
  package init?(text: String) {
    let words = text.split(separator: " ")
    guard let kind = words.first, let values = WordValues(words.dropFirst()) else { return nil }
    switch kind {
    case "row":
      guard let row = MarketRow(values) else { return nil }
      self = .row(row)
    case "withdrawal":
      guard let sequence: Int64 = values.integer("from") else { return nil }
      self = .withdrawal(from: sequence)
    case "certificate": self = .certificate
    case "entry":
      guard let order = RestingOrder(values) else { return nil }
      self = .entry(order)
    case "end":
      guard let order: Int64 = values.integer("order"),
        let account: Int64 = values.integer("account")
      else { return nil }
      self = .end(order: order, account: account)
    default: return nil
    }
  }
}

// MARK: - Text

extension MarketRow {
  var text: String {
    let row = snapshot
    var line = """
      at=\(row.stamp.text) previous=\(row.previousClose) last=\(row.last) high=\(row.high) \
      low=\(row.low) \
      volume=\(row.volume) turnover=\(row.turnover) \
      bids=\(Self.text(row.bids)) asks=\(Self.text(row.asks)) \
      rounding=\(row.rounding.volume)/\(row.rounding.turnover) trading=\(row.trading.name)
      """
    if let band { line += " band=\(band.lower)/\(band.upper)" }
    return line
  }

  private static func text(_ levels: [BookLevel]) -> String {
    levels.map { "\($0.price):\($0.volume)" }.joined(separator: ",")
  }

  /// `10.02:500,10.03:100`: volumes by price.
  static func levels(_ text: Substring?) -> [BookLevel]? {
    guard let text else { return nil }
    var levels: [BookLevel] = []
    for level in text.split(separator: ",") {
      guard let (price, volume) = pair(level, separator: ":") else { return nil }
      levels.append(BookLevel(price: price, volume: volume))
    }
    return levels
  }

  private static func pair(
    _ text: Substring, separator: Character
  ) -> (ExactDecimal, ExactDecimal)? {
    let parts = text.split(separator: separator).map { try? ExactDecimal(String($0)) }
    guard parts.count == 2, let first = parts[0], let second = parts[1] else { return nil }
    return (first, second)
  }

  init?(_ values: WordValues) {
    let rounding = (values["rounding"] ?? "").split(separator: "/").compactMap { Int32($0) }
    guard let stamp = values["at"].flatMap({ SnapshotStamp(text: $0) }),
      let previous = values.decimal("previous"),
      let last = values.decimal("last"), let high = values.decimal("high"),
      let low = values.decimal("low"), let volume = values.decimal("volume"),
      let turnover = values.decimal("turnover"), let bids = Self.levels(values["bids"]),
      let asks = Self.levels(values["asks"]), rounding.count == 2,
      let trading = values.named("trading", by: \TradingState.name)
    else { return nil }
    var band: PriceBand?
    if let text = values["band"] {
      guard let (lower, upper) = Self.pair(text, separator: "/") else { return nil }
      band = PriceBand(lower: lower, upper: upper)
    }
    self.init(
      Snapshot(
        stamp: stamp, previousClose: previous, last: last, high: high, low: low, volume: volume,
        turnover: turnover, bids: bids, asks: asks,
        rounding: Rounding(volume: rounding[0], turnover: rounding[1]), trading: trading),
      band: band)
  }
}

extension RestingOrder {
  /// As it was when it entered: its place in the queue follows from the rows behind it.
  var text: String {
    var words = [
      "order=\(order.id)", "account=\(order.account)", "symbol=\(order.symbol)",
      "side=\(order.side.name)", "kind=\(order.kind.name)", "force=\(order.timeInForce.name)",
      "whole=\(order.quantity)", "quantity=\(quantity)", "origin=\(order.origin.rawValue)",
      "day=\(day)", "enters=\(entersAt)",
    ]
    for (name, price) in [
      ("limit", order.limit), ("stop", order.stop), ("bound", worstPrice), ("day_limit", dayLimit),
    ] {
      if let price { words.append("\(name)=\(price)") }
    }
    if order.kind.isStop, stage != .untriggered { words.append("released=1") }
    return words.joined(separator: " ")
  }

  init?(_ values: WordValues) {
    guard let id: Int64 = values.integer("order"), let account: Int64 = values.integer("account"),
      let symbol = values["symbol"].flatMap({ Symbol($0) }),
      let side = values.named("side", by: \Side.name),
      let kind = values.named("kind", by: \OrderKind.name),
      let force = values.named("force", by: \TimeInForce.name),
      let whole = values.decimal("whole"), let quantity = values.decimal("quantity"),
      let origin = values.named("origin", by: \Order.Origin.rawValue),
      let day = values["day"].flatMap({ TradingDay($0) }),
      let entersAt: Int = values.integer("enters")
    else { return nil }
    let order = Order(
      id: id, account: account, symbol: symbol, side: side, kind: kind, timeInForce: force,
      quantity: whole, limit: values.decimal("limit"), stop: values.decimal("stop"),
      origin: origin)
    self.init(
      order, quantity: quantity, entersAt: entersAt, worstPrice: values.decimal("bound"),
      dayLimit: values.decimal("day_limit"), day: day, isReleased: values["released"] == "1")
  }
}
