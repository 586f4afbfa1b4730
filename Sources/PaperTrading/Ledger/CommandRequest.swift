import Market

/// What a user asks of the broker, as one line of text: the same request is the same text, so that
/// a digest of it shows whether a key is used again for something else.
package enum CommandRequest: Sendable, Hashable {
  case deposit(ExactDecimal, type: DepositType, description: String)
  case withdraw(ExactDecimal, description: String)
  case order(OrderRequest)
  case cancel(order: Int64)
  /// What takes an order's place; what it does not name stays.
  case replace(order: Int64, OrderChange)
  /// A queue purchase.
  case arm(PurchaseRequest)
  case disarm(purchase: Int64)
  /// Ends the account, with all that is open in it.
  case close

  package var kind: String {
    switch self {
    case .deposit: "deposit"
    case .withdraw: "withdraw"
    case .order: "order"
    case .cancel: "cancel"
    case .replace: "replace"
    case .arm: "arm"
    case .disarm: "disarm"
    case .close: "close"
    }
  }

  package var isPayment: Bool {
    switch self {
    case .deposit, .withdraw: true
    case .order, .cancel, .replace, .arm, .disarm, .close: false
    }
  }
}

/// An order as it is asked for.
package struct OrderRequest: Sendable, Hashable {
  package var symbol: Symbol
  package var side: Side
  package var kind: OrderKind
  package var timeInForce: TimeInForce
  package var quantity: ExactDecimal
  package var limit: ExactDecimal?
  package var stop: ExactDecimal?

  package init(
    symbol: Symbol, side: Side, kind: OrderKind, timeInForce: TimeInForce = .day,
    quantity: ExactDecimal, limit: ExactDecimal? = nil, stop: ExactDecimal? = nil
  ) {
    self.symbol = symbol
    self.side = side
    self.kind = kind
    self.timeInForce = timeInForce
    self.quantity = quantity
    self.limit = limit
    self.stop = stop
  }
}

/// What a replacement changes of an order.
package struct OrderChange: Sendable, Hashable {
  /// The quantity of the whole order, with what it has filled.
  package var quantity: ExactDecimal?
  package var timeInForce: TimeInForce?
  package var limit: ExactDecimal?
  package var stop: ExactDecimal?

  package init(
    quantity: ExactDecimal? = nil, timeInForce: TimeInForce? = nil, limit: ExactDecimal? = nil,
    stop: ExactDecimal? = nil
  ) {
    self.quantity = quantity
    self.timeInForce = timeInForce
    self.limit = limit
    self.stop = stop
  }
}

// MARK: - Text

extension CommandRequest {
  /// `order symbol=sh600519 side=buy kind=limit force=day quantity=100 limit=1700.5`.
  package var text: String {
    var words = [kind]
    switch self {
    case .deposit(let amount, let type, let description):
      words += ["amount=\(amount.normalized)", "type=\(type.rawValue)"]
      words += ["description=\(WordCoding.encoded(description))"]
    case .withdraw(let amount, let description):
      words += ["amount=\(amount.normalized)", "description=\(WordCoding.encoded(description))"]
    case .order(let order):
      words += ["symbol=\(order.symbol)", "side=\(order.side.name)", "kind=\(order.kind.name)"]
      words += ["force=\(order.timeInForce.name)", "quantity=\(order.quantity.normalized)"]
      if let limit = order.limit { words.append("limit=\(limit.normalized)") }
      if let stop = order.stop { words.append("stop=\(stop.normalized)") }
    case .cancel(let order):
      words.append("order=\(order)")
    case .replace(let order, let change):
      words.append("order=\(order)")
      if let force = change.timeInForce { words.append("force=\(force.name)") }
      if let quantity = change.quantity { words.append("quantity=\(quantity.normalized)") }
      if let limit = change.limit { words.append("limit=\(limit.normalized)") }
      if let stop = change.stop { words.append("stop=\(stop.normalized)") }
    case .arm(let purchase): words += purchase.words
    case .disarm(let purchase): words.append("purchase=\(purchase)")
    case .close: break
    }
    return words.joined(separator: " ")
  }

  /// nil for what is no request, whole.
  package init?(text: String) {
    let words = text.split(separator: " ")
    guard let kind = words.first, let values = WordValues(words.dropFirst()),
      let request = Self.request(kind, values)
    else { return nil }
    self = request
  }

  private static func request(_ kind: Substring, _ values: WordValues) -> Self? {
    let description = values["description"].flatMap { String(percentEncoded: $0) }
    switch kind {
    case "deposit":
      guard let amount = values.decimal("amount"), let description,
        let type = values.named("type", by: \DepositType.rawValue)
      else { return nil }
      return .deposit(amount, type: type, description: description)
    case "withdraw":
      guard let amount = values.decimal("amount"), let description else { return nil }
      return .withdraw(amount, description: description)
    case "order":
      guard let symbol = values["symbol"].flatMap({ Symbol($0) }),
        let side = values.named("side", by: \Side.name),
        let kind = values.named("kind", by: \OrderKind.name),
        let force = values.named("force", by: \TimeInForce.name),
        let quantity = values.decimal("quantity")
      else { return nil }
      return .order(
        OrderRequest(
          symbol: symbol, side: side, kind: kind, timeInForce: force, quantity: quantity,
          limit: values.decimal("limit"), stop: values.decimal("stop")))
    case "cancel":
      return values.integer("order").map { .cancel(order: $0) }
    case "replace":
      let force = values.named("force", by: \TimeInForce.name)
      guard let order: Int64 = values.integer("order"), values["force"] == nil || force != nil
      else { return nil }
      return .replace(
        order: order,
        OrderChange(
          quantity: values.decimal("quantity"), timeInForce: force,
          limit: values.decimal("limit"), stop: values.decimal("stop")))
    case "arm": return PurchaseRequest(values).map { .arm($0) }
    case "disarm":
      return values.integer("purchase").map { .disarm(purchase: $0) }
    case "close": return .close
    default: return nil
    }
  }
}

/// Text of people inside a line of words: each byte that could end a word as `%` and two digits.
private enum WordCoding {
  static func encoded(_ text: String) -> String {
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      if byte > 0x20, byte != UInt8(ascii: "%"), byte != 0x7F {
        bytes.append(byte)
      } else {
        bytes.append(UInt8(ascii: "%"))
        bytes += [digit(byte >> 4), digit(byte & 0xF)]
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func digit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
  }
}
