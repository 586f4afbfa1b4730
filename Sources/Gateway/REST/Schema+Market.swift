/// The shapes of the market's answers that no one record has.

import Market
import Reader

extension Schema {
  private static func decimals(_ names: String...) -> [Member] {
    names.map { Member($0, .optionalDecimal, isRequired: false) }
  }

  private static let book = Schema.array(
    of: .named("BookLevel", .object([Member("price", .decimal), Member("volume", .decimal)])))

  static let stock = Schema.named("Stock", .object(stockMembers))

  /// One alone: a list of stocks has the epoch beside them.
  static let oneStock = Schema.named(
    "StockOfEpoch", .object([Member("epoch", .integer)] + stockMembers))

  private static let stockMembers =
    [
      Member("id", .string), Member("symbol", .string), Member("source", .string),
      Member("name", .optionalString), Member("exchange", .optionalString),
      Member("kind", .optionalString), Member("board", .optionalString),
      Member("currency", .string), Member("stale", .boolean), Member("seq", .integer),
      Member("trading", .string, isRequired: false),
      Member("quotedAt", .moment, isRequired: false),
      Member("receivedAt", .moment, isRequired: false),
      Member("tradingDay", .day, isRequired: false),
      Member("yearExDay", .day, isRequired: false),
      Member("bids", book, isRequired: false), Member("asks", book, isRequired: false),
      Member(
        "forming",
        .nullable(
          .named(
            "FormingMinute",
            .object([
              Member("openedAt", .moment), Member("open", .decimal), Member("high", .decimal),
              Member("low", .decimal), Member("close", .decimal), Member("volume", .decimal),
            ]))), isRequired: false),
    ]
    + decimals(
      "currentPrice", "change", "changePercent", "openPrice", "highPrice", "lowPrice",
      "previousClose", "volume", "turnover", "bidPrice", "askPrice", "limitUp", "limitDown",
      "yearHigh", "yearLow")

  static let stockList = Schema.named(
    "StockList",
    .object([
      Member("epoch", .integer), Member("seq", .integer), Member("stocks", .array(of: .stock)),
      Member("unknown", .array(of: .string)), Member("nextCursor", .optionalString),
    ]))

  static let history = Schema.named(
    "History",
    .object([
      Member("symbol", .string), Member("source", .string), Member("interval", .string),
      Member("timeZone", .string), Member("adjust", .string), Member("epoch", .integer),
      Member("seq", .integer),
      Member("rows", .array(of: CandleRecord.shape.schema), isRequired: false),
      Member("columns", CandleRecord.shape.columns, isRequired: false),
      Member(
        "segments",
        .array(of: .object([Member("label", .string), Member("start", .integer)]))),
      Member("thinned", .boolean), Member("total", .integer, isRequired: false),
      Member("nextCursor", .optionalString),
    ]))

  static func list<Row>(_ name: String, of row: Shape<Row>) -> Schema {
    .object([Member(name, .array(of: row.schema)), Member("truncated", .boolean)])
  }

  static func page<Row>(_ name: String, of row: Shape<Row>) -> Schema {
    .object([Member(name, .array(of: row.schema)), Member("nextCursor", .optionalString)])
  }

  static let coverage = Schema.object([
    Member("tradingDay", .day), Member("nextCursor", .optionalString),
    Member("coverage", .array(of: CoverageRecord.shape.schema)),
  ])
}
