/// The routes of Alpaca's market data, and those of its trading API that describe a market.

import HTTPTypes
import Market
import Reader

struct AlpacaRoutes: Sendable {
  let market: MarketRoutes
  let allAssets = KeptAnswer()

  var all: [Route] { bars + latest + reference }

  static let symbol = Parameter(
    "symbol", .text(charactersMax: 32), in: .path, summary: "In any usual spelling.",
    example: "sh600519")
  static let assetSymbol = Parameter(
    "symbol", .text(charactersMax: 36), in: .path, summary: "A symbol, or an asset's id.",
    example: "sh600519")
  static let symbols = Parameter(
    "symbols", .list(countMax: MarketRoutes.symbolsMax),
    summary: "These; unknown ones are left out.",
    example: "sh600519,AAPL", isRequired: true)
  static let feed = Parameter(
    "feed", .text(charactersMax: 16),
    summary: "iex or sip, where a symbol has both; any other has no effect.", example: "iex")
  static let currency = Parameter(
    "currency", .text(charactersMax: 8), summary: "Only that of the prices: none is converted.",
    example: "CNY")

  static func route(
    _ path: String, summary: String, parameters: [Parameter] = [], answer: Schema,
    handler: @escaping Route.Handler
  ) -> Route {
    Route(
      path, summary: summary, parameters: parameters, answer: answer,
      problems: [.notFound, .conflict, .unprocessableContent, .serviceUnavailable],
      door: AlpacaDoor.door,
      handler: handler)
  }

  static let bar = Schema.named(
    "AlpacaBar",
    .object(
      [.init("t", .moment)] + ["o", "h", "l", "c", "v"].map { .init($0, .number) }
        + [.init("n", .nullable(.integer)), .init("vw", .nullable(.number))]))

  // MARK: Bars

  private static let barsParameters = [
    Parameter(
      "timeframe", .matching(AlpacaTimeframe.pattern), summary: "How long a bar is.",
      example: "1Day", isRequired: true),
    Parameter(
      "start", .moment, summary: "Opened then or later; the newest day if absent.",
      example: "2026-07-06"),
    Parameter(
      "end", .moment, summary: "Opened then or earlier; now if absent.", example: "2026-07-07"),
    Parameter(
      "limit", .integer(1...AlpacaBarsRequest.limitMax), summary: "Bars of a page, at most.",
      example: "1000"),
    Parameter(
      "page_token", .matching(.cursor), summary: "next_page_token of the page before.",
      example: "MTIz"),
    Parameter(
      "adjustment", .choice(AlpacaBarsRequest.adjustments.map(\.key)),
      summary: "raw if absent; split for splits alone, the others for dividends, too.",
      example: "raw"),
    Parameter("sort", .choice(["asc", "desc"]), summary: "By time.", example: "asc"),
    Parameter(
      "asof", .text(charactersMax: 10), summary: "Has no effect: symbols keep their meaning.",
      example: "2026-07-06"),
    feed, currency,
  ]

  private var bars: [Route] {
    [
      Self.route(
        "/v2/stocks/bars", summary: "Alpaca: bars of several instruments.",
        parameters: [Self.symbols] + Self.barsParameters,
        answer: .object([
          .init("bars", .object([])), .init("next_page_token", .optionalString),
        ])
      ) { arguments in
        let page = try await page(arguments, of: arguments.list("symbols") ?? [])
        return .object { answer in
          answer.object("bars") { list in
            for entry in page.bars {
              list.member(named: entry.symbol) { $0.write(bars: entry.candles) }
            }
          }
          answer.member("next_page_token") { $0.optional(page.nextToken) { $0.string($1) } }
        }
      }.costing(2),
      Self.route(
        "/v2/stocks/{symbol}/bars", summary: "Alpaca: bars of an instrument.",
        parameters: [Self.symbol] + Self.barsParameters,
        answer: .object([
          .init("bars", .array(of: Self.bar)), .init("symbol", .string),
          .init("next_page_token", .optionalString),
        ])
      ) { arguments in
        let symbol = arguments["symbol"] ?? ""
        _ = try symbols(arguments).series(symbol)
        let page = try await page(arguments, of: [symbol])
        return .object { answer in
          answer.member("bars") { $0.write(bars: page.bars.flatMap(\.candles)) }
          answer.member("symbol") { $0.string(symbol) }
          answer.member("next_page_token") { $0.optional(page.nextToken) { $0.string($1) } }
        }
      }.costing(2),
    ]
  }

  private func page(
    _ arguments: Arguments, of symbols: [String]
  ) async throws(Problem) -> AlpacaBarsRequest.Page {
    let state = market.memory.state
    let found = try self.symbols(arguments).series(ofAll: symbols).map { entry in
      let series = state.directory[entry.place]
      let lastDay = state.figures(of: entry.place)?.tradingDay ?? series.zone.day(at: .now)
      return (symbol: entry.symbol, series: series, lastDay: lastDay)
    }
    let request = try AlpacaBarsRequest(
      arguments, series: found,
      names: ["symbol", "symbols"]
        + Self.barsParameters.map(\.name).filter { !["limit", "page_token"].contains($0) },
      in: state)
    return try await market.pool.query { (reader) throws(StoreError) in try request.read(reader) }
  }

  // MARK: Shared

  /// - Throws: 503 before the market was read.
  func symbols(_ arguments: Arguments) throws(Problem) -> AlpacaSymbols {
    AlpacaSymbols(
      try market.memory.loaded().directory, feed: arguments["feed"],
      currency: arguments["currency"])
  }
}

extension JSONWriter {
  fileprivate mutating func write(bars candles: [CandleRecord]) {
    array { list in
      for bar in candles.compactMap({ AlpacaMessage($0) }) { list.write(bar) }
    }
  }
}
