-- What candle_5m … candle_60m were calculated by before version 7: a call for each series, length
-- and day, by a roll-up that shares nothing with the schema's. Kept to hold the whole-market view
-- against, with coverage and ranges put as plainly.

set search_path = candled;

create or replace function market_day(place market, day date)
returns table (
  opens timestamptz, closes timestamptz, anchor timestamptz
)
language plpgsql stable
rows 5
set search_path = candled, pg_temp
as $function$
begin
  return query
    with session as (
      select
        case h.number when 1 then coalesce(c.opens, h.opens) else h.opens end as opens,
        case
          when h.number = cardinality(place.closes) or c.closes < h.closes
          then coalesce(c.closes, h.closes)
          else h.closes
        end as closes
      from (
        select
          u.number,
          (market_day.day + u.opens) at time zone place.zone as opens,
          (market_day.day + u.closes) at time zone place.zone as closes
        from unnest(place.opens, place.closes) with ordinality u (opens, closes, number)
      ) h
      left join market_session c on c.exchange = place.calendar and c.day = market_day.day
      where c.closes is null
        or h.number = 1
        or h.opens < c.closes
    ),
    clock (anchor) as (values (timestamptz '2000-01-01 00:00+00')),
    edge as (
      select s.opens as opens, s.opens as anchor, 1 as place
      from session s
      union all
      select s.closes, c.anchor, 0
      from session s
      cross join clock c
      union all
      select '-infinity', c.anchor, 0
      from clock c
    )
    select
      e.opens,
      lead(e.opens, 1, 'infinity') over (order by e.opens, e.place),
      e.anchor
    from edge e;
end
$function$;
create or replace function bucket_opened_at(
  length smallint, zone text, day_opens time, trading_day date, opened_at timestamptz,
  opens timestamptz, anchor timestamptz
)
returns timestamptz
language sql immutable parallel safe
return case
  when length > 240 then
    (date_trunc(case length when 1200 then 'week' else 'month' end, trading_day::timestamp)
      + day_opens)
      at time zone zone
  else greatest(date_bin(make_interval(mins => length), opened_at, anchor), opens)
end;
create or replace function series_rolled_plainly(
  series integer, length smallint, from_ts timestamptz, to_ts timestamptz, as_of timestamptz,
  factor_kind smallint, stands_on date, forming boolean
)
returns setof candle
language plpgsql stable
rows 50
set search_path = candled, pg_temp
set plan_cache_mode = force_generic_plan
set jit = off
as $function$
declare
  base constant smallint := case when length > 240 then 240 else 1 end;
  reach constant interval := case length
    when 1200 then interval '7 days'
    when 7200 then interval '31 days'
    else interval '1 hour'
  end;
  place constant market := market_of(series);
  kind smallint;
  quoted_at timestamptz;
  last candle;
begin
  select i.kind, q.quoted_at
  into kind, quoted_at
  from instrument i
  left join quote q on q.instrument_id = i.id
  where i.id = series;
  select l.*
  into last
  from series_last(series, base, 'infinity', as_of) l;
  return query
    with part as materialized (
      select r.*
      from series_adjusted(
        series, base, from_ts, to_ts + reach, as_of, factor_kind, stands_on) r
      union all
      select f.*
      from series_forming(series, base) f
      where forming
        and f.opened_at >= from_ts
        and f.opened_at < to_ts + reach
    ),
    ready as materialized (
      select r as given, r.trading_day, r.opened_at, r.closed_at
      from series_adjusted(series, length, from_ts, to_ts, as_of, factor_kind, stands_on) r
    ),
    session as materialized (
      select d.day, s.*
      from (
        select p.trading_day
        from part p
        union
        select r.trading_day
        from ready r
      ) d (day)
      cross join lateral market_day(place, d.day) s
      where base = 1
    ),
    member as (
      select
        p.*,
        bucket_opened_at(
          length, place.zone, place.day_opens, p.trading_day, p.opened_at, h.opens, h.anchor)
          as bucket,
        p.flags & 1 = 0 as traded,
        h.closes
      from part p
      left join session h
        on h.day = p.trading_day
        and h.opens <= p.opened_at
        and h.closes > p.opened_at
    ),
    grouped as (
      select
        m.bucket, case
          when base = 240 then max(m.closed_at)
          else least(m.bucket + make_interval(mins => length), min(m.closes))
        end as closed_at, max(m.known_from) as known_from, max(m.trading_day) as trading_day,
        min(m.source) as source,
        least(sum(m.revision), 32767)::smallint as revision,
        not bool_or(m.traded) as no_trade,
        bit_or(m.flags) as flags,
        (array_agg(m.flags & 4 order by m.opened_at))[1] as ambiguous,
        coalesce(
          (array_agg(m.open order by m.opened_at) filter (where m.traded))[1],
          (array_agg(m.open order by m.opened_at))[1]) as open,
        coalesce(max(m.high) filter (where m.traded), max(m.high)) as high,
        coalesce(min(m.low) filter (where m.traded), min(m.low)) as low,
        coalesce(
          (array_agg(m.close order by m.opened_at desc) filter (where m.traded))[1],
          (array_agg(m.close order by m.opened_at desc))[1]) as close,
        sum(m.volume) as volume,
        case when count(m.turnover) = count(*) then sum(m.turnover) end as turnover,
        case when count(m.trades) = count(*) then sum(m.trades)::bigint end as trades,
        count(*) as rows,
        count(*) filter (
          where m.flags & 32 = 0
            and (
              not place.every_minute
              or (m.opened_at at time zone place.zone)::time <> all (place.silent_minutes))
        ) as needed_rows
      from member m
      group by m.bucket
    ),
    bounded as (
      select
        g.*, p.first_day,
        case length
          when 1200 then p.first_day + 6
          else (p.first_day + interval '1 month')::date - 1
        end as last_day
      from grouped g
      cross join lateral (select (g.bucket at time zone place.zone)::date) p (first_day)
    ),
    rolled as (
      select
        n.*, case
          when base = 240 then
            n.flags & 32 = 0
            and (
              length = 1200 and n.rows >= cardinality(place.weekdays)
              or period_is_whole(place, n.first_day, n.last_day, n.rows, last.trading_day))
          when not place.every_minute then n.closed_at <= last.closed_at
          else n.needed_rows >= extract(epoch from n.closed_at - n.bucket) / 60 - (
            select count(*)
            from unnest(place.silent_minutes) q (minute)
            where (n.trading_day + q.minute) at time zone place.zone >= n.bucket
              and (n.trading_day + q.minute) at time zone place.zone < n.closed_at)
        end as is_whole, case
          when base = 240 then last.trading_day < n.last_day
          when not place.every_minute then true
          else n.closed_at > quoted_at
        end as is_current
      from bounded n
    ),
    delivered as (
      select
        r.*,
        bucket_opened_at(
          length, place.zone, place.day_opens, r.trading_day, r.opened_at, f.opens, f.anchor)
          as first_bucket,
        bucket_opened_at(
          length, place.zone, place.day_opens, r.trading_day,
          r.closed_at - interval '1 second',
          l.opens, l.anchor)
          as last_bucket
      from ready r
      left join session f
        on f.day = r.trading_day
        and f.opens <= r.opened_at
        and f.closes > r.opened_at
      left join session l
        on l.day = r.trading_day
        and l.opens < r.closed_at
        and l.closes >= r.closed_at
    )
    select
      w.bucket, w.closed_at, w.known_from, series, w.trading_day, length,
      (w.no_trade::integer
        | (w.flags & 66)
        | case when w.is_whole then 0 else 2 end
        | w.ambiguous
        | case
          when forming and not w.is_whole and (w.flags & 32 <> 0 or w.is_current) then 32
          else 0
        end
        | case
          when greatest(w.open, w.close) > w.high or least(w.open, w.close) < w.low then 8
          else 0
        end)::smallint,
      w.source, w.revision, w.open, w.high, w.low, w.close, w.volume, w.turnover, w.trades, case
        when factor_kind is null then average_price(w.turnover, w.volume, kind)
      end
    from rolled w
    where w.bucket >= from_ts
      and w.bucket < to_ts
      and (
        w.is_whole
        or not exists (
          select
          from delivered d
          where d.first_bucket = w.bucket
            and d.last_bucket = w.bucket
            and d.closed_at >= w.closed_at))
    union all
    select (d.given).*
    from delivered d
    left join rolled w on w.bucket = d.first_bucket
    left join rolled v on v.bucket = d.last_bucket
    where (w.bucket is null and v.bucket is null)
      or (
        d.first_bucket = d.last_bucket
        and not w.is_whole
        and d.closed_at >= w.closed_at)
    order by 1;
end
$function$;

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
  cross join lateral series_rolled_plainly(
    i.id, t.length,
    d.day::timestamp at time zone m.zone,
    (d.day + 1)::timestamp at time zone m.zone,
    null, null, null, true) r
  union all
  select t.length, r.trading_day, r
  from (values (1200::smallint), (7200::smallint)) t (length)
  cross join lateral series_rolled_plainly(
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
