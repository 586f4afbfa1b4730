import Alerts
import Market
import Postgres

/// What the daemon stored that is in no quote any more: days that are over, minutes, gaps, silent
/// sources.
package struct AlertEvidenceTable: AppTable {
  let connection: AppConnection
  static let context = "alert evidence"

  package init(_ connection: AppConnection) { self.connection = connection }

  /// The reference price of a day is the exchange's; where that was not recorded, the close before
  /// it, moved by what the shares were adjusted by between them, if that is known.
  private static let readDays = Statement(
    name: "read_alert_days",
    sql: """
      select c.instrument_id, c.trading_day, c.high, c.low, c.close, c.volume,
        coalesce(a.previous_close, b.close)
      from unnest($1::integer[], $2::date[]) w (id, day)
      join candled.feed_candles c
        on c.instrument_id = w.id
        and c.timeframe = 240
        and c.trading_day >= w.day
        and c.opened_at >= w.day - interval '2 days'
      left join candled.feed_audits a
        on a.instrument_id = c.instrument_id
        and a.trading_day = c.trading_day
      left join lateral (
        select
          case f.known when 0 then p.close else round(p.close * f.step, scale(p.close)) end
            as close
        from candled.feed_candles p
        cross join lateral (
          select
            count(*) as known,
            (array_agg(k.factor order by k.from_day desc)
              filter (where k.from_day <= p.trading_day))[1]
            / (array_agg(k.factor order by k.from_day desc))[1] as step
          from candled.factors k
          where k.instrument_id = p.instrument_id
            and k.kind = 'hfq'
            and k.known_to is null
            and k.from_day <= c.trading_day
        ) f
        where p.instrument_id = c.instrument_id
          and p.timeframe = 240
          and p.opened_at < c.opened_at
        order by p.opened_at desc
        limit 1
      ) b on true
      where not (c.flags & 1 <> 0)
      order by c.trading_day, c.instrument_id
      """)

  /// Days that have a candle, the oldest first; `limitUp` is left to the caller.
  /// - Parameter wanted: the first day of each series, by the daemon's number.
  package func days(
    of wanted: [Int32: TradingDay]
  ) throws(AppStoreError) -> [(instrumentID: Int32, reading: DayReading)] {
    return try read(
      Self.readDays, with: [.int32s(Array(wanted.keys)), .days(Array(wanted.values))]
    ) { (row) throws(StoreError) in
      let id = try row.int32()
      var reading = DayReading(day: try row.day())
      reading.high = try row.numeric()
      reading.low = try row.numeric()
      reading.last = try row.numeric()
      reading.volume = try row.numeric()
      reading.previousClose = try row.optionalNumeric()
      return (id, reading)
    }
  }

  private static let readMinutes = Statement(
    name: "read_alert_minutes",
    sql: """
      select m.opened_at, m.high, m.low
      from (
        select c.opened_at, c.high, c.low
        from candled.feed_candles c
        where c.instrument_id = $1::integer
          and c.timeframe = 1
          and c.trading_day = $2::date
          and c.opened_at >= $3::timestamptz
          and c.opened_at between $2::date - interval '2 days' and $2::date + interval '2 days'
          and c.flags & 1 = 0
        union all
        select q.candle_opened_at, q.candle_high, q.candle_low
        from candled.feed_quotes q
        where q.instrument_id = $1::integer
          and q.trading_day = $2::date
          and q.candle_opened_at >= $3::timestamptz
      ) m
      order by m.opened_at
      """)

  /// Minutes of a day that opened since then, the one that is forming included.
  package func minutes(
    of instrumentID: Int32, day: TradingDay, since: Timestamp
  ) throws(AppStoreError) -> [MinuteExtremes] {
    return try read(Self.readMinutes, with: [.int32(instrumentID), .day(day), .timestamp(since)]) {
      (row) throws(StoreError) in
      MinuteExtremes(openedAt: try row.timestamp(), high: try row.numeric(), low: try row.numeric())
    }
  }

  private static let readGaps = Statement(
    name: "read_alert_gaps",
    sql: """
      select g.instrument_id, g.trading_day, g.known_from
      from unnest($1::integer[], $2::date[]) w (id, day)
      join candled.feed_gaps g on g.instrument_id = w.id and g.trading_day >= w.day
      order by g.id
      """)

  package func gaps(
    of wanted: [Int32: TradingDay]
  ) throws(AppStoreError) -> [(instrumentID: Int32, day: TradingDay, knownAt: Timestamp)] {
    return try read(
      Self.readGaps, with: [.int32s(Array(wanted.keys)), .days(Array(wanted.values))]
    ) { (row) throws(StoreError) in
      (try row.int32(), try row.day(), try row.timestamp())
    }
  }

  private static let readStalls = Statement(
    name: "read_alert_stalls",
    sql: """
      select e.source, c.known_at, (c.known_at at time zone m.zone)::date
      from candled.feed_changes c
      cross join lateral jsonb_to_recordset(c.events) as e (event text, source text)
      join candled.source s on s.name = e.source
      join candled.market m on m.code = s.market
      where c.events <> '[]'
        and e.event = 'feed_stalled'
        and e.source = any ($1::text[])
        and c.known_at > $2::timestamptz
      order by c.seq
      """)

  /// When sources fell silent, as far as the feed keeps its changes.
  package func stalls(
    of sources: [String], since: Timestamp
  ) throws(AppStoreError) -> [(source: String, knownAt: Timestamp, day: TradingDay)] {
    return try read(Self.readStalls, with: [.texts(sources), .timestamp(since)]) {
      (row) throws(StoreError) in (try row.text(), try row.timestamp(), try row.day())
    }
  }
}
