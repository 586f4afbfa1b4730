/// One stock and lists of stocks, from memory alone: they are answered while PostgreSQL is lost.

import HTTPTypes
import Market
import Reader

extension MarketRoutes {
  var stocks: [Route] {
    [
      Route(
        "/v1/stocks/{symbol}", summary: "The newest quote of an instrument.",
        parameters: [Self.symbol, Self.source], answer: .oneStock,
        problems: [.notFound, .serviceUnavailable], handler: stock),
      Route(
        "/v1/stocks",
        summary: "Stocks: all, or those named, that a text finds, in order. Arguments narrow the "
          + "list together.",
        parameters: [
          Parameter(
            "symbols", .list(countMax: Self.symbolsMax),
            summary: "Only these; without sort and order in this order.",
            example: "sh600519,sz000001"),
          Parameter(
            "q", .text(charactersMax: 40),
            summary: "Only those whose code, name or pinyin initials it begins, or that have it in "
              + "their name; the best first.",
            example: "6005"),
          Parameter(
            "sort", .choice(StockOrder.allCases.map(\.rawValue)),
            summary: "What to order by; symbol if only order is there.", example: "changePercent"),
          Parameter(
            "order", .choice(["asc", "desc"]), summary: "In which direction.", example: "desc"),
          Self.limit(Int64(Self.symbolsMax)), Self.cursor,
        ], answer: .stockList, problems: [.notFound, .serviceUnavailable], handler: stockList),
    ]
  }

  static let symbolsMax = 500
  private static let pageDefault = 50

  private func stock(_ arguments: Arguments) throws(Problem) -> Answer {
    let state = try memory.loaded()
    let place = try series(arguments, state: state)
    let stock = state.stock(at: place)
    // The object begins with its brace.
    let json = Array("{\"epoch\":\(state.epoch),".utf8) + state.json(of: place).dropFirst()
    return answer(json, tag: "\(state.epoch)-\(stock?.seq ?? 0)", state: state)
  }

  private func answer(_ json: [UInt8], tag: String, state: MarketState) -> Answer {
    var answer = Answer(json: json, tag: state.lostAt == nil ? tag : "\(tag)-stale")
    if state.lostAt != nil, let warning = HTTPField.Name("Warning") {
      answer.headers[warning] = "110 - \"Response is Stale\""
    }
    return answer
  }

  private func stockList(_ arguments: Arguments) throws(Problem) -> Answer {
    let state = try memory.loaded()
    let (all, unknown) = Self.matching(arguments, state: state)
    let page = try page(of: all, arguments)
    var text = JSONWriter(capacity: page.places.count * 1_024 + 256)
    text.object { list in
      list.member("epoch") { $0.integer(state.epoch) }
      list.member("seq") { $0.integer(state.seq) }
      list.array("stocks") { stocks in
        for place in page.places { stocks.encoded(state.json(of: place)) }
      }
      list.member("unknown") { $0.strings(unknown) }
      list.member("nextCursor") { $0.optional(page.next) { $0.string($1) } }
    }
    return answer(text.bytes, tag: "\(state.epoch)-\(state.seq)", state: state)
  }

  /// All that a request means, in order, and what of `symbols` nobody knows.
  private static func matching(
    _ arguments: Arguments, state: MarketState
  ) -> (places: [SeriesPlace], unknown: [String]) {
    let symbols = arguments.list("symbols") ?? []
    let named = symbols.map { state.directory.place(spelling: $0) }
    let unknown = zip(symbols, named).filter { $0.1 == nil }.map(\.0)
    var places = named.compactMap(\.self)
    if let text = arguments["q"] {
      let found = state.directory.search(text)
      let wanted = Set(places)
      places = symbols.isEmpty ? found : found.filter(wanted.contains)
    } else if symbols.isEmpty {
      places = state.directory.places
    }
    let isOrdered = arguments["sort"] != nil || arguments["order"] != nil
    guard isOrdered || (symbols.isEmpty && arguments["q"] == nil) else { return (places, unknown) }
    let order = StockOrder(rawValue: arguments["sort"] ?? "") ?? .symbol
    let isDescending = arguments["order"].map { $0 == "desc" } ?? (order != .symbol)
    return (order.sort(places, in: state, isDescending: isDescending), unknown)
  }

  /// A page of a list. The cursor holds the last one's place in the order of the moment: a list
  /// that moves meanwhile may show one twice or skip one, as every list of prices.
  private func page(
    of all: [SeriesPlace], _ arguments: Arguments
  ) throws(Problem) -> (places: [SeriesPlace], next: String?) {
    let fingerprint = arguments.fingerprint(of: "stocks")
    let first = Int(try arguments.cursor(of: fingerprint, in: 0...Self.offsetMax) ?? 0)
    // A request that names symbols wants all of them.
    let usual = arguments["symbols"] == nil ? Self.pageDefault : Self.symbolsMax
    let last = min(first + Int(arguments.integer("limit") ?? Int64(usual)), all.count)
    guard first < last else { return ([], nil) }
    let next = last < all.count ? Cursor.text(Int64(last), of: fingerprint) : nil
    return (Array(all[first..<last]), next)
  }

  private static let offsetMax: Int64 = 1_000_000
}

/// What lists of stocks are ordered by. Those without a value come last in either direction.
enum StockOrder: String, CaseIterable, Sendable {
  case symbol, price, change, changePercent, volume, turnover

  func sort(
    _ places: [SeriesPlace], in state: MarketState, isDescending: Bool
  ) -> [SeriesPlace] {
    let series = state.directory.series
    func symbols(_ one: SeriesPlace, _ other: SeriesPlace) -> Bool {
      (series[one.index].symbol, one) < (series[other.index].symbol, other)
    }
    guard self != .symbol else {
      return places.sorted { isDescending ? symbols($1, $0) : symbols($0, $1) }
    }
    let keyed = places.map { (place: $0, value: value(of: $0, in: state)) }
    return keyed.sorted { one, other in
      switch (one.value, other.value) {
      case (nil, nil): symbols(one.place, other.place)
      case (nil, _): false
      case (_, nil): true
      case (let left?, let right?):
        left == right ? symbols(one.place, other.place) : (left < right) != isDescending
      }
    }.map(\.place)
  }

  private func value(of place: SeriesPlace, in state: MarketState) -> ExactDecimal? {
    guard let figures = state.figures(of: place) else { return nil }
    return switch self {
    case .symbol: nil
    case .price: figures.price
    case .change: figures.change
    case .changePercent: figures.changePercent
    case .volume: figures.volume
    case .turnover: figures.turnover
    }
  }
}

extension MarketState {
  /// A stock; of a series without a quote, what it is.
  func json(of place: SeriesPlace) -> [UInt8] {
    if let stock = stock(at: place) { return stock.json }
    let series = directory[place]
    return JSONWriter.encode { stock in
      stock.write(series, name: series.name)
      stock.member("stale") { $0.boolean(lostAt != nil) }
      stock.member("seq") { $0.integer(0) }
    }
  }
}
