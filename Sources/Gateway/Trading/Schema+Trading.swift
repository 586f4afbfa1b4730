/// The shapes of trading on paper, for the OpenAPI document.

import AppStore
import PaperTrading

extension Schema {
  static let paperAccount = Schema.named(
    "Account",
    .object([
      Member("id", .string), Member("name", .string),
      Member("market", .choice(PaperMarket.allCases.map(\.name))),
      Member("currency", .string), Member("createdAt", .moment), Member("balance", .decimal),
      Member("available", .decimal), Member("frozen", .decimal),
    ]))

  static let valuedAccount = Schema.named(
    "ValuedAccount",
    .object([
      Member("account", paperAccount), Member("marketValue", .decimal), Member("equity", .decimal),
      Member("stale", .boolean),
    ]))

  static let pendingCommand = Schema.named(
    "Command",
    .object([
      Member("id", .string), Member("account", .string), Member("kind", .string),
      Member("state", .choice(["pending", "done", "refused"])),
      Member("sentAt", .moment, isRequired: false), Member("answer", .optionalString),
    ]))

  static let transaction = Schema.named(
    "Transaction",
    .object([
      Member("id", .integer), Member("at", .moment), Member("type", .string),
      Member("amount", .decimal), Member("description", .string),
      Member("depositType", .optionalString), Member("stockSymbol", .optionalString),
      Member("quantity", .optionalDecimal), Member("price", .optionalDecimal),
      Member("order", .optionalString),
    ]))

  private static let placeInQueue: [Member] = [
    Member("queueAheadMax", .optionalDecimal), Member("queueBehindMin", .optionalDecimal),
    Member("certain", .decimal),
    Member("possible", .optionalDecimal), Member("basis", .optionalString),
  ]

  private static let orderMembers: [Member] =
    [
      Member("id", .string), Member("account", .string), Member("idempotencyKey", .string),
      Member("stockSymbol", .string), Member("name", .optionalString),
      Member("side", .choice(Side.allCases.map(\.name))),
      Member("type", .choice(OrderKind.allCases.map(\.name))),
      Member("timeInForce", .choice(TimeInForce.allCases.map(\.name))),
      Member("quantity", .decimal), Member("filledQuantity", .decimal),
      Member("limitPrice", .optionalDecimal), Member("stopPrice", .optionalDecimal),
      Member("averagePrice", .optionalDecimal), Member("total", .decimal), Member("fees", .decimal),
      Member("status", .choice(OrderStatus.allCases.map(\.rawValue))),
      Member("state", .choice(OrderState.allCases.map(\.name))),
      Member("queuePurchase", .optionalString), Member("tradingDay", .day),
      Member("createdAt", .moment), Member("updatedAt", .moment),
      Member("executedAt", .nullable(.moment)), Member("candled", .object(placeInQueue)),
    ]

  static let order = Schema.named("Order", .object(orderMembers))

  static let orderPage = Schema.object([
    Member("orders", .array(of: order)), Member("page", .integer), Member("limit", .integer),
    Member("total", .integer),
  ])

  static let orderDetails = Schema.named(
    "OrderDetails",
    .object([
      Member("order", order),
      Member(
        "fills",
        .array(
          of: .object([
            Member("sequence", .integer), Member("price", .decimal), Member("quantity", .decimal),
            Member("amount", .decimal), Member("commission", .decimal),
            Member("stampDuty", .decimal), Member("transferFee", .decimal), Member("at", .moment),
            Member("reversed", .boolean), Member("evidence", .string),
          ]))),
      Member(
        "events",
        .array(
          of: .object([
            Member("sequence", .integer), Member("kind", .string), Member("at", .moment),
          ]))),
    ]))

  static let holding = Schema.named(
    "Holding",
    .object(
      [
        Member("stockSymbol", .string), Member("stock", .nullable(.object([]))),
        Member("quantity", .decimal), Member("sellable", .decimal), Member("boughtToday", .decimal),
        Member("frozen", .decimal), Member("averagePrice", .optionalDecimal),
        Member("currentPrice", .optionalDecimal), Member("previousClose", .optionalDecimal),
        Member("yesterdayClose", .optionalDecimal), Member("exUnbooked", .boolean),
        Member("marketValue", .decimal), Member("cost", .decimal), Member("stale", .boolean),
        Member("low", .optionalDecimal), Member("high", .optionalDecimal),
      ] + profits))

  private static let profits = [
    Member("profit", .decimal), Member("profitPercent", .optionalDecimal),
    Member("profitToday", .decimal), Member("profitTodayPercent", .optionalDecimal),
  ]

  static let portfolio = Schema.named(
    "Portfolio",
    .object(
      [
        Member("account", paperAccount), Member("cash", .decimal), Member("marketValue", .decimal),
        Member("value", .decimal), Member("cost", .decimal), Member("stale", .boolean),
        Member("stocks", .array(of: holding)), Member("seq", .integer),
      ] + profits))

  static let portfolioDay = Schema.object([
    Member("day", .day), Member("cash", .decimal), Member("marketValue", .decimal),
    Member("value", .decimal), Member("profit", .decimal),
  ])

  static let queuePurchase = Schema.named(
    "QueuePurchase",
    .object([
      Member("id", .string), Member("account", .string), Member("stockSymbol", .string),
      Member("name", .optionalString), Member("quantity", .decimal),
      Member(
        "triggers",
        .array(
          of: .object([
            Member("kind", .choice(QueueTrigger.allCases.map(\.rawValue))),
            Member("value", .string, isRequired: false),
          ]))),
      Member(
        "window", .nullable(.object([Member("from", .string), Member("to", .string)]))),
      Member("carriesOver", .boolean),
      Member(
        "state", .choice(["armed", "ordered", "filled", "rejected", "cancelled", "expired"])),
      Member("reason", .optionalString), Member("changedAt", .moment),
      Member("currentPrice", .optionalDecimal), Member("limitUp", .optionalDecimal),
      Member("aheadAtMost", .optionalDecimal), Member("behindAtLeast", .optionalDecimal),
      Member("certain", .decimal),
      Member("possible", .optionalDecimal), Member("order", .nullable(order)),
    ]))
}
