/// How the library sees an instrument.

import HTTPTypes
import Market
import Reader

/// A series as the library names it: its symbol, with its source behind an @ where another series
/// is meant if none is named.
enum UDFSymbol {
  static func ticker(of place: SeriesPlace, in directory: InstrumentDirectory) -> String {
    let series = directory[place]
    let symbol = series.symbol.description
    return directory.meant(by: series.symbol) == place ? symbol : "\(symbol)@\(series.sourceName)"
  }

  /// - Parameter spelling: a ticker, or any usual spelling, also with an exchange before it
  ///   (`shanghai:sh600519`), as the library writes full names.
  static func place(of spelling: String, in directory: InstrumentDirectory) -> SeriesPlace? {
    let name = spelling.split(separator: ":").last.map(String.init) ?? spelling
    let parts = name.split(separator: "@", maxSplits: 1).map(String.init)
    return directory.place(spelling: parts.first ?? "", source: parts.count == 2 ? parts[1] : nil)
  }
}

extension MarketZone {
  /// The hours in which there are candles of minutes, on the clock there.
  var udfHours: String {
    switch self {
    case .shanghai:
      MarketDefinition.mainlandChina.sessions.map { hours in
        "\(ClockText.minute(hours.opens))-\(ClockText.minute(hours.closes))"
      }.joined(separator: ",").replacing(":", with: "")
    // Bars come of the hours around the regular session, too.
    case .newYork: "0400-2000"
    case .utc: "24x7"
    }
  }

  var udfName: String { self == .utc ? "Etc/UTC" : rawValue }
}

extension SeriesRecord {
  /// How many steps of the price's last place make 1.
  fileprivate var udfPriceScale: Int64 {
    let places = RuleBook.current.tick(of: symbol).scale
    return (0..<places).reduce(1) { scale, _ in scale * 10 }
  }
}

extension UDFRoutes {
  var symbols: [Route] {
    [
      Route(
        "/udf/symbols", summary: "TradingView: a symbol.",
        parameters: [Self.symbol] + Self.ignored, answer: UDFShapes.symbol,
        problems: [.notFound, .serviceUnavailable], door: Self.door
      ) { arguments in
        let state = try market.memory.loaded()
        let place = try place(arguments["symbol"] ?? "", in: state)
        return .object { $0.write(udf: place, in: state.directory) }
      },
      Route(
        "/udf/search", summary: "TradingView: symbols by code, name or pinyin initials.",
        parameters: [
          Self.optional("query", summary: "What to search for; all if empty."),
          Self.optional("type", summary: "Of this kind alone."),
          Self.optional("exchange", summary: "Of this exchange alone."),
          MarketRoutes.limit(100),
        ], answer: .array(of: UDFShapes.found), problems: [.serviceUnavailable], door: Self.door
      ) { arguments in
        let state = try market.memory.loaded()
        return Self.found(arguments, in: state)
      },
    ]
  }

  private static let foundDefault: Int64 = 30

  private static func found(_ arguments: Arguments, in state: MarketState) -> Answer {
    let directory = state.directory
    func isWanted(_ value: String?, by name: String) -> Bool {
      guard let wanted = arguments[name], !wanted.isEmpty else { return true }
      return value?.lowercased() == wanted.lowercased()
    }
    let words = arguments["query"] ?? ""
    let all =
      words.isEmpty
      ? StockOrder.symbol.sort(directory.places, in: state, isDescending: false)
      : directory.search(words)
    let places = all.filter { place in
      isWanted(directory[place].kind, by: "type")
        && isWanted(directory[place].exchange, by: "exchange")
    }
    let limit = Int(arguments.integer("limit") ?? foundDefault)
    return .list(of: places.prefix(limit)) { $0.write(udfNameOf: $1, in: directory) }
  }
}

extension JSONWriter {
  /// What a search shows.
  fileprivate mutating func write(udfNameOf place: SeriesPlace, in directory: InstrumentDirectory) {
    let series = directory[place]
    let ticker = UDFSymbol.ticker(of: place, in: directory)
    let exchange = series.exchange ?? ""
    member("symbol") { $0.string(ticker) }
    member("full_name") { $0.string(exchange.isEmpty ? ticker : "\(exchange):\(ticker)") }
    member("description") { $0.string(series.name ?? "") }
    member("exchange") { $0.string(exchange) }
    member("ticker") { $0.string(ticker) }
    member("type") { $0.string(series.kind ?? "stock") }
  }

  fileprivate mutating func write(udf place: SeriesPlace, in directory: InstrumentDirectory) {
    let series = directory[place]
    write(udfNameOf: place, in: directory)
    member("name") { $0.string(UDFSymbol.ticker(of: place, in: directory)) }
    member("listed_exchange") { $0.string(series.exchange ?? "") }
    member("timezone") { $0.string(series.zone.udfName) }
    member("session") { $0.string(series.zone.udfHours) }
    member("minmov") { $0.integer(1) }
    member("minmov2") { $0.integer(0) }
    member("pricescale") { $0.integer(series.udfPriceScale) }
    member("format") { $0.string("price") }
    member("has_intraday") { $0.boolean(true) }
    member("has_daily") { $0.boolean(true) }
    member("has_weekly_and_monthly") { $0.boolean(true) }
    member("has_empty_bars") { $0.boolean(false) }
    member("intraday_multipliers") { $0.strings(["1", "5", "15", "30", "60"]) }
    member("supported_resolutions") { $0.strings(UDFResolution.names) }
    member("volume_precision") { $0.integer(0) }
    member("data_status") { $0.string("streaming") }
    member("currency_code") { $0.string(series.currency) }
  }
}
