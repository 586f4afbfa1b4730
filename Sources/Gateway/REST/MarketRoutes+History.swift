/// Candles of an instrument, as of one moment of the feed, so that a stream goes on from there.

import HTTPTypes
import Market
import Reader

extension MarketRoutes {
  var history: [Route] {
    [
      Route(
        "/v1/stocks/{symbol}/history",
        summary: "Candles, oldest first, the last one perhaps not over yet (state open); pages go "
          + "back in time.",
        parameters: Self.historyParameters, answer: .history,
        problems: [.notFound, .conflict, .serviceUnavailable]
      ) { arguments in
        try await history(arguments)
      }.costing(2, besides: HistoryRequest.cost)
    ]
  }

  private static let historyParameters = [
    symbol, source,
    Parameter(
      "interval", .choice(HistoryRequest.intervals.map(\.interval)),
      summary: "How long a candle is; 1d if absent.", example: "1d"),
    Parameter(
      "period", .choice(HistoryPeriod.allCases.map(\.rawValue)),
      summary: "How far back from the newest day, or that of to.", example: "1mo"),
    from, to,
    Parameter(
      "points", .integer(4...10_000),
      summary: "The whole range in at most so many candles; the extremes of each stretch stay.",
      example: "300"),
    Parameter(
      "adjust", .matching(.adjustment), summary: "Which prices: raw if absent.", example: "qfq"),
    Parameter(
      "asOf", .moment, summary: "As it was known then.", example: "2026-07-06T15:30:00+08:00"),
    Parameter(
      "fill", .choice(CandleFill.allCases.map(\.rawValue)),
      summary: "What stands where minutes have no candle.", example: "none"),
    Parameter(
      "format", .choice(["rows", "columns"]), summary: "An array of candles, or of each field.",
      example: "columns"), limit(Int64(HistoryRequest.limitMax)), cursor,
  ]

  private func history(_ arguments: Arguments) async throws(Problem) -> Answer {
    let state = try memory.loaded()
    let place = try series(arguments, state: state)
    let series = state.directory[place]
    let lastDay = try await lastDay(of: place, in: state)
    let request = try HistoryRequest(arguments, series: series, lastDay: lastDay)
    let query = request.query
    let (points, forming) = (request.points, request.formingSeries)
    let page = try await pool.query { (reader) throws(StoreError) in
      try reader.page(query, points: points.map { Int32($0) }, forming: forming)
    }
    let (body, hash) = request.encode(page)
    // A backfill, a repair or a new factor changes any day, so caches ask again by the tag.
    let caching = page.candles.isEmpty ? "private, no-cache" : "private, max-age=5"
    return Answer(json: body, tag: "\(page.epoch)-\(hash)", caching: caching)
  }

  /// The newest day that is known of a series: that of its quote, else of its newest candle.
  private func lastDay(
    of place: SeriesPlace, in state: MarketState
  ) async throws(Problem) -> TradingDay {
    if let day = state.figures(of: place)?.tradingDay { return day }
    let series = state.directory[place]
    let stored = try await pool.query { (reader) throws(StoreError) in
      try reader.newestDay(of: series)
    }
    return stored ?? series.zone.day(at: .now)
  }
}

extension HistoryRequest {
  /// - Returns: the answer, and a hash of all of it but `seq`: the same candles at a later seq are
  ///   the same answer.
  fileprivate func encode(_ page: CandlePage) -> (body: [UInt8], hash: String) {
    let shown = limit.map { Array(page.candles.suffix($0)) } ?? page.candles
    let hasMore = points == nil && shown.count < page.candles.count
    let next = hasMore ? shown.first.map { $0.openedAt.microseconds } : nil
    var content = JSONWriter(capacity: shown.count * 256 + 64)
    if hasColumns {
      content.columns(shown, as: CandleRecord.shape, in: series.zone)
    } else {
      content.rows(shown, as: CandleRecord.shape, in: series.zone)
    }
    let cursor = next.map { Cursor.text($0, of: fingerprint) }
    var text = JSONWriter(capacity: content.bytes.count + 1_024)
    text.object { answer in
      answer.member("symbol") { $0.string(series.symbol.description) }
      answer.member("source") { $0.string(series.sourceName) }
      answer.member("interval") { $0.string(interval.interval) }
      answer.member("timeZone") { $0.string(series.zone.rawValue) }
      answer.member("adjust") { $0.string(query.adjust.text) }
      answer.member("epoch") { $0.integer(page.epoch) }
      answer.member("seq") { $0.integer(page.seq) }
      answer.member(named: hasColumns ? "columns" : "rows") { $0.encoded(content.bytes) }
      answer.member("segments") { writeSegments(of: shown, to: &$0) }
      answer.member("thinned") { $0.boolean(page.isThinned) }
      if let total = page.total { answer.member("total") { $0.integer(Int64(total)) } }
      answer.member("nextCursor") { $0.optional(cursor) { $0.string($1) } }
    }
    var hash = StableHash(of: fingerprint)
    hash.combine("\(cursor ?? "") \(page.total ?? 0)")
    hash.combine(String(decoding: content.bytes, as: UTF8.self))
    return (text.bytes, String(hash.value, radix: 36))
  }

  /// Where each month begins, by the index of its first candle.
  private func writeSegments(of candles: [CandleRecord], to text: inout JSONWriter) {
    text.array { segments in
      var label = ""
      for (index, candle) in candles.enumerated() {
        let month = String(candle.tradingDay.description.prefix(7))
        guard month != label else { continue }
        label = month
        segments.object { segment in
          segment.member("label") { $0.string(month) }
          segment.member("start") { $0.integer(Int64(index)) }
        }
      }
    }
  }
}

extension CandleRecord {
  static let shape = Shape<CandleRecord>(
    "Candle",
    fields: [
      .moment("openedAt") { $0.openedAt }, .moment("closedAt") { $0.closedAt },
      .day("tradingDay") { $0.tradingDay }, .optionalDecimal("open") { $0.open },
      .optionalDecimal("high") { $0.high }, .optionalDecimal("low") { $0.low },
      .optionalDecimal("close") { $0.close }, .decimal("volume") { $0.volume },
      .optionalDecimal("turnover") { $0.turnover }, .optionalDecimal("vwap") { $0.vwap },
      .string("state") { $0.isOpen ? "open" : "final" },
      .integer("revision") { Int64($0.revision) }, .strings("flags") { $0.flags.names },
    ])
}
