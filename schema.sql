-- candled's schema: what the daemon writes and what people query. The views and functions are the
-- contract; the tables behind them may change with `schema_version`.
--
-- Install: `candled schema apply`, or `psql -f schema.sql` into an empty UTF-8 database
-- (PostgreSQL 15 or later).
-- Everything lives in the schema `candled`; a database owner also gets it on the
-- database's search_path, and the daemon sets its own. Applying twice changes nothing.
--
-- Roles: `candled_owner` owns every object, `candled` is the daemon (no DDL, no delete on candles),
-- `candled_reader` reads. They are made when the installing role may make roles. Without that right
-- (managed servers) the installing role owns everything: let the daemon log in as that role, or
-- create the three roles first and apply again.

begin;

set local client_min_messages = warning;

-- Roles and the schema itself: the only part that needs more than ownership.

do $roles$
declare
  role_name text;
begin
  foreach role_name in array array['candled_owner', 'candled', 'candled_reader'] loop
    if not exists (select from pg_roles where rolname = role_name) then
      execute format('create role %I login', role_name);
    end if;
  end loop;
exception
  when insufficient_privilege then
    raise notice 'not allowed to create roles: % will own and use everything', current_user;
end
$roles$;

do $schema$
begin
  if exists (select from pg_roles where rolname = 'candled_owner')
    and pg_has_role(current_user, 'candled_owner', 'member')
  then
    create schema if not exists candled authorization candled_owner;
    begin
      execute format('grant create on database %I to candled_owner', current_database());
    exception
      when insufficient_privilege then null;
    end;
  else
    create schema if not exists candled;
  end if;
  begin
    execute format('alter database %I set search_path to candled, public', current_database());
  exception
    when insufficient_privilege then null;
  end;
  if (select pg_has_role(current_user, nspowner, 'member')
      from pg_namespace
      where nspname = 'candled')
  then
    perform set_config(
      'role',
      (select nspowner::regrole::text from pg_namespace where nspname = 'candled'),
      true);
  end if;
end
$schema$;

set local search_path = candled;

comment on schema candled is 'Exact candles, live quotes, and the ledger that proves them.';

-- Names of the codes stored as smallint. Immutable and inlined by the planner.

create or replace function timeframe_name(code smallint)
returns text
language sql
immutable
parallel safe
return case code
  when 1 then '1m'
  when 5 then '5m'
  when 15 then '15m'
  when 30 then '30m'
  when 60 then '60m'
  when 90 then 'after_hours'
  when 240 then '1d'
  when 1200 then '1w'
  when 7200 then '1mo'
end;
comment on function timeframe_name is 'The name of a stored timeframe: 1 is 1m, 240 is 1d.';

create or replace function timeframe_code(name text)
returns smallint
language sql
immutable
parallel safe
return (case name
  when '1m' then 1
  when '5m' then 5
  when '15m' then 15
  when '30m' then 30
  when '60m' then 60
  when '1h' then 60
  when 'after_hours' then 90
  when '1d' then 240
  when '1w' then 1200
  when '1mo' then 7200
end)::smallint;
comment on function timeframe_code is
  'The stored code of a timeframe''s name, null for an unknown one.';

create or replace function source_name(code smallint)
returns text
language sql
immutable
parallel safe
return case code
  when 1 then 'sina'
  when 2 then 'mairui'
  when 3 then 'alpaca_iex'
  when 4 then 'alpaca_sip'
end;
comment on function source_name is 'The name of a stored source.';

create or replace function gap_cause_name(code smallint)
returns text
language sql
immutable
parallel safe
return case code
  when 1 then 'late_start'
  when 2 then 'outage'
  when 3 then 'late_print'
  when 4 then 'unseen_close'
end;
comment on function gap_cause_name is 'Why trading passed unseen.';

create or replace function revision_cause_name(code smallint)
returns text
language sql
immutable
parallel safe
return case code
  when 1 then 'late_print'
  when 2 then 'source_corrected'
  when 3 then 'kline'
  when 100 then 'rewritten'
end;
comment on function revision_cause_name is
  'Why a final candle changed. kline: the exchange''s own minute bars of the day showed better; '
  'source_corrected: its source read differently later; rewritten: we said otherwise ourselves.';

create or replace function trading_name(code smallint)
returns text
language sql
immutable
parallel safe
return case code
  when 0 then 'normal'
  when 1 then 'halted'
  when 2 then 'delisted'
  when 3 then 'pre_open'
  when 4 then 'auction'
  when 5 then 'not_listed'
end;
comment on function trading_name is 'What can be done with an instrument.';

create or replace function exchange_name(code smallint)
returns text
language sql
immutable
parallel safe
return case code
  when 1 then 'shanghai'
  when 2 then 'shenzhen'
  when 3 then 'beijing'
  when 4 then 'hong_kong'
  when 5 then 'united_states'
end;
comment on function exchange_name is 'The name of a stored exchange.';

create or replace function kind_name(code smallint)
returns text
language sql
immutable
parallel safe
return case code
  when 1 then 'stock'
  when 2 then 'fund'
  when 3 then 'index'
  when 4 then 'convertible_bond'
  when 5 then 'b_share'
  when 6 then 'repo'
end;
comment on function kind_name is 'The name of a stored instrument kind.';

create or replace function board_name(code smallint)
returns text
language sql
immutable
parallel safe
return case code
  when 1 then 'main'
  when 2 then 'chinext'
  when 3 then 'star'
  when 4 then 'beijing'
end;
comment on function board_name is 'The name of a stored board.';

create or replace function book_prices(levels text)
returns numeric[]
language sql
immutable
parallel safe
return array(
  select split_part(level, ':', 1)::numeric
  from unnest(string_to_array(levels, ' ')) with ordinality as book (level, place)
  where level <> ''
  order by place);
comment on function book_prices is 'The prices of a stored book side, best level first.';

create or replace function book_volumes(levels text)
returns numeric[]
language sql
immutable
parallel safe
return array(
  select split_part(level, ':', 2)::numeric
  from unnest(string_to_array(levels, ' ')) with ordinality as book (level, place)
  where level <> ''
  order by place);
comment on function book_volumes is 'The volumes of a stored book side, best level first.';

-- Reference data.

create table if not exists schema_version (
  version integer primary key,
  applied_at timestamptz not null default now(),
  objects text[] not null default '{}'
);
comment on table schema_version is 'One row: which schema.sql made this, and the objects it made.';
comment on column schema_version.version is 'Counts up with every change of schema.sql.';
comment on column schema_version.applied_at is 'When it was applied last.';
comment on column schema_version.objects is 'What schema_objects() said then; the check compares.';

create table if not exists instrument (
  id integer primary key,
  symbol text not null,
  source smallint not null default 1,
  exchange smallint,
  kind smallint,
  board smallint,
  name text,
  first_seen timestamptz not null,
  delisted_at date,
  missed_lists smallint not null default 0,
  listed_part text,
  unique (symbol, source),
  constraint symbol_is_short check (length(symbol) between 1 and 16),
  constraint missed_lists_is_a_count check (missed_lists >= 0)
);
comment on table instrument is
  'Every series there ever was, one row each: AAPL of IEX and AAPL of SIP are two. '
  'Ids are given once, by the writer.';
comment on column instrument.id is 'Small and dense: the key of quotes and candles.';
comment on column instrument.symbol is 'Canonical spelling: sh600519, sz000001, bj920000, AAPL.';
comment on column instrument.source is
  'Whose series it is, see source_name(); sina and mairui share sina''s.';
comment on column instrument.exchange is 'See exchange_name().';
comment on column instrument.kind is 'See kind_name().';
comment on column instrument.board is 'See board_name(); null where boards do not apply.';
comment on column instrument.name is 'The name the source sends now.';
comment on column instrument.first_seen is 'The daemon''s clock when it first knew of it.';
comment on column instrument.delisted_at is
  'The day it was given up, after it had vanished from enough accepted lists; null while listed.';
comment on column instrument.missed_lists is
  'Accepted lists in a row in which it did not stand.';
comment on column instrument.listed_part is
  'The list it stands in, hslt or bj; null where no list named it.';

create table if not exists trading_day (
  day date primary key,
  completed_at timestamptz,
  instruments integer,
  residuals integer
);
comment on table trading_day is 'The days that were certified.';
comment on column trading_day.day is 'The exchange''s date.';
comment on column trading_day.completed_at is 'When the certificates were written.';
comment on column trading_day.instruments is 'How many certificates.';
comment on column trading_day.residuals is
  'How many of them did not balance: 0, or candled has a bug.';

create table if not exists market_session (
  exchange smallint not null,
  day date not null,
  opens timestamptz not null,
  closes timestamptz not null,
  primary key (exchange, day),
  constraint session_is_forward check (closes > opens)
);
comment on table market_session is 'When markets trade, as their own calendars say.';
comment on column market_session.exchange is 'See exchange_name().';
comment on column market_session.day is 'The exchange''s date.';
comment on column market_session.opens is 'The regular session is [opens, closes).';
comment on column market_session.closes is 'Earlier than usual on half days.';

create table if not exists instrument_list (
  id bigint generated always as identity primary key,
  source smallint not null,
  part text not null,
  judged_at timestamptz not null,
  rows integer not null,
  content_hash bigint not null,
  verdict text not null,
  detail text not null,
  constraint verdict_is_known check (verdict in ('accepted', 'quarantined'))
);
create index if not exists instrument_list_newest on instrument_list (source, part, id);
comment on index instrument_list_newest is 'The list accepted last.';
comment on table instrument_list is
  'Every list of instruments there was, and what was made of it.';
comment on column instrument_list.id is 'In the order they were judged.';
comment on column instrument_list.source is 'See source_name().';
comment on column instrument_list.part is 'Of the universe: hslt, bj, a node, assets.';
comment on column instrument_list.judged_at is 'The daemon''s clock.';
comment on column instrument_list.rows is 'How many instruments it named.';
comment on column instrument_list.content_hash is
  'Of its sorted rows: equal lists have equal hashes.';
comment on column instrument_list.verdict is 'accepted, or quarantined as not plausible.';
comment on column instrument_list.detail is 'For people: why.';

create table if not exists adjustment_factor (
  instrument_id integer not null,
  kind smallint not null,
  from_day date not null,
  factor numeric not null,
  known_from timestamptz not null,
  known_to timestamptz,
  primary key (instrument_id, kind, from_day, known_from),
  constraint factor_is_positive check (factor > 0 and factor < 'Infinity'),
  constraint factor_was_known_forward check (known_to >= known_from)
);
create unique index if not exists adjustment_factor_now
  on adjustment_factor (instrument_id, kind, from_day)
  where known_to is null;
comment on index adjustment_factor_now is 'One factor a day is believed at a time.';
comment on table adjustment_factor is
  'What raw prices are divided by (qfq) or multiplied with (hfq), with what was believed before.';
comment on column adjustment_factor.instrument_id is 'instrument.id';
comment on column adjustment_factor.kind is '1 qfq, 2 hfq.';
comment on column adjustment_factor.from_day is
  'It holds from this day on, until the next row''s.';
comment on column adjustment_factor.factor is 'As the source sends it.';
comment on column adjustment_factor.known_from is 'Believed in [known_from, known_to).';
comment on column adjustment_factor.known_to is 'Null while it is believed.';

create table if not exists api_key_usage (
  source smallint not null,
  label text not null,
  day date not null,
  requests integer not null,
  parked_until timestamptz,
  parked_reason text,
  updated_at timestamptz not null,
  primary key (source, label, day),
  constraint requests_is_a_count check (requests >= 0)
);
comment on table api_key_usage is
  'What each key has spent of its quota. Keys are named, never shown.';
comment on column api_key_usage.source is 'See source_name().';
comment on column api_key_usage.label is 'The key''s name in the configuration.';
comment on column api_key_usage.day is 'The day the quota is counted by: Shanghai''s for mairui.';
comment on column api_key_usage.requests is 'Sent that day, those that failed included.';
comment on column api_key_usage.parked_until is 'Not to be used before then.';
comment on column api_key_usage.parked_reason is 'Why: quota, an invalid key, a rate limit.';
comment on column api_key_usage.updated_at is 'The daemon''s clock.';

create table if not exists bar_watermark (
  source smallint not null,
  chunk text not null,
  timeframe smallint not null,
  through timestamptz not null,
  primary key (source, chunk, timeframe)
);
comment on table bar_watermark is 'How far ready-made bars have been taken in.';
comment on column bar_watermark.source is 'See source_name().';
comment on column bar_watermark.chunk is
  'The symbols that are asked for together, by the name the plan gives them.';
comment on column bar_watermark.timeframe is 'See timeframe_name().';
comment on column bar_watermark.through is 'Every bar that closed until then is stored.';

create table if not exists backfill_chunk (
  job text not null,
  chunk integer not null,
  done_at timestamptz not null,
  candles bigint not null,
  primary key (job, chunk)
);
comment on table backfill_chunk is 'What a backfill has done, so that it goes on there.';
comment on column backfill_chunk.job is 'The plan''s name: equal plans have equal names.';
comment on column backfill_chunk.chunk is 'Its place in the plan.';
comment on column backfill_chunk.done_at is 'Our clock.';
comment on column backfill_chunk.candles is 'How many were written or revised for it.';

-- Live: one row an instrument.

-- fillfactor 50 and no index but the key: every update is HOT, the table never grows. A book
-- side is
-- text (`price:volume price:volume …`, best first): 20 numeric columns made a whole-market sweep
-- 35 %
-- dearer (42 against 31 ms), numeric[] dearer still. The columns are in alignment order.
create table if not exists quote (
  changed_seq bigint not null,
  quoted_at timestamptz not null,
  received_at timestamptz not null,
  candle_opened_at timestamptz,
  instrument_id integer primary key,
  trading_day date not null,
  status smallint not null,
  trading smallint not null,
  candle_flags smallint,
  candle_source smallint,
  open numeric not null,
  previous_close numeric not null,
  last numeric not null,
  high numeric not null,
  low numeric not null,
  bid numeric not null,
  ask numeric not null,
  volume numeric not null,
  turnover numeric not null,
  after_hours_volume numeric,
  after_hours_turnover numeric,
  candle_open numeric,
  candle_high numeric,
  candle_low numeric,
  candle_close numeric,
  candle_volume numeric,
  candle_turnover numeric,
  bids text not null,
  asks text not null,
  book_state bytea not null,
  constraint totals_are_not_negative check (volume >= 0 and turnover >= 0)
) with (
  fillfactor = 50,
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 50000,
  autovacuum_analyze_scale_factor = 0,
  autovacuum_analyze_threshold = 50000
);
comment on table quote is
  'The latest snapshot of each instrument, with its forming minute. People read latest.';
comment on column quote.changed_seq is 'The change (change.seq) that wrote this row last.';
comment on column quote.quoted_at is 'The exchange''s stamp.';
comment on column quote.received_at is 'When it arrived; moves only with the rest of the row.';
comment on column quote.candle_opened_at is
  'The forming minute opened then; null when none is forming.';
comment on column quote.instrument_id is 'instrument.id';
comment on column quote.trading_day is 'The exchange''s date of the stamp.';
comment on column quote.status is 'The exchange''s own status field.';
comment on column quote.trading is
  'See trading_name(): derived from status, prices, book and clock.';
comment on column quote.candle_flags is 'As candle.flags, for the forming minute.';
comment on column quote.candle_source is 'As candle.source, for the forming minute.';
comment on column quote.open is 'Day open; 0 before the first trade.';
comment on column quote.previous_close is 'Last trading day''s close.';
comment on column quote.last is 'Last price; 0 before the first trade.';
comment on column quote.high is 'Day high so far.';
comment on column quote.low is 'Day low so far.';
comment on column quote.bid is 'Best bid.';
comment on column quote.ask is 'Best ask.';
comment on column quote.volume is 'Shares or units traded since the day began.';
comment on column quote.turnover is 'Money traded since the day began.';
comment on column quote.after_hours_volume is
  'Of the 15:05–15:30 fixed-price session, not in volume.';
comment on column quote.after_hours_turnover is 'Of the 15:05–15:30 fixed-price session.';
comment on column quote.candle_open is 'Of the forming minute.';
comment on column quote.candle_high is 'Of the forming minute.';
comment on column quote.candle_low is 'Of the forming minute.';
comment on column quote.candle_close is 'Of the forming minute, so far.';
comment on column quote.candle_volume is 'Of the forming minute, so far.';
comment on column quote.candle_turnover is 'Of the forming minute, so far.';
comment on column quote.bids is 'price:volume of up to five levels, best first; see book_prices().';
comment on column quote.asks is 'price:volume of up to five levels, best first; see book_prices().';
comment on column quote.book_state is 'What the daemon needs to go on after a restart; opaque.';

create table if not exists overview (
  symbol text primary key,
  name text,
  last numeric not null,
  change numeric not null,
  percent_change numeric not null,
  at timestamptz not null
);
comment on table overview is 'World indexes for a market overview; not candled.';
comment on column overview.symbol is 'The source''s symbol: gb_$ixic, rt_hkHSI, s_sh000001.';
comment on column overview.name is 'The name the source sends.';
comment on column overview.last is 'Last price.';
comment on column overview.change is 'Against the previous close.';
comment on column overview.percent_change is 'Against the previous close, in per cent.';
comment on column overview.at is 'The source''s stamp.';

-- Candles: final ones only.

create table if not exists candle (
  opened_at timestamptz not null,
  closed_at timestamptz not null,
  known_from timestamptz not null,
  instrument_id integer not null,
  trading_day date not null,
  timeframe smallint not null,
  flags smallint not null,
  source smallint not null,
  revision smallint not null default 0,
  open numeric not null,
  high numeric not null,
  low numeric not null,
  close numeric not null,
  volume numeric not null,
  turnover numeric,
  trades bigint,
  vwap numeric,
  primary key (instrument_id, timeframe, opened_at),
  constraint interval_is_forward check (closed_at > opened_at),
  constraint high_is_highest
    check (high >= low and (flags & 8 <> 0 or (high >= open and high >= close))),
  constraint low_is_lowest check (flags & 8 <> 0 or (low <= open and low <= close)),
  constraint prices_are_finite check (low >= 0 and high < 'Infinity'),
  constraint volume_is_finite check (volume >= 0 and volume < 'Infinity'),
  constraint turnover_is_finite check (turnover >= 0 and turnover < 'Infinity')
) partition by range (opened_at);
comment on table candle is
  'Final candles. Insert-only but for revisions, whose old values candle_revision keeps.';
comment on column candle.opened_at is
  'The interval is left-open: a print stamped exactly then is not in it …';
comment on column candle.closed_at is '… and right-closed: one stamped exactly then is.';
comment on column candle.known_from is 'When these values became known.';
comment on column candle.instrument_id is 'instrument.id';
comment on column candle.trading_day is 'The exchange''s date.';
comment on column candle.timeframe is 'See timeframe_name().';
comment on column candle.flags is
  'Bits: 1 no trade, 2 partial (see gap), 4 extreme ambiguous, 8 open or close outside range.';
comment on column candle.source is 'See source_name(). Series of different sources never mix.';
comment on column candle.revision is '0 as first written; each revision adds one.';
comment on column candle.open is 'First price in the interval.';
comment on column candle.high is 'Highest price in the interval.';
comment on column candle.low is 'Lowest price in the interval.';
comment on column candle.close is 'Last price in the interval.';
comment on column candle.volume is 'Shares or units.';
comment on column candle.turnover is
  'Money, in the instrument''s currency; null where the source does not tell.';
comment on column candle.trades is 'How many trades; null where the source does not tell.';
comment on column candle.vwap is
  'Volume-weighted average price, of the source; null where it does not tell.';

create index if not exists candle_time on candle using brin (opened_at, trading_day);
comment on index candle_time is 'One minute, or one day, of the whole market.';

create index if not exists candle_doubtful
  on candle (trading_day, instrument_id)
  where timeframe = 1 and flags & 6 <> 0;
comment on index candle_doubtful is 'Minutes that a repair may settle; few.';

create table if not exists candle_revision (
  like candle including comments,
  known_to timestamptz not null,
  cause smallint not null,
  primary key (instrument_id, timeframe, opened_at, revision)
);
comment on table candle_revision is 'What a candle said before it was revised.';
comment on column candle_revision.known_to is
  'These values were believed in [known_from, known_to).';
comment on column candle_revision.cause is 'Why they were replaced; see revision_cause_name().';

create or replace function ensure_partition(day date)
returns boolean
language plpgsql
security definer
set search_path = candled, pg_temp
as $function$
declare
  first_day date := date_trunc('month', day)::date;
  partition_name text := to_char(first_day, '"candle_"YYYY"_"MM');
begin
  if to_regclass(partition_name) is not null then
    return false;
  end if;
  perform pg_advisory_xact_lock(hashtext('candled.ensure_partition'));
  if to_regclass(partition_name) is not null then
    return false;
  end if;
  execute format(
    'create table %I partition of candle for values from (%L) to (%L)
       with (autovacuum_vacuum_insert_scale_factor = 0.1, autovacuum_freeze_min_age = 0)',
    partition_name,
    first_day::timestamp at time zone 'UTC',
    (first_day + interval '1 month') at time zone 'UTC');
  execute format('comment on table %I is %L', partition_name, 'Candles opened in a month (UTC).');
  return true;
exception
  -- Made by the one who held the lock; this session's catalog cache had not heard of it yet.
  when duplicate_table then return false;
end
$function$;
comment on function ensure_partition is
  'Makes the month''s partition of candle if it is not there: the daemon''s only DDL.';

-- The ledger: what passed unseen, what was refused, and the proof at the end of the day.

create table if not exists gap (
  id bigint generated always as identity primary key,
  instrument_id integer not null,
  trading_day date not null,
  from_at timestamptz not null,
  to_at timestamptz not null,
  volume numeric not null,
  turnover numeric not null,
  cause smallint not null,
  known_from timestamptz not null,
  known_to timestamptz,
  closed_by text,
  sightings smallint not null default 0,
  last_sighting_at timestamptz,
  permanent_at timestamptz,
  permanent_reason text,
  constraint gap_is_forward check (to_at >= from_at),
  constraint gap_is_not_negative check (volume >= 0 and turnover >= 0),
  constraint gap_was_closed_by_something check ((known_to is null) = (closed_by is null)),
  constraint gap_is_permanent_for_a_reason
    check ((permanent_at is null) = (permanent_reason is null))
);
create index if not exists gap_instrument on gap (instrument_id, trading_day);
comment on index gap_instrument is 'The gaps of one instrument''s day.';
create index if not exists gap_open on gap (trading_day, instrument_id) where known_to is null;
comment on index gap_open is 'What is still to be healed.';
comment on table gap is
  'Trading that passed while nobody looked: in the day''s volume, in no minute. '
  'Never deleted: a gap whose minutes were found is closed.';
comment on column gap.id is 'In the order they were written.';
comment on column gap.instrument_id is 'instrument.id';
comment on column gap.trading_day is 'The exchange''s date.';
comment on column gap.from_at is 'The last moment the feed was proven alive …';
comment on column gap.to_at is '… and the first one after.';
comment on column gap.volume is 'Shares or units that passed unseen.';
comment on column gap.turnover is 'Money that passed unseen.';
comment on column gap.cause is 'See gap_cause_name().';
comment on column gap.known_from is 'When it was written, by the daemon''s clock.';
comment on column gap.known_to is
  'When its minutes were found, and it left the day''s account; null while it is open.';
comment on column gap.closed_by is
  'What closed it: kline; a smaller one may have been opened for the rest.';
comment on column gap.sightings is
  'How often its minutes were looked for and not found, on separate occasions.';
comment on column gap.last_sighting_at is 'The last of those occasions.';
comment on column gap.permanent_at is
  'Since when nobody looks for it any more; its volume stays in the account.';
comment on column gap.permanent_reason is 'Why not.';

create table if not exists day_audit (
  instrument_id integer not null,
  trading_day date not null,
  exchange_volume numeric,
  exchange_turnover numeric,
  minute_volume numeric not null,
  minute_turnover numeric not null,
  gap_volume numeric not null,
  gap_turnover numeric not null,
  after_hours_volume numeric not null,
  after_hours_turnover numeric not null,
  residual_volume numeric generated always as
    (exchange_volume - minute_volume - gap_volume) stored,
  residual_turnover numeric generated always as
    (exchange_turnover - minute_turnover - gap_turnover) stored,
  balanced boolean generated always as
    (exchange_volume - minute_volume - gap_volume = 0
      and exchange_turnover - minute_turnover - gap_turnover = 0) stored,
  minutes_traded smallint not null,
  minutes_untraded smallint not null,
  minutes_missing smallint not null,
  known_from timestamptz not null,
  repaired_at timestamptz,
  primary key (trading_day, instrument_id)
);
comment on table day_audit is
  'Certificates of conservation: minutes + gaps = the exchange''s day, per instrument and day.';
comment on column day_audit.instrument_id is 'instrument.id';
comment on column day_audit.trading_day is 'The exchange''s date.';
comment on column day_audit.exchange_volume is
  'The exchange''s day total; null if its end was not seen.';
comment on column day_audit.exchange_turnover is
  'The exchange''s day total; null if its end was not seen.';
comment on column day_audit.minute_volume is 'Sum over the minute candles.';
comment on column day_audit.minute_turnover is 'Sum over the minute candles.';
comment on column day_audit.gap_volume is 'Sum over the open gaps.';
comment on column day_audit.gap_turnover is 'Sum over the open gaps.';
comment on column day_audit.after_hours_volume is
  'Of the fixed-price session; in none of the sums.';
comment on column day_audit.after_hours_turnover is
  'Of the fixed-price session; in none of the sums.';
comment on column day_audit.residual_volume is
  'Computed here, not by the daemon: 0, or there is a bug.';
comment on column day_audit.residual_turnover is
  'Computed here, not by the daemon: 0, or there is a bug.';
comment on column day_audit.balanced is
  'Both residuals are 0; null if the day''s end was not seen.';
comment on column day_audit.minutes_traded is 'Of 240.';
comment on column day_audit.minutes_untraded is 'Of 240: proven alive, nothing traded.';
comment on column day_audit.minutes_missing is 'Of 240: no candle.';
comment on column day_audit.known_from is 'When it was written, by the daemon''s clock.';
comment on column day_audit.repaired_at is
  'When the day was last reconciled with the source''s own bars; null if never.';

create table if not exists disagreement (
  id bigint generated always as identity primary key,
  instrument_id integer not null,
  timeframe smallint not null,
  opened_at timestamptz not null,
  trading_day date not null,
  field text not null,
  ours numeric,
  theirs numeric,
  our_source smallint not null,
  their_source smallint not null,
  known_from timestamptz not null,
  resolved_at timestamptz,
  constraint something_disagrees check (ours is distinct from theirs)
);
create unique index if not exists disagreement_open
  on disagreement (instrument_id, timeframe, opened_at, field)
  where resolved_at is null;
comment on index disagreement_open is 'One open row a candle and field.';
comment on table disagreement is
  'Where two sources, or two readings, could not be reconciled. Nothing was changed for it.';
comment on column disagreement.id is 'In the order they were written.';
comment on column disagreement.instrument_id is 'instrument.id';
comment on column disagreement.timeframe is
  'See timeframe_name(): 1 for a minute, or the gap that begins in it; 240 for the day as a whole.';
comment on column disagreement.opened_at is 'Of the candle it is about.';
comment on column disagreement.trading_day is 'The exchange''s date.';
comment on column disagreement.field is 'volume, turnover, open, high, low or close.';
comment on column disagreement.ours is 'As stored; null where nothing is.';
comment on column disagreement.theirs is 'As the other one says; null where it says nothing.';
comment on column disagreement.our_source is 'See source_name().';
comment on column disagreement.their_source is 'See source_name().';
comment on column disagreement.known_from is 'When it was first seen, by the daemon''s clock.';
comment on column disagreement.resolved_at is 'When it was gone; null while it stands.';

create table if not exists rejected (
  id bigint generated always as identity primary key,
  received_at timestamptz not null,
  trading_day date not null,
  source smallint not null,
  symbol text not null default '',
  reason text not null,
  detail text not null,
  payload bytea not null,
  payload_md5 uuid generated always as (md5(payload)::uuid) stored,
  unique (trading_day, source, symbol, reason, payload_md5)
);
comment on table rejected is 'Rows of a response that were refused: each distinct one, once a day.';
comment on column rejected.id is 'In the order they were written.';
comment on column rejected.received_at is 'When it was first received.';
comment on column rejected.trading_day is 'The Shanghai date of that.';
comment on column rejected.source is 'See source_name().';
comment on column rejected.symbol is 'As far as it could be read; empty otherwise.';
comment on column rejected.reason is 'The class of the fault, as counted in the metrics.';
comment on column rejected.detail is 'For people: which field, and what was expected.';
comment on column rejected.payload is 'The row as it came, at most 1 KiB.';
comment on column rejected.payload_md5 is 'Of the payload, for the key.';

create table if not exists source_health (
  source smallint not null,
  endpoint text not null,
  state text not null,
  since timestamptz not null,
  last_success_at timestamptz,
  requests bigint not null,
  failures bigint not null,
  detail text not null,
  updated_at timestamptz not null,
  primary key (source, endpoint)
);
comment on table source_health is 'How each endpoint of each source is doing.';
comment on column source_health.source is 'See source_name().';
comment on column source_health.endpoint is 'The endpoint''s name; never its address.';
comment on column source_health.state is 'up, degraded or down.';
comment on column source_health.since is 'In this state since then.';
comment on column source_health.last_success_at is 'The last usable answer.';
comment on column source_health.requests is 'Since the daemon started.';
comment on column source_health.failures is 'Since the daemon started.';
comment on column source_health.detail is 'For people.';
comment on column source_health.updated_at is 'The daemon''s clock.';

-- The change feed and the daemon's place in its journal.

create table if not exists journal_position (
  only_row boolean primary key default true,
  position bigint not null,
  known_from timestamptz not null,
  updated_at timestamptz not null,
  book_state bytea not null,
  constraint one_row check (only_row)
) with (fillfactor = 50);
comment on table journal_position is
  'How far the journal has become rows. A writer that believes otherwise is refused.';
comment on column journal_position.only_row is 'There is one row.';
comment on column journal_position.position is 'The last journal entry whose effects are stored.';
comment on column journal_position.known_from is 'The daemon''s clock at that entry.';
comment on column journal_position.updated_at is 'The server''s clock.';
comment on column journal_position.book_state is
  'What the daemon needs to go on from there; opaque.';

create table if not exists feed_sequence (
  only_row boolean primary key default true,
  epoch bigint not null,
  last_seq bigint not null,
  constraint one_row check (only_row)
) with (fillfactor = 50);
comment on table feed_sequence is
  'The counter of changes: incremented under its row lock, so seq is commit order.';
comment on column feed_sequence.only_row is 'There is one row.';
comment on column feed_sequence.epoch is
  'Of this database''s life. Another epoch: start again from a snapshot.';
comment on column feed_sequence.last_seq is 'The seq of the last commit.';

create table if not exists change (
  seq bigint primary key,
  committed_at timestamptz not null,
  known_at timestamptz not null,
  position bigint not null,
  quotes integer not null,
  rejections integer not null,
  candle_instrument_ids integer[] not null,
  candle_timeframes smallint[] not null,
  candle_opened_ats timestamptz[] not null,
  revision_instrument_ids integer[] not null,
  revision_timeframes smallint[] not null,
  revision_opened_ats timestamptz[] not null,
  gap_ids bigint[] not null,
  closed_gap_ids bigint[] not null,
  audit_instrument_ids integer[] not null,
  audit_days date[] not null,
  events jsonb not null
);
comment on table change is 'One row a commit: the keys of what it changed. Kept for a horizon.';
comment on column change.seq is 'Contiguous, in commit order.';
comment on column change.committed_at is 'The server''s clock.';
comment on column change.known_at is 'The daemon''s clock.';
comment on column change.position is 'journal_position.position of the commit.';
comment on column change.quotes is
  'How many quotes it wrote: those with quote.changed_seq = seq, until written again.';
comment on column change.rejections is 'How many rejected rows it wrote.';
comment on column change.candle_instrument_ids is
  'Candles that became final, as parallel arrays of keys.';
comment on column change.candle_timeframes is
  'Candles that became final, as parallel arrays of keys.';
comment on column change.candle_opened_ats is
  'Candles that became final, as parallel arrays of keys.';
comment on column change.revision_instrument_ids is
  'Candles that were revised, as parallel arrays of keys.';
comment on column change.revision_timeframes is
  'Candles that were revised, as parallel arrays of keys.';
comment on column change.revision_opened_ats is
  'Candles that were revised, as parallel arrays of keys.';
comment on column change.gap_ids is 'gap.id of the gaps it opened.';
comment on column change.closed_gap_ids is 'gap.id of the gaps it closed.';
comment on column change.audit_instrument_ids is
  'Certificates it wrote, as parallel arrays of keys.';
comment on column change.audit_days is 'Certificates it wrote, as parallel arrays of keys.';
comment on column change.events is 'Control events, in order: [{"event": "minute_complete", …}].';

insert into feed_sequence (epoch, last_seq)
values ((extract(epoch from clock_timestamp()) * 1000000)::bigint, 0)
on conflict (only_row) do nothing;

insert into journal_position (position, known_from, updated_at, book_state)
values (0, '-infinity', now(), '')
on conflict (only_row) do nothing;

-- For people.

create or replace function instrument_id(spelling text)
returns integer
language sql
stable
parallel safe
set search_path = candled, pg_temp
as $function$
  select id
  from instrument
  where symbol = case
    when spelling ~* '^(sh|sz|bj)[0-9]{6}$' then lower(spelling)
    when spelling ~* '^[0-9]{6}\.(sh|ss|xshg)$' then 'sh' || left(spelling, 6)
    when spelling ~* '^[0-9]{6}\.(sz|xshe)$' then 'sz' || left(spelling, 6)
    when spelling ~* '^[0-9]{6}\.bj$' then 'bj' || left(spelling, 6)
    else spelling
  end
  order by source desc
  limit 1
$function$;
comment on function instrument_id is
  'The id behind any usual spelling: 600519.SH, sh600519, SH600519, 600519.XSHG; null if unknown.';

create or replace view instruments as
select
  id,
  symbol,
  name,
  exchange_name(exchange) as exchange,
  kind_name(kind) as kind,
  board_name(board) as board,
  first_seen
from instrument;
comment on view instruments is 'Instruments, with their codes as words.';

create or replace view candle_1m as
select
  i.symbol,
  c.trading_day,
  c.opened_at,
  c.closed_at,
  c.open,
  c.high,
  c.low,
  c.close,
  c.volume,
  c.turnover,
  'final' as state,
  (c.flags & 1) <> 0 as no_trade,
  (c.flags & 2) <> 0 as partial,
  (c.flags & 4) <> 0 as extreme_ambiguous,
  c.revision,
  source_name(c.source) as source,
  c.instrument_id
from candle c
join instrument i on i.id = c.instrument_id
where c.timeframe = 1
union all
select
  i.symbol,
  q.trading_day,
  q.candle_opened_at,
  q.candle_opened_at + interval '1 minute',
  q.candle_open,
  q.candle_high,
  q.candle_low,
  q.candle_close,
  q.candle_volume,
  q.candle_turnover,
  'open',
  (q.candle_flags & 1) <> 0,
  (q.candle_flags & 2) <> 0,
  (q.candle_flags & 4) <> 0,
  0::smallint,
  source_name(q.candle_source),
  q.instrument_id
from quote q
join instrument i on i.id = q.instrument_id
where q.candle_opened_at is not null
  and not exists (
    select
    from candle c
    where c.instrument_id = q.instrument_id
      and c.timeframe = 1
      and c.opened_at = q.candle_opened_at);
comment on view candle_1m is 'Minute candles: final ones, and the forming one with state open.';

create or replace view candle_1d as
select
  i.symbol,
  c.trading_day,
  c.opened_at,
  c.closed_at,
  c.open,
  c.high,
  c.low,
  c.close,
  c.volume,
  c.turnover,
  'final' as state,
  (c.flags & 2) <> 0 as partial,
  c.revision,
  source_name(c.source) as source,
  c.instrument_id
from candle c
join instrument i on i.id = c.instrument_id
where c.timeframe = 240
union all
select
  i.symbol,
  q.trading_day,
  (q.trading_day + time '09:30') at time zone 'Asia/Shanghai',
  (q.trading_day + time '15:00') at time zone 'Asia/Shanghai',
  q.open,
  q.high,
  q.low,
  q.last,
  q.volume,
  q.turnover,
  'open',
  false,
  0::smallint,
  source_name(coalesce(q.candle_source, 1::smallint)),
  q.instrument_id
from quote q
join instrument i on i.id = q.instrument_id
where q.last > 0
  and q.open > 0
  and not exists (
    select
    from candle c
    where c.instrument_id = q.instrument_id
      and c.timeframe = 240
      and c.opened_at >= q.trading_day - interval '1 day'
      and c.trading_day = q.trading_day);
comment on view candle_1d is
  'Day candles, from the exchange''s own day fields; today''s with state open.';

create or replace view latest as
select
  i.symbol,
  i.name,
  trading_name(q.trading) as trading,
  q.quoted_at,
  q.last,
  q.last - q.previous_close as change,
  round(100 * (q.last - q.previous_close) / nullif(q.previous_close, 0), 2) as percent_change,
  q.open,
  q.high,
  q.low,
  q.previous_close,
  q.volume,
  q.turnover,
  q.bid,
  q.ask,
  book_prices(q.bids) as bid_prices,
  book_volumes(q.bids) as bid_volumes,
  book_prices(q.asks) as ask_prices,
  book_volumes(q.asks) as ask_volumes,
  q.after_hours_volume,
  q.after_hours_turnover,
  q.status,
  q.trading_day,
  q.received_at,
  q.changed_seq,
  q.instrument_id
from quote q
join instrument i on i.id = q.instrument_id;
comment on view latest is
  'The latest quote of each instrument, its five-level book as arrays, best first.';

create or replace view coverage as
select
  i.symbol,
  a.trading_day,
  a.minutes_traded::integer as traded,
  a.minutes_untraded::integer as untraded,
  a.minutes_missing::integer as missing,
  a.minute_volume,
  a.gap_volume,
  a.residual_volume,
  a.residual_turnover,
  a.balanced,
  true as certified,
  a.instrument_id
from day_audit a
join instrument i on i.id = a.instrument_id
union all
select
  i.symbol,
  c.trading_day,
  (count(*) filter (where c.flags & 1 = 0))::integer,
  (count(*) filter (where c.flags & 1 <> 0))::integer,
  null,
  sum(c.volume),
  null,
  null,
  null,
  null,
  false,
  c.instrument_id
from candle c
join instrument i on i.id = c.instrument_id
where c.timeframe = 1
  and not exists (
    select
    from day_audit a
    where a.instrument_id = c.instrument_id
      and a.trading_day = c.trading_day)
group by i.symbol, c.instrument_id, c.trading_day;
comment on view coverage is
  'Minutes traded, untraded, missing per instrument and day; missing and residual once certified.';

create or replace view gaps as
select
  i.symbol,
  g.trading_day,
  g.from_at,
  g.to_at,
  g.volume,
  g.turnover,
  gap_cause_name(g.cause) as cause,
  g.known_from,
  g.id,
  g.instrument_id,
  case
    when g.known_to is not null then 'closed'
    when g.permanent_at is not null then 'permanent'
    else 'open'
  end as state,
  g.known_to,
  g.closed_by,
  g.sightings,
  g.last_sighting_at,
  g.permanent_at,
  g.permanent_reason
from gap g
join instrument i on i.id = g.instrument_id;
comment on view gaps is 'What passed unseen, why, and what became of it.';

create or replace view revisions as
select
  i.symbol,
  timeframe_name(r.timeframe) as timeframe,
  r.opened_at,
  r.revision,
  r.open,
  r.high,
  r.low,
  r.close,
  r.volume,
  r.turnover,
  r.known_from,
  r.known_to,
  revision_cause_name(r.cause) as cause,
  r.instrument_id
from candle_revision r
join instrument i on i.id = r.instrument_id;
comment on view revisions is 'What candles said before they were revised.';

create or replace view rejections as
select
  r.trading_day,
  r.received_at,
  source_name(r.source) as source,
  r.symbol,
  r.reason,
  r.detail,
  r.payload
from rejected r;
comment on view rejections is 'Rows that were refused, with the reason.';

create or replace view health as
select
  source_name(h.source) as source,
  h.endpoint,
  h.state,
  h.since,
  h.last_success_at,
  h.requests,
  h.failures,
  h.detail,
  h.updated_at
from source_health h;
comment on view health is 'How each endpoint of each source is doing.';

create or replace function candles(
  symbol text,
  timeframe text default '1m',
  from_ts timestamptz default '-infinity',
  to_ts timestamptz default 'infinity'
)
returns table (
  opened_at timestamptz,
  closed_at timestamptz,
  trading_day date,
  open numeric,
  high numeric,
  low numeric,
  close numeric,
  volume numeric,
  turnover numeric,
  flags smallint,
  revision smallint
)
language sql
stable
set search_path = candled, pg_temp
as $function$
  select
    c.opened_at,
    c.closed_at,
    c.trading_day,
    c.open,
    c.high,
    c.low,
    c.close,
    c.volume,
    c.turnover,
    c.flags,
    c.revision
  from candle c
  where c.instrument_id = candled.instrument_id(candles.symbol)
    and c.timeframe = candled.timeframe_code(candles.timeframe)
    and c.opened_at >= from_ts
    and c.opened_at < to_ts
  order by c.opened_at
$function$;
comment on function candles is
  'Final candles of an instrument opened in [from_ts, to_ts), oldest first.';

-- For followers. LISTEN candled is a hint; these are the truth.

create or replace function feed_position(
  out epoch bigint,
  out first_seq bigint,
  out last_seq bigint,
  out "position" bigint,
  out known_at timestamptz
)
language sql
stable
set search_path = candled, pg_temp
as $function$
  select
    f.epoch,
    coalesce((select min(c.seq) from change c), f.last_seq + 1),
    f.last_seq,
    j.position,
    j.known_from
  from feed_sequence f
  cross join journal_position j
$function$;
comment on function feed_position is
  'The feed''s epoch, its oldest change still kept, its last, and the journal position behind it.';

create or replace function changes(
  after_seq bigint,
  max_rows integer default 1000
)
returns table (
  kind text,
  from_seq bigint,
  seq bigint,
  committed_at timestamptz,
  known_at timestamptz,
  quotes integer,
  rejections integer,
  candle_instrument_ids integer[],
  candle_timeframes smallint[],
  candle_opened_ats timestamptz[],
  revision_instrument_ids integer[],
  revision_timeframes smallint[],
  revision_opened_ats timestamptz[],
  gap_ids bigint[],
  closed_gap_ids bigint[],
  audit_instrument_ids integer[],
  audit_days date[],
  events jsonb
)
language sql
stable
set search_path = candled, pg_temp
as $function$
  (
    select
      'skipped',
      after_seq + 1,
      p.first_seq - 1,
      null::timestamptz,
      null::timestamptz,
      0,
      0,
      '{}'::integer[],
      '{}'::smallint[],
      '{}'::timestamptz[],
      '{}'::integer[],
      '{}'::smallint[],
      '{}'::timestamptz[],
      '{}'::bigint[],
      '{}'::bigint[],
      '{}'::integer[],
      '{}'::date[],
      '[]'::jsonb
    from feed_position() p
    where p.first_seq > after_seq + 1
  )
  union all
  (
    select
      'change',
      c.seq,
      c.seq,
      c.committed_at,
      c.known_at,
      c.quotes,
      c.rejections,
      c.candle_instrument_ids,
      c.candle_timeframes,
      c.candle_opened_ats,
      c.revision_instrument_ids,
      c.revision_timeframes,
      c.revision_opened_ats,
      c.gap_ids,
      c.closed_gap_ids,
      c.audit_instrument_ids,
      c.audit_days,
      c.events
    from change c
    where c.seq > after_seq
    order by c.seq
    limit max_rows
  )
$function$;
comment on function changes is
  'The changes after a cursor, in order; first a row of kind skipped if some are no longer kept.';

create or replace function prune_changes(keep_rows bigint default 200000)
returns bigint
language sql
security definer
set search_path = candled, pg_temp
as $function$
  with pruned as (
    delete from change
    where seq <= (select last_seq from feed_sequence) - greatest(keep_rows, 0)
    returning seq
  )
  select count(*)
  from pruned
$function$;
comment on function prune_changes is
  'Ends the horizon: forgets all but the last keep_rows changes. A day has about 5,000.';

-- What the schema check compares.

create or replace function schema_objects()
returns setof text
language sql
stable
set search_path = candled, pg_temp
as $function$
  select format(
    'column %s.%s %s%s',
    r.relname,
    a.attname,
    format_type(a.atttypid, a.atttypmod),
    case when a.attnotnull then ' not null' else '' end)
  from pg_class r
  join pg_attribute a on a.attrelid = r.oid
  where r.relnamespace = 'candled'::regnamespace
    and r.relkind in ('r', 'p', 'v')
    and not r.relispartition
    and a.attnum > 0
    and not a.attisdropped
  union all
  select format('constraint %s.%s %s', r.relname, c.conname, pg_get_constraintdef(c.oid))
  from pg_constraint c
  join pg_class r on r.oid = c.conrelid
  where c.connamespace = 'candled'::regnamespace
    and not r.relispartition
  union all
  select format('index %s', pg_get_indexdef(x.indexrelid))
  from pg_index x
  join pg_class r on r.oid = x.indrelid
  where r.relnamespace = 'candled'::regnamespace
    and not r.relispartition
  union all
  select format('view %s %s', r.relname, md5(pg_get_viewdef(r.oid)))
  from pg_class r
  where r.relnamespace = 'candled'::regnamespace
    and r.relkind = 'v'
  union all
  select format(
    'function %s(%s) %s',
    p.proname,
    pg_get_function_identity_arguments(p.oid),
    md5(pg_get_functiondef(p.oid)))
  from pg_proc p
  where p.pronamespace = 'candled'::regnamespace
    and p.prokind = 'f'
  order by 1
$function$;
comment on function schema_objects is
  'One line an object, for comparison with schema_version.objects.';

-- Rights. Nobody outside the three roles gets any.

revoke all on schema candled from public;
revoke execute on all functions in schema candled from public;

do $grants$
begin
  if not exists (select from pg_roles where rolname = 'candled_reader') then
    return;
  end if;
  grant usage on schema candled to candled, candled_reader;
  grant select on all tables in schema candled to candled, candled_reader;
  grant execute on all functions in schema candled to candled, candled_reader;
  revoke execute on function ensure_partition, prune_changes from candled_reader;
  grant insert, update on
    instrument,
    trading_day,
    market_session,
    instrument_list,
    adjustment_factor,
    api_key_usage,
    bar_watermark,
    backfill_chunk,
    quote,
    overview,
    candle,
    candle_revision,
    gap,
    day_audit,
    disagreement,
    rejected,
    source_health,
    journal_position,
    feed_sequence,
    change
  to candled;
end
$grants$;

-- For those who outgrow NOTIFY: logical replication of the same tables.

do $publication$
begin
  if not exists (select from pg_publication where pubname = 'candled') then
    create publication candled
      for table
        instrument,
        market_session,
        adjustment_factor,
        quote,
        candle,
        candle_revision,
        gap,
        day_audit,
        disagreement,
        change
      with (publish_via_partition_root = true);
    comment on publication candled is
      'Instruments, quotes, candles and the ledger, for logical replication.';
  end if;
exception
  when insufficient_privilege then
    raise notice 'not allowed to create the publication candled: skipped';
end
$publication$;

insert into schema_version (version, objects)
values (1, array(select schema_objects()))
on conflict (version) do update
set
  applied_at = excluded.applied_at,
  objects = excluded.objects
where schema_version.objects is distinct from excluded.objects;

commit;
