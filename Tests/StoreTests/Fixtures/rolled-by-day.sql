-- What candle_5m … candle_60m were calculated by before version 7: a call for each series, length
-- and day. Kept to hold the whole-market view against, with coverage and ranges put as plainly.

set search_path = candled;

create or replace function series_days(series integer, length smallint)
returns setof date
language plpgsql stable
rows 100
set search_path = candled, pg_temp
set plan_cache_mode = force_generic_plan
set jit = off
as $function$
begin
  return query
    with edge as (
      (
        select c.trading_day
        from candle c
        where c.instrument_id = series
          and c.timeframe = 1
        order by c.opened_at
        limit 1
      )
      union all
      (
        select c.trading_day
        from candle c
        where c.instrument_id = series
          and c.timeframe = length
        order by c.opened_at
        limit 1
      )
      union all
      select l.trading_day
      from unnest(array[1, length]) t (code)
      cross join lateral series_last(series, t.code::smallint, 'infinity', null) l
      union all
      select f.trading_day
      from series_forming(series, 1::smallint) f
    )
    select generate_series(min(e.trading_day), max(e.trading_day), interval '1 day')::date
    from edge e;
end
$function$;

-- What candle_5m … candle_1mo show. Minutes are rolled up a day at a time, so that a condition on
-- the trading day, or on the symbol, is all that is calculated.
create or replace view rolled_by_day as
select
  i.symbol, c.trading_day, (c.rolled).opened_at, (c.rolled).closed_at, (c.rolled).open,
  (c.rolled).high, (c.rolled).low, (c.rolled).close, (c.rolled).volume, (c.rolled).turnover,
  (c.rolled).trades, (c.rolled).vwap,
  case when (c.rolled).flags & 32 <> 0 then 'open' else 'final' end as state,
  (c.rolled).flags & 1 <> 0 as no_trade,
  (c.rolled).flags & 2 <> 0 as partial,
  (c.rolled).flags & 4 <> 0 as extreme_ambiguous,
  (c.rolled).revision, n.name as source, (c.rolled).known_from, i.id as instrument_id, c.length,
  (c.rolled).flags & 64 <> 0 as coarse
from instrument i
join source o on o.code = i.source
join market m on m.code = o.market
cross join lateral (
  select t.length, d.day as trading_day, r as rolled
  from (values (5::smallint), (15::smallint), (30::smallint), (60::smallint)) t (length)
  cross join lateral series_days(i.id, t.length) d (day)
  cross join lateral series_rolled(
    i.id, t.length,
    d.day::timestamp at time zone m.zone,
    (d.day + 1)::timestamp at time zone m.zone,
    null, null, null, true) r
  union all
  select t.length, r.trading_day, r
  from (values (1200::smallint), (7200::smallint)) t (length)
  cross join lateral series_rolled(
    i.id, t.length, '-infinity', 'infinity', null, null, null, true) r
) c
left join source n on n.code = (c.rolled).source;

create or replace view coverage_by_group as
select
  i.symbol, c.trading_day, count(*) filter (where c.flags & 1 = 0) as traded,
  count(*) filter (where c.flags & 1 <> 0) as untraded, sum(c.volume) as minute_volume,
  s.name as source, c.instrument_id, served_on(c.instrument_id, c.trading_day) as served_by
from candle c
join instrument i on i.id = c.instrument_id
left join source s on s.code = i.source
where c.timeframe = 1
group by i.symbol, s.name, c.instrument_id, c.trading_day;
