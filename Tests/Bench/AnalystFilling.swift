/// What `analyst` asks: days of a year of 5,400 series in the order of days, minutes of the last
/// days in the order of sweeps, and a day that is going on.
///
/// A month is filled first and attached with its indexes afterwards. Months before the newest one
/// are unlogged: nothing is written to them, and no figure is of their making.
enum AnalystFilling {
  /// Months belong to whom their table belongs to: only so can they be put in key order.
  private static let reference = """
    set role candled_owner;
    insert into instrument (id, symbol, source, exchange, kind, board, first_seen)
    select
      n,
      case when n = 1 then 'sh600519' when n > 5400 then 'X' || n else 'sz' || 300000 + n end,
      case when n > 5400 then 4 else 1 end, 1, 1, 1, '2021-01-01'
    from generate_series(1, 16400) n;
    create table bench_day as
    select day::date, row_number() over (order by day desc) as age
    from generate_series('2025-07-02'::timestamp, '2026-07-27', interval '1 day') day
    where extract(isodow from day) < 6
    order by day desc
    limit 250
    """

  private static let minutes = """
    select m
    from market p
    cross join lateral trading_sessions(p, s.day) d
    cross join lateral generate_series(
      d.opens, d.closes - interval '1 minute', interval '1 minute') m
    where p.code = 1
    """

  private static func months(days: Int) -> String {
    """
    set role candled_owner;
    set maintenance_work_mem = '512MB';
    do $fill$
    declare
      month date;
      part text;
      s record;
      minute timestamptz;
    begin
      create temporary table bench_row (
        n integer, open numeric, high numeric, low numeric, close numeric, volume numeric,
        turnover numeric);
      for month in
        select m::date
        from generate_series('2025-07-01'::timestamp, '2026-07-01', interval '1 month') m
      loop
        part := to_char(month, '"candle_"YYYY"_"MM');
        execute format(
          'create %s table %I (like candle including all excluding indexes)',
          case when month < '2026-07-01' then 'unlogged' else '' end, part);
        for s in
          select *,
            day in (
              select b.day
              from bench_day b
              order by abs(b.day - date '\(AnalystBench.day)')
              limit \(days)) as has_minutes
          from bench_day
          where date_trunc('month', day) = month
          order by day
        loop
          truncate bench_row;
          insert into bench_row
          select n, p + 0.01, p + 0.05, p, p + 0.03, 100 * (n % 70), 100 * (n % 70) * p
          from generate_series(1, 5400) n
          cross join lateral (select ((n % 90) * 10 + 10 + s.age % 50)::numeric(10, 3)) x (p)
          order by n;
          execute format(
            $$insert into %I
              select $1, $1 + interval '5.5 hours', $1 + interval '6 hours', n, $2, 240, 0, 1, 0,
                open, high, low, close, volume, turnover, null, null
              from bench_row$$, part)
          using (s.day + time '09:30') at time zone 'Asia/Shanghai', s.day;
          continue when not s.has_minutes;
          for minute in \(minutes) loop
            execute format(
              $$insert into %I
                select $1, $1 + interval '1 minute', $1 + interval '65 seconds', n, $2, 1,
                  case when (n + $3) %% 7 = 0 then 1 else 0 end, 1, 0, open, high, low, close,
                  volume, turnover, null, null
                from bench_row$$, part)
            using minute, s.day, extract(epoch from minute)::bigint / 60;
          end loop;
        end loop;
        execute format(
          'alter table candle attach partition %I for values from (%L) to (%L)', part,
          month::timestamp at time zone 'UTC',
          (month + interval '1 month') at time zone 'UTC');
        insert into candle_month (month) values (month);
      end loop;
    end
    $fill$
    """
  }

  /// - Parameter days: with minutes of the whole market.
  static func statements(days: Int) -> [String] {
    [
      reference, months(days: days),
      // A day that is going on: 5,400 quotes, each with the minute that is forming.
      """
      insert into quote
        (changed_seq, quoted_at, received_at, candle_opened_at, instrument_id, trading_day, status,
          trading, candle_flags, candle_source, open, previous_close, last, high, low, bid, ask,
          volume, turnover, candle_open, candle_high, candle_low, candle_close, candle_volume,
          candle_turnover, bids, asks, book_state)
      select
        1, '2026-07-28 10:00+08', '2026-07-28 10:00+08', '2026-07-28 10:00+08', n, '2026-07-28', 0,
        0, 0, 1, p, p, p + 0.01 * (n % 300), p + 60, p, p, p, 1000, 1000 * p, p, p, p, p, 10,
        10 * p, '1:100 2:100', '1:100 2:100', ''
      from generate_series(1, 5400) n
      cross join lateral (select ((n % 90) * 10 + 10)::numeric(10, 3)) x (p)
      """,
      "select keep_ranges()", "analyze",
    ]
  }
}
