import Commits
import Market
import Postgres
import Store
import TestSupport

/// What a month left in a database, read with plain SQL: the trial must not trust the daemon's own
/// queries.
struct StoredMonth {
  struct Key: Hashable {
    var symbol: Symbol
    var openedAt: Timestamp
  }

  struct Hole {
    var gap: Gap
    var knownFrom: Timestamp
    var closedBy: String?
    var sightings: Int
    var lastCheckedAt: Timestamp?
    var permanentReason: String?
  }

  struct Certificate {
    var symbol: Symbol
    var day: TradingDay
    var totals: (volume: ExactDecimal, turnover: ExactDecimal)?
    var isBalanced: Bool
    var repairedAt: Timestamp?
  }

  let url: String

  /// The minutes of a day as they are now.
  func candles(on day: TradingDay) throws -> [Key: Candle] {
    try minutes(
      """
      select \(Self.columns) from candled.candle c
      join candled.instrument i on i.id = c.instrument_id
      where c.timeframe = 1 and c.trading_day = '\(day)'
      """)
  }

  /// Those of a day's minutes that K-lines changed, as they were before.
  func replaced(on day: TradingDay) throws -> [Key: Candle] {
    try minutes(
      """
      select distinct on (c.instrument_id, c.opened_at) \(Self.columns)
      from candled.candle_revision c join candled.instrument i on i.id = c.instrument_id
      where c.timeframe = 1 and c.trading_day = '\(day)' and c.cause = 3
      order by c.instrument_id, c.opened_at, c.revision
      """)
  }

  private static let columns = """
    i.symbol, c.trading_day, extract(epoch from c.opened_at)::bigint,
    extract(epoch from c.closed_at)::bigint, c.open, c.high, c.low, c.close, c.volume,
    c.turnover, c.flags
    """

  /// The days from one on.
  func dayCandles(from day: TradingDay) throws -> [Key: Candle] {
    try candles(
      """
      select \(Self.columns) from candled.candle c
      join candled.instrument i on i.id = c.instrument_id
      where c.timeframe = 240 and c.trading_day >= '\(day)'
      """, .day1)
  }

  /// Chunks of backfills that are done.
  func chunks() throws -> Int {
    var fields = StoredFields(
      try SQLProbe.run("select count(*) from candled.backfill_chunk", url: url)[0])
    return Int(try fields.number())
  }

  private func minutes(_ query: String) throws -> [Key: Candle] { try candles(query, .minute1) }

  private func candles(_ query: String, _ timeframe: Timeframe) throws -> [Key: Candle] {
    var candles: [Key: Candle] = [:]
    for row in try SQLProbe.run(query, url: url) {
      var fields = StoredFields(row)
      let candle = Candle(
        symbol: try fields.symbol(), timeframe: timeframe, tradingDay: try fields.day(),
        openedAt: try fields.moment(), closedAt: try fields.moment(),
        open: try fields.decimal(), high: try fields.decimal(), low: try fields.decimal(),
        close: try fields.decimal(), volume: try fields.decimal(),
        turnover: try fields.optional { try $0.decimal() },
        flags: CandleFlags(rawValue: Int16(try fields.number())), source: .live)
      let key = Key(symbol: candle.symbol, openedAt: candle.openedAt)
      guard candles.updateValue(candle, forKey: key) == nil else {
        throw StoredFields.Malformed(row: row)
      }
    }
    return candles
  }

  func holes() throws -> [Hole] {
    try SQLProbe.run(
      """
      select i.symbol, g.trading_day, extract(epoch from g.from_at)::bigint,
        extract(epoch from g.to_at)::bigint, g.volume, g.turnover, g.cause,
        extract(epoch from g.known_from)::bigint, g.closed_by, g.sightings,
        extract(epoch from g.last_sighting_at)::bigint, g.permanent_reason
      from candled.gap g join candled.instrument i on i.id = g.instrument_id order by g.id
      """, url: url
    ).map { row in
      var fields = StoredFields(row)
      let (symbol, day) = (try fields.symbol(), try fields.day())
      let (from, to) = (try fields.moment(), try fields.moment())
      let (volume, turnover) = (try fields.decimal(), try fields.decimal())
      guard let cause = GapCause(rawValue: Int16(try fields.number())) else {
        throw StoredFields.Malformed(row: row)
      }
      return Hole(
        gap: Gap(
          symbol: symbol, tradingDay: day, from: from, to: to, volume: volume,
          turnover: turnover, cause: cause),
        knownFrom: try fields.moment(), closedBy: try fields.optional { try $0.text() },
        sightings: Int(try fields.number()),
        lastCheckedAt: try fields.optional { try $0.moment() },
        permanentReason: try fields.optional { try $0.text() })
    }
  }

  func certificates() throws -> [Certificate] {
    try SQLProbe.run(
      """
      select i.symbol, a.trading_day, a.exchange_volume, a.exchange_turnover,
        case when a.balanced then 1 else 0 end, extract(epoch from a.repaired_at)::bigint
      from candled.day_audit a join candled.instrument i on i.id = a.instrument_id
      """, url: url
    ).map { row in
      var fields = StoredFields(row)
      let (symbol, day) = (try fields.symbol(), try fields.day())
      let volume = try fields.optional { try $0.decimal() }
      let turnover = try fields.optional { try $0.decimal() }
      return Certificate(
        symbol: symbol, day: day,
        totals: volume.flatMap { volume in turnover.map { (volume, $0) } },
        isBalanced: try fields.number() == 1,
        repairedAt: try fields.optional { try $0.moment() })
    }
  }

  /// What was told of contradicting rows on a day, and when.
  func disputes(on day: TradingDay) throws -> [(at: Timestamp, event: FeedEvent)] {
    let kinds = DisputeEvent.Kind.allCases.map(\.rawValue).joined(separator: ",")
    return try SQLProbe.run(
      """
      select floor(extract(epoch from c.known_at))::bigint, e ->> 'event', e ->> 'symbol',
        extract(epoch from (e ->> 'at')::timestamptz)::bigint
      from candled.change c, jsonb_array_elements(c.events) e
      where e ->> 'event' = any ('{\(kinds)}')
        and e ->> 'trading_day' = '\(day)'
      order by c.seq
      """, url: url
    ).map { row in
      var fields = StoredFields(row)
      let at = try fields.moment()
      guard let kind = DisputeEvent.Kind(rawValue: try fields.text()) else {
        throw StoredFields.Malformed(row: row)
      }
      let event = DisputeEvent(
        kind: kind, symbol: try fields.symbol(), tradingDay: day, at: try fields.moment())
      return (at, .dispute(event))
    }
  }

  /// The minutes of a day that were revised because rows were false.
  func corrected(on day: TradingDay) throws -> Set<Key> {
    let rows = try SQLProbe.run(
      """
      select i.symbol, extract(epoch from r.opened_at)::bigint
      from candled.candle_revision r join candled.instrument i on i.id = r.instrument_id
      where r.timeframe = 1 and r.trading_day = '\(day)' and r.cause = 4
      """, url: url)
    return Set(
      try rows.map { row in
        var fields = StoredFields(row)
        return Key(symbol: try fields.symbol(), openedAt: try fields.moment())
      })
  }

  /// Candles whose counter does not tell how many earlier values are kept, and all that are kept.
  func revisions() throws -> (uncounted: Int, kept: Int) {
    let row = try SQLProbe.run(
      """
      select count(*) filter (where c.revision <> coalesce(r.kept, 0)), sum(r.kept)
      from candled.candle c
      full join (
        select instrument_id, timeframe, opened_at, count(*) as kept
        from candled.candle_revision group by 1, 2, 3) r using (instrument_id, timeframe, opened_at)
      """, url: url)[0]
    var fields = StoredFields(row)
    return (Int(try fields.number()), Int(try fields.optional { try $0.number() } ?? 0))
  }
}
