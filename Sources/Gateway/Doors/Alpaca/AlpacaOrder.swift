/// Orders, accounts and activities as Alpaca writes them.

import AppStore
import HTTPTypes
import Market
import PaperTrading

/// Numbers of ours as UUIDs, which clients want (RFC 9562, version 8). What is given again after a
/// backup was restored has the epoch in it, so that an old id never names another order.
enum AlpacaID: String, Sendable {
  case account = "0000000a"
  case order = "0000000b"
  /// Of a command that was refused, in place of an order's.
  case command = "0000000c"
  case watchlist = "0000000d"
  /// What happened to an order.
  case event = "0000000e"

  /// 60 bits.
  private static let digits = 15

  /// 40 bits: a second since 1970.
  private static let epochDigits = 10

  private var kind: KeyPath<AppEpochs.Row, Int64>? {
    switch self {
    case .order: \.order
    case .command: \.command
    case .event: \.event
    case .account, .watchlist: nil
    }
  }

  func text(_ number: Int64, in epochs: AppEpochs) -> String {
    let given = kind.map { epochs.epoch(of: $0, number: number) } ?? 0
    let epoch = UInt64(given).hexadecimal(digits: Self.epochDigits)
    let padded = UInt64(number).hexadecimal(digits: Self.digits)
    return "\(epoch.prefix(6))\(rawValue.suffix(2))-\(epoch.dropFirst(6))-8000-8"
      + "\(padded.prefix(3))-\(padded.dropFirst(3))"
  }

  func number(_ text: String, in epochs: AppEpochs) -> Int64? {
    let digits = text.lowercased().filter { $0 != "-" }.suffix(Self.digits)
    guard let number = Int64(digits, radix: 16), number > 0,
      self.text(number, in: epochs) == text.lowercased()
    else { return nil }
    return number
  }
}

extension UInt64 {
  /// With zeros before it.
  func hexadecimal(digits: Int) -> String {
    let text = String(self, radix: 16)
    return String(repeating: "0", count: Swift.max(digits - text.count, 0)) + text
  }
}

/// The body of an order, numbers in quotes.
struct AlpacaOrderBody: Decodable {
  var symbol: String
  var side: String
  var type: String
  var qty: String
  var timeInForce: String?
  var limitPrice: String?
  var stopPrice: String?
  var clientOrderID: String?

  enum CodingKeys: String, CodingKey {
    case symbol, side, type, qty
    case timeInForce = "time_in_force"
    case limitPrice = "limit_price"
    case stopPrice = "stop_price"
    case clientOrderID = "client_order_id"
  }

  static let schema = Schema.either(
    schema(of: "buy", intent: "buy_to_open"), schema(of: "sell", intent: "sell_to_close"))

  static let forces = ["day", "gtc", "ioc", "fok"]

  /// What clients know and is not offered, with the values that have no effect: an order is of a
  /// quantity, for the exchange's hours, and brings no other with it.
  private static let withoutEffect: KeyValuePairs = [
    "notional": ["null"], "trail_price": ["null"], "trail_percent": ["null"],
    "extended_hours": ["null", "false"], "order_class": ["null", "\"\"", "\"simple\""],
    "legs": ["null"], "take_profit": ["null"], "stop_loss": ["null"],
  ]

  private static func schema(of side: String, intent: String) -> Schema {
    func schema(_ type: String, needs: [String] = []) -> Schema {
      let prices = ["limit_price", "stop_price"].map { name in
        needs.contains(name)
          ? Schema.Member(name, AlpacaNumbers.schema(.price))
          : Schema.Member(name, .only(["null"]), isRequired: false)
      }
      return .object(
        [
          .init("symbol", .text(charactersMax: 32)), .init("side", .choice([side])),
          .init("type", .choice([type])), .init("qty", AlpacaNumbers.schema(.quantity)),
          .init("time_in_force", .choice(forces)),
          .init("client_order_id", .nullable(.matching(.key)), isRequired: false),
          .init("position_intent", .only(["null", "\"\(intent)\""]), isRequired: false),
        ] + prices + withoutEffect.map { .init($0.key, .only($0.value), isRequired: false) })
    }
    return .either(
      .either(schema("market"), schema("limit", needs: ["limit_price"])),
      .either(
        schema("stop", needs: ["stop_price"]),
        schema("stop_limit", needs: ["limit_price", "stop_price"])))
  }

  /// In the form of our own API.
  /// - Throws: 422 of a name that cannot be stored.
  func order() throws(Problem) -> OrderBody {
    if let clientOrderID, !TextPattern.key.matches(clientOrderID) {
      throw .unstorable("client_order_id", expected: TextPattern.key.expectation)
    }
    // What a market order leaves is cancelled at once: it is immediate by itself.
    let force = type == "market" && timeInForce == "ioc" ? TimeInForce.day.name : timeInForce
    return OrderBody(
      stockSymbol: symbol, side: side, type: type, quantity: qty, timeInForce: force,
      limitPrice: limitPrice, stopPrice: stopPrice)
  }
}

struct AlpacaChangeBody: Decodable {
  var qty: String?
  var timeInForce: String?
  var limitPrice: String?
  var stopPrice: String?
  var clientOrderID: String?

  enum CodingKeys: String, CodingKey {
    case qty
    case timeInForce = "time_in_force"
    case limitPrice = "limit_price"
    case stopPrice = "stop_price"
    case clientOrderID = "client_order_id"
  }

  static let schema = Schema.object([
    .init("qty", AlpacaNumbers.schema(.quantity), isRequired: false),
    .init("limit_price", AlpacaNumbers.schema(.price), isRequired: false),
    .init("stop_price", AlpacaNumbers.schema(.price), isRequired: false),
    .init("time_in_force", .choice(AlpacaOrderBody.forces), isRequired: false),
    .init("client_order_id", .nullable(.matching(.key)), isRequired: false),
    .init("trail", .only(["null"]), isRequired: false),
  ])

  func change() throws(Problem) -> OrderChange {
    if let clientOrderID, !TextPattern.key.matches(clientOrderID) {
      throw .unstorable("client_order_id", expected: TextPattern.key.expectation)
    }
    return try OrderChangeBody(
      quantity: qty, timeInForce: timeInForce, limitPrice: limitPrice, stopPrice: stopPrice
    ).change()
  }
}

extension Problem {
  static func nameUsed(_ name: String) -> Problem {
    Problem(
      .unprocessableContent, code: "name_used",
      title: "client_order_id must be unique: \(name) is another order's.")
  }

  /// Whether what was asked may still be done.
  var isUndecided: Bool { status == .serviceUnavailable || code == Self.outcomeUnknownCode }

  /// Alpaca answers 422 to a value that is not valid, and 400 to what is no JSON.
  var asUnprocessable: Problem {
    guard status == .badRequest else { return self }
    return Problem(.unprocessableContent, code: code, title: title, faults: faults)
  }
}

extension HTTPResponse.Status {
  /// One result for each of several.
  static let several = HTTPResponse.Status(code: 207, reasonPhrase: "Multi-Status")
}

extension OrderKind {
  var alpacaName: String {
    switch self {
    case .limit, .ownBest, .oppositeBest: "limit"
    case .stop: "stop"
    case .stopLimit: "stop_limit"
    default: "market"
    }
  }
}

extension OrderRecord {
  /// A name of Alpaca's that its clients know. An order is new once the exchange has taken it.
  fileprivate func alpacaStatus(at now: Timestamp) -> String {
    state == .accepted && isBeforeEntry(at: now) ? OrderState.waitingName : state.alpacaName
  }

  private func isBeforeEntry(at now: Timestamp) -> Bool {
    guard let instrument = Instrument.classify(order.symbol) else { return false }
    let zone = MarketZone.shanghai
    let placed = zone.wallClock(at: acceptedAt)
    // One that was placed before its day waits for the beginning of that.
    let moment = TradingMoment(
      day: tradingDay, secondOfDay: placed.day == tradingDay ? placed.second : 0)
    return TradingPhase.entry(of: instrument, at: moment)
      .map { now < zone.moment(on: tradingDay, secondOfDay: $0) } ?? false
  }
}

extension OrderState {
  static let waitingName = "accepted"

  /// A name of Alpaca's that its clients know.
  var alpacaName: String {
    switch self {
    case .received: "pending_new"
    case .accepted: "new"
    case .cancelled: "canceled"
    default: name
    }
  }
}

/// A line of the log as Alpaca's activity.
struct AlpacaActivity: Sendable {
  let row: TransactionLogRow
  let type: String

  /// By type, the kinds of the log. Fees are a part of what a fill costs, and no line of their own.
  static let kinds: KeyValuePairs = [
    "FILL": ["Buy-Order", "Sell-Order", "Auto-Buy"], "CSD": ["deposit"], "CSW": ["withdrawal"],
    "DIV": ["dividend"], "SPLIT": ["bonus"], "MISC": ["reversal", "merger", "conversion"],
    "FEE": [],
  ]

  init(_ row: TransactionLogRow) {
    self.row = row
    type = Self.kinds.first { $0.value.contains(row.kind) }?.key ?? "MISC"
  }
}

extension JSONWriter {
  mutating func write(_ activity: AlpacaActivity, zone: MarketZone, epochs: AppEpochs) {
    let row = activity.row
    member("id") { $0.string(String(row.sequence)) }
    member("activity_type") { $0.string(activity.type) }
    member("net_amount") { $0.decimal(row.amount) }
    if activity.type == "FILL" {
      member("transaction_time") { $0.moment(row.at, in: zone) }
      member("type") { $0.string("fill") }
      member("side") { $0.string(row.kind == "Sell-Order" ? "sell" : "buy") }
      if let id = row.orderID {
        member("order_id") { $0.string(AlpacaID.order.text(id, in: epochs)) }
      }
    } else {
      member("date") { $0.day(zone.day(at: row.at)) }
      member("status") { $0.string("executed") }
      member("description") { $0.string(row.description) }
    }
    if let symbol = row.symbol { member("symbol") { $0.string(symbol.description) } }
    if let quantity = row.quantity { member("qty") { $0.decimal(quantity) } }
    if let price = row.price { member("price") { $0.decimal(price) } }
  }

  mutating func write(alpaca portfolio: Portfolio) {
    let account = portfolio.account
    member("id") { $0.string(AlpacaID.account.text(account.id, in: .none)) }
    member("account_number") { $0.string("PA\(account.id)") }
    member("status") { $0.string("ACTIVE") }
    member("currency") { $0.string(account.currency) }
    member("created_at") { $0.moment(account.createdAt, in: account.market.zone) }
    member("cash") { $0.decimal(portfolio.cash) }
    for name in ["buying_power", "regt_buying_power", "non_marginable_buying_power"] {
      member(named: name) { $0.decimal(account.available) }
    }
    member("portfolio_value") { $0.decimal(portfolio.equity) }
    member("equity") { $0.decimal(portfolio.equity) }
    member("last_equity") { $0.decimal(portfolio.equityBefore) }
    member("long_market_value") { $0.decimal(portfolio.value) }
    for name in ["short_market_value", "initial_margin", "maintenance_margin"] {
      member(named: name) { $0.string("0") }
    }
    member("multiplier") { $0.string("1") }
    for name in [
      "pattern_day_trader", "trading_blocked", "transfers_blocked", "account_blocked",
      "trade_suspended_by_user", "shorting_enabled",
    ] { member(named: name) { $0.boolean(false) } }
  }

  /// - Parameter refused: the command that asked for it, where it was refused.
  mutating func write(
    alpaca record: OrderRecord, refused: RefusedOrder? = nil, in state: MarketState
  ) {
    let order = record.order
    let known = ListedStock(order.symbol, in: state)
    func id(_ number: Int64) -> String { AlpacaID.order.text(number, in: state.epochs) }
    func moment(_ text: inout JSONWriter, in states: Set<OrderState>, at moment: Timestamp?) {
      let value = states.contains(record.state) ? moment : nil
      text.optional(value) { $0.moment($1, in: known.zone) }
    }
    let command = refused.map { AlpacaID.command.text($0.commandID, in: state.epochs) }
    member("id") { $0.string(command ?? id(order.id)) }
    member("client_order_id") { $0.string(record.key) }
    member("created_at") { $0.moment(record.acceptedAt, in: known.zone) }
    member("updated_at") { $0.moment(record.updatedAt, in: known.zone) }
    member("submitted_at") { $0.moment(record.acceptedAt, in: known.zone) }
    member("filled_at") { moment(&$0, in: [.filled], at: record.execution?.lastAt) }
    member("expired_at") { moment(&$0, in: [.expired], at: record.updatedAt) }
    member("canceled_at") { moment(&$0, in: [.cancelled], at: record.updatedAt) }
    member("replaced_at") { moment(&$0, in: [.replaced], at: record.updatedAt) }
    member("replaces") { $0.optional(record.replaces) { $0.string(id($1)) } }
    member("replaced_by") { $0.optional(record.replacedBy) { $0.string(id($1)) } }
    member("failed_at") { moment(&$0, in: [.rejected], at: record.updatedAt) }
    for name in ["notional", "legs", "hwm"] { member(named: name) { $0.null() } }
    member("asset_id") { $0.optional(known.series) { $0.string($1.assetID) } }
    member("symbol") { $0.string(order.symbol.description) }
    member("asset_class") { $0.string("us_equity") }
    member("qty") { $0.decimal(order.quantity) }
    member("filled_qty") { $0.decimal(record.filled) }
    member("filled_avg_price") { $0.optional(record.execution?.averagePrice) { $0.decimal($1) } }
    member("order_class") { $0.string("simple") }
    member("order_type") { $0.string(order.kind.alpacaName) }
    member("type") { $0.string(order.kind.alpacaName) }
    member("side") { $0.string(order.side.name) }
    member("time_in_force") { $0.string(order.timeInForce.name) }
    member("limit_price") { $0.optional(order.limit) { $0.decimal($1) } }
    member("stop_price") { $0.optional(order.stop) { $0.decimal($1) } }
    member("status") { $0.string(record.alpacaStatus(at: state.clock(at: .now))) }
    member("extended_hours") { $0.boolean(false) }
    object("candled") { ours in
      ours.write(QueueStanding(record, stock: known.stock), as: QueueStanding.shape)
      if let refused { ours.write(refused.refusal) }
    }
  }
}
