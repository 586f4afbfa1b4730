/// The shapes of the answers to the library, for the OpenAPI document.

enum UDFShapes {
  private typealias Member = Schema.Member

  private static func members(_ schema: Schema, isRequired: Bool = true, _ names: String...)
    -> [Member]
  {
    names.map { Member($0, schema, isRequired: isRequired) }
  }

  static let error = Schema.named(
    "UDFError", .object([Member("s", .choice(["error"])), Member("errmsg", .string)]))

  private static let names = Schema.array(of: .string)

  private static let named = members(
    .string, "symbol", "full_name", "description", "exchange", "ticker", "type")

  static let found = Schema.object(named)

  static let symbol = Schema.object(
    named
      + members(
        .string, "name", "listed_exchange", "timezone", "session", "format", "data_status",
        "currency_code")
      + members(.integer, "minmov", "minmov2", "pricescale", "volume_precision")
      + members(
        .boolean, "has_intraday", "has_daily", "has_weekly_and_monthly", "has_empty_bars")
      + members(names, "intraday_multipliers", "supported_resolutions"))

  static let history = Schema.object(
    [Member("s", .choice(["ok", "no_data"]))]
      + members(.array(of: .integer), isRequired: false, "t")
      + members(.array(of: .number), isRequired: false, "o", "h", "l", "c", "v")
      + members(.integer, isRequired: false, "nextTime"))

  static let marks = Schema.object(
    members(.array(of: .integer), "time", "minSize")
      + members(names, "id", "color", "text", "label", "labelFontColor"))

  static let quotes = Schema.object([
    Member("s", .choice(["ok"])),
    Member(
      "d",
      .array(
        of: .object([
          Member("s", .choice(["ok", "error"])), Member("n", .string),
          Member(
            "v",
            .object(
              members(.string, isRequired: false, "short_name", "exchange", "description")
                + members(
                  .number, isRequired: false, "lp", "ch", "chp", "open_price", "high_price",
                  "low_price", "prev_close_price", "bid", "ask", "volume"))),
        ]))),
  ])
}
