/// What is known of candles beside their values: where they come from, what is missing, what
/// changed, on what sources disagree.

import HTTPTypes
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
        ], answer: .list("facts", of: CandleFact.shape),
        problems: [.notFound, .conflict, .serviceUnavailable], handler: why),
      Route(
        "/v1/stocks/{symbol}/gaps", summary: "Trading that was not seen, and what became of it.",
        parameters: [Self.symbol, Self.source, Self.day, Self.limit(Self.rowsMax), Self.cursor],
        answer: .page("gaps", of: GapRecord.shape),
        problems: [.notFound, .serviceUnavailable], handler: gaps),
      Route(
        "/v1/stocks/{symbol}/revisions", summary: "Earlier values of candles that were revised.",
        parameters: [Self.symbol, Self.source, Self.from, Self.to],
        answer: .list("revisions", of: RevisionRecord.shape),
        problems: [.notFound, .serviceUnavailable], handler: revisions),
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
        answer: .coverage, problems: [.notFound, .serviceUnavailable], handler: coverage
      ).costing(10),
      Route(
        "/v1/disagreements", summary: "Values on which two sources, or two readings, disagree.",
        parameters: [Self.day, Self.optionalSymbol, Self.limit(Self.rowsMax), Self.cursor],
        answer: .page("disagreements", of: DisagreementRecord.shape),
        problems: [.notFound, .serviceUnavailable], handler: disagreements),
      Route(
        "/v1/sources", summary: "The sources, and how their endpoints do.",
        answer: .list("sources", of: SourceRecord.shape), problems: [.serviceUnavailable]
      ) { _ in
        let sources = try await pool.query { (reader) throws(StoreError) in try reader.sources() }
        return answer("sources", sources, as: SourceRecord.shape)
      },
    ]
  }

  private func answer<Row>(
    _ name: StaticString, _ rows: [Row], as shape: Shape<Row>, in zone: MarketZone = .utc
  ) -> Answer {
    let json = JSONWriter.encode { answer in
      answer.list(name, of: rows.prefix(Int(Self.rowsMax)), as: shape, in: zone)
      answer.member("truncated") { $0.boolean(rows.count > Int(Self.rowsMax)) }
    }
    return Answer(tagging: json)
  }

  private func why(_ arguments: Arguments) async throws(Problem) -> Answer {
    let state = try memory.loaded()
    let series = state.directory[try self.series(arguments, state: state)]
    guard let at = arguments.moment("at", zone: series.zone) else { throw .notFound }
    let interval = arguments["interval"].flatMap { Timeframe(interval: $0) } ?? .minute1
    let facts = try await pool.query { (reader) throws(StoreError) in
      try reader.why(series.symbol, at: at, timeframe: interval, source: series.sourceName)
    }
    return answer("facts", facts, as: CandleFact.shape, in: series.zone)
  }

  private func gaps(_ arguments: Arguments) async throws(Problem) -> Answer {
    let state = try memory.loaded()
    let series = state.directory[try self.series(arguments, state: state)]
    let day = arguments.day("day")
    return try await page("gaps", arguments, of: series.id.description, as: GapRecord.shape) {
      (reader, after, limit) throws(StoreError) in
      try reader.gaps(of: series.id, day: day, after: after, limit: limit)
    } zone: { _ in
      series.zone
    }
  }

  /// A page of rows that have numbers: the cursor is that of the last one shown.
  private func page<Row: Sendable>(
    _ name: StaticString, _ arguments: Arguments, of subject: String = "", as shape: Shape<Row>,
    read:
      @escaping @Sendable (StoreReader, Int64?, Int32) throws(StoreError)
      -> [(id: Int64, row: Row)],
    zone: (Row) -> MarketZone
  ) async throws(Problem) -> Answer {
    let limit = Int(arguments.integer("limit") ?? Self.rowsDefault)
    let fingerprint = arguments.fingerprint(of: "\(name) \(subject)")
    let after = try arguments.cursor(of: fingerprint)
    let rows = try await pool.query { (reader) throws(StoreError) in
      try read(reader, after, Int32(limit + 1))
    }
    let shown = rows.prefix(limit)
    let next = rows.count > limit ? shown.last.map { Cursor.text($0.id, of: fingerprint) } : nil
    let json = JSONWriter.encode { answer in
      answer.list(name, of: shown) { $0.write($1.row, as: shape, in: zone($1.row)) }
      answer.member("nextCursor") { $0.optional(next) { $0.string($1) } }
    }
    return Answer(tagging: json)
  }

  private func revisions(_ arguments: Arguments) async throws(Problem) -> Answer {
    let state = try memory.loaded()
    let series = state.directory[try self.series(arguments, state: state)]
    let from = arguments.moment("from", zone: series.zone) ?? Timestamp(seconds: 0)
    let to = arguments.moment("to", zone: series.zone) ?? Timestamp.now.adding(seconds: 86_400)
    let opened = from..<max(from, to)
    let rows = try await pool.query { (reader) throws(StoreError) in
      try reader.revisions(of: series.id, opened: opened, limit: Int32(Self.rowsMax + 1))
    }
    return answer("revisions", rows, as: RevisionRecord.shape, in: series.zone)
  }

  private func coverage(_ arguments: Arguments) async throws(Problem) -> Answer {
    let state = try memory.loaded()
    let day = arguments.day("day") ?? state.quoteDay ?? MarketZone.shanghai.day(at: .now)
    let limit = Int(arguments.integer("limit") ?? 500)
    let fingerprint = arguments.fingerprint(of: "coverage \(day)")
    var after: Symbol?
    if let cursor = arguments["cursor"] {
      after = Cursor.key(in: cursor, of: fingerprint).flatMap { Symbol($0) }
      if after == nil { throw Cursor.unknown }
    }
    let read: CoverageMemory.Read = { (series) throws(Problem) in
      try await pool.query { (reader) throws(StoreError) in
        let (seq, rows) = try reader.coverage(day: day, of: series)
        return CoverageMemory.Reading(seq: seq, rows: rows)
      }
    }
    let all: [CoverageRecord]
    if let symbol = try optionalSymbol(arguments, state: state) {
      let series = state.directory.places(of: symbol).map { state.directory[$0].id }
      all = try await read(series).rows.sorted { $0.source < $1.source }
    } else {
      all = try await memory.coverage.rows(of: day, by: read)
    }
    let rows = all.drop { row in after.map { row.symbol <= $0 } ?? false }.prefix(limit + 1)
    // A page ends between two symbols: the series of one symbol are never torn apart.
    let last = rows.count > limit ? rows.last?.symbol : nil
    let shown = rows.filter { $0.symbol != last }
    let next = last == nil ? nil : shown.last?.symbol.description
    return .object { answer in
      answer.member("tradingDay") { $0.day(day) }
      answer.list("coverage", of: shown, as: CoverageRecord.shape)
      answer.member("nextCursor") { text in
        text.optional(next) { $0.string(Cursor.text(key: $1, of: fingerprint)) }
      }
    }
  }

  private func disagreements(_ arguments: Arguments) async throws(Problem) -> Answer {
    let state = try memory.loaded()
    let symbol = try optionalSymbol(arguments, state: state)
    let day = arguments.day("day")
    return try await page("disagreements", arguments, as: DisagreementRecord.shape) {
      (reader, after, limit) throws(StoreError) in
      try reader.disagreements(day: day, symbol: symbol, after: after, limit: limit)
    } zone: { row in
      state.directory.meant(by: row.symbol).map { state.directory[$0].zone } ?? .utc
    }
  }

  private func optionalSymbol(
    _ arguments: Arguments, state: MarketState
  ) throws(Problem) -> Symbol? {
    guard arguments["symbol"] != nil else { return nil }
    return state.directory[try series(arguments, state: state)].symbol
  }
}

// MARK: - Shapes

extension CandleFact {
  fileprivate static let shape = Shape<CandleFact>(
    fields: [
      .string("what") { $0.what }, .moment("at") { $0.at }, .string("detail") { $0.detail },
    ])
}

extension Gap {
  /// What the feed has of it, too.
  static let shape = Shape<Gap>(
    fields: [
      .string("symbol") { $0.symbol.description }, .day("tradingDay") { $0.tradingDay },
      .moment("from") { $0.from }, .moment("to") { $0.to }, .decimal("volume") { $0.volume },
      .decimal("turnover") { $0.turnover }, .string("cause") { $0.cause.name },
    ])
}

extension GapRecord {
  fileprivate static let shape = Shape<GapRecord>(
    "Gap", fields: Gap.shape.partFields(of: GapRecord.self) { $0.gap } + outcome)

  private static let outcome: [Shape<GapRecord>.Field] = [
    .string("state") { $0.state }, .moment("knownFrom") { $0.knownFrom },
  ]
}

extension RevisionRecord {
  fileprivate static let shape = Shape<RevisionRecord>(
    "Revision",
    fields: [
      .string("interval") { Timeframe.interval(named: $0.timeframe) },
      .moment("openedAt") { $0.openedAt }, .integer("revision") { Int64($0.revision) },
      .decimal("open") { $0.open }, .decimal("high") { $0.high }, .decimal("low") { $0.low },
      .decimal("close") { $0.close }, .decimal("volume") { $0.volume },
      .optionalDecimal("turnover") { $0.turnover }, .moment("knownFrom") { $0.knownFrom },
      .moment("knownTo") { $0.knownTo }, .string("cause") { $0.cause },
    ])
}

extension CoverageRecord {
  static let shape = Shape<CoverageRecord>(
    "Coverage",
    fields: [
      .string("symbol") { $0.symbol.description }, .string("source") { $0.source },
      .day("tradingDay") { $0.tradingDay }, .integer("traded") { Int64($0.traded) },
      .integer("untraded") { Int64($0.untraded) },
      .optionalInteger("missing") { $0.missing.map { Int64($0) } },
      .optionalDecimal("minuteVolume") { $0.minuteVolume },
      .optionalDecimal("gapVolume") { $0.gapVolume },
      .optionalDecimal("residualVolume") { $0.residualVolume },
      .optionalBoolean("balanced") { $0.isBalanced }, .boolean("certified") { $0.isCertified },
    ])
}

extension DisagreementRecord {
  fileprivate static let shape = Shape<DisagreementRecord>(
    "Disagreement",
    fields: [
      .string("symbol") { $0.symbol.description },
      .string("interval") { Timeframe.interval(named: $0.timeframe) },
      .moment("openedAt") { $0.openedAt }, .day("tradingDay") { $0.tradingDay },
      .string("field") { $0.field }, .optionalDecimal("ours") { $0.ours },
      .optionalDecimal("theirs") { $0.theirs }, .string("ourSource") { $0.ourSource },
      .string("theirSource") { $0.theirSource }, .string("state") { $0.state },
      .moment("knownFrom") { $0.knownFrom },
    ])
}

extension SourceRecord {
  fileprivate static let shape = Shape<SourceRecord>(
    "Source",
    fields: [
      .string("name") { $0.name }, .string("market") { $0.market }, .string("kind") { $0.kind },
      .objects("endpoints", as: SourceHealthRow.shape) { $0.health },
    ])
}

extension SourceHealthRow {
  fileprivate static let shape = Shape<SourceHealthRow>(
    fields: [
      .string("endpoint") { $0.endpoint }, .string("state") { $0.state.rawValue },
      .moment("since") { $0.since }, .optionalMoment("lastSuccessAt") { $0.lastSuccessAt },
      .integer("requests") { $0.requests }, .integer("failures") { $0.failures },
    ])
}

extension Timeframe {
  /// As the API spells the one that the database calls so.
  fileprivate static func interval(named name: String) -> String {
    Timeframe(name: name)?.interval ?? name
  }
}
