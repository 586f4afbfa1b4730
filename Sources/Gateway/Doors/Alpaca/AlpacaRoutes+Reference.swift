/// What there is, and when it trades. The clock and the calendar are the mainland's: by the clock
/// of the daemon, which may show another day, and with the days that it has learnt.

import Market
import PaperTrading
import Reader

extension AlpacaRoutes {
  static let asset = Schema.named(
    "AlpacaAsset",
    .object(
      ["id", "class", "exchange", "symbol", "name", "status"].map { .init($0, .string) }
        + ["tradable", "marginable", "shortable", "easy_to_borrow", "fractionable"].map {
          .init($0, .boolean)
        } + [.init("attributes", .array(of: .string)), .init("candled", .object([]))]))

  var reference: [Route] {
    [
      Self.route(
        "/v2/assets", summary: "Alpaca: every instrument there is.",
        parameters: [
          Self.filter("status", example: "active"),
          Self.filter("asset_class", example: "us_equity"),
          Self.filter("exchange", example: "NASDAQ"), Self.filter("attributes", example: "ptp"),
        ], answer: .array(of: Self.asset), handler: assets
      ).costing(10),
      Self.route(
        "/v2/assets/{symbol}", summary: "Alpaca: an instrument by symbol or id.",
        parameters: [Self.assetSymbol], answer: Self.asset, handler: asset),
      Self.route(
        "/v2/clock", summary: "Alpaca: whether the mainland's exchanges trade now.",
        answer: .object(
          ["timestamp", "next_open", "next_close"].map { .init($0, .moment) } + [
            .init("is_open", .boolean)
          ])
      ) { _ in
        let state = try market.memory.loaded()
        return Self.answer(clock: state.clock(at: .now), by: state.calendar)
      },
      Self.route(
        "/v2/calendar", summary: "Alpaca: the trading days of the mainland's exchanges.",
        parameters: [
          Parameter("start", .day, summary: "From this day on.", example: "2026-07-06"),
          Parameter("end", .day, summary: "Until this day.", example: "2026-07-10"),
          Parameter(
            "date_type", .choice(["TRADING"]), summary: "Days of trading alone.",
            example: "TRADING"),
        ],
        answer: .array(
          of: .object(
            [.init("date", .day)]
              + ["open", "close", "session_open", "session_close"].map { .init($0, .string) }))
      ) { arguments in
        let state = try market.memory.loaded()
        return Self.answer(
          days: state.calendar, from: arguments.day("start"), through: arguments.day("end"))
      },
    ]
  }

  private static func filter(_ name: String, example: String) -> Parameter {
    Parameter(name, .text(charactersMax: 64), summary: "Only those.", example: example)
  }

  // MARK: Assets

  private func assets(_ arguments: Arguments) throws(Problem) -> Answer {
    let state = try market.memory.loaded()
    let directory = state.directory
    // All are active, of the class that clients know, at an exchange that they do not, and
    // without attributes.
    let isEmpty =
      !["active", nil].contains(arguments["status"])
      || !["us_equity", nil].contains(arguments["asset_class"])
      || arguments["exchange"] != nil || arguments["attributes"] != nil
    if isEmpty { return Answer(json: Array("[]".utf8)) }
    return allAssets.answer(of: state.listVersion) {
      let places = directory.places.filter { directory.meant(by: directory[$0].symbol) == $0 }
      return .list(of: places) { $0.write(assetOf: directory[$1].symbol, at: $1, in: state) }
    }
  }

  private func asset(_ arguments: Arguments) throws(Problem) -> Answer {
    let symbols = try symbols(arguments)
    let state = market.memory.state
    let directory = state.directory
    let name = arguments["symbol"] ?? ""
    let named = directory.places.first {
      name.utf8.count == Self.idLength && directory[$0].assetID == name.lowercased()
    }
    let place = if let named { named } else { try symbols.series(name) }
    return .object { $0.write(assetOf: directory[place].symbol, at: place, in: state) }
  }

  private static let idLength = 36

  // MARK: Clock and calendar

  private static let hours = MarketDefinition.mainlandChina

  static func answer(clock now: Timestamp, by calendar: TradingCalendar) -> Answer {
    let today = hours.day(at: now)
    var (isOpen, nextOpen, nextClose) = (false, now, now)
    var day = today.advanced(by: -1)
    while nextOpen <= now || nextClose <= now {
      day = day.advanced(by: 1)
      guard calendar.mayTrade(day) else { continue }
      for session in hours.on(day).sessions {
        let opens = hours.zone.moment(on: day, secondOfDay: session.opens)
        let closes = hours.zone.moment(on: day, secondOfDay: session.closes)
        isOpen = isOpen || (opens <= now && now < closes)
        if nextOpen <= now { nextOpen = opens }
        if nextClose <= now { nextClose = closes }
      }
    }
    return .object(caching: "no-store") { answer in
      answer.member("timestamp") { $0.moment(now, in: hours.zone) }
      answer.member("is_open") { $0.boolean(isOpen) }
      answer.member("next_open") { $0.moment(nextOpen, in: hours.zone) }
      answer.member("next_close") { $0.moment(nextClose, in: hours.zone) }
    }
  }

  static func answer(
    days calendar: TradingCalendar, from start: TradingDay?, through end: TradingDay?
  ) -> Answer {
    let last = min(end ?? calendar.lastDay, calendar.lastDay)
    let first = max(start ?? calendar.firstDay, calendar.firstDay)
    let days = sequence(first: first) { $0.advanced(by: 1) }.prefix { $0 <= last }
    return .list(of: days.filter { calendar.isTradingDay($0) == true }) { row, day in
      let hours = hours.on(day)
      let opens = ClockText.minute(hours.auction?.opens ?? 0).filter { $0 != ":" }
      let closes = ClockText.minute(hours.afterHours?.closes ?? 0).filter { $0 != ":" }
      row.member("date") { $0.day(day) }
      row.member("open") { $0.string(ClockText.minute(hours.sessions.first?.opens ?? 0)) }
      row.member("close") { $0.string(ClockText.minute(hours.sessions.last?.closes ?? 0)) }
      row.member("session_open") { $0.string(opens) }
      row.member("session_close") { $0.string(closes) }
    }
  }
}

extension SeriesRecord {
  var assetID: String { Self.assetID(of: symbol, source: sourceName) }

  /// The same in every process: a UUID of version 8 (RFC 9562), made of the series' name.
  fileprivate static func assetID(of symbol: Symbol, source: String) -> String {
    let name = "\(symbol)@\(source)"
    let halves = [StableHash(of: name).value, StableHash(of: "asset \(name)").value]
    let digits = halves.map { $0.hexadecimal(digits: 16) }.joined()
    var characters = Array(digits)
    (characters[12], characters[16]) = ("8", "8")
    return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(characters[$0]) }
      .joined(separator: "-")
  }
}

extension MarketState {
  /// Whether the broker takes orders of it, as far as its kind and the exchange's list go.
  fileprivate func isTradable(_ place: SeriesPlace) -> Bool {
    guard figures(of: place)?.isListed == true else { return false }
    return Instrument.classify(directory[place].symbol)?.isTradedOnPaper ?? false
  }
}

extension JSONWriter {
  /// Of the exchanges and classes that clients know, none is right: what is right is in `candled`.
  /// - Parameter place: nil of an instrument that is not listed any more.
  mutating func write(assetOf symbol: Symbol, at place: SeriesPlace?, in state: MarketState) {
    let series = place.map { state.directory[$0] }
    let source = series?.sourceName ?? ""
    member("id") { $0.string(SeriesRecord.assetID(of: symbol, source: source)) }
    member("class") { $0.string("us_equity") }
    member("exchange") { $0.string("") }
    member("symbol") { $0.string(symbol.description) }
    member("name") { $0.string(series?.name ?? "") }
    member("status") { $0.string(series == nil ? "inactive" : "active") }
    member("tradable") { $0.boolean(place.map { state.isTradable($0) } ?? false) }
    for name in ["marginable", "shortable", "easy_to_borrow", "fractionable"] {
      member(named: name) { $0.boolean(false) }
    }
    if let instrument = Instrument.classify(symbol), let lot = instrument.lot {
      member("min_order_size") { $0.string(String(lot.minimum)) }
      member("min_trade_increment") { $0.string(String(lot.increment)) }
      member("price_increment") { $0.decimal(instrument.tickSize) }
    }
    member("attributes") { $0.strings([]) }
    object("candled") { ours in if let series { ours.write(series, name: series.name) } }
  }
}
