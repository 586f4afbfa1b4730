/// What the tables themselves hold of an instrument's day, where the book's word is not enough.
enum DayAccount {
  /// Beside each (instrument_id, trading_day) of `t`: its minutes as `m`, the gaps that stand as
  /// `g`, what its market's hours say of it as `d`. The range of `opened_at` is wider than any day:
  /// it keeps to the months concerned.
  static let sums = """
    cross join lateral (
      select coalesce(sum(c.volume), 0) as minute_volume,
        coalesce(sum(c.turnover), 0) as minute_turnover,
        count(*) filter (where c.volume > 0) as traded,
        count(*) filter (where c.volume = 0) as untraded
      from candle c
      where c.instrument_id = t.instrument_id
        and c.timeframe = 1
        and c.opened_at between t.trading_day - interval '1 day'
          and t.trading_day + interval '1 day'
        and c.trading_day = t.trading_day
    ) m
    cross join lateral (
      select coalesce(sum(g.volume), 0) as gap_volume, coalesce(sum(g.turnover), 0) as gap_turnover
      from gap g
      where g.instrument_id = t.instrument_id
        and g.trading_day = t.trading_day
        and g.known_to is null
    ) g
    cross join lateral (
      select (sum(extract(epoch from h.closes - h.opens)) / 60)::integer as minutes,
        (t.trading_day + max(h.closes)) at time zone (market_of(t.instrument_id)).zone as closes_at
      from unnest((market_of(t.instrument_id)).opens, (market_of(t.instrument_id)).closes)
        h (opens, closes)
    ) d
    """
}
