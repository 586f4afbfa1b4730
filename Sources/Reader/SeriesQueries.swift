/// What the gateway asks beside candles: which series there are, and what is known of their days.

import Market
import Postgres

/// A series of an instrument, with what its market adds: where it trades, in what money.
package struct SeriesRecord: Sendable, Hashable {
  package var id: Int32
  package var symbol: Symbol
  package var source: Source
  package var sourceName: String
  /// If a query names no source, the lowest wins.
  package var priority: Int16
  package var name: String?
  package var exchange: String?
  package var kind: String?
  package var board: String?
  package var currency: String
  package var zone: MarketZone
  /// The highest and the lowest price of 52 weeks, adjusted, at the time of the query; nil where no
  /// factor is known of some.
  package var yearHigh: ExactDecimal?
  package var yearLow: ExactDecimal?
  /// The newest ex-day in those 52 weeks: prices before it are adjusted.
  package var yearExDay: TradingDay?
  /// The code of today of its security; nil where that is its own.
  package var today: Symbol?

  package init(
    id: Int32, symbol: Symbol, source: Source, sourceName: String, priority: Int16, name: String?,
    exchange: String?, kind: String?, board: String?, currency: String, zone: MarketZone,
    yearHigh: ExactDecimal? = nil, yearLow: ExactDecimal? = nil, yearExDay: TradingDay? = nil,
    today: Symbol? = nil
  ) {
    self.id = id
    self.symbol = symbol
    self.source = source
    self.sourceName = sourceName
    self.priority = priority
    self.name = name
    self.exchange = exchange
    self.kind = kind
    self.board = board
    self.currency = currency
    self.zone = zone
    self.yearHigh = yearHigh
    self.yearLow = yearLow
    self.yearExDay = yearExDay
    self.today = today
  }
}

/// A source and the market it speaks of.
package struct SourceRecord: Sendable, Hashable {
  package var name: String
  package var market: String
  package var kind: String
  package var health: [SourceHealthRow]
}

/// An earlier value of a candle that was revised.
package struct RevisionRecord: Sendable, Hashable {
  package var timeframe: String
  package var openedAt: Timestamp
  package var revision: Int16
  package var open: ExactDecimal
  package var high: ExactDecimal
  package var low: ExactDecimal
  package var close: ExactDecimal
  package var volume: ExactDecimal
  package var turnover: ExactDecimal?
  package var knownFrom: Timestamp
  package var knownTo: Timestamp
  package var cause: String
}

/// What is stored of a day of a series.
package struct CoverageRecord: Sendable, Hashable {
  /// Of the series.
  package var id: Int32
  package var symbol: Symbol
  package var source: String
  package var tradingDay: TradingDay
  package var traded: Int32
  package var untraded: Int32
  /// nil until the day has a certificate, as what follows.
  package var missing: Int32?
  package var minuteVolume: ExactDecimal?
  package var gapVolume: ExactDecimal?
  package var residualVolume: ExactDecimal?
  package var isBalanced: Bool?
  package var isCertified: Bool

  package init(
    id: Int32, symbol: Symbol, source: String, tradingDay: TradingDay, traded: Int32 = 0,
    untraded: Int32 = 0, missing: Int32? = nil, minuteVolume: ExactDecimal? = nil,
    gapVolume: ExactDecimal? = nil, residualVolume: ExactDecimal? = nil, isBalanced: Bool? = nil,
    isCertified: Bool = false
  ) {
    self.id = id
    self.symbol = symbol
    self.source = source
    self.tradingDay = tradingDay
    self.traded = traded
    self.untraded = untraded
    self.missing = missing
    self.minuteVolume = minuteVolume
    self.gapVolume = gapVolume
    self.residualVolume = residualVolume
    self.isBalanced = isBalanced
    self.isCertified = isCertified
  }
}

/// Candles, and the place in the feed that they are as of.
package struct CandlePage: Sendable {
  package var epoch: Int64
  package var seq: Int64
  package var candles: [CandleRecord]
  /// How many there are where some were asked for as a coarse picture; else nil.
  package var total: Int?

  /// Whether candles were left out between others.
  package var isThinned: Bool { total.map { $0 > candles.count } ?? false }
}

extension StoreReader {
  private static let readSeries = Statement(
    name: "query_series",
    sql: """
      select i.id, i.symbol, s.code, s.name, s.priority, i.name, i.exchange, i.kind, i.board,
        m.currency, m.zone, l.high_52w, l.low_52w, l.ex_day, nullif(t.symbol, i.symbol)
      from instruments i
      join instruments t on t.id = i.living
      join source s on s.name = i.source
      join market m on m.code = s.market
      left join latest l on l.instrument_id = i.id
      where i.reused_on is null
      order by i.id
      """)

  /// Every series there is, oldest first.
  package func series() throws(StoreError) -> [SeriesRecord] {
    try read(Self.readSeries) { (row) throws(StoreError) in
      let id = try row.int32()
      let (symbol, source) = (try row.symbol(), try row.source())
      let (sourceName, priority) = (try row.text(), try row.int16())
      let (name, exchange) = (try row.optionalText(), try row.optionalText())
      let (kind, board) = (try row.optionalText(), try row.optionalText())
      let currency = try row.text()
      guard let zone = MarketZone(rawValue: try row.text()) else { throw row.malformed() }
      return SeriesRecord(
        id: id, symbol: symbol, source: source, sourceName: sourceName, priority: priority,
        name: name, exchange: exchange, kind: kind, board: board, currency: currency, zone: zone,
        yearHigh: try row.optionalNumeric(), yearLow: try row.optionalNumeric(),
        yearExDay: try row.optionalDay(), today: try row.optionalText().flatMap { Symbol($0) })
    }
  }

  /// What `candles` gives, and which change of the feed it is as of: whoever follows from there
  /// misses nothing.
  /// - Parameters:
  ///   - points: how many at most, as a coarse picture; nil for all.
  ///   - series: the number of the series whose candle that is not over ends the page, where that
  ///     is within the bounds of the query; nil for final candles alone.
  package func page(
    _ query: CandleQuery, points: Int32? = nil, forming series: Int32? = nil
  ) throws(StoreError) -> CandlePage {
    try inOneMoment("query") { () throws(StoreError) -> CandlePage in
      let (epoch, seq) = try position()
      var query = query
      var last: CandleRecord?
      if let series, let open = try forming(series, timeframe: query.timeframe),
        query.from.map({ $0 <= open.openedAt }) ?? true,
        query.to.map({ $0 > open.openedAt }) ?? true
      {
        // What is calculated of its parts so far is no candle beside it.
        (last, query.to) = (open, open.openedAt)
      }
      let open = last.map { [$0] } ?? []
      guard let points else {
        return CandlePage(epoch: epoch, seq: seq, candles: try candles(query) + open)
      }
      let (final, total) = try candles(query, points: points - Int32(open.count))
      return CandlePage(
        epoch: epoch, seq: seq, candles: final + open, total: total + open.count)
    }
  }

  private static let readRevisions = Statement(
    name: "query_revisions",
    sql: """
      select r.timeframe, r.opened_at, r.revision, r.open, r.high, r.low, r.close, r.volume,
        r.turnover, r.known_from, r.known_to, r.cause
      from revisions r
      where r.instrument_id = $1::int
        and r.opened_at >= $2::timestamptz
        and r.opened_at < $3::timestamptz
      order by r.opened_at desc, r.timeframe, r.revision desc
      limit $4::int
      """)

  /// Earlier values of a series' revised candles, the newest candle first.
  package func revisions(
    of series: Int32, opened: Range<Timestamp>, limit: Int32
  ) throws(StoreError) -> [RevisionRecord] {
    let parameters = WireParameters(
      .int32(series), .timestamp(opened.lowerBound), .timestamp(opened.upperBound), .int32(limit))
    return try read(Self.readRevisions, with: parameters) { (row) throws(StoreError) in
      RevisionRecord(
        timeframe: try row.text(), openedAt: try row.timestamp(), revision: try row.int16(),
        open: try row.numeric(), high: try row.numeric(), low: try row.numeric(),
        close: try row.numeric(), volume: try row.numeric(), turnover: try row.optionalNumeric(),
        knownFrom: try row.timestamp(), knownTo: try row.timestamp(), cause: try row.text())
    }
  }

  /// As the view `coverage`; with the day's bounds at hand only its month is read.
  /// - Parameter condition: on the series.
  private static func readCoverage(_ name: String, where condition: String) -> Statement {
    Statement(
      name: name,
      sql: """
        select i.id, i.symbol, s.name, c.traded, c.untraded, c.missing, c.volume, c.gaps,
          c.residual, c.balanced, c.certified
        from (
          select instrument_id, minutes_traded::int as traded, minutes_untraded::int as untraded,
            minutes_missing::int as missing, minute_volume as volume, gap_volume as gaps,
            residual_volume as residual, balanced, true as certified
          from feed_audits
          where trading_day = $1::date
            and \(condition)
          union all
          select instrument_id, (count(*) filter (where flags & 1 = 0))::int,
            (count(*) filter (where flags & 1 <> 0))::int, null, sum(volume), null, null, null,
            false
          from feed_candles
          where timeframe = 1
            and trading_day = $1::date
            and opened_at >= ($1::date - 1)::timestamptz
            and opened_at < ($1::date + 2)::timestamptz
            and \(condition)
            and instrument_id not in (
              select a.instrument_id
              from feed_audits a
              where a.trading_day = $1::date)
          group by instrument_id
        ) c
        join feed_instruments i on i.id = c.instrument_id
        join source s on s.code = i.source
        """)
  }

  private static let readWholeCoverage = readCoverage("query_coverage", where: "true")
  private static let readSomeCoverage = readCoverage(
    "query_coverage_of_series", where: "instrument_id = any ($2::int[])")

  /// What is stored of a day, in no order, and the change of the feed that it is as of.
  /// - Parameter series: their numbers; nil for all.
  package func coverage(
    day: TradingDay, of series: [Int32]? = nil
  ) throws(StoreError) -> (seq: Int64, rows: [CoverageRecord]) {
    try inOneMoment("query") { () throws(StoreError) in
      // A plan for any day sorts all minutes of it.
      try connection.execute("set local plan_cache_mode = force_custom_plan", context: "query")
      let (_, seq) = try position()
      var parameters = WireParameters(.day(day))
      if let series { parameters.add { $0.array(series, type: .int4) { $0.int32($1) } } }
      let statement = series == nil ? Self.readWholeCoverage : Self.readSomeCoverage
      let rows = try read(statement, with: parameters) { (row) throws(StoreError) in
        CoverageRecord(
          id: try row.int32(), symbol: try row.symbol(), source: try row.text(), tradingDay: day,
          traded: try row.int32(), untraded: try row.int32(), missing: try row.optionalInt32(),
          minuteVolume: try row.optionalNumeric(), gapVolume: try row.optionalNumeric(),
          residualVolume: try row.optionalNumeric(), isBalanced: try row.optionalBool(),
          isCertified: try row.bool())
      }
      return (seq, rows)
    }
  }

  private static let readSources = Statement(
    name: "query_sources",
    sql: """
      select s.name, m.name, s.kind, s.code
      from source s
      join market m on m.code = s.market
      order by s.code
      """)

  /// The sources, and how the endpoints of each do.
  package func sources() throws(StoreError) -> [SourceRecord] {
    let health = try health()
    return try read(Self.readSources) { (row) throws(StoreError) in
      let (name, market, kind) = (try row.text(), try row.text(), try row.text())
      let code = try row.source()
      return SourceRecord(
        name: name, market: market, kind: kind, health: health.filter { $0.source == code })
    }
  }

  private static func readOpening(of view: String) -> Statement {
    Statement(
      name: "query_opening_\(view)",
      sql: """
        select max(k.opened_at)
        from (
          select c.opened_at
          from \(view) c
          where c.instrument_id = $1::int
            and c.opened_at >= $2::timestamptz
            and c.opened_at < $3::timestamptz
          order by c.opened_at
          limit $4::bigint
        ) k
        """)
  }

  private static let readMinuteOpening = readOpening(of: "candle_1m")
  private static let readDayOpening = readOpening(of: "candle_1d")

  /// When the row opened that is so many rows behind `from`, or the last one before `before`; nil
  /// where there is none.
  /// - Parameter timeframe: one that is stored.
  package func opening(
    ofRow count: Int64, series: Int32, timeframe: Timeframe, from: Timestamp, before: Timestamp
  ) throws(StoreError) -> Timestamp? {
    let parameters = WireParameters(
      .int32(series), .timestamp(from), .timestamp(before), .int64(count))
    let statement = timeframe == .day1 ? Self.readDayOpening : Self.readMinuteOpening
    return try read(statement, with: parameters) { (row) throws(StoreError) in
      try row.optionalTimestamp()
    }.first ?? nil
  }
}
