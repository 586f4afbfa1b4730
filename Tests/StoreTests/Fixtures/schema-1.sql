-- Makes a database of version 1 out of one with today's schema.sql: takes away what came later and
-- puts back what it replaced. Views and functions that were the same then are left as they are.

set role candled_owner;
set search_path = candled;

drop publication candled, candled_candles;
drop table day_lock, lease, lease_term, market, price_range, serving, source cascade;
drop function keep_ranges;

do $views$
declare
  later regclass;
begin
  for later in
    select oid
    from pg_class
    where relnamespace = 'candled'::regnamespace
      and relkind = 'v'
      and relname like 'feed\_%'
  loop
    execute format('drop view %s', later);
  end loop;
end
$views$;

drop function candles(
  text[], text, timestamptz, timestamptz, text, text, timestamptz, text, integer);
drop function
  average_price, bucket_opened_at, feed_identity, series_candles, shown_candle, source_names,
  symbol_error
  cascade;

alter table change drop column term;
alter table day_audit drop column coarse cascade, drop column previous_close cascade;
alter table feed_sequence drop column identity;
alter table journal_position drop column journal;
alter table schema_version drop column text_digest;
alter type candle_row drop attribute symbol;
alter table gap
  drop constraint gap_is_negative_only_if_taken_back,
  add constraint gap_is_not_negative check (volume >= 0 and turnover >= 0);

drop table backfill_chunk;
create table backfill_chunk (
  job text not null,
  chunk integer not null,
  done_at timestamptz not null,
  candles bigint not null,
  primary key (job, chunk)
);

create function bucket_closed_at(
  length smallint,
  american boolean,
  opened_at timestamptz,
  opens timestamptz,
  closes timestamptz
)
returns timestamptz
language sql
immutable
parallel safe
return least(
  opened_at + make_interval(mins => length),
  case
    when not american then null
    when opened_at < opens then opens
    when opened_at < closes then closes
  end);

create function bucket_minutes(length smallint, closed_at timestamptz)
returns integer
language sql
immutable
parallel safe
return length
  - case
    when (closed_at at time zone 'Asia/Shanghai')::time = time '15:00' then 2
    else 0
  end;

create function bucket_opened_at(
  length smallint,
  american boolean,
  opened_at timestamptz,
  trading_day date,
  opens timestamptz,
  closes timestamptz
)
returns timestamptz
language sql
immutable
parallel safe
return case
  when length > 240 and american then
    date_trunc(case length when 1200 then 'week' else 'month' end, trading_day::timestamp)
      at time zone 'America/New_York'
  when length > 240 then
    (date_trunc(case length when 1200 then 'week' else 'month' end, trading_day::timestamp)
      + interval '09:30')
      at time zone 'Asia/Shanghai'
  when not american then
    date_bin(
      make_interval(mins => length),
      opened_at,
      (trading_day
        + case
          when opened_at < (trading_day + time '12:00') at time zone 'Asia/Shanghai'
          then time '09:30'
          else time '13:00'
        end)
        at time zone 'Asia/Shanghai')
  when opened_at >= opens and opened_at < closes then
    date_bin(make_interval(mins => length), opened_at, opens)
  else
    greatest(
      date_bin(make_interval(mins => length), opened_at, timestamptz '2000-01-01 00:00+00'),
      case when opened_at >= closes then closes end)
end;

create function is_auction_minute(opened_at timestamptz)
returns boolean
language sql
immutable
parallel safe
return (opened_at at time zone 'Asia/Shanghai')::time
  in (time '14:57', time '14:58');

create function period_is_whole(
  american boolean,
  first_day date,
  last_day date,
  days bigint,
  last_known_day date
)
returns boolean
language plpgsql
stable
set search_path = candled, pg_temp
as $function$
declare
  market constant smallint := case when american then 5 else 1 end;
begin
  if exists (select from market_session s where s.exchange = market and s.day <= first_day)
    and exists (select from market_session s where s.exchange = market and s.day >= last_day)
  then
    return days >= (
      select count(*)
      from market_session s
      where s.exchange = market
        and s.day between first_day and last_day);
  end if;
  return last_known_day >= last_day - greatest(extract(isodow from last_day)::integer - 5, 0);
end
$function$;

create function regular_session(
  day date,
  out opens timestamptz,
  out closes timestamptz
)
language sql
stable
set search_path = candled, pg_temp
as $function$
  select
    coalesce(
      max(s.opens), (regular_session.day + time '09:30') at time zone 'America/New_York'),
    coalesce(
      max(s.closes), (regular_session.day + time '16:00') at time zone 'America/New_York')
  from market_session s
  where s.exchange = 5
    and s.day = regular_session.day
$function$;

create function session_grid(american boolean, day date, length smallint)
returns table (opened_at timestamptz, closed_at timestamptz)
language sql
stable
set search_path = candled, pg_temp
as $function$
  select g.opened_at, least(g.opened_at + make_interval(mins => length), h.closes)
  from regular_session(day) r
  cross join lateral (
    values
      (american, r.opens, r.closes),
      (
        not american,
        (day + time '09:30') at time zone 'Asia/Shanghai',
        (day + time '11:30') at time zone 'Asia/Shanghai'),
      (
        not american,
        (day + time '13:00') at time zone 'Asia/Shanghai',
        (day + time '15:00') at time zone 'Asia/Shanghai')
  ) h (applies, opens, closes)
  cross join lateral generate_series(
    h.opens, h.closes - interval '1 second', make_interval(mins => length)) g (opened_at)
  where h.applies
$function$;

create function series_candles(
  series integer,
  length smallint,
  from_ts timestamptz,
  to_ts timestamptz,
  as_of timestamptz,
  factor_kind smallint,
  stands_on date
)
returns setof candle
language plpgsql
stable
set search_path = candled, pg_temp
as $function$
begin
  if length in (1, 90, 240) then
    return query
      select *
      from series_adjusted(series, length, from_ts, to_ts, as_of, factor_kind, stands_on);
  else
    return query
      select *
      from series_rolled(
        series, length, from_ts, to_ts, as_of, factor_kind, stands_on, false);
  end if;
end
$function$;

update schema_version set version = 1;
reset role;
