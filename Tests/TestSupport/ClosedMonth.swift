import Market

/// June 2026 as live candles and backfills leave it, on a database of its own: in no order, with
/// gaps, revisions, candles of days and after hours. July is there, fresh.
package struct ClosedMonth {
  package let database: StoreDatabase
  package static let instruments = 20
  package static let end = TradingDay(daysSince1970: 20_635)  // 2026-07-01

  /// - Parameter days: trading days of the month.
  package init(
    on database: StoreDatabase, instruments: Int = instruments, days: Int = 30, seed: UInt64 = 1
  ) throws {
    self.database = database
    try database.execute(
      """
      set search_path = candled;
      select ensure_partition('2026-06-01'), ensure_partition('2026-07-01');
      select setseed(\(seed % 1_000) / 1000.0);
      insert into instrument (id, symbol, first_seen)
      select i, 'sh' || 600000 + i, now()
      from generate_series(1, \(instruments)) i;
      insert into candle
        (opened_at, closed_at, known_from, instrument_id, trading_day, timeframe, flags, source,
        revision, open, high, low, close, volume, turnover)
      select opened_at, opened_at + length, opened_at + length, i, day, timeframe,
        (random() * 3)::integer, 1, (random() * 0.6)::integer, 10.12, 11.34, 9.5, 10.2,
        (random() * 100000)::integer, case when i % 3 > 0 then 1234567.89 end
      from (
        select d::date as day
        from generate_series('2026-06-01'::timestamp, '2026-06-30', interval '1 day') d
        where extract(isodow from d) < 6
        limit \(days)
      ) d
      cross join generate_series(1, \(instruments)) i
      cross join lateral (
        select 1 as timeframe, interval '1 minute' as length,
          (day + time '09:30') at time zone 'Asia/Shanghai' + m * interval '1 minute' as opened_at
        from generate_series(0, 239) m
        union all
        select f, interval '5 hours', (day + time '09:30') at time zone 'Asia/Shanghai'
        from unnest(array[90, 240]) f
      ) c
      where i = 1
        or random() < 0.98
      order by random()
      """)
  }

  /// All candles, and how many.
  package func contents(of table: String = "candle") throws -> [[String?]] {
    try database.execute(
      """
      select count(*), md5(string_agg(c::text, ' ' order by instrument_id, timeframe, opened_at))
      from candled.\(table) c
      """)
  }

  /// Rows that do not lie where they belong: days and weeks first, then a day of minutes after the
  /// other.
  package func misplaced() throws -> String? {
    try database.value(
      """
      select count(*)
      from (
        select
          row_number() over (order by ctid) as found,
          row_number() over (
            order by
              timeframe = 1,
              case when timeframe = 1 then (opened_at at time zone 'UTC')::date end,
              instrument_id, timeframe, opened_at) as expected
        from candled.candle_2026_06
      ) c
      where found <> expected
      """)
  }

  /// What a month is but for its rows and its name.
  package func form(of month: String) throws -> [String] {
    try database.execute(
      """
      with parts as (
        select 'options ' || array_to_string(reloptions, ' ') as part
        from pg_class
        where oid = '\(month)'::regclass
        union all
        select 'owner ' || relowner::regrole
        from pg_class
        where oid = '\(month)'::regclass
        union all
        select concat_ws(' ', pg_get_indexdef(indexrelid), obj_description(indexrelid, 'pg_class'),
          indisprimary, indisvalid, h.inhparent::regclass)
        from pg_index
        join pg_inherits h on h.inhrelid = indexrelid
        where indrelid = '\(month)'::regclass
        union all
        select concat_ws(' ', conname, pg_get_constraintdef(oid), conislocal, coninhcount)
        from pg_constraint
        where conrelid = '\(month)'::regclass
        union all
        select concat_ws(' ', attname, atttypid::regtype, attnotnull, atthasdef,
          col_description(attrelid, attnum))
        from pg_attribute
        where attrelid = '\(month)'::regclass
        union all
        select obj_description('\(month)'::regclass, 'pg_class')
        union all
        select 'trigger ' || tgname
        from pg_trigger
        where tgrelid = '\(month)'::regclass
        union all
        select 'parent ' || inhparent::regclass
        from pg_inherits
        where inhrelid = '\(month)'::regclass
      )
      select replace(part, '\(month.suffix(7))', 'MONTH')
      from parts
      order by 1
      """
    ).map { $0[0] ?? "" }
  }
}
