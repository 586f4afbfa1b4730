/// What is known of candles beside their values: where they come from, what is missing, what
/// changed, on what sources disagree.

import HTTPTypes
import Hummingbird
import Market
import Reader

extension MarketRoutes {
  var ledger: [Route] { ofSymbol + ofDay }

  /// Of a page, and of an answer without pages: a request for fewer days shows the rest.
  private static let rowsMax: Int64 = 1_000
  private static let rowsDefault: Int64 = 500

  private var ofSymbol: [Route] {
    let intervals = Parameter(
      "interval", .choice(HistoryRequest.intervals.map(\.interval)),
      summary: "How long the candle is; 1m if absent.", example: "1m")
    return [
      Route(
        "/v1/stocks/{symbol}/why", summary: "Where the candle came from that was open at a time.",
        parameters: [
          Self.symbol, Self.source, intervals,
          Parameter(
            "at", .moment, summary: "A time within the candle.",
            example: "2026-07-06T09:31:00+08:00", isRequired: true),
        ], answer: .list("facts", of: .fact),
        problems: [.notFound, .conflict, .serviceUnavailable]
      ) { arguments, _ in
        try await why(arguments)
      },
      Route(
        "/v1/stocks/{symbol}/gaps", summary: "Trading that was not seen, and what became of it.",
        parameters: [Self.symbol, Self.source, Self.day, Self.limit(Self.rowsMax), Self.cursor],
        answer: .page("gaps", of: .gap),
        problems: [.notFound, .serviceUnavailable]
      ) { arguments, _ in
        try await gaps(arguments)
      },
      Route(
        "/v1/stocks/{symbol}/revisions", summary: "Earlier values of candles that were revised.",
        parameters: [
          Self.symbol, Self.source,
          Parameter("from", .moment, summary: "Opened then or later.", example: "2026-07-06"),
          Parameter("to", .moment, summary: "Opened before then.", example: "2026-07-07"),
        ], answer: .list("revisions", of: .revision), problems: [.notFound, .serviceUnavailable]
      ) { arguments, _ in
        try await revisions(arguments)
      },
    ]
  }

  private static let day = Parameter(
    "day", .day, summary: "Of this trading day alone.", example: "2026-07-06")

  private static let optionalSymbol = Parameter(
    "symbol", .text(charactersMax: 32), summary: "Of this instrument alone.", example: "sh600519")

  private var ofDay: [Route] {
    [
      Route(
        "/v1/coverage", summary: "Minutes that are stored of a day, by series.",
        parameters: [Self.day, Self.optionalSymbol, Self.limit(5_000), Self.cursor],
        answer: .coverage, problems: [.notFound, .serviceUnavailable]
      ) { arguments, _ in
        try await coverage(arguments)
      },
      Route(
        "/v1/disagreements", summary: "Values on which two sources, or two readings, disagree.",
        parameters: [Self.day, Self.optionalSymbol, Self.limit(Self.rowsMax), Self.cursor],
        answer: .page("disagreements", of: .disagreement),
        problems: [.notFound, .serviceUnavailable]
      ) { arguments, _ in
        try await disagreements(arguments)
      },
      Route(
        "/v1/sources", summary: "The sources, and how their endpoints do.",
        answer: .list("sources", of: .source), problems: [.serviceUnavailable]
      ) { _, _ in
        let sources = try await query { (reader) throws(StoreError) in try reader.sources() }
        return answer("sources", sources) { $0.write($1) }
      },
    ]
  }

  private func answer<Row>(
    _ name: StaticString, _ rows: [Row], write: (inout JSONWriter, Row) -> Void
  ) -> Answer {
    var text = JSONWriter(capacity: 1_024)
    text.object { answer in
      answer.member(name) { list in
        list.array { list in
          for row in rows.prefix(Int(Self.rowsMax)) { list.object { write(&$0, row) } }
        }
      }
      answer.member("truncated") { $0.boolean(rows.count > Int(Self.rowsMax)) }
    }
    return Answer(tagging: text.bytes)
  }

  private func why(_ arguments: Arguments) async throws(Problem) -> Answer {
    let state = memory.state
    let series = state.directory[try self.series(arguments, state: state)]
    guard let at = arguments.moment("at", zone: series.zone) else { throw .notFound }
    let interval = arguments["interval"].flatMap { Timeframe(interval: $0) } ?? .minute1
    let facts = try await query { (reader) throws(StoreError) in
      try reader.why(series.symbol, at: at, timeframe: interval, source: series.sourceName)
    }
    return answer("facts", facts) { fact, row in
      fact.member("what") { $0.string(row.what) }
      fact.member("at") { $0.string(series.zone.text(of: row.at)) }
      fact.member("detail") { $0.string(row.detail) }
    }
  }

  private func gaps(_ arguments: Arguments) async throws(Problem) -> Answer {
    let state = memory.state
    let series = state.directory[try self.series(arguments, state: state)]
    let day = arguments.day("day")
    return try await page("gaps", arguments, of: series.id.description) {
      (reader, after, limit) throws(StoreError) in
      try reader.gaps(of: series.id, day: day, after: after, limit: limit)
    } write: { gap, row in
      gap.write(row.gap, zone: series.zone)
      gap.member("state") { $0.string(row.state) }
      gap.member("knownFrom") { $0.string(series.zone.text(of: row.knownFrom)) }
    }
  }

  /// A page of rows that have numbers: the cursor is that of the last one shown.
  private func page<Row: Sendable>(
    _ name: StaticString, _ arguments: Arguments, of subject: String = "",
    read:
      @escaping @Sendable (StoreReader, Int64?, Int32) throws(StoreError)
      -> [(id: Int64, row: Row)],
    write: (inout JSONWriter, Row) -> Void
  ) async throws(Problem) -> Answer {
    let limit = Int(arguments.integer("limit") ?? Self.rowsDefault)
    let fingerprint = arguments.fingerprint(of: "\(name) \(subject)")
    var after: Int64?
    if let cursor = arguments["cursor"] {
      guard let id = Cursor.read(cursor, of: fingerprint) else { throw Cursor.unknown }
      after = id
    }
    let rows = try await query { [after] (reader) throws(StoreError) in
      try read(reader, after, Int32(limit + 1))
    }
    let shown = rows.prefix(limit)
    let next = rows.count > limit ? shown.last.map { Cursor.text($0.id, of: fingerprint) } : nil
    var text = JSONWriter(capacity: shown.count * 256 + 128)
    text.object { answer in
      answer.member(name) { list in
        list.array { list in
          for row in shown { list.object { write(&$0, row.row) } }
        }
      }
      answer.member("nextCursor") { $0.optional(next) { $0.string($1) } }
    }
    return Answer(tagging: text.bytes)
  }

  private func revisions(_ arguments: Arguments) async throws(Problem) -> Answer {
    let state = memory.state
    let series = state.directory[try self.series(arguments, state: state)]
    let from = arguments.moment("from", zone: series.zone) ?? Timestamp(seconds: 0)
    let to = arguments.moment("to", zone: series.zone) ?? Timestamp.now.adding(seconds: 86_400)
    let opened = from..<max(from, to)
    let rows = try await query { (reader) throws(StoreError) in
      try reader.revisions(of: series.id, opened: opened, limit: Int32(Self.rowsMax + 1))
    }
    return answer("revisions", rows) { $0.write($1, zone: series.zone) }
  }

  private func coverage(_ arguments: Arguments) async throws(Problem) -> Answer {
    let state = memory.state
    let symbol = try optionalSymbol(arguments, state: state)
    let newest = state.figures.compactMap { $0?.tradingDay }.max()
    let day = arguments.day("day") ?? newest ?? MarketZone.shanghai.day(at: .now)
    let limit = Int(arguments.integer("limit") ?? 500)
    let fingerprint = arguments.fingerprint(of: "coverage \(day)")
    var after = ""
    if let cursor = arguments["cursor"] {
      guard let shown = Cursor.key(in: cursor, of: fingerprint), Symbol(shown) != nil
      else { throw Cursor.unknown }
      after = shown
    }
    let rows = try await query { [after] (reader) throws(StoreError) in
      try reader.coverage(day: day, symbol: symbol, after: after, limit: Int32(limit + 1))
    }
    // A page ends between two symbols: the series of one symbol are never torn apart.
    let shown =
      rows.count > limit ? rows.filter { $0.symbol != rows[limit].symbol } : rows
    let next = rows.count > limit ? shown.last?.symbol.description : nil
    var text = JSONWriter(capacity: shown.count * 256 + 128)
    text.object { answer in
      answer.member("tradingDay") { $0.day(day) }
      answer.member("coverage") { list in
        list.array { list in
          for row in shown { list.object { $0.write(row) } }
        }
      }
      answer.member("nextCursor") { text in
        text.optional(next) { $0.string(Cursor.text(key: $1, of: fingerprint)) }
      }
    }
    return Answer(json: text.bytes)
  }

  private func disagreements(_ arguments: Arguments) async throws(Problem) -> Answer {
    let state = memory.state
    let symbol = try optionalSymbol(arguments, state: state)
    let day = arguments.day("day")
    return try await page("disagreements", arguments) {
      (reader, after, limit) throws(StoreError) in
      try reader.disagreements(day: day, symbol: symbol, after: after, limit: limit)
    } write: { text, row in
      let zone = state.directory.meant(by: row.symbol).map { state.directory[$0].zone }
      text.write(row, zone: zone ?? .utc)
    }
  }

  private func optionalSymbol(
    _ arguments: Arguments, state: MarketState
  ) throws(Problem) -> Symbol? {
    try loaded(state)
    guard arguments["symbol"] != nil else { return nil }
    return state.directory[try series(arguments, state: state)].symbol
  }
}

extension JSONWriter {
  fileprivate mutating func write(_ row: RevisionRecord, zone: MarketZone) {
    let interval = Timeframe(name: row.timeframe)?.interval ?? row.timeframe
    member("interval") { $0.string(interval) }
    member("openedAt") { $0.string(zone.text(of: row.openedAt)) }
    member("revision") { $0.integer(Int64(row.revision)) }
    member("open") { $0.decimal(row.open) }
    member("high") { $0.decimal(row.high) }
    member("low") { $0.decimal(row.low) }
    member("close") { $0.decimal(row.close) }
    member("volume") { $0.decimal(row.volume) }
    member("turnover") { $0.optional(row.turnover) { $0.decimal($1) } }
    member("knownFrom") { $0.string(zone.text(of: row.knownFrom)) }
    member("knownTo") { $0.string(zone.text(of: row.knownTo)) }
    member("cause") { $0.string(row.cause) }
  }

  fileprivate mutating func write(_ row: CoverageRecord) {
    member("symbol") { $0.string(row.symbol.description) }
    member("source") { $0.string(row.source) }
    member("tradingDay") { $0.day(row.tradingDay) }
    member("traded") { $0.integer(Int64(row.traded)) }
    member("untraded") { $0.integer(Int64(row.untraded)) }
    member("missing") { $0.optional(row.missing) { $0.integer(Int64($1)) } }
    member("minuteVolume") { $0.optional(row.minuteVolume) { $0.decimal($1) } }
    member("gapVolume") { $0.optional(row.gapVolume) { $0.decimal($1) } }
    member("residualVolume") { $0.optional(row.residualVolume) { $0.decimal($1) } }
    member("balanced") { $0.optional(row.isBalanced) { $0.boolean($1) } }
    member("certified") { $0.boolean(row.isCertified) }
  }

  fileprivate mutating func write(_ row: DisagreementRecord, zone: MarketZone) {
    let interval = Timeframe(name: row.timeframe)?.interval ?? row.timeframe
    member("symbol") { $0.string(row.symbol.description) }
    member("interval") { $0.string(interval) }
    member("openedAt") { $0.string(zone.text(of: row.openedAt)) }
    member("tradingDay") { $0.day(row.tradingDay) }
    member("field") { $0.string(row.field) }
    member("ours") { $0.optional(row.ours) { $0.decimal($1) } }
    member("theirs") { $0.optional(row.theirs) { $0.decimal($1) } }
    member("ourSource") { $0.string(row.ourSource) }
    member("theirSource") { $0.string(row.theirSource) }
    member("state") { $0.string(row.state) }
    member("knownFrom") { $0.string(zone.text(of: row.knownFrom)) }
  }

  fileprivate mutating func write(_ row: SourceRecord) {
    member("name") { $0.string(row.name) }
    member("market") { $0.string(row.market) }
    member("kind") { $0.string(row.kind) }
    member("endpoints") { list in
      list.array { list in
        for health in row.health { list.object { $0.write(health) } }
      }
    }
  }

  private mutating func write(_ health: SourceHealthRow) {
    member("endpoint") { $0.string(health.endpoint) }
    member("state") { $0.string(health.state.rawValue) }
    member("since") { $0.string(MarketZone.utc.text(of: health.since)) }
    member("lastSuccessAt") { text in
      text.optional(health.lastSuccessAt) { $0.string(MarketZone.utc.text(of: $1)) }
    }
    member("requests") { $0.integer(health.requests) }
    member("failures") { $0.integer(health.failures) }
  }
}
