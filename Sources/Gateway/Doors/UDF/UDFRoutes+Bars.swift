/// Bars, quotes and marks for the library.

import HTTPTypes
import Market
import Reader

extension UDFRoutes {
  var bars: [Route] {
    [
      Route(
        "/udf/history", summary: "TradingView: bars, a column a field.",
        parameters: Self.range + [
          Parameter(
            "countback", .integer(1...Int64(UDFBars.countMax)),
            summary: "So many before to, whatever from is.", example: "300"),
          Parameter(
            "adjust", .matching(.adjustment), summary: "Which prices: raw if absent.",
            example: "qfq"),
        ] + Self.ignored, answer: UDFShapes.history,
        problems: [.notFound, .conflict, .serviceUnavailable], door: Self.door, handler: history
      ).costing(2, besides: UDFBars.cost),
      Route(
        "/udf/marks", summary: "TradingView: gaps and revised candles as marks of bars.",
        parameters: Self.range, answer: UDFShapes.marks,
        problems: [.notFound, .conflict, .serviceUnavailable], door: Self.door, handler: marks
      ).costing(2, besides: UDFBars.cost),
      Route(
        "/udf/quotes", summary: "TradingView: the newest quotes.",
        parameters: [
          Parameter(
            "symbols", .list(countMax: MarketRoutes.symbolsMax), summary: "Tickers.",
            example: "sh600519,sz000001", isRequired: true)
        ], answer: UDFShapes.quotes, problems: [.serviceUnavailable], door: Self.door
      ) { arguments in
        let state = try market.memory.loaded()
        return Self.quotes(arguments.list("symbols") ?? [], in: state)
      },
    ]
  }

  /// TradingView's library asks for times before 1970, too.
  private static let times = Timestamp.namedSeconds

  private static let range = [
    symbol,
    Parameter(
      "resolution", .choice(UDFResolution.spellings), summary: "How long a bar is.",
      example: "1D", isRequired: true),
    Parameter(
      "from", .integer(times), summary: "Unix seconds of the first bar.", example: "1780000000",
      isRequired: true),
    Parameter(
      "to", .integer(times), summary: "Unix seconds behind the last bar.", example: "1790000000",
      isRequired: true),
  ]

  private struct Asked {
    let bars: UDFBars
    let from: Int64
    let to: Int64
  }

  private func asked(_ arguments: Arguments) throws(Problem) -> Asked {
    let state = try market.memory.loaded()
    let series = state.directory[try place(arguments["symbol"] ?? "", in: state)]
    guard let resolution = UDFResolution(arguments["resolution"] ?? ""),
      let from = arguments.integer("from"), let to = arguments.integer("to")
    else { throw .notFound }
    let adjust = arguments["adjust"].flatMap { PriceAdjustment(text: $0) } ?? .raw
    return Asked(
      bars: UDFBars(state: state, series: series, resolution: resolution, adjust: adjust),
      from: from, to: to)
  }

  // MARK: Bars

  private func history(_ arguments: Arguments) async throws(Problem) -> Answer {
    let asked = try asked(arguments)
    let countback = arguments.integer("countback").map { Int($0) }
    let (bars, before) = try await market.pool.query { (reader) throws(StoreError) in
      let bars = try asked.bars.read(
        reader, from: countback == nil ? asked.from : nil, to: asked.to,
        newest: countback ?? UDFBars.countMax)
      // Where the library finds some, if there are none here.
      let before =
        bars.isEmpty && countback == nil
        ? try asked.bars.read(reader, from: nil, to: min(asked.from, asked.to), newest: 1) : []
      return (bars, before.last?.seconds)
    }
    var text = JSONWriter(capacity: bars.count * 64 + 64)
    text.object { answer in
      answer.member("s") { $0.string(bars.isEmpty ? "no_data" : "ok") }
      if bars.isEmpty {
        // TradingView's adapter passes it on unchanged, and its library takes milliseconds.
        if let before { answer.member("nextTime") { $0.integer(before * 1_000) } }
      } else {
        answer.write(bars)
      }
    }
    return Answer(tagging: text.bytes, caching: "private, max-age=5")
  }

  // MARK: Marks

  private static let marksMax: Int32 = 1_000

  /// A mark stands on the bar that has its time, or on the last one before it.
  private func marks(_ arguments: Arguments) async throws(Problem) -> Answer {
    let asked = try asked(arguments)
    let series = asked.bars.series
    let zone = series.zone
    let (bars, gaps, revisions) = try await market.pool.query { (reader) throws(StoreError) in
      let bars = try asked.bars.read(
        reader, from: asked.from, to: asked.to, newest: UDFBars.countMax)
      let resolution = asked.bars.resolution
      let from = resolution.moment(of: asked.from, in: zone)
      let seen = from..<max(from, resolution.moment(of: asked.to, in: zone))
      return (
        bars.map(\.seconds), try reader.gaps(of: series.id, seen: seen, limit: Self.marksMax),
        try reader.revisions(of: series.id, opened: seen, limit: Self.marksMax)
      )
    }
    func bar(at moment: Timestamp) -> Int64? {
      let seconds =
        asked.bars.resolution.isOfMinutes
        ? moment.seconds : Int64(zone.day(at: moment).daysSince1970) * 86_400
      return bars.last { $0 <= seconds } ?? bars.first
    }
    var marks: [Int64: UDFMarks] = [:]
    for (_, row) in gaps {
      guard let bar = bar(at: row.gap.from) else { continue }
      marks[bar, default: UDFMarks()].gaps.append(
        "\(zone.text(of: row.gap.from)) to \(zone.text(of: row.gap.to)): \(row.gap.volume) not "
          + "seen, \(row.gap.cause.name), \(row.state)")
    }
    for row in revisions {
      guard let bar = bar(at: row.openedAt) else { continue }
      marks[bar, default: UDFMarks()].revisions.append(
        "\(row.timeframe) of \(zone.text(of: row.openedAt)): close was \(row.close) until "
          + "\(zone.text(of: row.knownTo)), \(row.cause)")
    }
    return UDFMarks.answer(marks)
  }

  // MARK: Quotes

  private static func quotes(_ names: [String], in state: MarketState) -> Answer {
    .object { answer in
      answer.member("s") { $0.string("ok") }
      answer.list("d", of: names) { quote, name in
        let place = UDFSymbol.place(of: name, in: state.directory)
        quote.member("s") { $0.string(place == nil ? "error" : "ok") }
        quote.member("n") { $0.string(name) }
        quote.object("v") { values in
          if let place { values.write(udfQuoteOf: place, in: state) }
        }
      }
    }
  }
}

/// The marks of one bar, one of each kind: the library shows ten at most.
struct UDFMarks: Sendable {
  var gaps: [String] = []
  var revisions: [String] = []

  /// Of what is listed in a mark; how many more there are is said.
  private static let linesMax = 10

  static func answer(_ marks: [Int64: UDFMarks]) -> Answer {
    let rows = marks.sorted { $0.key < $1.key }.flatMap { bar, marks in
      [("gap", "red", "G", marks.gaps), ("revision", "blue", "R", marks.revisions)]
        .filter { !$0.3.isEmpty }
        .map { (seconds: bar, kind: $0.0, color: $0.1, label: $0.2, lines: $0.3) }
    }
    return .object { answer in
      answer.member("id") { $0.strings(rows.map { "\($0.kind)-\($0.seconds)" }) }
      answer.array("time") { for row in rows { $0.integer(row.seconds) } }
      answer.member("color") { $0.strings(rows.map(\.color)) }
      answer.member("text") { $0.strings(rows.map { shown($0.lines) }) }
      answer.member("label") { $0.strings(rows.map(\.label)) }
      answer.member("labelFontColor") { $0.strings(rows.map { _ in "white" }) }
      answer.array("minSize") { for _ in rows { $0.integer(14) } }
    }
  }

  private static func shown(_ lines: [String]) -> String {
    let more = lines.count - linesMax
    return (lines.prefix(linesMax) + (more > 0 ? ["and \(more) more"] : []))
      .joined(separator: "\n")
  }
}

extension JSONWriter {
  fileprivate mutating func write(_ bars: [UDFBars.Bar]) {
    array("t") { for bar in bars { $0.integer(bar.seconds) } }
    let columns: [(StaticString, KeyPath<UDFBars.Bar, ExactDecimal>)] = [
      ("o", \.open), ("h", \.high), ("l", \.low), ("c", \.close), ("v", \.volume),
    ]
    for (name, value) in columns {
      array(name) { for bar in bars { $0.number(bar[keyPath: value]) } }
    }
  }

  /// What is not known, or not yet, is left out.
  fileprivate mutating func write(udfQuoteOf place: SeriesPlace, in state: MarketState) {
    let series = state.directory[place]
    member("short_name") { $0.string(series.symbol.description) }
    member("exchange") { $0.string(series.exchange ?? "") }
    member("description") { $0.string(series.name ?? "") }
    guard let figures = state.figures(of: place) else { return }
    let values: [(StaticString, ExactDecimal?)] = [
      ("lp", figures.price), ("ch", figures.change), ("chp", figures.changePercent),
      ("open_price", figures.open), ("high_price", figures.high), ("low_price", figures.low),
      ("prev_close_price", figures.previousClose), ("bid", figures.bid), ("ask", figures.ask),
      ("volume", figures.volume),
    ]
    for (name, value) in values {
      if let value { member(name) { $0.number(value) } }
    }
  }
}
