import HTTPTypes
import Market
import PaperTrading

/// The body of an order. Prices and quantities are strings, so that no digit is lost on the way.
struct OrderBody: Decodable {
  var stockSymbol: String
  var side: String
  var type: String
  var quantity: String
  var timeInForce: String?
  var limitPrice: String?
  var stopPrice: String?

  /// Market orders as the exchanges name them; which exchange takes which is a rule of its own.
  private static let marketTypes =
    ["market"] + OrderKind.allCases.filter(\.isMarket).map(\.name)
  private static let types = marketTypes + ["limit", "stop", "stop_limit"]

  /// By the prices that they have: a market order may have a limit that protects it.
  static let schema = Schema.either(
    .either(
      schema(marketTypes, mayHave: ["limitPrice"]), schema(["limit"], needs: ["limitPrice"])),
    .either(
      schema(["stop"], needs: ["stopPrice"]),
      schema(["stop_limit"], needs: ["limitPrice", "stopPrice"])))

  private static func schema(
    _ types: [String], needs: [String] = [], mayHave: [String] = []
  ) -> Schema {
    .object(
      [
        .init("stockSymbol", .text(charactersMax: 32)),
        .init("side", .choice(Side.allCases.map(\.name))), .init("type", .choice(types)),
        .init("quantity", .matching(.quantity)),
        .init(
          "timeInForce", .nullable(.choice(TimeInForce.allCases.map(\.name))), isRequired: false),
      ]
        + ["limitPrice", "stopPrice"].map { name in
          let price: Schema =
            mayHave.contains(name) ? .nullable(.matching(.price)) : .only(["null"])
          return needs.contains(name)
            ? .init(name, .matching(.price)) : .init(name, price, isRequired: false)
        })
  }

  func request(for symbol: Symbol) throws(Problem) -> OrderRequest {
    let side = try Self.named(side, \Side.name, of: "side")
    let force = try timeInForce.map { (text) throws(Problem) in
      try Self.named(text, \TimeInForce.name, of: "timeInForce")
    }
    let limit = try limitPrice.decimal("limitPrice", .price)
    let stop = try stopPrice.decimal("stopPrice", .price)
    let kind = try Self.kind(type)
    if kind == .limit || kind == .stopLimit, limit == nil {
      throw .invalid("limitPrice", expected: "a price of a \(type) order", found: "")
    }
    if kind.isStop, stop == nil {
      throw .invalid("stopPrice", expected: "a price of a \(type) order", found: "")
    }
    return OrderRequest(
      symbol: symbol, side: side, kind: kind, timeInForce: force ?? .day,
      quantity: try quantity.decimal("quantity", .quantity), limit: limit,
      stop: stop)
  }

  /// A market order meets the best five levels, and what is left is cancelled.
  private static func kind(_ type: String) throws(Problem) -> OrderKind {
    if type == "market" { return .fiveBestThenCancel }
    guard let kind = OrderKind.allCases.first(where: { $0.name == type }) else {
      throw .invalid("type", expected: "one of \(types.joined(separator: ", "))", found: type)
    }
    return kind
  }

  static func named<Value: CaseIterable>(
    _ text: String, _ name: (Value) -> String, of field: String
  ) throws(Problem) -> Value {
    if let value = Value.allCases.first(where: { name($0) == text }) { return value }
    let names = Value.allCases.map { name($0) }.joined(separator: ", ")
    throw .invalid(field, expected: "one of \(names)", found: text)
  }
}

/// The body of a replacement: what it does not name stays.
struct OrderChangeBody: Decodable {
  var quantity: String?
  var timeInForce: String?
  var limitPrice: String?
  var stopPrice: String?

  static let schema = Schema.object([
    .init("quantity", .nullable(.matching(.quantity)), isRequired: false),
    .init("timeInForce", .nullable(.choice(TimeInForce.allCases.map(\.name))), isRequired: false),
    .init("limitPrice", .nullable(.matching(.price)), isRequired: false),
    .init("stopPrice", .nullable(.matching(.price)), isRequired: false),
  ])

  /// - Throws: 422 of one that changes nothing.
  func change() throws(Problem) -> OrderChange {
    let change = OrderChange(
      quantity: try quantity.decimal("quantity", .quantity),
      timeInForce: try timeInForce.map { (text) throws(Problem) in
        try OrderBody.named(text, \TimeInForce.name, of: "timeInForce")
      },
      limit: try limitPrice.decimal("limitPrice", .price),
      stop: try stopPrice.decimal("stopPrice", .price))
    guard change != OrderChange() else {
      throw Problem(
        .unprocessableContent, code: "nothing_to_change",
        title: "The request names nothing to change.")
    }
    return change
  }
}
