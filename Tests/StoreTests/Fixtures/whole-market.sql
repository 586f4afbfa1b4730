-- Two markets on three days with gaps, revisions, half days, a halt, bars of sources, quotes that
-- form a minute and a day, day candles of a year, factors. Drawn by random(): set the seed before.

set search_path = candled;

insert into instrument (id, symbol, name, kind, source, first_seen)
select n, 'sh60000' || n, 'name ' || n, case n when 9 then 3 else 1 end, 1, now()
from generate_series(0, 9) n
union all
select 10 + n, 'US' || chr(65 + n), null, 1, case when n < 4 then 4 else 3 end, now()
from generate_series(0, 7) n;

select count(ensure_partition(m::date))
from generate_series(date '2025-10-01', '2026-11-01', interval '1 month') m;

insert into market_session
values
  (1, '2026-11-25', '2026-11-25 09:30+08', '2026-11-25 15:00+08'),
  (1, '2026-11-26', '2026-11-26 09:30+08', '2026-11-26 11:30+08'),
  (5, '2026-11-25', '2026-11-25 09:30-05', '2026-11-25 16:00-05'),
  (5, '2026-11-27', '2026-11-27 09:30-05', '2026-11-27 13:00-05');

-- Minutes: nearly all of some instruments, few of others, none of a halted one.
insert into candle
select
  o, o + interval '1 minute', o + interval '61 seconds', i.id, d.day, 1,
  (case when random() < 0.2 then 1 else 0 end)
    | (case when random() < 0.02 then 2 else 0 end)
    | (case when random() < 0.1 then 4 else 0 end)
    | (case when random() < 0.05 then 64 else 0 end),
  i.source, (random() * 1.2)::integer, p.low + (random() * 2)::numeric(4, 2), p.low + 2, p.low,
  p.low + (random() * 2)::numeric(4, 2), (random() * 900)::integer,
  case when random() < 0.99 then (random() * 9000)::numeric(9, 2) end,
  case when i.source <> 1 and random() < 0.99 then (random() * 99)::integer end, null
from instrument i
join source s on s.code = i.source
join market m on m.code = s.market
cross join (
  values (date '2026-11-25'), (date '2026-11-26'), (date '2026-11-27')
) d (day)
cross join lateral (
  select (d.day + n * interval '1 minute') at time zone m.zone
  from generate_series(
    case m.code when 1 then 570 else 240 end, case m.code when 1 then 899 else 1199 end) n
  where m.code <> 1
    or n not between 690 and 779
      and (d.day <> '2026-11-26' or n < 690)
      and n not in (897, 898)
    or n in (897, 898) and i.id = 2
) t (o)
cross join lateral (select (5 + random() * 20)::numeric(7, 3) + 0 * i.id) p (low)
where not (i.id = 3 and d.day = '2026-11-26')
  and random() < case
    -- Drawn once for each instrument: one of the second market is always there.
    when m.code <> 1 then case i.id when 10 then 1 else 0.4 end
    when i.id < 3 then 1
    when i.id < 6 then 0.97
    else 0.3
  end;

update candle
set flags = flags | 1
where instrument_id = 5;

-- Their own bars of sources, some of them over more than one bucket.
insert into candle
select
  o, o + make_interval(mins => l.length), o + interval '2 hours', i.id,
  (o at time zone m.zone)::date, l.length, case when random() < 0.3 then 2 else 0 end, i.source, 0,
  7, 9, 6, 8, 100, 800, null, case when random() < 0.5 then 8.1 end
from instrument i
join source s on s.code = i.source
join market m on m.code = s.market
cross join (values (5), (15), (30), (60)) l (length)
cross join generate_series(
  timestamptz '2026-11-25 09:30+08', '2026-11-27 23:55+08', interval '5 minutes') o
where random() < 0.03;

-- Days of a year, each of nearly all instruments.
insert into candle
select
  (d.day + time '09:30') at time zone m.zone, (d.day + time '16:00') at time zone m.zone,
  (d.day + time '16:10') at time zone m.zone, i.id, d.day, 240, 0, i.source, 0, p.low + 1,
  p.low + 2, p.low, p.low + (random() * 2)::numeric(4, 2), (random() * 90000)::integer,
  (random() * 900000)::numeric(12, 2), null, null
from instrument i
join source s on s.code = i.source
join market m on m.code = s.market
cross join lateral (
  select n::date
  from generate_series(timestamp '2025-10-20', '2026-11-26', interval '1 day') n
  where extract(isodow from n) < 6
) d (day)
cross join lateral (select (5 + random() * 20)::numeric(7, 3) + 0 * extract(day from d.day)) p (low)
where random() < 0.9;

-- The last day of Shanghai is still going on: at 10:31 some have a minute that is forming.
delete from candle
where timeframe = 1
  and instrument_id < 10
  and opened_at > '2026-11-27 10:30+08';

insert into quote
  (changed_seq, quoted_at, received_at, candle_opened_at, instrument_id, trading_day, status,
    trading, candle_flags, candle_source, open, previous_close, last, high, low, bid, ask, volume,
    turnover, candle_open, candle_high, candle_low, candle_close, candle_volume, candle_turnover,
    bids, asks, book_state)
select
  1, '2026-11-27 10:31:20+08', '2026-11-27 10:31:21+08', f.opened_at, n, '2026-11-27', 0, 0,
  (random() * 7)::integer, 1, 10, 9.5, 10 + (random() * 3)::numeric(4, 2), 14, 9, 0, 0, 5000,
  50000, 10, 11, 9, 10.5, 70, 700, '', '', ''
from generate_series(0, 9) n
cross join lateral (
  select case n % 3
    when 0 then timestamptz '2026-11-27 10:31+08'
    when 1 then timestamptz '2026-11-27 10:30+08'
  end
) f (opened_at)
where n <> 8;

-- Some minutes and days were otherwise once.
insert into candle_revision
select c.*, c.known_from + interval '1 hour', 1
from candle c
where random() < 0.1
  and timeframe in (1, 240);

update candle c
set
  known_from = r.known_to,
  revision = r.revision + 1,
  close = c.low
from candle_revision r
where (r.instrument_id, r.timeframe, r.opened_at) = (c.instrument_id, c.timeframe, c.opened_at);

insert into adjustment_factor
select n, 1, d.day, d.factor, '2026-01-01', null
from generate_series(0, 12, 2) n
cross join (values (date '2025-01-01', 1.25), (date '2026-06-01', 1)) d (day, factor);

insert into serving
values (1, '2026-11-26 10:00+08', 2), (1, '2026-11-26 11:00+08', 1);

-- Days were written by hand.
select keep_ranges();
