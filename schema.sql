-- candled's schema: what the daemon writes and what people query. The views and functions are the
-- contract; the tables behind them may change with `schema_version`.
--
-- Install: `candled schema apply`, or `psql -f schema.sql` into an empty UTF-8 database
-- (PostgreSQL 15 or later).
-- Everything lives in the schema `candled`; a database owner also gets it on the
-- database's search_path, and the daemon sets its own. Applying it to the version of an older
-- release upgrades that; applying twice changes nothing.
--
-- Roles: `candled_owner` owns every object, `candled` is the daemon (no DDL, no delete on candles),
-- `candled_reader` reads views and calls functions, and no tables but `schema_version`, `market`
-- and `source`: a group, to be granted to logins; `candled_replica` is what logical replicas log in
-- as. They are made when the installing role may make roles, the last one by a superuser alone;
-- where it is none it becomes a member of `candled_owner`. Without that right the installing role
-- owns everything: let the daemon log in as that role, or create the roles first and apply again.

begin;

set local client_min_messages = warning;

-- A newer version is left alone, and so is one that no release had. Any other is upgraded in place.

do $version$
declare
  found integer;
begin
  if to_regclass('candled.schema_version') is null then
    return;
  end if;
  execute 'select max(version) from candled.schema_version' into found;
  -- Of the oldest release, and of this one.
  if found not between 13 and 13 then
    raise exception using
      errcode = 'object_not_in_prerequisite_state',
      message = format(
        'the database has schema version %s, %s', found,
        case
          when found > 13 then 'newer than 13'
          else 'which no release had: it cannot be upgraded'
        end);
  end if;
end
$version$;

-- Roles and the schema itself: the only part that needs more than ownership.

do $roles$
declare
  role_name text;
begin
  foreach role_name in array array['candled_owner', 'candled', 'candled_reader'] loop
    if not exists (select from pg_roles where rolname = role_name) then
      -- Who logs in as a role may reset its limits, and change its password, for all who do.
      execute format(
        'create role %I %s',
        role_name,
        case role_name when 'candled_reader' then 'nologin' else 'login' end);
    end if;
  end loop;
  -- A snapshot held open makes every update of live quotes dearer, and a listener in an open
  -- transaction fills the server's notification queue. Who wants other limits sets them; these are
  -- given once.
  if not exists (
    select
    from pg_roles
    where rolname = 'candled_reader'
      and array_to_string(rolconfig, ' ') like '%idle_in_transaction_session_timeout%')
  then
    alter role candled_reader set idle_in_transaction_session_timeout = '60s';
    alter role candled_reader set statement_timeout = '5min';
  end if;
  -- Of logical replicas. Only a superuser makes a role that replicates.
  if not exists (select from pg_roles where rolname = 'candled_replica') then
    begin
      create role candled_replica login replication;
    exception
      when insufficient_privilege then null;
    end;
  end if;
  -- To name the session that holds the notification queue. Granting locks the members of all roles
  -- of the server, for which other databases' schemas would wait.
  begin
    if not pg_has_role('candled', 'pg_read_all_stats', 'member') then
      grant pg_read_all_stats to candled;
    end if;
  exception
    when insufficient_privilege then null;
  end;
  -- Everybody may do this, until an operator takes it from readers; so it is granted by name.
  if current_setting('is_superuser')::boolean then
    grant execute on function
      pg_catalog.pg_try_advisory_lock(bigint), pg_catalog.pg_current_xact_id()
    to candled;
    execute format('grant temporary on database %I to candled', current_database());
  end if;
exception
  when insufficient_privilege then
    raise notice 'not allowed to create roles: % will own and use everything', current_user;
end
$roles$;

do $schema$
declare
  -- To PostgreSQL 16 who makes a role is a member of it that may not become it.
  becoming text := case
    when current_setting('server_version_num')::integer >= 160000 then 'set'
    else 'member'
  end;
begin
  if exists (select from pg_roles where rolname = 'candled_owner')
    and not pg_has_role(current_user, 'candled_owner', becoming)
  then
    begin
      grant candled_owner to current_user;
    exception
      when insufficient_privilege then null;
    end;
  end if;
  if exists (select from pg_roles where rolname = 'candled_owner')
    and pg_has_role(current_user, 'candled_owner', becoming)
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
    -- For every login: members of a role do not get the role's settings.
    if not exists (
      select
      from pg_db_role_setting s
      join pg_database d on d.oid = s.setdatabase
      where d.datname = current_database()
        and s.setrole = 0
        and array_to_string(s.setconfig, ' ') ~* '(^| )timezone=')
    then
      execute format('alter database %I set timezone to %L', current_database(), 'Asia/Shanghai');
    end if;
  exception
    when insufficient_privilege then null;
  end;
  if (select pg_has_role(current_user, nspowner, becoming)
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

create or replace function is_replica()
returns boolean
language sql stable
as $function$
  -- A logical replica has the rows of its primary, and makes none of its own: the file does not
  -- write any there, nor where `candled schema apply --replica` applies it for one.
  select pg_is_in_recovery()
    or coalesce(current_setting('candled.as_replica', true), '') = 'on'
    or exists (
      select
      from pg_subscription_rel s
      join pg_class r on r.oid = s.srrelid
      where r.relname = 'feed_sequence'
        and r.relnamespace = 'candled'::regnamespace)
$function$;
comment on function is_replica is
  'Whether the rows of this database come from another one: a standby, or a subscriber.';

-- Names of the codes stored as smallint. Immutable and inlined by the planner.

create or replace function timeframe_code(name text)
returns smallint
language sql immutable parallel safe
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
comment on function timeframe_code is 'The stored code of a timeframe''s name, or null.';

do $codes$
declare
  made record;
begin
  for made in
    select *
    from (
      values
        (
          'timeframe_name',
          '1 1m, 5 5m, 15 15m, 30 30m, 60 60m, 90 after_hours, 240 1d, 1200 1w, 7200 1mo',
          'The name of a stored timeframe: 1 is 1m, 240 is 1d.'
        ),
        (
          'gap_cause_name',
          '1 late_start, 2 outage, 3 late_print, 4 unseen_close, 5 dispute, 6 correction',
          'Why volume is in no minute. dispute: two contradicting readings came in turn; '
            'correction: volume was taken back, so it is negative.'
        ),
        (
          'revision_cause_name',
          '1 late_print, 2 source_corrected, 3 kline, 4 correction, 100 rewritten',
          'Why a final candle changed. kline: the exchange''s own minute bars of the day showed '
            'better; source_corrected: its source read differently later; correction: a row it was '
            'built from was false, or the exchange took volume back; rewritten: we said otherwise '
            'ourselves.'
        ),
        (
          'trading_name',
          '0 normal, 1 halted, 2 delisted, 3 pre_open, 4 auction, 5 not_listed',
          'What can be done with an instrument.'
        ),
        (
          'exchange_name',
          '1 shanghai, 2 shenzhen, 3 beijing, 4 hong_kong, 5 united_states',
          'The name of a stored exchange.'
        ),
        (
          'kind_name',
          '1 stock, 2 fund, 3 index, 4 convertible_bond, 5 b_share, 6 repo',
          'The name of a stored instrument kind.'
        ),
        (
          'board_name',
          '1 main, 2 chinext, 3 star, 4 beijing',
          'The name of a stored board.'
        )
    ) v (name, codes, comment)
  loop
    execute format(
      'create or replace function %I(code smallint) returns text language sql immutable '
        'parallel safe return case code %s end',
      made.name,
      (
        select string_agg(format('when %s then %L', c[1], c[2]), ' ' order by c[1]::integer)
        from regexp_matches(made.codes, '([0-9]+) ([0-9a-z_]+)', 'g') c));
    execute format('comment on function %I is %L', made.name, made.comment);
  end loop;
end
$codes$;

create or replace function book_prices(levels text)
returns numeric[]
language sql immutable parallel safe
return array(
  select split_part(level, ':', 1)::numeric
  from unnest(string_to_array(levels, ' ')) with ordinality as book (level, place)
  where level <> ''
  order by place);
comment on function book_prices is 'The prices of a stored book side, best level first.';

create or replace function book_volumes(levels text)
returns numeric[]
language sql immutable parallel safe
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
  objects text[] not null default '{}',
  text_digest text
);
comment on table schema_version is 'One row: the version of the schema, and the objects it made.';
comment on column schema_version.version is 'Schema version; each change of schema.sql adds one.';
comment on column schema_version.applied_at is 'When schema.sql was applied last.';
comment on column schema_version.objects is 'Of schema_objects() then, for candled schema check.';
comment on column schema_version.text_digest is
  'MD5 of schema.sql as applied by candled, else null. If it is equal, the schema is not applied '
  'again.';

-- Markets and sources are data. Whoever applies the schema, and the daemon as its term begins,
-- writes the rows; nothing here knows one by its number.

create table if not exists market (
  code smallint primary key,
  name text not null unique,
  zone text not null,
  opens time[] not null,
  closes time[] not null,
  day_opens time not null,
  weekdays smallint[] not null,
  calendar smallint,
  every_minute boolean not null,
  silent_minutes time[] not null,
  currency text not null,
  units text not null default 'shares',
  hours_change boolean,
  constraint sessions_have_two_ends check (cardinality(opens) = cardinality(closes)),
  constraint market_trades check (cardinality(opens) > 0 and cardinality(weekdays) > 0)
);
comment on table market is 'Markets: when they trade, and in what money.';
comment on column market.code is 'Given once.';
comment on column market.name is 'As settings and people name it.';
comment on column market.zone is 'Of its clock, by the name in the time zone database.';
comment on column market.opens is 'When its sessions begin, on its clock, in order.';
comment on column market.closes is 'When they end; 24:00 for the end of the day.';
comment on column market.day_opens is 'When its day, week and month candles open.';
comment on column market.weekdays is 'Days of the week it trades on, 1 is Monday.';
comment on column market.calendar is
  'The exchange whose days market_session has, see exchange_name(); null where it has no calendar.';
comment on column market.every_minute is
  'Whether each minute of a session has a candle, so that one that lacks is missing.';
comment on column market.silent_minutes is
  'Minutes, by when they open, that need no candle: an auction is being collected.';
comment on column market.currency is 'What prices and turnover are in: ISO 4217.';
comment on column market.units is 'What volumes count: shares (of funds, units).';
comment on column market.hours_change is
  'True where the hours of some days are others: then those of a day are in the table rule.';

create table if not exists rule (
  id bigint generated always as identity primary key,
  market text not null,
  board text not null,
  kind text not null,
  key text not null,
  value text not null,
  from_day date not null,
  to_day date not null,
  source text not null,
  is_operators boolean not null,
  known_from timestamptz not null default now(),
  known_to timestamptz,
  constraint rule_is_forward check (from_day <= to_day)
);
create index if not exists rule_now
  on rule (market, key)
  where known_to is null;
comment on table rule is
  'Rules of exchanges and sources by day, as docs/rules.md has them: of those that apply, the one of '
  'the narrowest board, then one with a kind, then the operator''s, then the newest counts.';
comment on column rule.market is 'Of market.name.';
comment on column rule.board is 'An exchange, a board, a symbol; empty: all of the market.';
comment on column rule.kind is 'Of instruments; empty: each.';
comment on column rule.key is 'What is ruled: hours, tick, limit.';
comment on column rule.from_day is 'The first day it holds.';
comment on column rule.to_day is 'The last day it holds.';
comment on column rule.source is 'Where the rule is from.';
comment on column rule.is_operators is 'It is of the file that the setting rules.file names.';
comment on column rule.known_from is 'When it became known.';
comment on column rule.known_to is 'When it was taken out or changed; null while it stands.';

create or replace function market_rule(market text, key text, day date)
returns text
language sql stable parallel safe
return (
  select r.value
  from rule r
  where r.market = market_rule.market
    and r.key = market_rule.key
    and r.board = ''
    and r.kind = ''
    and market_rule.day between r.from_day and r.to_day
    and r.known_to is null
  order by r.is_operators desc, r.from_day desc
  limit 1
);
comment on function market_rule is
  'What a rule of all of a market says on a day, as it is known now; null without one.';

create table if not exists source (
  code smallint primary key,
  name text not null unique,
  market smallint not null references market,
  series smallint not null,
  priority smallint not null,
  kind text not null,
  quoted text[]
);
comment on table source is 'Series of market data, one for each source and feed.';
comment on column source.code is 'Given once: rows and journals hold it.';
comment on column source.name is 'As it is shown.';
comment on column source.market is 'Where its instruments trade: market.code.';
comment on column source.series is
  'Whose instruments its rows belong to: its own code, or that of the source that quotes them.';
comment on column source.priority is 'If a query names no source, the lowest wins.';
comment on column source.kind is 'quotes, or bars where it has nothing else.';
comment on column source.quoted is
  'Of what its live quotes are booked, such as shanghai stock; null: of all of its market.';

create or replace function source_name(code smallint)
returns text
language sql stable parallel safe
return (
  select s.name
  from source s
  where s.code = source_name.code);
comment on function source_name is 'The name of a stored source.';

create or replace function source_names()
returns text[]
language plpgsql stable parallel safe
as $function$
declare
  names text[] := '{}';
  known record;
begin
  for known in select s.code, s.name from candled.source s loop
    names[known.code] := known.name;
  end loop;
  return names;
end
$function$;
comment on function source_names is 'The names of the sources, each at the place of its code.';

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
  chain integer[],
  reused_on date,
  constraint symbol_is_short check (length(symbol) between 1 and 16),
  constraint missed_lists_is_a_count check (missed_lists >= 0)
);
create unique index if not exists instrument_symbol
  on instrument (symbol, source)
  where reused_on is null;
create index if not exists instrument_code on instrument (symbol);
comment on table instrument is
  'One row per series: AAPL of IEX and AAPL of SIP are two. The writer assigns each id once.';
comment on column instrument.symbol is 'Canonical spelling: sh600519, sz000001, bj920000, AAPL.';
comment on column instrument.exchange is 'See exchange_name().';
comment on column instrument.kind is 'See kind_name().';
comment on column instrument.board is 'See board_name(); null where boards do not apply.';
comment on column instrument.name is 'As the source sends it now, without control characters.';
comment on column instrument.first_seen is 'When it was first received, by the daemon''s clock.';
comment on column instrument.delisted_at is
  'The day it was marked delisted because enough accepted lists lacked it; null while listed.';
comment on column instrument.chain is
  'The codes of its security, by their ids, oldest first: see instrument_link. The first id stands '
  'for the security for ever, the last one is of the code of today. Null where it had but one.';
comment on column instrument.reused_on is
  'From that day on another instrument has the code; null where none has.';

create table if not exists instrument_name (
  instrument_id integer not null,
  from_day date not null,
  name text not null,
  marks text[] not null default '{}',
  primary key (instrument_id, from_day)
);
comment on table instrument_name is 'The names an instrument had, by the day each was first seen.';
comment on column instrument_name.from_day is 'By the daemon''s clock, in Shanghai.';
comment on column instrument_name.name is 'As instrument.name.';
comment on column instrument_name.marks is
  'What it says of the price limit: first_day, first_days, special_treatment.';

create table if not exists instrument_link (
  from_id integer not null,
  to_id integer not null,
  day date not null,
  kind text not null,
  verdict text not null,
  ratio numeric,
  cash numeric,
  source text not null,
  known_from timestamptz not null,
  known_to timestamptz,
  primary key (from_id, to_id, known_from),
  constraint link_joins_two check (from_id <> to_id),
  constraint kind_is_known
    check (kind in ('rename', 'merger', 'conversion', 'relisting', 'split_off')),
  constraint verdict_is_known check (verdict in ('proven', 'declared', 'suspected')),
  constraint ratio_is_positive check (ratio > 0)
);
create unique index if not exists instrument_link_standing
  on instrument_link (from_id, to_id)
  where known_to is null;
create unique index if not exists instrument_link_from
  on instrument_link (from_id)
  where known_to is null and kind = 'rename' and verdict <> 'suspected';
create unique index if not exists instrument_link_to
  on instrument_link (to_id)
  where known_to is null and kind = 'rename' and verdict <> 'suspected';
comment on table instrument_link is
  'What became of an instrument. A rename that is not only suspected makes one security of both '
  'codes, see instrument.chain; every other kind is shown and joins nothing.';
comment on column instrument_link.from_id is 'The old code: instrument.id';
comment on column instrument_link.to_id is 'The new code: instrument.id';
comment on column instrument_link.day is 'The first day of the new code, or of the conversion.';
comment on column instrument_link.kind is 'rename, merger, conversion, relisting or split_off.';
comment on column instrument_link.verdict is
  'proven by rows, declared by the operator or a file, or suspected.';
comment on column instrument_link.ratio is 'New shares for one old one; null where not known.';
comment on column instrument_link.cash is 'Money for one old share beside them.';
comment on column instrument_link.source is 'Where it comes from, for people.';
comment on column instrument_link.known_from is 'When it became known, by the daemon''s clock.';
comment on column instrument_link.known_to is 'When it ended; null while it stands.';

create or replace function chain_instruments()
returns trigger
language plpgsql security definer
as $function$
declare
  changed constant integer[] := array[new.from_id, new.to_id];
begin
  -- All that were one security with either, and what they are now.
  with recursive member (id) as (
    select unnest(changed)
    union
    select unnest(i.chain)
    from instrument i
    where i.id = any (changed)
  ),
  standing as (
    select l.from_id, l.to_id, l.day
    from instrument_link l
    where l.known_to is null
      and l.kind = 'rename'
      and l.verdict <> 'suspected'
  ),
  -- Days grow along a chain, so it ends.
  path (root, ids, day) as (
    select m.id, array[m.id], '-infinity'::date
    from (
      select unnest(i.chain)
      from instrument i
      join member n on n.id = i.id
      union
      select n.id
      from member n
    ) m (id)
    where not exists (select from standing s where s.to_id = m.id)
    union all
    select p.root, p.ids || s.to_id, s.day
    from path p
    join standing s on s.from_id = p.ids[cardinality(p.ids)] and s.day > p.day
  ),
  whole as (
    select distinct on (p.root) p.ids
    from path p
    order by p.root, cardinality(p.ids) desc
  )
  update instrument i
  set chain = case when cardinality(w.ids) > 1 then w.ids end
  from whole w
  where i.id = any (w.ids)
    and i.chain is distinct from case when cardinality(w.ids) > 1 then w.ids end;
  perform keep_ranges(c.ids, array_fill(null::timestamptz, array[cardinality(c.ids)]))
  from (
    select array_agg(distinct m.id) as ids
    from instrument i
    cross join lateral unnest(coalesce(i.chain, array[i.id])) m (id)
    where i.id = any (changed)
  ) c;
  return null;
end
$function$;
comment on function chain_instruments is
  'Keeps instrument.chain, and the ranges of those whose it changed.';

create table if not exists trading_day (
  day date primary key,
  completed_at timestamptz,
  instruments integer,
  residuals integer
);
comment on table trading_day is
  'Days with certificates: how many, and how many do not balance, which is 0 or a bug.';

create table if not exists market_session (
  exchange smallint not null,
  day date not null,
  opens timestamptz not null,
  closes timestamptz not null,
  grade smallint not null default 1,
  known_from timestamptz not null default now(),
  known_to timestamptz,
  primary key (exchange, day, known_from),
  constraint session_is_forward check (closes >= opens),
  constraint grade_is_known check (grade between 1 and 2)
);
create unique index if not exists market_session_now
  on market_session (exchange, day)
  where known_to is null;
comment on table market_session is
  'Trading sessions of the markets, as their calendars declare them or as they were observed.';
comment on column market_session.exchange is 'See exchange_name().';
comment on column market_session.day is 'The exchange''s date.';
comment on column market_session.opens is
  'The regular session is [opens, closes): none where a day that was known to trade does not.';
comment on column market_session.closes is 'Earlier than usual on half days.';
comment on column market_session.grade is '1: declared by a calendar; 2: observed.';
comment on column market_session.known_from is 'When it became known, by the daemon''s clock.';
comment on column market_session.known_to is
  'When another reading of the day took its place; null while it stands.';

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
comment on table instrument_list is 'Every list of instruments received, and the verdict on it.';
comment on column instrument_list.part is 'Part of the universe: hslt, bj, a node, assets.';
comment on column instrument_list.judged_at is 'When the verdict was reached: the daemon''s clock.';
comment on column instrument_list.rows is 'Number of instruments in the list.';
comment on column instrument_list.content_hash is 'Of its sorted rows: the same for equal lists.';
comment on column instrument_list.verdict is 'accepted, or quarantined as not plausible.';
comment on column instrument_list.detail is 'The reason, for people.';

create table if not exists adjustment_factor (
  instrument_id integer not null,
  kind smallint not null,
  from_day date not null,
  factor numeric,
  known_from timestamptz not null,
  known_to timestamptz,
  filed numeric,
  is_fund boolean not null default false,
  filed_cash numeric,
  filed_split numeric,
  basis text not null default 'file',
  verdict text,
  exception text,
  primary key (instrument_id, kind, from_day, known_from),
  constraint factor_is_positive check (factor > 0 and factor < 'Infinity'),
  constraint factor_was_known_forward check (known_to >= known_from)
);
create unique index if not exists adjustment_factor_now
  on adjustment_factor (instrument_id, kind, from_day)
  where known_to is null;
comment on table adjustment_factor is
  'Adjustment factors as they are served, over time. qfq divides, hfq multiplies.';
comment on column adjustment_factor.kind is
  '1 qfq, 2 hfq: dividends and splits; 3 split: units that one of the first day has become.';
comment on column adjustment_factor.from_day is 'Valid from this day until the next row''s.';
comment on column adjustment_factor.factor is
  'The file''s, where no step since (qfq) or before (hfq) is another; null: not known.';
comment on column adjustment_factor.filed is
  'As the file has it; null where it has nothing of the day.';
comment on column adjustment_factor.is_fund is
  'Whether the file has cash and splits beside it, as those of funds do.';
comment on column adjustment_factor.filed_cash is
  'Cash a unit so far, as a fund''s file has it; null where that cannot be read.';
comment on column adjustment_factor.filed_split is
  'The product of the splits so far, as a fund''s file has it: 1 to 2 may be 2 or 0.5.';
comment on column adjustment_factor.basis is
  'What the step of from_day rests on: file, or derived (the close over the next previous close).';
comment on column adjustment_factor.verdict is
  'What the exchange''s previous close says of the file''s step: proven, within_a_tick (also of one '
  'that the file lacks), contradicted or untestable. Null before the first change, and where '
  'nothing changed.';
comment on column adjustment_factor.exception is
  'Why the verdict is no better: unrecorded, close_unseen, first_day (no close before it is stored, '
  'of a fund none of 30 days), unmoved (the previous close of a fund that paid is the close) or '
  'cash_by_holder (a tick off).';
comment on column adjustment_factor.known_from is 'This value was known in [known_from, known_to).';
comment on column adjustment_factor.known_to is 'Null for the current value.';

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
comment on table api_key_usage is 'Used quota of each key. Keys are named, never shown.';
comment on column api_key_usage.label is 'Name of the key in the configuration.';
comment on column api_key_usage.day is 'Day of the quota: Shanghai''s for mairui.';
comment on column api_key_usage.requests is 'Requests sent that day, failed ones included.';
comment on column api_key_usage.parked_until is 'The key is not used before this time.';
comment on column api_key_usage.parked_reason is 'Reason: quota, an invalid key, a rate limit.';
comment on column api_key_usage.updated_at is 'The daemon''s clock.';

create table if not exists bar_watermark (
  source smallint not null,
  chunk text not null,
  timeframe smallint not null,
  through timestamptz not null,
  primary key (source, chunk, timeframe)
);
comment on table bar_watermark is 'Progress of the bars received from sources.';

create table if not exists backfill_chunk (
  name text primary key,
  through date not null,
  done_at timestamptz not null,
  candles bigint not null
);
comment on table backfill_chunk is 'Finished chunks of backfill, so that --resume can skip them.';

-- Live: one row an instrument.

-- fillfactor 25 and no index but the key: three older versions fit beside each row, so that updates
-- are HOT and the table does not grow while a query of ten sweeps needs them (with 50 a sweep's
-- commit beside one cost 1.3 times its CPU). A book side is text (`price:volume price:volume …`,
-- best first): 20 numeric columns made a whole-market sweep 35 % dearer (42 against 31 ms),
-- numeric[] dearer still. The columns are in alignment order.
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
  book_state bytea not null default '',
  limit_up numeric,
  limit_down numeric,
  constraint totals_are_not_negative check (volume >= 0 and turnover >= 0)
) with (
  fillfactor = 25,
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 50000,
  autovacuum_analyze_scale_factor = 0,
  autovacuum_analyze_threshold = 50000
);
comment on table quote is
  'The latest snapshot of each instrument with its forming minute. For queries use the view '
  'latest.';
comment on column quote.changed_seq is 'The change (change.seq) that last wrote this row.';
comment on column quote.quoted_at is 'The exchange''s stamp.';
comment on column quote.received_at is 'When it arrived; moves only with the rest of the row.';
comment on column quote.status is 'The exchange''s own status field.';
comment on column quote.trading is 'See trading_name(): from status, prices, book and clock.';
comment on column quote.open is 'Day open; 0 before the first trade.';
comment on column quote.previous_close is 'Last trading day''s close.';
comment on column quote.last is 'Last price; at first 0, of ETFs and indexes the previous close.';
comment on column quote.high is 'Day high so far.';
comment on column quote.low is 'Day low so far.';
comment on column quote.bid is 'Best bid.';
comment on column quote.ask is 'Best ask.';
comment on column quote.volume is 'Shares or units traded since the day began.';
comment on column quote.turnover is 'Money traded since the day began.';
comment on column quote.after_hours_volume is 'Of the 15:05–15:30 session, not in volume.';
comment on column quote.after_hours_turnover is 'Of the 15:05–15:30 fixed-price session.';
comment on column quote.bids is 'price:volume of up to five levels, best first; see book_prices().';
comment on column quote.asks is 'price:volume of up to five levels, best first; see book_prices().';

create table if not exists overview (
  symbol text primary key,
  name text,
  last numeric not null,
  change numeric not null,
  percent_change numeric not null,
  at timestamptz not null
);
comment on table overview is 'World indexes for a market overview, without candles.';
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
  'Start of the interval, exclusive: a print stamped exactly then is in the previous one.';
comment on column candle.closed_at is
  'End of the interval, inclusive: a print stamped exactly then is in this one.';
comment on column candle.flags is
  'Bits: 1 no trade, 2 partial (see gap), 4 extreme ambiguous, 8 open or close outside range, '
  '64 coarse: volume and turnover are off by what their source rounds.';
comment on column candle.volume is
  'Shares or units. 0 without the flag no trade: a partial minute in which no trade was seen; '
  'volume that passed unseen is in gap.';
comment on column candle.vwap is
  'Volume-weighted average price as its source sends it, else null. The views and candles() show '
  'turnover ÷ volume there, to 4 places; null for indexes, without volume, and adjusted.';

create index if not exists candle_time on candle using brin (opened_at, trading_day);
comment on index candle_time is 'One minute, or one day, of the whole market.';

create index if not exists candle_doubtful
  on candle (trading_day, instrument_id)
  where timeframe = 1 and flags & 6 <> 0;
comment on index candle_doubtful is 'Minutes that a repair may settle; few.';

create index if not exists candle_day
  on candle (trading_day, instrument_id)
  where timeframe = 240;
comment on index candle_day is 'The days of the whole market.';

create table if not exists candle_revision (
  like candle including comments,
  known_to timestamptz not null,
  cause smallint not null,
  primary key (instrument_id, timeframe, opened_at, revision)
);
comment on table candle_revision is 'Earlier values of revised candles.';
comment on column candle_revision.known_to is 'These values were known in [known_from, known_to).';
comment on column candle_revision.cause is 'Cause of the revision; see revision_cause_name().';

create table if not exists candle_month (
  month date primary key,
  rows bigint,
  ordered_at timestamptz,
  copied smallint,
  constraint month_is_a_first_day check (extract(day from month) = 1)
);
comment on table candle_month is
  'One row for each month of candles, and when its rows were put in key order.';

create table if not exists candle_moving (
  id bigint generated always as identity primary key,
  instrument_id integer not null,
  timeframe smallint not null,
  opened_at timestamptz not null
);
comment on table candle_moving is
  'Keys of candles that were written while their month is being put in order.';

create or replace function ensure_partition(day date)
returns boolean
language plpgsql
security definer
as $function$
declare
  first_day date := date_trunc('month', day)::date;
  partition_name text := to_char(first_day, '"candle_"YYYY"_"MM');
begin
  if to_regclass(partition_name) is not null then
    return false;
  end if;
  -- One at a time, by the lock that attaching takes. Any reader could take an advisory one.
  lock table candle in share update exclusive mode;
  if to_regclass(partition_name) is not null then
    return false;
  end if;
  -- Made apart and attached, which readers and writers of candle do not notice. Made as a partition
  -- at once, it would wait for everybody who has read a candle and not ended the transaction, and
  -- all others would wait for it.
  execute format(
    'create table %I (like candle including all)
       with (autovacuum_vacuum_insert_scale_factor = 0.1, autovacuum_freeze_min_age = 0)',
    partition_name);
  execute format('comment on table %I is %L', partition_name, 'Candles opened in a month (UTC).');
  execute format(
    'alter table candle attach partition %I for values from (%L) to (%L)',
    partition_name,
    first_day::timestamp at time zone 'UTC',
    (first_day + interval '1 month') at time zone 'UTC');
  insert into candle_month (month)
  values (first_day)
  on conflict do nothing;
  return true;
exception
  -- Made by the one who held the lock; this session's catalog cache had not heard of it yet.
  when duplicate_table then return false;
end
$function$;
comment on function ensure_partition is
    'Creates the month''s partition of candle if it does not exist.';

-- A copy that was begun has the form that candle had then: it is begun again.
do $begun$
declare
  begun text;
begin
  for begun in
    select to_char(month, '"candle_"YYYY"_"MM"_ordered"')
    from candle_month
    where copied is not null
  loop
    execute format('drop table if exists %I', begun);
  end loop;
end
$begun$;

-- Re-clustering. Live candles are written minute by minute, so that the minutes of one instrument
-- lie on as many pages as there are. When a month is closed its rows are copied beside it: first
-- the candles that are no minutes, then the minutes a day at a time, each in key order. One
-- instrument's minutes of a day are then a few pages in a row, and candle_time still finds a day.
-- What is written meanwhile a trigger notes, and it is copied again. At last the copy takes the
-- month's place. Each step is a transaction of its own: who is killed goes on with the next.

create or replace function candle_moved()
returns trigger
language plpgsql
security definer
as $function$
begin
  -- Not once a key: a row found here may be of a change that is copied already.
  if tg_op <> 'INSERT' then
    insert into candle_moving (instrument_id, timeframe, opened_at)
    values (old.instrument_id, old.timeframe, old.opened_at);
  end if;
  if tg_op <> 'DELETE' then
    insert into candle_moving (instrument_id, timeframe, opened_at)
    values (new.instrument_id, new.timeframe, new.opened_at);
  end if;
  return null;
end
$function$;
comment on function candle_moved is 'Notes what is written to a month that is being put in order.';

create or replace function recluster_month(first_day date, out step text, out moved bigint)
language plpgsql
security definer
set timezone = 'UTC'
-- Whoever writes to the month or reads candles waits behind us: so we wait briefly.
set lock_timeout = '300ms'
set work_mem = '64MB'
as $function$
declare
  month_name text := to_char(first_day, '"candle_"YYYY"_"MM');
  copy_name text := month_name || '_ordered';
  next_month date := (first_day + interval '1 month')::date;
  copied_before smallint;
  due record;
  ids integer[];
  timeframes smallint[];
  moments timestamptz[];
  gone bigint;
begin
  moved := 0;
  select copied into strict copied_before
  from candle_month
  where month = first_day;
  if copied_before is null or to_regclass(copy_name) is null then
    -- Waits for those who write to the month, so that all that is written after the trigger is seen
    -- by it, and all before by the copy.
    execute format(
      'create or replace trigger candle_moved after insert or update or delete on %I
         for each row execute function candle_moved()',
      month_name);
    -- Also of what a logical replica receives.
    execute format('alter table %I enable always trigger candle_moved', month_name);
    execute format('drop table if exists %I', copy_name);
    -- The check spares attaching a scan. Cleaning can wait until the month is attached.
    execute format(
      'create table %I (
         like candle including all excluding indexes,
         constraint in_month check (opened_at >= %L and opened_at < %L))
         with (autovacuum_vacuum_insert_scale_factor = 0.1, autovacuum_freeze_min_age = 0,
           autovacuum_enabled = false)',
      copy_name, first_day::timestamptz, next_month::timestamptz);
    execute format('comment on table %I is %L', copy_name, 'Candles opened in a month (UTC).');
    update candle_month
    set copied = 0, rows = 0
    where month = first_day;
    step := 'begun';
    return;
  end if;
  if copied_before <= next_month - first_day then
    execute format(
      'insert into %I
       select *
       from %I
       where %s
       order by instrument_id, timeframe, opened_at',
      copy_name, month_name,
      case copied_before
        when 0 then 'timeframe <> 1'
        else format(
          'timeframe = 1 and opened_at >= %L and opened_at < %L',
          (first_day + copied_before - 1)::timestamptz, (first_day + copied_before)::timestamptz)
      end);
    get diagnostics moved = row_count;
    update candle_month
    set copied = copied + 1, rows = rows + moved
    where month = first_day;
    step := 'copied';
    return;
  end if;
  select
    x.indexrelid, x.indisprimary, copy_name || '_' || c.relname as name
  into due
  from pg_index x
  join pg_class c on c.oid = x.indexrelid
  where x.indrelid = 'candle'::regclass
    and to_regclass(quote_ident(copy_name || '_' || c.relname)) is null
  order by x.indexrelid
  limit 1;
  if found then
    execute regexp_replace(
      pg_get_indexdef(due.indexrelid), ' INDEX .* ON ONLY [^ ]+ USING ',
      format(' INDEX %I ON %I USING ', due.name, copy_name));
    if due.indisprimary then
      execute format(
        'alter table %I add constraint %I primary key using index %I', copy_name, due.name,
        due.name);
    end if;
    execute format(
      'comment on index %I is %L', due.name, obj_description(due.indexrelid, 'pg_class'));
    execute format('analyze %I', copy_name);
    step := 'indexed';
    return;
  end if;
  with taken as (
    delete from candle_moving
    where id in (
      select m.id
      from candle_moving m
      where m.opened_at >= first_day::timestamptz
        and m.opened_at < next_month::timestamptz
      order by m.id
      limit 20000)
    returning instrument_id, timeframe, opened_at
  )
  select array_agg(t.instrument_id), array_agg(t.timeframe), array_agg(t.opened_at)
  into ids, timeframes, moments
  from (select distinct * from taken) t;
  if ids is null then
    step := 'ready';
    return;
  end if;
  execute format(
    'delete from %I c
     using unnest($1, $2, $3) k (id, timeframe, at)
     where (c.instrument_id, c.timeframe, c.opened_at) = (k.id, k.timeframe, k.at)',
    copy_name)
  using ids, timeframes, moments;
  get diagnostics gone = row_count;
  execute format(
    'insert into %I
     select c.*
     from unnest($1, $2, $3) k (id, timeframe, at)
     join %I c on (c.instrument_id, c.timeframe, c.opened_at) = (k.id, k.timeframe, k.at)
     order by k.id, k.timeframe, k.at',
    copy_name, month_name)
  using ids, timeframes, moments;
  get diagnostics moved = row_count;
  update candle_month
  set rows = rows + moved - gone
  where month = first_day;
  step := 'settled';
end
$function$;
comment on function recluster_month is
  'The next step of putting a closed month in key order: begun, copied (a chunk), indexed, settled '
  '(candles written meanwhile), ready for swap_month(); and how many candles it moved.';

create or replace function swap_month(first_day date)
returns boolean
language plpgsql
security definer
set timezone = 'UTC'
set lock_timeout = '300ms'
as $function$
declare
  month_name text := to_char(first_day, '"candle_"YYYY"_"MM');
  copy_name text := month_name || '_ordered';
  next_month date := (first_day + interval '1 month')::date;
  named record;
  renamings text[] := '{}';
begin
  if not exists (
    select
    from candle_month
    where month = first_day
      and copied > next_month - first_day)
  then
    return false;
  end if;
  execute format('lock table %I in access exclusive mode', copy_name);
  lock table only candle in access exclusive mode;
  -- All others wait by now.
  execute format('lock table only %I in access exclusive mode nowait', month_name);
  if exists (
    select
    from candle_moving
    where opened_at >= first_day::timestamptz
      and opened_at < next_month::timestamptz)
  then
    return false;
  end if;
  for named in
    select c.relname as found, copy_name || '_' || p.relname as made
    from pg_index x
    join pg_class c on c.oid = x.indexrelid
    join pg_inherits h on h.inhrelid = x.indexrelid
    join pg_class p on p.oid = h.inhparent
    where x.indrelid = month_name::regclass
  loop
    -- Made on the way, by an upgrade: attaching would build it while all wait.
    if to_regclass(quote_ident(named.made)) is null then
      return false;
    end if;
    renamings := renamings || format('alter index %I rename to %I', named.made, named.found);
  end loop;
  -- Its files are deleted when the locks are gone.
  execute format('drop table %I', month_name);
  execute format('alter table %I rename to %I', copy_name, month_name);
  execute format(
    'alter table candle attach partition %I for values from (%L) to (%L)',
    month_name, first_day::timestamptz, next_month::timestamptz);
  execute format(
    'alter table %I drop constraint in_month, reset (autovacuum_enabled)', month_name);
  for named in select unnest(renamings) as statement loop
    execute named.statement;
  end loop;
  update candle_month
  set copied = null, ordered_at = clock_timestamp()
  where month = first_day;
  -- Locks are kept until the transaction is on the disk, but not until it is on a standby.
  perform set_config('synchronous_commit', 'local', true);
  return true;
end
$function$;
comment on function swap_month is
  'Puts a month''s ordered copy in its place; false if it is not ready. To be called when no '
  'transaction runs any more that began before the copy was written to last: it would see a month '
  'without candles.';

create or replace function factored_id(series integer, factor_kind smallint)
returns integer
language sql stable
return coalesce(
  (
    select m.id
    from instrument i
    cross join unnest(i.chain) with ordinality m (id, place)
    where i.id = series
      and exists (
        select
        from adjustment_factor k
        where k.instrument_id = m.id
          and k.kind = factor_kind)
    order by m.place desc
    limit 1
  ),
  series);
comment on function factored_id is 'Of a security, its newest code that has factors.';

create or replace function price_ratio(series integer, day date, stands_on date default 'infinity')
returns numeric
language sql stable
as $function$
  with known as (
    select k.from_day, k.factor
    from adjustment_factor k
    where k.instrument_id = factored_id(series, 2::smallint)
      and k.kind = 2
      and k.known_to is null
      and k.from_day <= stands_on
  )
  select case
    when exists (select from known k where k.from_day > day) then
      (select k.factor from known k where k.from_day <= day order by k.from_day desc limit 1)
      / (select k.factor from known k order by k.from_day desc limit 1)
    else 1
  end
$function$;
comment on function price_ratio is
  'What a price of a day is multiplied by to compare with prices of another one, the newest if '
  'infinity, by dividends and splits; null if that is not known.';

-- Ranges: highest and lowest prices of 52 weeks, kept so that a page need not read a year of days.

-- What is kept is a function of the instrument's day candles and factors alone. Of the days before
-- its newest one only those count that no later one reaches, about twenty: with them the highest
-- price since any day is one element of an array. So a row stays right while days leave the 52
-- weeks.
create table if not exists price_range (
  instrument_id integer primary key,
  trading_day date not null,
  high numeric not null,
  low numeric not null,
  high_days date[] not null,
  highs numeric[] not null,
  low_days date[] not null,
  lows numeric[] not null,
  traded bit(364) not null,
  known_from date not null
);
comment on table price_range is
  'Highest and lowest prices of an instrument''s newest day candle and of the 363 days before it, '
  'adjusted to the newest prices. The writer keeps it with candles and factors; after changing '
  'those by hand, call keep_ranges().';
comment on column price_range.known_from is
  'Days before it have no known factor, and are left out.';

create or replace function range_high(kept price_range, since date, before date)
returns numeric
language sql immutable parallel safe
return greatest(
  kept.highs[width_bucket(since - 1, kept.high_days) + 1],
  case when kept.trading_day >= since and kept.trading_day < before then kept.high end);
comment on function range_high is
  'The highest price of day candles in [since, before), which end with the kept ones or later.';

create or replace function range_low(kept price_range, since date, before date)
returns numeric
language sql immutable parallel safe
return least(
  kept.lows[width_bucket(since - 1, kept.low_days) + 1],
  case when kept.trading_day >= since and kept.trading_day < before then kept.low end);
comment on function range_low is
  'The lowest price of day candles in [since, before), which end with the kept ones or later.';

create or replace function range_has(kept price_range, day date)
returns boolean
language sql immutable parallel safe
return case
  when day <= kept.trading_day and day > kept.trading_day - 364 then
    get_bit(kept.traded, kept.trading_day - day) = 1
  else false
end;
comment on function range_has is 'Whether a day candle of that day is counted.';

create or replace function keep_ranges(
  ids integer[] default null, opened_ats timestamptz[] default null
)
returns void
language plpgsql
security definer
set plan_cache_mode = force_generic_plan
set jit = off
as $function$
begin
  -- One writer at a time: the statements after this one see what the last one stored. Readers do
  -- not wait.
  lock table price_range in share row exclusive mode;
  if ids is null then
    ids := array(select i.id from instrument i);
    opened_ats := null;
  end if;
  delete from price_range r
  using unnest(ids, opened_ats) u (id, opened_at)
  where r.instrument_id = u.id
    and u.opened_at is null;
  insert into price_range
    (instrument_id, trading_day, high, low, high_days, highs, low_days, lows, traded, known_from)
  with changed as (
    select u.*, factored_id(u.id, 2::smallint) as factored
    from unnest(ids, opened_ats) u (id, opened_at)
  ),
  added as (
    select c.instrument_id, c.trading_day, c.high, c.low
    from changed u
    join candle c
      on c.instrument_id = u.id
      and c.timeframe = 240
      and c.opened_at = u.opened_at
    union all
    select u.id, c.trading_day, c.high, c.low
    from changed u
    cross join series_last(u.id, 240::smallint, 'infinity', null) n
    cross join series_rows(
      u.id, 240::smallint, n.opened_at - interval '366 days' + interval '1 microsecond',
      'infinity', null) c
    where u.opened_at is null
  ),
  -- The kept days, of which one price counts, and candles, of which both do.
  counted as (
    select k.*
    from changed u
    join price_range r on r.instrument_id = u.id
    cross join lateral (
      select r.instrument_id, r.trading_day, r.high, r.low, r.traded
      union all
      select r.instrument_id, h.day, h.high, null, null
      from unnest(r.high_days, r.highs) h (day, high)
      union all
      select r.instrument_id, l.day, null, l.low, null
      from unnest(r.low_days, r.lows) l (day, low)
    ) k
    where u.opened_at is not null
    union all
    select
      c.instrument_id, c.trading_day, round(c.high * f.ratio, scale(c.high)),
      round(c.low * f.ratio, scale(c.low)), '1'::bit(364)
    from added c
    join changed u on u.id = c.instrument_id
    cross join lateral (
      select case
        when exists (
          select
          from adjustment_factor k
          where k.instrument_id = u.factored
            and k.kind = 2
            and k.known_to is null
            and k.from_day > c.trading_day)
        then price_ratio(c.instrument_id, c.trading_day)
        else 1
      end as ratio
    ) f
    where f.ratio is not null
  ),
  placed as (
    select c.*, max(c.trading_day) over (partition by c.instrument_id) as newest
    from counted c
  ),
  compared as (
    select p.*, max(p.high) over later as later_high, min(p.low) over later as later_low
    from placed p
    where p.trading_day < p.newest
      and p.trading_day > p.newest - 364
    window later as (
      partition by p.instrument_id
      order by p.trading_day desc
      rows between unbounded preceding and 1 preceding)
    union all
    select p.*, null, null
    from placed p
    where p.trading_day = p.newest
  )
  select
    c.instrument_id, c.newest,
    max(c.high) filter (where c.trading_day = c.newest),
    min(c.low) filter (where c.trading_day = c.newest),
    coalesce(array_agg(c.trading_day order by c.trading_day) filter (where x.is_high), '{}'),
    coalesce(array_agg(c.high order by c.trading_day) filter (where x.is_high), '{}'),
    coalesce(array_agg(c.trading_day order by c.trading_day) filter (where x.is_low), '{}'),
    coalesce(array_agg(c.low order by c.trading_day) filter (where x.is_low), '{}'),
    bit_or(c.traded >> (c.newest - c.trading_day)),
    -- Without a known factor: since the newest ex-day.
    (
      select coalesce(
        min(k.from_day) filter (where k.factor is not null), max(k.from_day), '-infinity')
      from adjustment_factor k
      where k.instrument_id = factored_id(c.instrument_id, 2::smallint)
        and k.kind = 2
        and k.known_to is null
    )
  from compared c
  cross join lateral (
    select
      c.trading_day < c.newest and c.high > coalesce(c.later_high, -1) as is_high,
      c.trading_day < c.newest and c.low < coalesce(c.later_low, 'infinity') as is_low
  ) x
  group by c.instrument_id, c.newest
  on conflict (instrument_id) do update
  set
    (trading_day, high, low, high_days, highs, low_days, lows, traded, known_from) = (
      excluded.trading_day, excluded.high, excluded.low, excluded.high_days, excluded.highs,
      excluded.low_days, excluded.lows, excluded.traded, excluded.known_from);
end
$function$;
comment on function keep_ranges is
  'Brings price_range up to the day candles of these instruments. With an opened_at: adds that '
  'candle, which is new; with null: calculates the row anew. Without arguments: all, anew.';

create or replace trigger instrument_linked
  after insert or update on instrument_link
  for each row
  when (new.kind = 'rename' and new.verdict <> 'suspected')
  execute function chain_instruments();

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
  constraint gap_is_negative_only_if_taken_back
    check (cause = 6 or (volume >= 0 and turnover >= 0)),
  constraint gap_was_closed_by_something check ((known_to is null) = (closed_by is null)),
  constraint gap_is_permanent_for_a_reason
    check ((permanent_at is null) = (permanent_reason is null))
);
create index if not exists gap_instrument on gap (instrument_id, trading_day);
create index if not exists gap_open on gap (trading_day, instrument_id) where known_to is null;
comment on table gap is
  'Trading that candled did not see: in the day''s volume, in no minute. Never deleted: a gap '
  'whose minutes were found is closed.';
comment on column gap.from_at is 'The last time the feed was proven alive before the gap.';
comment on column gap.to_at is 'The first time the feed was proven alive after the gap.';
comment on column gap.volume is 'Shares or units that passed unseen; negative if taken back.';
comment on column gap.turnover is 'Money that passed unseen; negative if taken back.';
comment on column gap.cause is 'See gap_cause_name().';
comment on column gap.known_from is 'When it was written, by the daemon''s clock.';
comment on column gap.known_to is 'When its minutes were found; null while it is open.';
comment on column gap.closed_by is
  'What closed it: kline, a smaller one may have been opened for the rest; superseded, another row '
  'took its place: a gap that adjoins it, or a correction.';
comment on column gap.sightings is 'How often its minutes were requested and not found.';
comment on column gap.last_sighting_at is 'The last of these occasions.';
comment on column gap.permanent_at is 'When the search for its minutes ended; it still counts.';
comment on column gap.permanent_reason is 'Why the search ended.';

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
  coarse boolean not null default false,
  previous_close numeric,
  limit_up numeric,
  limit_down numeric,
  reference_source smallint,
  primary key (trading_day, instrument_id)
);
comment on table day_audit is
  'Certificates of conservation: minutes + gaps = the exchange''s day, per instrument and day.';
comment on column day_audit.coarse is
  'Whether the source of the exchange''s totals rounds them: then they are lower bounds until a '
  'bar of the day or an exact total settles them.';
comment on column day_audit.previous_close is
  'As the exchange has it, adjusted on an ex-day; null where no row of the day was seen.';
comment on column day_audit.exchange_volume is 'The day''s total; null if its end was not seen.';
comment on column day_audit.exchange_turnover is 'As exchange_volume, in money.';
comment on column day_audit.balanced is 'Both residuals are 0; null if the day''s end was unseen.';
comment on column day_audit.minutes_traded is 'Of the minutes of its market''s day: 240 in Shanghai.';
comment on column day_audit.minutes_untraded is 'Of the same: the feed was alive, nothing traded.';
comment on column day_audit.minutes_missing is 'Of the same: no candle.';
comment on column day_audit.known_from is 'When it was written, by the daemon''s clock.';
comment on column day_audit.repaired_at is 'When bars last settled the day; null if never.';

-- A row's lock, and not an advisory one, which any reader may take and keep.
create table if not exists day_lock (
  day date primary key
);
comment on table day_lock is 'Days being repaired or certified; the writer locks the row.';

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
comment on table disagreement is 'Values on which two sources, or two readings, disagree.';
comment on column disagreement.field is
  'volume, turnover, open, high, low or close; trades (1) or does not (0), of a day of the index.';
comment on column disagreement.ours is 'The stored value; null if there is none.';
comment on column disagreement.theirs is 'The value of the other source; null if there is none.';
comment on column disagreement.known_from is 'When it was first seen, by the daemon''s clock.';
comment on column disagreement.resolved_at is 'When the values agreed; null while they disagree.';

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
comment on table rejected is
  'Rows refused by the daemon or by a constraint, each once a day; the latest 200,000.';
comment on column rejected.received_at is
  'When it was first received; with the reason refused_by_store, the daemon''s clock.';
comment on column rejected.symbol is 'Empty if it could not be read.';
comment on column rejected.reason is 'The class of the fault, as in the metrics.';
comment on column rejected.detail is 'For people: the field, and what was expected.';
comment on column rejected.payload is
  'The row as received, at most 1 KiB; with the reason refused_by_store, its fields by name.';

create table if not exists serving (
  series smallint not null,
  since timestamptz not null,
  source smallint not null,
  primary key (series, since)
);
comment on table serving is
  'Changes of the source whose live quotes are booked. Before its first row a series has its own.';
comment on column serving.series is 'Whose series the quotes are booked in: source.code.';
comment on column serving.since is 'When the first answer of the source was received.';

create or replace function served(series smallint, from_ts timestamptz, to_ts timestamptz)
returns table (
  source text, since timestamptz
)
language sql stable security definer
as $function$
  select n.name, v.since
  from (
    select s.*, lead(s.since) over (order by s.since) as until
    from (
      select served.series as source, '-infinity'::timestamptz as since
      union all
      select c.source, c.since
      from serving c
      where c.series = served.series
    ) s
  ) v
  join source n on n.code = v.source
  where (v.until > from_ts) is not false
    and (v.since < to_ts or v.since <= from_ts)
  order by v.since
$function$;
comment on function served is
  'Who served live quotes of a series in [from_ts, to_ts), each from since until the next one.';

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
comment on table source_health is 'State of each endpoint of each source.';
comment on column source_health.endpoint is 'The endpoint''s name; never its address.';
comment on column source_health.state is 'up, degraded, or down: stalled, banned or unauthorised.';
comment on column source_health.since is 'Start of this state.';
comment on column source_health.last_success_at is 'Time of the last usable response.';
comment on column source_health.requests is 'Number since the daemon started.';
comment on column source_health.failures is 'Number since the daemon started.';
comment on column source_health.detail is 'For people.';
comment on column source_health.updated_at is 'The daemon''s clock.';

-- The change feed and the daemon's place in its journal.

create table if not exists journal_position (
  only_row boolean primary key default true,
  position bigint not null,
  known_from timestamptz not null,
  updated_at timestamptz not null,
  book_state bytea not null default '',
  journal text not null default '',
  constraint one_row check (only_row)
) with (fillfactor = 50);
comment on table journal_position is
  'Progress of the journal in the database. A writer that expects another position is refused.';
comment on column journal_position.position is 'The last journal entry whose effects are stored.';
comment on column journal_position.known_from is 'The daemon''s clock at that entry.';
comment on column journal_position.updated_at is 'The server''s clock.';

create table if not exists feed_sequence (
  only_row boolean primary key default true,
  epoch bigint not null,
  last_seq bigint not null,
  identity text,
  constraint one_row check (only_row)
) with (fillfactor = 50);
comment on table feed_sequence is 'The counter of changes. Its row lock makes seq commit order.';
comment on column feed_sequence.epoch is 'If it changes, start again from a snapshot.';
comment on column feed_sequence.last_seq is 'The seq of the last commit.';
comment on column feed_sequence.identity is
  'Result of feed_identity() when the epoch began: if it differs, the writer begins a new epoch. '
  'Empty it after restoring the files of a server: this cannot be detected.';

create or replace function feed_identity()
returns text
language plpgsql stable
as $function$
declare
  place text := format(
    '%s %s',
    (select oid from pg_database where datname = current_database()),
    'feed_sequence'::regclass::oid);
begin
  return format(
    '%s %s %s',
    (select system_identifier from pg_control_system()),
    left(pg_walfile_name(pg_current_wal_lsn()), 8),
    place);
exception
  -- Some managed servers do not tell.
  when insufficient_privilege or feature_not_supported or undefined_function then return place;
end
$function$;
comment on function feed_identity is
  'The server, its timeline, the database and the feed''s table. A restored database and a '
  'promoted replica differ: commits that followers saw may be gone, and their seqs assigned again.';

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
  events jsonb not null,
  term bigint
);
comment on table change is 'One row per commit: the keys of what it changed. Old rows are deleted.';
comment on column change.seq is 'Contiguous, in commit order.';
comment on column change.committed_at is 'The server''s clock.';
comment on column change.known_at is 'The daemon''s clock.';
comment on column change.position is 'journal_position.position of the commit.';
comment on column change.quotes is
  'Number of quotes it wrote: those with quote.changed_seq = seq, until they are written again.';
comment on column change.rejections is 'Number of rejected rows it wrote.';
comment on column change.gap_ids is 'gap.id of the gaps it opened.';
comment on column change.closed_gap_ids is 'gap.id of the gaps it closed.';
comment on column change.events is
  'Control events, in order: [{"event": "minute_complete", …}]. minute_complete, feed_stalled, '
  'feed_recovered, day_complete, codes_changed; per symbol rows_corrected, correction_undone, '
  'disputed, dispute_settled, band_unknown.';

-- Which daemon leads. The rules of who may take it are in LeaseConnection.swift; that a writer
-- whose term is over cannot commit is seen to by the row's locks (WriterSession+Change.swift).

create table if not exists lease (
  only_row boolean primary key default true,
  term bigint not null unique,
  holder text not null,
  host text not null,
  acquired_at timestamptz not null,
  expires_at timestamptz not null,
  constraint one_row check (only_row)
) with (fillfactor = 50);
comment on table lease is 'The leading daemon: only it writes the rows of a journal.';
comment on column lease.term is
  'Number of the term, from 1; a commit of an earlier term is refused. A key of its own so that a '
  'writer can lock the term without blocking the renewal.';

create table if not exists lease_term (
  term bigint primary key,
  holder text not null,
  host text not null,
  acquired_at timestamptz not null,
  from_journal text,
  from_position bigint,
  position bigint
);
comment on table lease_term is
  'One row per term: who led, and where the term continued. Entries of earlier terms after '
  'from_position in its journal were never committed.';
comment on column lease_term.holder is 'The identity of the leader''s journal.';
comment on column lease_term.host is 'The machine it ran on.';
comment on column lease_term.from_journal is 'The journal of the position it found; null at first.';
comment on column lease_term.from_position is 'The position it found, in from_journal.';
comment on column lease_term.position is 'Where it went on in its own journal.';

insert into lease (term, holder, host, acquired_at, expires_at)
select 0, '', '', '-infinity', '-infinity'
where not is_replica()
on conflict (only_row) do nothing;

insert into feed_sequence (epoch, last_seq)
select (extract(epoch from clock_timestamp()) * 1000000)::bigint, 0
where not is_replica()
on conflict (only_row) do nothing;

insert into journal_position (position, known_from, updated_at)
select 0, '-infinity', now()
where not is_replica()
on conflict (only_row) do nothing;

-- What a logical replica must do beside keeping the rows it receives: neither new partitions nor
-- notifications are replicated. These triggers fire for received rows alone, so on no primary.

create or replace function month_arrived()
returns trigger
language plpgsql
security definer
as $function$
begin
  perform ensure_partition(new.month);
  return null;
end
$function$;
comment on function month_arrived is 'Makes the partition of a month on a logical replica.';

create or replace trigger month_arrived after insert on candle_month
  for each row execute function month_arrived();
alter table candle_month enable replica trigger month_arrived;

create or replace function change_arrived()
returns trigger
language plpgsql
security definer
as $function$
begin
  perform pg_notify(
    'candled',
    format(
      '{"v":1,"epoch":%s,"first":%s,"last":%s,"q":%s,"c":%s,"r":%s,"g":%s,"a":%s,"e":%s}',
      (select epoch from feed_sequence), new.seq, new.seq, new.quotes,
      cardinality(new.candle_instrument_ids), cardinality(new.revision_instrument_ids),
      cardinality(new.gap_ids), cardinality(new.audit_days), jsonb_array_length(new.events)));
  return null;
end
$function$;
comment on function change_arrived is 'Notifies followers of a logical replica.';

-- Not of older ones: the first copy, and what is caught up with, followers find by their timers.
create or replace trigger change_arrived after insert on change
  for each row when (new.committed_at > now() - interval '10 minutes')
  execute function change_arrived();
alter table change enable replica trigger change_arrived;

-- For people.

-- How candles() gives a candle, and why() a fact. Types and not `returns table`, so that a column
-- may have the name of a parameter.
do $types$
begin
  if to_regtype('candled.candle_row') is null then
    create type candle_row as (
      opened_at timestamptz,
      closed_at timestamptz,
      trading_day date,
      open numeric,
      high numeric,
      low numeric,
      close numeric,
      volume numeric,
      turnover numeric,
      trades bigint,
      vwap numeric,
      flags smallint,
      revision smallint,
      known_from timestamptz,
      source text,
      symbol text
    );
  end if;
  if to_regtype('candled.candle_fact') is null then
    create type candle_fact as (
      what text,
      at timestamptz,
      detail text
    );
  end if;
end
$types$;
comment on type candle_row is
  'A candle of candles(): as in the table candle, with the source as a word; in flags also 16: '
  'filled, no such candle is stored.';
comment on type candle_fact is 'One fact about a candle, and its time.';

create or replace function argument_error(argument text, given text, expected text)
returns void
language plpgsql immutable
as $function$
begin
  raise exception using
    errcode = 'invalid_parameter_value',
    message = format('%s: expected %s, found %L', argument, expected, given);
end
$function$;
comment on function argument_error is 'Refuses an argument (SQLSTATE 22023) and names valid ones.';

create or replace function living_id(series integer)
returns integer
language sql stable security definer parallel safe
as $function$
  select coalesce(i.chain[cardinality(i.chain)], i.id)
  from instrument i
  where i.id = series
$function$;
comment on function living_id is 'Of the security that a series belongs to, the code of today.';

create or replace function security_id(series integer)
returns integer
language sql stable security definer parallel safe
as $function$
  select coalesce(i.chain[1], i.id)
  from instrument i
  where i.id = series
$function$;
comment on function security_id is
  'The id that stands for ever for the security a series belongs to: of its first code.';

create or replace function instrument_id(spelling text, source text default null)
returns integer
language plpgsql stable security definer
as $function$
declare
  wanted smallint;
  code constant text := split_part(spelling, '@', 1);
  on_day date;
begin
  if spelling like '%@%' then
    begin
      on_day := split_part(spelling, '@', 2)::date;
    exception
      when invalid_datetime_format or datetime_field_overflow then
        perform argument_error('symbol', spelling, 'a symbol, or a symbol, @ and a date');
    end;
  end if;
  if instrument_id.source is not null then
    select s.series
    into wanted
    from source s
    where s.name = instrument_id.source;
  end if;
  if wanted is null and instrument_id.source is not null then
    perform argument_error(
      'source', instrument_id.source,
      (
        select concat_ws(
          ' or ',
          string_agg(n.name, ', ' order by n.code) filter (where not n.is_last),
          max(n.name) filter (where n.is_last))
        from (
          select s.*, s.code = max(s.code) over () as is_last
          from source s
          where s.series = s.code
        ) n));
  end if;
  return (
    select case when on_day is null then coalesce(i.chain[cardinality(i.chain)], i.id) else i.id end
    from instrument i
    where i.symbol = case
        when code ~* '^(sh|sz|bj)[0-9]{6}$' then lower(code)
        when code ~* '^[0-9]{6}\.(sh|ss|xshg)$' then 'sh' || left(code, 6)
        when code ~* '^[0-9]{6}\.(sz|xshe)$' then 'sz' || left(code, 6)
        when code ~* '^[0-9]{6}\.bj$' then 'bj' || left(code, 6)
        when code ~* '^[a-z]+([./-][a-z]+)?$' then upper(code)
        else code
      end
      and (wanted is null or i.source = wanted)
      and (on_day is null or i.reused_on is null or i.reused_on > on_day)
    order by
      (select s.priority from source s where s.code = i.source), i.source,
      case when on_day is null then i.reused_on end desc nulls first,
      i.reused_on
    limit 1);
end
$function$;
comment on function instrument_id is
  'The series of any usual spelling: 600519.SH, sh600519, SH600519, 600519.XSHG, AAPL, aapl; null '
  'if unknown. If a symbol has several: the named source''s, else by source.priority. A code that '
  'was changed answers with the code of today; one that two instruments had with the later one, '
  'and sh600018@2006-05-01 with the one that had it on that day.';

create or replace function symbol_error(symbol text, source text default null)
returns void
language plpgsql stable security definer
as $function$
declare
  nearest text;
begin
  -- What two spellings have in common at their beginning and at their end: all but one character
  -- where one is wrong, missing or too many.
  select string_agg(n.symbol, ', ' order by n.place)
  into nearest
  from (
    select i.symbol, row_number() over (order by max(w.alike) desc, i.symbol) as place
    from instrument i
    cross join lateral (
      select count(*) filter (where left(i.symbol, n) = left(given.text, n))
        + count(*) filter (where right(i.symbol, n) = right(given.text, n)) as alike
      from (
        values (lower(symbol_error.symbol)), (upper(symbol_error.symbol))
      ) given (text)
      cross join generate_series(1, least(length(i.symbol), length(given.text))) n
      group by given.text
    ) w
    where symbol_error.source is null
      or instrument_id(i.symbol, symbol_error.source) is not null
    group by i.symbol
    having max(w.alike) >= greatest(length(i.symbol), length(symbol_error.symbol)) - 3
    order by place
    limit 3
  ) n;
  perform argument_error(
    'symbol', symbol_error.symbol, case
      when symbol_error.source is null then 'a known instrument'
      else format('an instrument of %s', symbol_error.source)
    end || coalesce(' (the nearest: ' || nearest || ')', ''));
end
$function$;
comment on function symbol_error is
  'Refuses an unknown symbol (SQLSTATE 22023) and names the nearest known ones.';

create or replace view instruments as
select
  i.id, i.symbol, i.name, exchange_name(i.exchange) as exchange, kind_name(i.kind) as kind,
  board_name(i.board) as board, s.name as source, i.first_seen, i.delisted_at,
  coalesce(i.chain[1], i.id) as security, i.reused_on,
  coalesce(i.chain[cardinality(i.chain)], i.id) as living
from instrument i
left join source s on s.code = i.source;
comment on view instruments is 'Series of instruments, with their codes as words.';

create or replace view instrument_codes as
select
  security_id(i.id) as instrument_id, i.id as series, i.symbol, f.day as from_day,
  coalesce(i.reused_on, t.day) as to_day,
  greatest(i.first_seen, f.known_from, t.known_from) as known_from, s.name as source
from instrument i
left join source s on s.code = i.source
left join instrument_link f
  on f.to_id = i.id
  and f.kind = 'rename'
  and f.verdict <> 'suspected'
  and f.known_to is null
left join instrument_link t
  on t.from_id = i.id
  and t.kind = 'rename'
  and t.verdict <> 'suspected'
  and t.known_to is null;
comment on view instrument_codes is
  'The codes of each security, which its first one stands for, and from which day to which each '
  'was its own: [from_day, to_day), null where that is not known or not over.';

create or replace view links as
select
  o.symbol as from_symbol, n.symbol as to_symbol, l.day, l.kind, l.verdict, l.ratio, l.cash,
  l.source as said_by, l.known_from, l.known_to, l.from_id, l.to_id, s.name as source
from instrument_link l
join instrument o on o.id = l.from_id
join instrument n on n.id = l.to_id
left join source s on s.code = o.source;
comment on view links is
  'What became of instruments: renames, mergers, conversions, relistings and split-offs, those '
  'that were ended included.';

create or replace function link_instruments(
  from_symbol text, to_symbol text, day date, kind text, verdict text, ratio numeric, cash numeric,
  said_by text, known_at timestamptz, is_ordered boolean default false, series smallint default 1
)
returns boolean
language plpgsql
as $function$
declare
  ids integer[];
  standing instrument_link;
  ranks constant text[] := array['suspected', 'proven', 'declared'];
  is_circle boolean;
begin
  -- A code that was never recorded has a row, so that it answers for ever.
  insert into instrument (id, symbol, source, first_seen)
  select
    coalesce((select max(i.id) from instrument i), 0) + row_number() over (order by s.place),
    s.symbol, link_instruments.series, known_at
  from unnest(array[from_symbol, to_symbol]) with ordinality s (symbol, place)
  where not exists (
    select
    from instrument i
    where i.symbol = s.symbol
      and i.source = link_instruments.series
      and i.reused_on is null);
  select array_agg(i.id order by i.symbol = to_symbol)
  into ids
  from instrument i
  where i.symbol in (from_symbol, to_symbol)
    and i.source = link_instruments.series
    and i.reused_on is null;
  is_circle := link_instruments.kind = 'rename' and exists (
    select
    from instrument i
    where i.id = ids[1]
      and array_position(i.chain, ids[2]) < array_position(i.chain, ids[1]));
  select l.*
  into standing
  from instrument_link l
  where l.from_id = ids[1]
    and l.to_id = ids[2]
    and l.known_to is null;
  -- What was ended, or is known better, only an order changes.
  if not is_ordered
    and (case
      when found then
        array_position(ranks, link_instruments.verdict) < array_position(ranks, standing.verdict)
        or (standing.day, standing.kind, standing.verdict, standing.ratio, standing.cash)
          is not distinct from (
            link_instruments.day, link_instruments.kind, link_instruments.verdict,
            link_instruments.ratio, link_instruments.cash)
      else
        exists (
          select
          from instrument_link l
          where l.from_id = ids[1]
            and l.to_id = ids[2])
        or exists (
          select
          from instrument_link l
          where (l.from_id = ids[1] or l.to_id = ids[2])
            and l.kind = 'rename'
            and array_position(ranks, l.verdict)
              >= greatest(2, array_position(ranks, link_instruments.verdict))
            and l.known_to is null
            and link_instruments.kind = 'rename')
        or is_circle
    end)
  then
    return false;
  end if;
  update instrument_link l
  set known_to = known_at
  where l.known_to is null
    and (
      (l.from_id, l.to_id) = (ids[1], ids[2])
      or link_instruments.kind = 'rename'
      and link_instruments.verdict <> 'suspected'
      and l.kind = 'rename'
      and (l.from_id = ids[1] or l.to_id = ids[2] or is_circle and l.to_id = ids[1]));
  insert into instrument_link
    (from_id, to_id, day, kind, verdict, ratio, cash, source, known_from)
  values (
    ids[1], ids[2], link_instruments.day, link_instruments.kind, link_instruments.verdict,
    link_instruments.ratio, link_instruments.cash, said_by, known_at)
  -- One commit may say both.
  on conflict (from_id, to_id, known_from) do update
  set
    day = excluded.day, kind = excluded.kind, verdict = excluded.verdict, ratio = excluded.ratio,
    cash = excluded.cash, source = excluded.source, known_to = null;
  return true;
end
$function$;
comment on function link_instruments is
  'Records what became of an instrument; false if nothing is new. is_ordered: also where it was '
  'ended before, or something else stands.';

create or replace function unlink_instruments(
  from_symbol text, to_symbol text, known_at timestamptz, series smallint default 1
)
returns boolean
language plpgsql
as $function$
begin
  update instrument_link l
  set known_to = known_at
  from instrument o, instrument n
  where o.id = l.from_id
    and n.id = l.to_id
    and o.symbol = from_symbol
    and n.symbol = to_symbol
    and o.source = unlink_instruments.series
    and l.known_to is null;
  return found;
end
$function$;
comment on function unlink_instruments is
  'Ends what links two instruments; false if nothing does. Rows stay where they are.';

create or replace function average_price(turnover numeric, volume numeric, kind smallint)
returns numeric
language sql immutable parallel safe
return case
  when kind is distinct from 3 then round(turnover / nullif(volume, 0), 4)
end;
comment on function average_price is
  'Turnover ÷ volume, to 4 places; null for indexes, whose turnover is not that of their price.';

create or replace view stored_candles as
select
  i.symbol, c.trading_day, c.opened_at, c.closed_at, c.open, c.high, c.low, c.close, c.volume,
  c.turnover, c.trades, coalesce(c.vwap, average_price(c.turnover, c.volume, i.kind)) as vwap,
  'final' as state, (c.flags & 1) <> 0 as no_trade, (c.flags & 2) <> 0 as partial,
  (c.flags & 4) <> 0 as extreme_ambiguous, c.revision, n.name as source, c.known_from,
  c.instrument_id, c.timeframe as length, (c.flags & 64) <> 0 as coarse
from candle c
join instrument i on i.id = c.instrument_id
left join source n on n.code = c.source
union all
select
  i.symbol, q.trading_day, q.candle_opened_at,
  q.candle_opened_at + interval '1 minute',
  q.candle_open, q.candle_high, q.candle_low, q.candle_close, q.candle_volume, q.candle_turnover,
  null::bigint, average_price(q.candle_turnover, q.candle_volume, i.kind), 'open',
  (q.candle_flags & 1) <> 0, (q.candle_flags & 2) <> 0, (q.candle_flags & 4) <> 0, 0::smallint,
  n.name, q.received_at, q.instrument_id, 1::smallint, (q.candle_flags & 64) <> 0
from quote q
join instrument i on i.id = q.instrument_id
left join source n on n.code = q.candle_source
where q.candle_opened_at is not null
  and not exists (
    select
    from candle c
    where c.instrument_id = q.instrument_id
      and c.timeframe = 1
      and c.opened_at = q.candle_opened_at)
union all
select
  i.symbol, q.trading_day,
  (q.trading_day + m.day_opens) at time zone m.zone,
  (q.trading_day + m.closes[cardinality(m.closes)]) at time zone m.zone,
  q.open, q.high, q.low, q.last, q.volume, q.turnover, null::bigint,
  average_price(q.turnover, q.volume, i.kind), 'open', false, false, false, 0::smallint, n.name,
  q.received_at, q.instrument_id, 240::smallint, coalesce(q.candle_flags & 64 <> 0, false)
from quote q
join instrument i on i.id = q.instrument_id
left join source n on n.code = coalesce(q.candle_source, i.source)
left join source o on o.code = i.source
left join market m on m.code = o.market
where q.last > 0
  and q.open > 0
  and not exists (
    select
    from candle c
    where c.instrument_id = q.instrument_id
      and c.timeframe = 240
      and c.opened_at >= q.trading_day - interval '1 day'
      and c.trading_day = q.trading_day);
comment on view stored_candles is
  'Stored candles, and the minute and day that are forming with state open, by length in minutes.';

create or replace function market_of(series integer)
returns market
language plpgsql stable security definer
as $function$
declare
  place market;
begin
  select m.*
  into place
  from instrument i
  join source s on s.code = i.source
  join market m on m.code = s.market
  where i.id = market_of.series;
  return place;
end
$function$;
comment on function market_of is 'Where a series trades.';

create or replace function trading_sessions(place market, day date)
returns table (
  opens timestamptz, closes timestamptz
)
language plpgsql stable security definer
rows 2
as $function$
declare
  session_opens time[] := place.opens;
  session_closes time[] := place.closes;
begin
  if place.hours_change then
    select
      array_agg(split_part(h.span, '-', 1)::time order by h.number),
      array_agg(split_part(h.span, '-', 2)::time order by h.number)
    into session_opens, session_closes
    from string_to_table(market_rule(place.name, 'hours', trading_sessions.day), ' ')
      with ordinality h (span, number);
  end if;
  return query
    select
      case h.number when 1 then coalesce(c.opens, h.opens) else h.opens end,
      case
        when h.number = cardinality(session_closes) or c.closes < h.closes
        then coalesce(c.closes, h.closes)
        else h.closes
      end
    from (
      select
        u.number,
        (trading_sessions.day + u.opens) at time zone place.zone as opens,
        (trading_sessions.day + u.closes) at time zone place.zone as closes
      from unnest(session_opens, session_closes) with ordinality u (opens, closes, number)
    ) h
    left join market_session c
      on c.exchange = place.calendar
      and c.day = trading_sessions.day
      and c.known_to is null
      and c.opens < c.closes
      -- Where each minute counts, a calendar lists days: their times are those of the rules.
      and (place.hours_change is not true or not place.every_minute)
    where c.closes is null
      or h.number = 1
      or h.opens < c.closes
    order by h.number;
end
$function$;
comment on function trading_sessions is
  'The sessions of a day of a market, as the rules of that day and its calendar say.';

-- How days are cut: buckets begin with each session and end with it at the latest; before, between
-- and after sessions they keep the clock. A bucket before a session ends where that begins. The
-- auction before the open is in the first bucket.

create or replace function market_hours(place market, day date)
returns table (
  from_ts timestamptz, to_ts timestamptz, edges timestamptz[], silent timestamptz[]
)
language plpgsql stable parallel safe
-- Planned as dear, so that it is called once for each market and day.
cost 10000
rows 1
as $function$
declare
  silent_minutes time[] := place.silent_minutes;
  auction text;
begin
  if place.hours_change and place.every_minute then
    auction := market_rule(place.name, 'closing_auction', market_hours.day);
    silent_minutes := '{}';
    if auction <> 'none' then
      -- The price is made in the last minute.
      silent_minutes := array(
        select o::time
        from generate_series(
          date '2000-01-01' + split_part(auction, '-', 1)::time,
          date '2000-01-01' + split_part(auction, '-', 2)::time - interval '2 minutes',
          interval '1 minute') o);
    end if;
  end if;
  return query
    select
      market_hours.day::timestamp at time zone place.zone,
      (market_hours.day + 1)::timestamp at time zone place.zone,
      array(
        select u.edge
        from trading_sessions(place, market_hours.day) h
        cross join unnest(array[h.opens, h.closes]) u (edge)
        order by 1
      ),
      case
        when place.every_minute then
          array(
            select (market_hours.day + q.minute) at time zone place.zone
            from unnest(silent_minutes) q (minute)
            order by 1
          )
        else '{}'
      end;
end
$function$;
comment on function market_hours is
  'A date of a market: its ends, the opens and closes of its sessions in turn, and when the '
  'minutes open that need no candle.';

create or replace function hours_bucket(
  span interval, edges timestamptz[], at timestamptz, place integer
)
returns timestamptz
language sql immutable parallel safe
return case place % 2
  when 1 then date_bin(span, at, edges[place])
  else greatest(date_bin(span, at, timestamptz '2000-01-01 00:00+00'), edges[place])
end;
comment on function hours_bucket is
  'When the bucket opens that a time of a day is in; place is that of the time in edges, odd in a '
  'session.';

create or replace function hours_bucket_end(
  span interval, edges timestamptz[], bucket timestamptz
)
returns timestamptz
language sql stable parallel safe
return least(bucket + span, edges[width_bucket(bucket, edges) + 1]);
comment on function hours_bucket_end is 'When the bucket that opens at that time closes.';

create or replace function holds_minutes(
  minutes bigint, opened_at timestamptz, closed_at timestamptz, silent timestamptz[]
)
returns boolean
language sql stable parallel safe
return
  (
    minutes + width_bucket(closed_at - interval '1 second', silent)
      - width_bucket(opened_at - interval '1 second', silent)
  ) * interval '1 minute' >= closed_at - opened_at;
comment on function holds_minutes is
  'Whether so many minutes, none of them silent, are all that a bucket needs.';

-- Whether a week or month is all there. With a calendar its days are counted (a suspension counts
-- as missing: the bars cannot tell); without one it is over once its last weekday is known that was
-- not observed to be closed.
create or replace function period_is_whole(
  place market, first_day date, last_day date, days bigint, last_known_day date
)
returns boolean
language plpgsql stable security definer
as $function$
begin
  if exists (
      select from market_session s where s.exchange = place.calendar and s.day <= first_day)
    and exists (
      select
      from market_session s
      where s.exchange = place.calendar
        and s.day >= last_day
        and s.grade = 1)
  then
    return days >= (
      select count(*)
      from market_session s
      where s.exchange = place.calendar
        and s.day between first_day and last_day
        and s.known_to is null
        and s.opens < s.closes);
  end if;
  return last_known_day >= (
    select max(d.day)::date
    from generate_series(last_day - 6, last_day, interval '1 day') d (day)
    where extract(isodow from d.day) = any (place.weekdays)
      and not exists (
        select
        from market_session s
        where s.exchange = place.calendar
          and s.day = d.day
          and s.known_to is null
          and s.opens = s.closes));
end
$function$;
comment on function period_is_whole is
  'Whether the given number of day candles in [first_day, last_day] is all its trading days.';

-- The stages candles() is made of. Each gives rows shaped as the table candle's, oldest first.
-- Their plans are kept for a session and generic: partitions are then left out at execution, and
-- planning over years of them is paid once.

create or replace function series_parts(series integer, length smallint)
returns table (part integer, from_ts timestamptz, to_ts timestamptz)
language plpgsql stable security definer
rows 1
set plan_cache_mode = force_generic_plan
as $function$
declare
  ids constant integer[] := (select i.chain from instrument i where i.id = series);
begin
  if ids is null then
    return query select series, '-infinity'::timestamptz, 'infinity'::timestamptz;
    return;
  end if;
  return query
    with member as (
      select c.id, c.place, f.opened_at as first_ts, l.day::timestamp at time zone m.zone as end_ts
      from unnest(ids) with ordinality c (id, place)
      cross join market_of(series) m
      left join instrument_link l
        on l.from_id = c.id
        and l.to_id = ids[c.place + 1]
        and l.kind = 'rename'
        and l.verdict <> 'suspected'
        and l.known_to is null
      left join lateral (
        select k.opened_at
        from candle k
        where k.instrument_id = c.id
          and k.timeframe = length
        order by k.opened_at
        limit 1
      ) f on true
    ),
    -- What the code of that day has is what counts; a newer one may have it, too, as history.
    own as (
      select
        e.id, e.first_ts, greatest(e.first_ts, lag(e.end_ts) over (order by e.place)) as from_ts,
        e.end_ts
      from member e
      where e.place < cardinality(ids)
    ),
    earlier as (
      select o.id, o.from_ts, o.end_ts
      from own o
      where o.first_ts is not null
        and o.from_ts < o.end_ts
    ),
    rest as (
      select
        ids[cardinality(ids)] as id,
        lag(t.end_ts, 1, '-infinity') over (order by t.from_ts) as from_ts, t.from_ts as end_ts
      from earlier t
      union all
      select ids[cardinality(ids)], coalesce(max(t.end_ts), '-infinity'), 'infinity'
      from earlier t
    )
    select p.id, p.from_ts, p.end_ts
    from (
      select e.*
      from earlier e
      union all
      select r.*
      from rest r
    ) p
    where p.from_ts < p.end_ts
    order by p.from_ts;
end
$function$;
comment on function series_parts is
  'Which codes of a security have its rows, and of which time, oldest first: of each day those of '
  'the code of that day; where it has none yet, those of the code of today.';

create or replace function series_rows(
  series integer, length smallint, from_ts timestamptz, to_ts timestamptz, as_of timestamptz
)
returns setof candle
language plpgsql stable security definer
rows 1000
set plan_cache_mode = force_generic_plan
as $function$
declare
  here record;
begin
  for here in
    select
      p.part, greatest(p.from_ts, series_rows.from_ts) as from_ts,
      least(p.to_ts, series_rows.to_ts) as to_ts
    from series_parts(series, length) p
  loop
    if as_of is null then
      return query
        select c.*
        from candle c
        where c.instrument_id = here.part
          and c.timeframe = length
          and c.opened_at >= here.from_ts
          and c.opened_at < here.to_ts
        order by c.opened_at;
      continue;
    end if;
    return query
      select c.*
      from candle c
      where c.instrument_id = here.part
        and c.timeframe = length
        and c.opened_at >= here.from_ts
        and c.opened_at < here.to_ts
        and c.known_from <= as_of
      union all
      (
        select distinct on (r.opened_at)
          r.opened_at, r.closed_at, r.known_from, r.instrument_id, r.trading_day, r.timeframe,
          r.flags, r.source, r.revision, r.open, r.high, r.low, r.close, r.volume, r.turnover,
          r.trades, r.vwap
        from candle_revision r
        where r.instrument_id = here.part
          and r.timeframe = length
          and r.opened_at >= here.from_ts
          and r.opened_at < here.to_ts
          and r.known_from <= as_of
          and r.known_to > as_of
          and not exists (
            select
            from candle c
            where c.instrument_id = here.part
              and c.timeframe = length
              and c.opened_at = r.opened_at
              and c.known_from <= as_of)
        order by r.opened_at, r.revision desc
      )
      order by opened_at;
  end loop;
end
$function$;
comment on function series_rows is
  'Stage of candles(): the stored rows of a security opened in [from_ts, to_ts), as known then.';

create or replace function series_last(
  series integer, length smallint, before timestamptz, as_of timestamptz
)
returns setof candle
language plpgsql stable security definer
rows 1
set plan_cache_mode = force_generic_plan
as $function$
declare
  here record;
begin
  for here in
    select p.part, p.from_ts, least(p.to_ts, before, as_of) as to_ts
    from series_parts(series, length) p
    order by p.from_ts desc
  loop
    return query
      select c.*
      from candle c
      where c.instrument_id = here.part
        and c.timeframe = length
        and c.opened_at >= here.from_ts
        and c.opened_at < here.to_ts
        and (
          as_of is null
          or c.known_from <= as_of
          or exists (
            select
            from candle_revision r
            where r.instrument_id = here.part
              and r.timeframe = length
              and r.opened_at = c.opened_at
              and r.known_from <= as_of))
      order by c.opened_at desc
      limit 1;
    if found then
      return;
    end if;
  end loop;
end
$function$;
comment on function series_last is
  'Stage of candles(): the newest row of a security that was opened before a time and known then, '
  'with its present values.';

create or replace function series_start(
  series integer, length smallint, from_ts timestamptz, to_ts timestamptz, row_limit bigint
)
returns timestamptz
language plpgsql stable security definer
set plan_cache_mode = force_generic_plan
as $function$
declare
  here record;
  counted record;
  wanted bigint := row_limit;
begin
  for here in
    select
      p.part, greatest(p.from_ts, series_start.from_ts) as from_ts,
      least(p.to_ts, series_start.to_ts) as to_ts
    from series_parts(series, length) p
    order by p.from_ts desc
  loop
    select count(*) as rows, min(k.opened_at) as first_ts
    into counted
    from (
      select c.opened_at
      from candle c
      where c.instrument_id = here.part
        and c.timeframe = length
        and c.opened_at >= here.from_ts
        and c.opened_at < here.to_ts
      order by c.opened_at desc
      limit wanted
    ) k;
    wanted := wanted - counted.rows;
    if wanted = 0 then
      return counted.first_ts;
    end if;
  end loop;
  return series_start.from_ts;
end
$function$;
comment on function series_start is
  'Stage of candles(): when the oldest of so many of the newest stored rows opened; from_ts where '
  'there are fewer.';

create or replace function factor_kind(adjust text)
returns smallint
language plpgsql immutable
as $function$
begin
  if adjust is null
    or adjust not in ('raw', 'qfq', 'total', 'hfq', 'split')
    and adjust !~ '^qfq:[0-9]{4}-[0-9]{2}-[0-9]{2}$'
  then
    perform argument_error('adjust', adjust, 'raw, qfq, hfq, split, total or qfq: and a date');
  end if;
  return case adjust when 'raw' then null when 'hfq' then 2 when 'split' then 3 else 1 end;
end
$function$;
comment on function factor_kind is
  'The kind of adjustment_factor that an adjustment needs; null for raw. total is another name of '
  'qfq.';

create or replace function known_factors(series integer, factor_kind smallint, as_of timestamptz)
returns setof adjustment_factor
language sql stable
begin atomic
  select f.*
  from adjustment_factor f
  where f.instrument_id = factored_id(series, factor_kind)
    and f.kind = factor_kind
    and f.factor is not null
    and case
      when as_of is null then f.known_to is null
      else f.known_from <= as_of and coalesce(f.known_to, 'infinity') > as_of
    end;
end;
comment on function known_factors is
  'Adjustment factors of a security, as known now or then: those of its newest code that has any.';

create or replace function series_adjusted(
  series integer, length smallint, from_ts timestamptz, to_ts timestamptz, as_of timestamptz,
  factor_kind smallint, stands_on date
)
returns setof candle
language plpgsql stable security definer
set plan_cache_mode = force_generic_plan
as $function$
begin
  if factor_kind is null then
    return query
      select r.*
      from series_rows(series, length, from_ts, to_ts, as_of) r;
    return;
  end if;
  return query
    with known as (
      select
        f.from_day, f.factor,
        lead(f.from_day, 1, 'infinity') over (order by f.from_day) as to_day
      from known_factors(series, factor_kind, as_of) f
    ),
    scale as (
      select
        k.from_day, k.to_day, case
          when factor_kind > 1 then k.factor
          when stands_on is null then 1
          else s.factor
        end as times,
        case factor_kind when 1 then k.factor when 2 then 1 else n.factor end as parts
      from known k
      left join known s on stands_on >= s.from_day and stands_on < s.to_day
      left join known n on n.to_day = 'infinity'
    )
    select
      r.opened_at, r.closed_at, r.known_from, r.instrument_id, r.trading_day, r.timeframe, r.flags,
      r.source, r.revision, round(r.open * s.times / s.parts, 4),
      round(r.high * s.times / s.parts, 4), round(r.low * s.times / s.parts, 4),
      round(r.close * s.times / s.parts, 4),
      case
        when factor_kind = 3 then round(r.volume * s.parts / s.times, scale(r.volume))
        else r.volume
      end, r.turnover, r.trades, round(r.vwap * s.times / s.parts, 4)
    from series_rows(series, length, from_ts, to_ts, as_of) r
    left join scale s on r.trading_day >= s.from_day and r.trading_day < s.to_day
    -- No one factor holds for a delivered week or month in which it changed.
    where (length <= 240
        or s.from_day <= (r.opened_at at time zone (market_of(series)).zone)::date)
      -- Nor is a volume known where no split is.
      and (factor_kind < 3 or s.from_day is not null)
    order by r.opened_at;
end
$function$;
comment on function series_adjusted is
  'Stage of candles(): prices by the factor in force on the trading day, as known then, rounded '
  'to 4 places, half away from zero; null on days without a known factor. Volumes follow splits '
  'alone. factor_kind null is raw.';

create or replace function series_forming(series integer, length smallint)
returns setof candle
language plpgsql stable security definer
rows 1
as $function$
begin
  if not exists (select from quote q where q.instrument_id = series) then
    return;
  end if;
  return query
    select
      f.opened_at, f.closed_at, f.known_from, f.instrument_id, f.trading_day, f.length,
      (32
        | f.no_trade::integer
        | f.partial::integer * 2
        | f.extreme_ambiguous::integer * 4
        | f.coarse::integer * 64)::smallint,
      i.source, f.revision, f.open, f.high, f.low, f.close, f.volume, f.turnover, f.trades, f.vwap
    from stored_candles f
    join instrument i on i.id = f.instrument_id
    where f.instrument_id = series
      and f.length = series_forming.length
      and f.state = 'open';
end
$function$;
comment on function series_forming is 'The minute or day that is still forming, 32 in its flags.';

create or replace function stored_days()
returns setof date
language sql stable parallel safe
rows 400
as $function$
  select generate_series(min(m.day) - 1, max(m.day) + interval '1 month', interval '1 day')::date
  from pg_inherits h
  join pg_class c on c.oid = h.inhrelid
  cross join lateral (select to_date(right(c.relname, 7), 'YYYY_MM')) m (day)
  where h.inhparent = 'candle'::regclass
$function$;
comment on function stored_days is 'All dates of the months that have a partition.';

-- The roll-up. The view rolled_candles has it over the table, for many series at once, the function
-- series_rolled for one, over its candles as they were known at a time, or adjusted. In the text
-- {length, from, to} are the candles of series i opened in [from, to); {raw …} the same where no
-- price is read, so that none is adjusted; {known} is whether the day has minutes.

do $rolled$
declare
  -- What rows p of one bucket amount to, given in the order of time.
  sums constant text := $text$
    max(p.known_from) as known_from, min(p.source) as source,
    least(sum(p.revision), 32767)::smallint as revision, bit_or(p.flags) as flags,
    not bool_or(p.traded) as no_trade,
    coalesce(
      min(p.opened_at) = min(p.opened_at) filter (where p.flags & 4 <> 0), false)
      as ambiguous,
    coalesce(
      (array_agg(p.open) filter (where p.traded))[1],
      (array_agg(p.open) filter (where not p.traded))[1]) as open,
    coalesce(
      max(p.high) filter (where p.traded), max(p.high) filter (where not p.traded)) as high,
    coalesce(
      min(p.low) filter (where p.traded), min(p.low) filter (where not p.traded)) as low,
    coalesce(
      (array_agg(p.close) filter (where p.traded))[
        cardinality(array_agg(p.close) filter (where p.traded))],
      (array_agg(p.close) filter (where not p.traded))[
        cardinality(array_agg(p.close) filter (where not p.traded))]) as close,
    sum(p.volume) as volume,
    case when count(p.turnover) = count(*) then sum(p.turnover) end as turnover,
    case when count(p.trades) = count(*) then sum(p.trades)::bigint end as trades,
    count(*) - (bit_or(p.flags) >> 5 & 1) as parts$text$;
  -- The flags of such a bucket w.
  flags constant text := $text$
    (w.no_trade::integer
      | (w.flags & 66)
      | case when w.is_whole then 0 else 2 end
      | w.ambiguous::integer * 4
      | case
        when greatest(w.open, w.close) > w.high or least(w.open, w.close) < w.low then 8
        else 0
      end
      | case when w.is_open then 32 else 0 end)::smallint$text$;
  -- Rows r of a day of a series, from its minutes and its source's bars: nothing is sorted or kept
  -- beyond that day.
  day constant text := $text$
-- Where not every minute has a candle, a bucket is over once a later one is known.
left join lateral (
  select c.closed_at
  from (
    select 1
    where not m.every_minute
      and exists (select from {raw 1, e.from_ts, e.to_ts} c)
    offset 0
  ) known
  cross join lateral {last} c
) last on true
cross join lateral (
  select
    w.opened_at, w.closed_at, w.known_from, w.source, w.revision, w.open, w.high, w.low, w.close,
    w.volume, w.turnover, w.trades, null::numeric as vwap, true as is_rolled,
    $text$ || flags || $text$ as flags
  from (
    select
      b.*,
      l.live
        and not b.is_whole
        and (b.flags & 32 <> 0 or not m.every_minute or b.closed_at > q.quoted_at) as is_open
    from (
      select
        b.*, case
          when not m.every_minute then b.closed_at <= last.closed_at
          when b.parts * interval '1 minute' >= b.closed_at - b.opened_at then true
          else holds_minutes(
            b.parts - (
              select count(*)
              from {raw 1, b.opened_at, b.closed_at} c
              where c.opened_at = any (e.silent)),
            b.opened_at, b.closed_at, e.silent)
        end as is_whole
      from (
        select g.*, hours_bucket_end(t.span, e.edges, g.opened_at) as closed_at
        from (
          select
            p.bucket as opened_at,
            $text$ || sums || $text$
          from (
            select
              c.*, c.flags & 1 = 0 as traded,
              hours_bucket(t.span, e.edges, c.opened_at, c.place) as bucket
            from (
              select
                c.opened_at, c.known_from, c.flags, c.source, c.revision, c.open, c.high, c.low,
                c.close, c.volume, c.turnover, c.trades,
                width_bucket(c.opened_at, e.edges) as place
              from {1, e.from_ts, e.to_ts} c
              union all
              select
                q.candle_opened_at, q.received_at, (q.candle_flags & 71 | 32)::smallint, i.source,
                0::smallint, q.candle_open, q.candle_high, q.candle_low, q.candle_close,
                q.candle_volume, q.candle_turnover, null::bigint,
                width_bucket(q.candle_opened_at, e.edges)
              where l.live
                and q.candle_opened_at >= e.from_ts
                and q.candle_opened_at < e.to_ts
                and not exists (
                  select
                  from candle f
                  where f.instrument_id = i.id
                    and f.timeframe = 1
                    and f.opened_at = q.candle_opened_at)
              offset 0
            ) c
            -- By the bucket first, so that grouping keeps the order of time.
            order by bucket, opened_at
          ) p
          group by p.bucket
        ) g
        offset 0
      ) b
      offset 0
    ) b
  ) w
  where w.is_whole
    or not exists (
      select
      from {raw t.length, w.opened_at, w.closed_at} r
      where r.closed_at = w.closed_at)
  union all
  -- The bar of its source, where no minute is known or one is missing.
  select
    r.opened_at, r.closed_at, r.known_from, r.source, r.revision, r.open, r.high, r.low, r.close,
    r.volume, r.turnover, r.trades, r.vwap, false, r.flags
  from (
    select
      c.*,
      hours_bucket(t.span, e.edges, c.opened_at, width_bucket(c.opened_at, e.edges))
        as first_bucket,
      hours_bucket(
        t.span, e.edges, c.closed_at - interval '1 second',
        width_bucket(c.closed_at - interval '1 second', e.edges)) as last_bucket
    from {t.length, e.from_ts, e.to_ts} c
    offset 0
  ) r
  cross join lateral (
    select
      count(*) filter (where p.bucket in (r.first_bucket, r.last_bucket)) as minutes,
      count(*) filter (
        where p.bucket = r.first_bucket and not p.forming and p.opened_at <> all (e.silent))
        as needed
    from (
      select
        k.*,
        hours_bucket(t.span, e.edges, k.opened_at, width_bucket(k.opened_at, e.edges)) as bucket
      from (
        select c.opened_at, false as forming
        from {raw 1, r.first_bucket, r.last_bucket + t.span} c
        where {known}
        union all
        select q.candle_opened_at, true
        where l.live
          and q.candle_opened_at is not null
      ) k
    ) p
  ) v
  where v.minutes = 0
    or (
      r.first_bucket = r.last_bucket
      and r.closed_at >= hours_bucket_end(t.span, e.edges, r.first_bucket)
      and not case
        when m.every_minute then
          holds_minutes(
            v.needed, r.first_bucket, hours_bucket_end(t.span, e.edges, r.first_bucket), e.silent)
        else coalesce(
          hours_bucket_end(t.span, e.edges, r.first_bucket) <= last.closed_at, false)
      end)
) r$text$;
begin
  execute $head$
    create or replace function series_rolled(
      series integer, length smallint, from_ts timestamptz, to_ts timestamptz, as_of timestamptz,
      factor_kind smallint, stands_on date, forming boolean
    )
    returns setof candle
    language plpgsql stable security definer
    rows 50
    set plan_cache_mode = force_generic_plan
    set jit = off
    as $function$
    declare
      place constant market := market_of(series);
      unit constant text := case length when 1200 then 'week' else 'month' end;
      day_from constant timestamptz := date_trunc('day', from_ts, place.zone);
      day_to constant timestamptz :=
        date_trunc('day', to_ts - interval '1 second', place.zone) + interval '1 day';
      newest candle;
    begin
      select l.*
      into newest
      from series_last(
        series, case when length > 240 then 240 else 1 end::smallint, 'infinity', as_of) l;
      if length < 240 then
        return query
          select
            r.opened_at, r.closed_at, r.known_from, i.id, d.day, t.length, r.flags, r.source,
            r.revision, r.open, r.high, r.low, r.close, r.volume, r.turnover, r.trades, case
              when not r.is_rolled then r.vwap
              when factor_kind is null then average_price(r.turnover, r.volume, i.kind)
            end
          from instrument i
          cross join (select place.every_minute) m
          left join quote q on q.instrument_id = i.id
          cross join lateral (
            select c.trading_day
            from candle c
            where c.instrument_id = any (coalesce(i.chain, array[i.id]))
              and c.timeframe in (1, series_rolled.length)
              and c.opened_at >= day_from
              and c.opened_at < day_to
            union
            select q.trading_day
            where forming
          ) d (day)
          cross join (
            select series_rolled.length, make_interval(mins => series_rolled.length)
          ) t (length, span)
          cross join (select forming) l (live)
          cross join lateral market_hours(place, d.day) e
          cross join lateral (
            select exists (
              select from series_rows(i.id, 1::smallint, e.from_ts, e.to_ts, as_of))
          ) known (minutes)
    $head$
    || regexp_replace(
      regexp_replace(
        replace(
          replace(day, '{last}', '(select newest.closed_at)'), '{known}', 'known.minutes'),
        '\{raw ([^,{}]+), ([^,{}]+), ([^{}]+)\}',
        'series_rows(i.id, (\1)::smallint, \2, \3, as_of)', 'g'),
      '\{([^,{}]+), ([^,{}]+), ([^{}]+)\}',
      'series_adjusted(i.id, (\1)::smallint, \2, \3, as_of, factor_kind, stands_on)', 'g')
    || $tail$
          where i.id = series
            and r.opened_at >= series_rolled.from_ts
            and r.opened_at < series_rolled.to_ts
          order by 1;
        return;
      end if;
      return query
        with part as (
          select r.*
          from series_adjusted(
            series, 240::smallint, from_ts, to_ts + interval '31 days', as_of, factor_kind,
            stands_on) r
          union all
          select f.*
          from series_forming(series, 240::smallint) f
          where forming
            and f.opened_at >= from_ts
            and f.opened_at < to_ts + interval '31 days'
        ),
        rolled as materialized (
          select w.*, $tail$ || flags || $tail$ as rolled_flags
          from (
            select
              b.*,
              forming
                and not b.is_whole
                and (b.flags & 32 <> 0 or newest.trading_day < b.last_day) as is_open
            from (
              select
                g.*, y.last_day,
                g.flags & 32 = 0
                  and (
                    length = 1200 and g.parts >= cardinality(place.weekdays)
                    or period_is_whole(
                      place, y.first_day, y.last_day, g.parts, newest.trading_day)) as is_whole
              from (
                select
                  p.bucket as opened_at, max(p.closed_at) as closed_at,
                  max(p.trading_day) as trading_day,
                  $tail$ || sums || $tail$
                from (
                  select
                    c.*, c.flags & 1 = 0 as traded,
                    (date_trunc(unit, c.trading_day::timestamp) + place.day_opens)
                      at time zone place.zone as bucket
                  from part c
                  cross join (
                    select min(k.from_day) as day
                    from known_factors(series, factor_kind, as_of) k
                  ) f
                  -- Of the bucket in which factors begin to be known a part would be left.
                  where factor_kind is null
                    or date_trunc(unit, f.day::timestamp) = f.day
                    or date_trunc(unit, f.day::timestamp)
                      <> date_trunc(unit, c.trading_day::timestamp)
                  order by bucket, opened_at
                ) p
                group by p.bucket
              ) g
              cross join lateral (
                select
                  d.first_day::date, (d.first_day + ('1 ' || unit)::interval)::date - 1
                from date_trunc(unit, g.opened_at at time zone place.zone) d (first_day)
              ) y (first_day, last_day)
            ) b
          ) w
        ),
        delivered as materialized (
          select
            r as given, r.closed_at,
            (date_trunc(unit, r.trading_day::timestamp) + place.day_opens)
              at time zone place.zone as bucket
          from series_adjusted(
            series, length, from_ts, to_ts, as_of, factor_kind, stands_on) r
        )
        select
          w.opened_at, w.closed_at, w.known_from, series, w.trading_day, length, w.rolled_flags,
          w.source, w.revision, w.open, w.high, w.low, w.close, w.volume, w.turnover, w.trades, case
            when factor_kind is null then average_price(w.turnover, w.volume, i.kind)
          end
        from rolled w
        join instrument i on i.id = series
        where w.opened_at >= from_ts
          and w.opened_at < to_ts
          and (
            w.is_whole
            or not exists (
              select
              from delivered d
              where d.bucket = w.opened_at
                and d.closed_at >= w.closed_at))
        union all
        select (d.given).*
        from delivered d
        left join rolled w on w.opened_at = d.bucket
        where w.opened_at is null
          or not w.is_whole and d.closed_at >= w.closed_at
        order by 1;
    end
    $function$ $tail$;
  execute $view$
    create or replace view rolled_candles as
    select
      i.symbol, d.day as trading_day, r.opened_at, r.closed_at, r.open, r.high, r.low, r.close,
      r.volume, r.turnover, r.trades,
      case when r.is_rolled then average_price(r.turnover, r.volume, i.kind) else r.vwap end
        as vwap,
      case when r.flags & 32 <> 0 then 'open' else 'final' end as state,
      r.flags & 1 <> 0 as no_trade, r.flags & 2 <> 0 as partial,
      r.flags & 4 <> 0 as extreme_ambiguous, r.revision, n.name as source, r.known_from,
      i.id as instrument_id, t.length, r.flags & 64 <> 0 as coarse, l.live, r.flags,
      i.source as series, e.from_ts, e.to_ts
    from instrument i
    join source o on o.code = i.source
    join market m on m.code = o.market
    left join quote q on q.instrument_id = i.id
    cross join stored_days() d (day)
    cross join (
      values
        (5::smallint, interval '5 minutes'), (15::smallint, interval '15 minutes'),
        (30::smallint, interval '30 minutes'), (60::smallint, interval '1 hour')
    ) t (length, span)
    cross join (values (true), (false)) l (live)
    cross join lateral market_hours(m, d.day) e
    $view$
    || regexp_replace(
      replace(replace(replace(day, '{raw ', '{'), '{known}', 'true'), '{last}', $last$(
        select c.closed_at
        from candle c
        where c.instrument_id = i.id
          and c.timeframe = 1
        order by c.opened_at desc
        limit 1
      )$last$),
      '\{([^,{}]+), ([^,{}]+), ([^{}]+)\}', $candles$(
        select c.*
        from candle c
        where c.instrument_id = i.id
          and c.timeframe = \1
          and c.opened_at >= \2
          and c.opened_at < \3
      )$candles$, 'g')
    || $view$
    left join source n on n.code = r.source
    union all
    select
      i.symbol, r.trading_day, r.opened_at, r.closed_at, r.open, r.high, r.low, r.close, r.volume,
      r.turnover, r.trades, r.vwap, case when r.flags & 32 <> 0 then 'open' else 'final' end,
      r.flags & 1 <> 0, r.flags & 2 <> 0, r.flags & 4 <> 0, r.revision, n.name, r.known_from, i.id,
      t.length, r.flags & 64 <> 0, l.live, r.flags, i.source,
      '-infinity', 'infinity'
    from instrument i
    cross join (values (1200::smallint), (7200::smallint)) t (length)
    cross join (values (true), (false)) l (live)
    cross join lateral series_rolled(
      i.id, t.length, '-infinity', 'infinity', null, null, null, l.live) r
    left join source n on n.code = r.source
    where i.chain is null
      or i.id = i.chain[cardinality(i.chain)]
    $view$;
end
$rolled$;
comment on function series_rolled is
  'Stage of candles(): 5m … 60m from minutes, weeks and months from days. A bucket with missing '
  'rows is the bar of its source if there is one, else partial. forming: includes the forming '
  'minute or day; 32 in flags for a bucket that is not over.';
comment on view rolled_candles is
  'Candles that are calculated, not stored, by length in minutes; live: with what is forming. A '
  'condition on trading_day or the instrument is all that is read, in the order of the key.';

create or replace function series_candles(
  series integer, length smallint, from_ts timestamptz, to_ts timestamptz, as_of timestamptz,
  factor_kind smallint, stands_on date, flat boolean
)
returns setof candle
language plpgsql stable security definer
as $function$
begin
  if flat then
    return query
      select *
      from series_filled(series, length, from_ts, to_ts, as_of, factor_kind, stands_on);
  elsif length in (1, 90, 240) then
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
comment on function series_candles is
  'Stage of candles(): minutes, after-hours and days as stored, the others rolled up; or filled.';

create or replace function series_filled(
  series integer, length smallint, from_ts timestamptz, to_ts timestamptz, as_of timestamptz,
  factor_kind smallint, stands_on date
)
returns setof candle
language plpgsql stable security definer
rows 1000
set plan_cache_mode = force_generic_plan
set jit = off
as $function$
declare
  place constant market := market_of(series);
  span constant interval := make_interval(mins => length);
  day_from constant timestamptz := date_trunc('day', from_ts, place.zone);
  day_to constant timestamptz := date_trunc('day', to_ts, place.zone) + interval '1 day';
  last_opened_at timestamptz;
  earlier candle;
begin
  select max(l.opened_at)
  into last_opened_at
  from unnest(array[1, length]) t (code)
  cross join lateral series_last(series, t.code::smallint, 'infinity', as_of) l;
  -- The close that a hole at the beginning goes on from.
  select a.*
  into earlier
  from unnest(array[1, length]) t (code)
  cross join lateral series_last(series, t.code::smallint, day_from, as_of) l
  cross join lateral series_adjusted(
    series, t.code::smallint, l.opened_at,
    l.opened_at + interval '1 second',
    as_of, factor_kind, stands_on) a
  order by a.closed_at desc
  limit 1;
  return query
    with ready as materialized (
      select r as given, r.trading_day, r.opened_at, r.closed_at
      from series_candles(
        series, length, day_from, day_to, as_of, factor_kind, stands_on, false) r
    ),
    hours as materialized (
      select d.day, e.edges
      from (select distinct r.trading_day from ready r) d (day)
      cross join lateral market_hours(place, d.day) e
    ),
    known as (
      select
        k.*,
        hours_bucket(span, h.edges, k.opened_at, width_bucket(k.opened_at, h.edges))
          as first_bucket,
        hours_bucket(
          span, h.edges, k.closed_at - interval '1 second',
          width_bucket(k.closed_at - interval '1 second', h.edges)) as last_bucket
      from ready k
      join hours h on h.day = k.trading_day
    ),
    hole as (
      select
        g.opened_at, least(g.opened_at + span, h.edges[n + 1]) as closed_at,
        h.day as trading_day
      from hours h
      cross join generate_series(1, cardinality(h.edges), 2) n
      cross join lateral generate_series(
        h.edges[n], h.edges[n + 1] - interval '1 second', span) g (opened_at)
      left join known f on f.first_bucket = g.opened_at
      left join known l on l.last_bucket = g.opened_at
      where f.opened_at is null
        and l.opened_at is null
        and g.opened_at < last_opened_at
    ),
    line as (
      select k.given, k.opened_at, k.closed_at, k.trading_day
      from known k
      union all
      select null, h.opened_at, h.closed_at, h.trading_day
      from hole h
    ),
    stretch as (
      select l.*, count((l.given).source) over (order by l.opened_at) as number
      from line l
    ),
    carried as (
      select s.*, first_value(s.given) over (partition by s.number order by s.opened_at) as before
      from stretch s
    ),
    placed as (
      select c.*, case when (c.before).source is null then earlier else c.before end as flat
      from carried c
    )
    select
      p.opened_at, p.closed_at, (p.flat).known_from, series, p.trading_day, length,
      case when h.is_hole then 17 else (p.given).flags end::smallint,
      (p.flat).source,
      case when h.is_hole then 0 else (p.given).revision end::smallint,
      case when h.is_hole then (p.flat).close else (p.given).open end,
      case when h.is_hole then (p.flat).close else (p.given).high end,
      case when h.is_hole then (p.flat).close else (p.given).low end,
      (p.flat).close,
      case when h.is_hole then 0 else (p.given).volume end,
      case when h.is_hole then 0 else (p.given).turnover end,
      (p.given).trades, (p.given).vwap
    from placed p
    cross join lateral (select (p.given).source is null) h (is_hole)
    where p.opened_at >= from_ts
      and p.opened_at < to_ts
      and (p.flat).source is not null
    order by p.opened_at;
end
$function$;
comment on function series_filled is
  'Stage of candles(): for each candle a day lacks before its last known one, a flat candle at '
  'the close before it.';

create or replace function shown_candle(
  stored candle, symbol text, averages boolean, sources text[]
)
returns candle_row
language sql immutable parallel safe
return row(
  stored.opened_at, stored.closed_at, stored.trading_day, stored.open, stored.high, stored.low,
  stored.close, stored.volume, stored.turnover, stored.trades,
  coalesce(
    stored.vwap,
    case when averages then average_price(stored.turnover, stored.volume, null) end),
  stored.flags, stored.revision, stored.known_from, sources[stored.source],
  symbol)::candle_row;
comment on function shown_candle is
  'A row of candles(); averages: vwap is turnover ÷ volume where its source sends none.';

create or replace function candles(
  symbol text, timeframe text default '1m', from_ts timestamptz default '-infinity',
  to_ts timestamptz default 'infinity', fill text default 'none', adjust text default 'raw',
  as_of timestamptz default null, source text default null, newest integer default null
)
returns setof candle_row
language plpgsql stable security definer
set plan_cache_mode = force_generic_plan
set jit = off
as $function$
declare
  series constant integer := instrument_id(candles.symbol, candles.source);
  sources constant text[] := source_names();
  canonical text;
  averages boolean;
  is_chained boolean;
  length smallint := timeframe_code(candles.timeframe);
  factor_kind constant smallint := factor_kind(candles.adjust);
  stands_on date;
  base constant smallint := case when length > 240 then 240 when length < 90 then 1 else length end;
  row_limit bigint;
  first_ts timestamptz := candles.from_ts;
begin
  if length is null then
    perform argument_error(
      'timeframe', candles.timeframe, '1m, 5m, 15m, 30m, 60m, after_hours, 1d, 1w or 1mo');
  end if;
  if candles.fill is null or candles.fill not in ('none', 'flat') then
    perform argument_error('fill', candles.fill, 'none or flat');
  end if;
  if candles.fill = 'flat' and length not in (1, 5, 15, 30, 60) then
    perform argument_error('fill', candles.fill, 'none for timeframes other than 1m … 60m');
  end if;
  if candles.newest < 0 then
    perform argument_error('newest', candles.newest::text, 'a count');
  end if;
  if candles.adjust like 'qfq:%' then
    begin
      stands_on := substr(candles.adjust, 5)::date;
    exception
      when datetime_field_overflow then
        perform argument_error('adjust', candles.adjust, 'qfq: and a date there is');
    end;
  end if;
  if series is null then
    perform symbol_error(candles.symbol, candles.source);
  end if;
  select i.symbol, i.kind is distinct from 3 and factor_kind is null, i.chain is not null
  into canonical, averages, is_chained
  from instrument i
  where i.id = series;
  if length in (1, 90, 240)
    and candles.fill = 'none'
    and candles.adjust = 'raw'
    and candles.as_of is null
    and not is_chained
  then
    return query
      select n.*
      from (
        select (shown_candle(c, canonical, averages, sources)).*
        from candle c
        where c.instrument_id = series
          and c.timeframe = length
          and c.opened_at >= candles.from_ts
          and c.opened_at < candles.to_ts
        order by c.opened_at desc
        limit candles.newest
      ) n
      order by n.opened_at;
    return;
  end if;
  if factor_kind is not null
    and not exists (
      select
      from known_factors(series, factor_kind, candles.as_of) k
      where factor_kind < 3
        or k.from_day < candles.to_ts at time zone (market_of(series)).zone)
  then
    perform argument_error(
      'adjust', candles.adjust, format('raw, for no factors of %s are known', candles.symbol));
  end if;
  if candles.newest is not null and candles.as_of is null then
    -- So many rows hold so many candles and one more, which may be cut.
    row_limit := (candles.newest + 1::bigint) * case length
      when 90 then 1
      when 240 then 1
      when 1200 then 7
      when 7200 then 31
      else length
    end;
    first_ts := series_start(series, base, candles.from_ts, candles.to_ts, row_limit);
  end if;
  return query
    select n.*
    from (
      select (shown_candle(c, canonical, averages, sources)).*
      from series_candles(
        series, length, first_ts, candles.to_ts, candles.as_of, factor_kind, stands_on,
        candles.fill = 'flat') c
      order by c.opened_at desc
      limit candles.newest
    ) n
    order by n.opened_at;
end
$function$;
comment on function
  candles(text, text, timestamptz, timestamptz, text, text, timestamptz, text, integer) is
  'Final candles of an instrument opened in [from_ts, to_ts), oldest first; with newest, only '
  'that many of the newest. timeframe: 1m, after_hours and 1d are stored; 5m, 15m, 30m and 60m '
  'come from minutes, 1w and 1mo from days, where partial (2 in flags) also means that some are '
  'missing. fill: none, or flat: a flat candle (17 in flags) wherever a day that has candles '
  'lacks one. adjust: raw, qfq or total (dividends and splits; today''s prices stand), '
  'qfq:2025-06-30 (that day''s do), hfq (the first do); rounded to 4 places, half away from zero, '
  'and null where no factor is known; split (splits alone, of volumes, too; without the days of '
  'which they are not known). A week or month in which factors begin to be known is left out. '
  'as_of: the values known at that time, corrections and factors alike. '
  'source: the series, if a symbol has several. vwap is turnover ÷ volume if the source sends none; '
  'null for indexes and adjusted prices.';

create or replace function market_sources(market text)
returns smallint[]
language plpgsql stable security definer
as $function$
declare
  found smallint[];
begin
  select array_agg(s.code order by s.code)
  into found
  from source s
  join market m on m.code = s.market
  where market_sources.market is null
    or m.name = market_sources.market;
  if found is null and market_sources.market is not null then
    perform argument_error(
      'market', market_sources.market,
      (select string_agg(m.name, ' or ' order by m.code) from market m));
  end if;
  return coalesce(found, '{}');
end
$function$;
comment on function market_sources is 'The sources of a market by its name; of all if null.';

-- For each series one look into the key's index. A BRIN on the time finds a minute sooner while a
-- partition is in the order of time; back-filling or clustering by key ends that.
create or replace function market_at(
  at timestamptz, as_of timestamptz default null, market text default null
)
returns table (
  instrument_id integer, symbol text, opened_at timestamptz, closed_at timestamptz,
  trading_day date, open numeric, high numeric, low numeric, close numeric, volume numeric,
  turnover numeric, trades bigint, vwap numeric, flags smallint, revision smallint,
  known_from timestamptz, source text
)
language plpgsql stable security definer
rows 5000
set plan_cache_mode = force_generic_plan
set jit = off
as $function$
declare
  sources constant text[] := source_names();
  places constant smallint[] := market_sources(market_at.market);
  minute constant timestamptz := date_bin(
    '1 minute', market_at.at - interval '1 microsecond', '2000-01-01 00:00+00');
begin
  return query
    select
      i.id, i.symbol, c.opened_at, c.closed_at, c.trading_day, c.open, c.high, c.low, c.close,
      c.volume, c.turnover, c.trades,
      coalesce(c.vwap, average_price(c.turnover, c.volume, i.kind)), c.flags, c.revision,
      c.known_from, sources[c.source]
    from instrument i
    cross join lateral (
      select m.*
      from candle m
      where m.instrument_id = i.id
        and m.timeframe = 1
        and m.opened_at = minute
        and (market_at.as_of is null or m.known_from <= market_at.as_of)
      union all
      -- Read where the present values were not known yet: one of these was.
      select
        r.opened_at, r.closed_at, r.known_from, r.instrument_id, r.trading_day, r.timeframe,
        r.flags, r.source, r.revision, r.open, r.high, r.low, r.close, r.volume, r.turnover,
        r.trades, r.vwap
      from candle_revision r
      where market_at.as_of is not null
        and r.instrument_id = i.id
        and r.timeframe = 1
        and r.opened_at = minute
        and r.known_from <= market_at.as_of
        and r.known_to > market_at.as_of
      limit 1
    ) c
    where i.source = any (places);
end
$function$;
comment on function market_at is
  'The final minute candle that contains the time, for every series that has one, in no order: '
  'opened_at < at <= closed_at, so 10:00:00 is in the minute 09:59–10:00. as_of: the values known '
  'at that time. market: cn or us, by its name in the table market; all of them if null.';

do $views$
declare
  shown text;
  floating text;
  made record;
begin
  select
    string_agg(a.attname, ', ' order by a.attnum),
    string_agg(
      format(case a.atttypid when 'numeric'::regtype then '%1$I::float8 as %1$I' else '%I' end,
        a.attname),
      ', ' order by a.attnum)
  into shown, floating
  from pg_attribute a
  where a.attrelid = 'rolled_candles'::regclass
    and a.attnum > 0
    and a.attname <> all ('{length,live,flags,series,from_ts,to_ts}');
  for made in
    select *
    from (
      values
        (
          'candle_1m', 'stored_candles', 1,
          'Minute candles: final ones, and the forming one with state open. symbol is as it is '
            'stored: for another spelling use where instrument_id = '
            'instrument_id(''600519.SH'').'
        ),
        (
          'candle_1d', 'stored_candles', 240,
          'Day candles, from the exchange''s own day fields; today''s with state open.'
        ),
        ('candle_5m', 'rolled_candles', 5, 'Five-minute candles, calculated from minutes'),
        ('candle_15m', 'rolled_candles', 15, 'Quarter-hour candles, calculated from minutes'),
        ('candle_30m', 'rolled_candles', 30, 'Half-hour candles, calculated from minutes'),
        ('candle_60m', 'rolled_candles', 60, 'Hour candles, calculated from minutes'),
        ('candle_1w', 'rolled_candles', 1200, 'Week candles, calculated from days'),
        ('candle_1mo', 'rolled_candles', 7200, 'Month candles, calculated from days')
    ) v (name, base, length, comment)
  loop
    execute format(
      'create or replace view %I as select %s from %I where length = %s%s',
      made.name, shown, made.base, made.length,
      case made.base when 'rolled_candles' then ' and live' else '' end);
    execute format(
      'comment on view %I is %L',
      made.name,
      made.comment || case made.base
        when 'rolled_candles' then ' as candles() does; the one not over has state open.'
        else ''
      end);
    execute format(
      'create or replace view %I as select %s from %I', made.name || '_f8', floating, made.name);
    execute format(
      'comment on view %I is %L',
      made.name || '_f8',
      format(
        'As %s, with float8 for numeric: for analysis, where rounding to 15 digits does no harm.',
        made.name));
  end loop;
end
$views$;

create or replace view latest as
select
  i.symbol, i.name, trading_name(q.trading) as trading, q.quoted_at,
  case when q.high > 0 then q.last end as last,
  case when q.high > 0 then q.last - q.previous_close end as change,
  round(
    case when q.high > 0 then 100 * (q.last - q.previous_close) / nullif(q.previous_close, 0) end,
    2) as percent_change,
  nullif(q.open, 0) as open, nullif(q.high, 0) as high, nullif(q.low, 0) as low, q.previous_close,
  q.volume, q.turnover, q.bid, q.ask, book_prices(q.bids) as bid_prices,
  book_volumes(q.bids) as bid_volumes, book_prices(q.asks) as ask_prices,
  book_volumes(q.asks) as ask_volumes, q.after_hours_volume, q.after_hours_turnover, q.status,
  q.trading_day, q.received_at, q.changed_seq, q.instrument_id,
  case when k.weeks then greatest(range_high(r, d.day - 363, 'infinity'), d.high) end as high_52w,
  case when k.weeks then least(range_low(r, d.day - 363, 'infinity'), d.low) end as low_52w,
  case
    when k.year then
      greatest(
        range_high(r, date_trunc('year', d.day)::date, 'infinity'),
        case when q.trading_day >= date_trunc('year', d.day) then d.high end)
  end as high_year,
  case
    when k.year then
      least(
        range_low(r, date_trunc('year', d.day)::date, 'infinity'),
        case when q.trading_day >= date_trunc('year', d.day) then d.low end)
  end as low_year,
  (
    select max(f.from_day)
    from adjustment_factor f
    where f.instrument_id = any (coalesce(i.chain, array[i.id]))
      and f.kind = 2
      and f.known_to is null
      and f.from_day > d.day - 363
      and f.from_day <= d.day
  ) as ex_day,
  nullif(q.limit_up, 0) as limit_up, nullif(q.limit_down, 0) as limit_down
from quote q
join instrument i on i.id = q.instrument_id
left join price_range r on r.instrument_id = q.instrument_id
-- A day that has its candle is counted with it.
cross join lateral (
  select q.high > 0 and not range_has(r, q.trading_day)
    and (q.trading_day <= r.trading_day - 364) is not true as is_open
) o
cross join lateral (
  select
    greatest(q.trading_day, r.trading_day) as day,
    case when o.is_open then q.high end as high,
    case when o.is_open then q.low end as low
) d
cross join lateral (
  select
    (r.known_from > d.day - 363) is not true as weeks,
    (r.known_from > date_trunc('year', d.day)) is not true as year
) k;
comment on view latest is
  'The latest quote of each instrument, its five-level book as arrays, best first. Before the '
  'first trade of the day its prices and change are null, also if the source sends the previous '
  'close as the last price (ETFs, indexes); trading is halted for a halted instrument.';

-- Candles of many series at once. Their conditions are known when they are planned: months are left
-- out, and a market is read by its days.

create or replace function set_candles(
  length smallint, from_ts timestamptz, to_ts timestamptz, places smallint[], ids integer[]
)
returns setof candle_row
language plpgsql stable security definer
rows 10000
set plan_cache_mode = force_custom_plan
set jit = off
as $function$
declare
  sources constant text[] := source_names();
  -- A day more at each end: no zone is further from UTC.
  first_day constant date := (set_candles.from_ts at time zone 'UTC')::date - 1;
  last_day constant date := (set_candles.to_ts at time zone 'UTC')::date + 1;
begin
  if set_candles.length in (1, 90, 240) then
    return query
      select (shown_candle(c, i.symbol, i.kind is distinct from 3, sources)).*
      from candle c
      join instrument i on i.id = c.instrument_id
      where c.timeframe = set_candles.length
        and c.trading_day between first_day and last_day
        and c.opened_at >= set_candles.from_ts
        and c.opened_at < set_candles.to_ts
        and (places is null or i.source = any (places))
        and (ids is null or i.id = any (ids));
    return;
  end if;
  return query
    select
      r.opened_at, r.closed_at, r.trading_day, r.open, r.high, r.low, r.close, r.volume,
      r.turnover, r.trades,
      coalesce(r.vwap, average_price(r.turnover, r.volume, i.kind)), r.flags, r.revision,
      r.known_from, r.source, r.symbol
    from rolled_candles r
    join instrument i on i.id = r.instrument_id
    where r.length = set_candles.length
      and not r.live
      and r.from_ts < set_candles.to_ts
      and r.to_ts > set_candles.from_ts
      and r.opened_at >= set_candles.from_ts
      and r.opened_at < set_candles.to_ts
      and (places is null or r.series = any (places))
      and (ids is null or r.instrument_id = any (ids));
end
$function$;
comment on function set_candles is
  'Stage of candles() and market_candles(): present values of many series, by source or by id, in '
  'no order.';

create or replace function candles(
  symbols text[], timeframe text default '1m', from_ts timestamptz default '-infinity',
  to_ts timestamptz default 'infinity', fill text default 'none', adjust text default 'raw',
  as_of timestamptz default null, source text default null, newest integer default null
)
returns setof candle_row
language plpgsql stable security definer
as $function$
declare
  length constant smallint := timeframe_code(candles.timeframe);
  -- From here on planning once is less than asking for each.
  few constant integer := 16;
  asked_symbol text;
begin
  if length is null
    or cardinality(candles.symbols) < few
    or (candles.fill, candles.adjust) is distinct from ('none', 'raw')
    or candles.as_of is not null
    or candles.newest is not null
    or exists (
      select
      from unnest(candles.symbols) s (symbol)
      join instrument i on i.id = instrument_id(s.symbol, candles.source)
      where i.chain is not null)
  then
    return query
      select c.*
      from unnest(candles.symbols) with ordinality s (symbol, place)
      cross join lateral candles(
        s.symbol, candles.timeframe, candles.from_ts, candles.to_ts, candles.fill,
        candles.adjust, candles.as_of, candles.source, candles.newest) c
      order by s.place, c.opened_at;
    return;
  end if;
  select s.symbol
  into asked_symbol
  from unnest(candles.symbols) with ordinality s (symbol, place)
  where instrument_id(s.symbol, candles.source) is null
  order by s.place
  limit 1;
  if found then
    perform symbol_error(asked_symbol, candles.source);
  end if;
  return query
    with wanted as materialized (
      select instrument_id(s.symbol, candles.source) as id, s.place
      from unnest(candles.symbols) with ordinality s (symbol, place)
    ),
    given as materialized (
      select c.*
      from set_candles(
        length, candles.from_ts, candles.to_ts, null,
        array(select distinct w.id from wanted w)) c
    )
    select g.*
    from wanted w
    join instrument i on i.id = w.id
    join given g on g.symbol = i.symbol
    order by w.place, g.opened_at;
end
$function$;
comment on function
  candles(text[], text, timestamptz, timestamptz, text, text, timestamptz, text, integer) is
  'The same for several instruments: in their order, newest for each.';

create or replace function market_candles(
  market text default null, timeframe text default '1m', from_ts timestamptz default '-infinity',
  to_ts timestamptz default 'infinity', adjust text default 'raw',
  as_of timestamptz default null
)
returns setof candle_row
language plpgsql stable security definer
rows 10000
as $function$
declare
  length constant smallint := timeframe_code(market_candles.timeframe);
  places constant smallint[] := market_sources(market_candles.market);
  factor_kind constant smallint := factor_kind(market_candles.adjust);
begin
  if length is null then
    perform argument_error(
      'timeframe', market_candles.timeframe,
      '1m, 5m, 15m, 30m, 60m, after_hours, 1d, 1w or 1mo');
  end if;
  if market_candles.adjust = 'raw' and market_candles.as_of is null then
    return query
      select c.*
      from set_candles(
        length, market_candles.from_ts, market_candles.to_ts, places, null) c;
    return;
  end if;
  return query
    select c.*
    from instrument i
    join source s on s.code = i.source
    cross join lateral candles(
      i.symbol, market_candles.timeframe, market_candles.from_ts, market_candles.to_ts, 'none',
      market_candles.adjust, market_candles.as_of, s.name) c
    where i.source = any (places)
      and i.reused_on is null
      and (i.chain is null or i.id = i.chain[cardinality(i.chain)])
      and (
        factor_kind is null
        or exists (
          select
          from known_factors(i.id, factor_kind, market_candles.as_of) k
          where factor_kind < 3
            or k.from_day < market_candles.to_ts at time zone (market_of(i.id)).zone));
end
$function$;
comment on function market_candles is
  'candles() of every series of a market (cn, us: the names in the table market; all of them if '
  'null), in no order. Adjusted: of those whose factors are known. With adjust or as_of it asks '
  'for each series by itself.';

create or replace function newest_day()
returns date
language sql stable security definer
as $function$
  select greatest(
    (select max(q.trading_day) from quote q),
    (select max(c.trading_day) from candle c where c.timeframe = 240))
$function$;
comment on function newest_day is 'The newest trading day that has a quote or a day candle.';

-- Of the day, the last 52 weeks and the year: what is kept of day candles, and the quotes of today.
create or replace view ranges as
with newest as materialized (
  select n.day, n.day - 363 as since, date_trunc('year', n.day)::date as new_year
  from newest_day() n (day)
)
select
  i.symbol, i.name, greatest(r.trading_day, q.trading_day) as trading_day,
  greatest(
    case when r.trading_day = n.day then r.high end,
    case when q.trading_day = n.day then q.high end) as high_day,
  least(
    case when r.trading_day = n.day then r.low end,
    case when q.trading_day = n.day then q.low end) as low_day,
  case when k.weeks then greatest(range_high(r, n.since, 'infinity'), q.high) end as high_52w,
  case when k.weeks then least(range_low(r, n.since, 'infinity'), q.low) end as low_52w,
  case
    when k.year then
      greatest(
        range_high(r, n.new_year, 'infinity'),
        case when q.trading_day >= n.new_year then q.high end)
  end as high_year,
  case
    when k.year then
      least(
        range_low(r, n.new_year, 'infinity'),
        case when q.trading_day >= n.new_year then q.low end)
  end as low_year,
  (
    coalesce(bit_count(r.traded >> (n.day - r.trading_day)), 0)
    + case when q.trading_day is null then 0 else 1 end
  )::integer as days,
  i.id as instrument_id,
  (
    select max(f.from_day)
    from adjustment_factor f
    where f.instrument_id = any (coalesce(i.chain, array[i.id]))
      and f.kind = 2
      and f.known_to is null
      and f.from_day > n.since
      and f.from_day <= n.day
  ) as ex_day
from newest n
cross join instrument i
left join price_range r on r.instrument_id = i.id and r.trading_day >= n.since
left join quote q
  on q.instrument_id = i.id
  and q.trading_day >= n.since
  and q.high > 0
  and not range_has(r, q.trading_day)
cross join lateral (
  select
    (r.known_from > n.since) is not true as weeks,
    (r.known_from > n.new_year) is not true as year
) k
where r.instrument_id is not null
  or q.instrument_id is not null;
comment on view ranges is
  'Highest and lowest prices of each instrument, today''s included, adjusted to the newest ones: '
  'on the newest day of all, in 52 weeks and in the calendar year to it; null for a year or weeks '
  'with an ex-day before which no factor is known.';

create or replace function movers(
  kind text default 'gainers', market text default null, day date default null,
  max_rows integer default 20
)
returns table (
  symbol text, name text, trading_day date, last numeric, previous_close numeric, change numeric,
  percent_change numeric, high numeric, low numeric, volume numeric, turnover numeric,
  instrument_id integer
)
language plpgsql stable security definer
set plan_cache_mode = force_custom_plan
set jit = off
as $function$
declare
  places constant smallint[] := market_sources(movers.market);
  extremes constant boolean := movers.kind in ('new_highs', 'new_lows');
  on_day date := movers.day;
  from_ts timestamptz;
  past_extremes boolean;
begin
  if movers.kind is null
    or movers.kind not in ('gainers', 'losers', 'turnover', 'volume', 'new_highs', 'new_lows')
  then
    perform argument_error(
      'kind', movers.kind, 'gainers, losers, turnover, volume, new_highs or new_lows');
  end if;
  if on_day is null then
    select greatest(
      (
        select max(q.trading_day)
        from quote q
        join instrument i on i.id = q.instrument_id
        where i.source = any (places)
      ),
      (
        select c.trading_day
        from candle c
        join instrument i on i.id = c.instrument_id
        where c.timeframe = 240
          and i.source = any (places)
        order by c.trading_day desc
        limit 1
      ))
    into on_day;
  end if;
  from_ts := on_day - interval '1 day';
  -- What is kept ends with the newest day: before an earlier one the days are read.
  past_extremes := extremes and exists (select from price_range r where r.trading_day > on_day);
  return query
    with final as materialized (
      select c.instrument_id, c.opened_at, c.high, c.low, c.close, c.volume, c.turnover
      from candle c
      where c.timeframe = 240
        and c.trading_day = on_day
        and c.opened_at >= from_ts
        and c.opened_at < from_ts + interval '3 days'
    ),
    present as materialized (
      select *
      from final
      union all
      select q.instrument_id, q.quoted_at, q.high, q.low, q.last, q.volume, q.turnover
      from quote q
      where q.trading_day = on_day
        and q.high > 0
        and not exists (select from final f where f.instrument_id = q.instrument_id)
    ),
    moved as (
      select
        i.symbol, i.name, p.*, b.previous_close, p.close - b.previous_close as change
      from present p
      join instrument i on i.id = p.instrument_id
      left join quote q on q.instrument_id = i.id and q.trading_day = on_day
      cross join lateral (
        select coalesce(
          nullif(q.previous_close, 0),
          (
            select a.previous_close
            from day_audit a
            where a.trading_day = on_day
              and a.instrument_id = i.id
          ),
          (
            -- On an ex-day the factor steps by what the exchange takes off the close.
            select round(c.close * price_ratio(i.id, c.trading_day, on_day), scale(c.close))
            from candle c
            where c.instrument_id = i.id
              and c.timeframe = 240
              and c.opened_at < p.opened_at
              and c.trading_day < on_day
            order by c.opened_at desc
            limit 1
          )) as previous_close
      ) b
      where i.source = any (places)
    ),
    before as (
      select
        r.instrument_id, range_high(r, on_day - 363, on_day) as high,
        range_low(r, on_day - 363, on_day) as low, case
          when exists (
            select
            from adjustment_factor k
            where k.instrument_id = factored_id(r.instrument_id, 2::smallint)
              and k.kind = 2
              and k.known_to is null
              and k.from_day > on_day)
          then price_ratio(r.instrument_id, on_day)
          else 1
        end as ratio
      from price_range r
      where extremes
        and r.trading_day <= on_day
        and r.known_from <= on_day - 363
      union all
      select c.instrument_id, max(c.high), min(c.low), 1
      from candle c
      join price_range r on r.instrument_id = c.instrument_id
      where past_extremes
        and r.trading_day > on_day
        and c.timeframe = 240
        and c.trading_day > on_day - 364
        and c.trading_day < on_day
        and c.opened_at > from_ts - interval '366 days'
        and c.opened_at < from_ts + interval '2 days'
      group by c.instrument_id
    )
    select
      m.symbol, m.name, on_day, m.close, m.previous_close, m.change,
      round(100 * m.change / nullif(m.previous_close, 0), 2),
      m.high, m.low, m.volume, m.turnover, m.instrument_id
    from moved m
    left join before b on b.instrument_id = m.instrument_id
    where case movers.kind
        when 'gainers' then m.change > 0
        when 'losers' then m.change < 0
        when 'new_highs' then round(m.high * b.ratio, scale(m.high)) > b.high
        when 'new_lows' then round(m.low * b.ratio, scale(m.low)) < b.low
        else true
      end
    order by
      case movers.kind
        when 'gainers' then m.change / nullif(m.previous_close, 0)
        when 'losers' then -m.change / nullif(m.previous_close, 0)
        when 'volume' then m.volume
        else m.turnover
      end desc nulls last, m.symbol
    limit movers.max_rows;
end
$function$;
comment on function movers is
  'The first of a market (all of them if null) on a day (its newest if null). kind: gainers and '
  'losers by per cent, turnover, volume, new_highs and new_lows (beyond every day of the 52 weeks '
  'before, by turnover; adjusted, and as traded where day is not the newest). The previous close '
  'is the exchange''s, on an ex-day adjusted; where it is not stored, that of the last day candle '
  'before, by the factors known.';

create or replace function served_on(series integer, day date)
returns text[]
language sql stable security definer
as $function$
  select array_agg(distinct v.source)
  from instrument i
  join source s on s.code = i.source
  join market m on m.code = s.market
  cross join lateral served(
    i.source,
    (day + m.day_opens) at time zone m.zone,
    (day + 1)::timestamp at time zone m.zone) v
  join source q on q.name = v.source
  where i.id = served_on.series
    and (q.quoted is null or exchange_name(i.exchange) || ' ' || kind_name(i.kind) = any(q.quoted))
$function$;
comment on function served_on is 'The sources of live quotes of an instrument on a day, from the open to midnight.';

create or replace view coverage as
select
  i.symbol, a.trading_day, a.minutes_traded::integer as traded,
  a.minutes_untraded::integer as untraded, a.minutes_missing::integer as missing, a.minute_volume,
  a.gap_volume, a.residual_volume, a.residual_turnover, a.balanced, true as certified,
  a.repaired_at, s.name as source, a.instrument_id, a.coarse,
  case
    when s.quoted is not null or i.source in (select v.series from serving v) then
      served_on(a.instrument_id, a.trading_day)
    else array[s.name]
  end as served_by,
  a.previous_close, nullif(a.limit_up, 0) as limit_up, nullif(a.limit_down, 0) as limit_down
from day_audit a
join instrument i on i.id = a.instrument_id
left join source s on s.code = i.source
union all
select
  i.symbol, d.day, c.traded, c.untraded, null, c.volume, null, null, null, null, false, null,
  s.name, i.id, null,
  case
    when s.quoted is not null or i.source in (select v.series from serving v) then
      served_on(i.id, d.day)
    else array[s.name]
  end, null, null, null
from instrument i
join source s on s.code = i.source
join market m on m.code = s.market
cross join stored_days() d (day)
cross join lateral market_hours(m, d.day) e
cross join lateral (
  select
    (count(*) filter (where c.flags & 1 = 0))::integer as traded,
    (count(*) filter (where c.flags & 1 <> 0))::integer as untraded,
    sum(c.volume) as volume
  from candle c
  where c.instrument_id = i.id
    and c.timeframe = 1
    and c.opened_at >= e.from_ts
    and c.opened_at < e.to_ts
  having count(*) > 0
) c
where not exists (
  select
  from day_audit a
  where a.instrument_id = i.id
    and a.trading_day = d.day);
comment on view coverage is
  'Minutes traded, untraded and missing per series and day; missing and residual once certified; '
  'repaired_at once the day was reconciled with the source''s bars; served_by: whose live quotes.';

create or replace view gaps as
select
  i.symbol, g.trading_day, g.from_at, g.to_at, g.volume, g.turnover,
  gap_cause_name(g.cause) as cause, case
    when g.known_to is not null then 'closed'
    when g.permanent_at is not null then 'permanent'
    else 'open'
  end as state, g.known_from, g.known_to, g.closed_by, g.sightings, g.last_sighting_at,
  g.permanent_at, g.permanent_reason, g.id, g.instrument_id
from gap g
join instrument i on i.id = g.instrument_id;
comment on view gaps is
  'Trading that candled did not see, with its cause and state: open, closed (its minutes were '
  'found; closed_by superseded: another row replaced it) or permanent (no source has them).';

create or replace view revisions as
select
  i.symbol, timeframe_name(r.timeframe) as timeframe, r.opened_at, r.revision, r.open, r.high,
  r.low, r.close, r.volume, r.turnover, r.trades, r.vwap, r.known_from, r.known_to,
  revision_cause_name(r.cause) as cause, s.name as source, r.instrument_id
from candle_revision r
join instrument i on i.id = r.instrument_id
left join source s on s.code = r.source;
comment on view revisions is 'Earlier values of revised candles.';

create or replace view disagreements as
select
  i.symbol, timeframe_name(d.timeframe) as timeframe, d.opened_at, d.trading_day, d.field, d.ours,
  d.theirs, o.name as our_source, t.name as their_source,
  case when d.resolved_at is null then 'open' else 'resolved' end as state,
  d.known_from, d.resolved_at, d.id, d.instrument_id
from disagreement d
join instrument i on i.id = d.instrument_id
left join source o on o.code = d.our_source
left join source t on t.code = d.their_source;
comment on view disagreements is 'Values on which two sources, or two readings, disagree.';

create or replace view factors as
select
  i.symbol,
  case f.kind when 1 then 'qfq' when 2 then 'hfq' when 3 then 'split' end as kind,
  f.from_day, f.factor, f.known_from, f.known_to, s.name as source, f.instrument_id,
  f.basis, f.verdict, f.exception, f.filed, f.filed_cash, f.filed_split
from adjustment_factor f
join instrument i on i.id = f.instrument_id
left join source s on s.code = i.source;
comment on view factors is
  'Adjustment factors as they are served, current (known_to is null) and earlier ones, and what '
  'each rests on: qfq divides, hfq multiplies.';

create or replace view lists as
select
  s.name as source, l.part, l.judged_at, l.verdict, l.rows, l.detail, l.content_hash, l.id
from instrument_list l
left join source s on s.code = l.source;
comment on view lists is 'Received lists of instruments, and the verdict on each.';

create or replace view key_usage as
select
  s.name as source, k.label, k.day, k.requests,
  case when k.parked_until > k.updated_at then 'parked' else 'usable' end as state,
  k.parked_until, k.parked_reason, k.updated_at
from api_key_usage k
left join source s on s.code = k.source;
comment on view key_usage is 'Requests of each key per day, and whether it is parked.';

create or replace view rejections as
select
  r.trading_day, r.received_at, s.name as source, r.symbol, r.reason, r.detail, r.payload
from rejected r
left join source s on s.code = r.source;
comment on view rejections is
  'Rows that were refused or held, with the reason. lagging: older than what is known, routine; '
  'backward_stamp: newer, with less volume or turnover, a lower high or a higher low; '
  'outside_band: a price beyond the legal band.';

create or replace view health as
select
  s.name as source, h.endpoint, h.state, h.since, h.last_success_at, h.requests, h.failures,
  h.detail, h.updated_at,
  case when h.endpoint = 'quotes' then s.name = v.source end as serves
from source_health h
left join source s on s.code = h.source
left join lateral served(s.series, 'infinity', 'infinity') v on true;
comment on view health is
  'State of each endpoint of each source, and whether live quotes come from it.';

create or replace view leaders as
select
  t.term, t.holder, t.host, t.acquired_at,
  lead(t.acquired_at) over (order by t.term) as ended_at,
  case
    when l.term is null then 'over'
    when l.expires_at > clock_timestamp() then 'leads'
    else 'expired'
  end as state, t.from_journal, t.from_position, t.position
from lease_term t
left join lease l on l.term = t.term;
comment on view leaders is 'One row per term. The last one leads, or its lease has expired.';

create or replace function flag_names(flags smallint)
returns text[]
language sql immutable parallel safe
return array_remove(
  array[
    case when flags & 1 <> 0 then 'no_trade' end,
    case when flags & 2 <> 0 then 'partial' end,
    case when flags & 4 <> 0 then 'extreme_ambiguous' end,
    case when flags & 8 <> 0 then 'outside_range' end,
    case when flags & 16 <> 0 then 'filled' end,
    case when flags & 64 <> 0 then 'coarse' end
  ],
  null);
comment on function flag_names is 'The names of the bits of a candle''s flags.';

create or replace function why(
  symbol text, at timestamptz, timeframe text default '1m', source text default null
)
returns setof candle_fact
language plpgsql stable security definer
set plan_cache_mode = force_generic_plan
set jit = off
as $function$
declare
  series constant integer := instrument_id(why.symbol, why.source);
  length constant smallint := timeframe_code(why.timeframe);
  rolled constant boolean := length not in (1, 90, 240);
  base constant smallint := case
    when not rolled then length
    when length > 240 then 240
    else 1
  end;
  it candle;
begin
  if length is null then
    perform argument_error(
      'timeframe', why.timeframe, '1m, 5m, 15m, 30m, 60m, after_hours, 1d, 1w or 1mo');
  end if;
  if series is null then
    perform symbol_error(why.symbol, why.source);
  end if;
  select c.*
  into it
  from series_candles(
    series, length,
    why.at - case when length > 240 then interval '32 days' else interval '26 hours' end,
    why.at + interval '1 microsecond',
    null, null, null, false) c
  where c.closed_at > why.at
  order by c.opened_at desc
  limit 1;
  if it.opened_at is null then
    return query
      select 'nothing', why.at, format('no final %s candle of %s', why.timeframe, why.symbol);
    return;
  end if;
  return query
    select
      case when rolled and b.timeframe = length then 'rolled up' else 'candle' end,
      b.known_from,
      format(
        '%s to %s from %s, revision %s: open %s high %s low %s close %s volume %s turnover %s%s',
        b.opened_at, b.closed_at, source_name(b.source), b.revision, b.open, b.high, b.low,
        b.close, b.volume, coalesce(b.turnover::text, 'unknown'),
        case when b.flags = 0 then '' else ', ' || array_to_string(flag_names(b.flags), ' ') end)
    from (
      select 1 as place, it.*
      union all
      select 2, r.*
      from series_rows(series, base, it.opened_at, it.closed_at, null) r
      where rolled
    ) b
    order by b.place, b.opened_at;
  return query
    select
      'revision', r.known_from,
      format(
        'revision %s of %s, known until %s (%s): '
          'open %s high %s low %s close %s volume %s turnover %s',
        r.revision, r.opened_at, r.known_to, revision_cause_name(r.cause), r.open, r.high, r.low,
        r.close, r.volume, coalesce(r.turnover::text, 'unknown'))
    from candle_revision r
    where r.instrument_id = series
      and r.timeframe = base
      and r.opened_at >= it.opened_at
      and r.opened_at < it.closed_at
    order by r.opened_at, r.revision desc;
  return query
    select
      'change', h.committed_at,
      format(
        'seq %s, journal position %s: %s %s', h.seq, h.position, k.opened_at, k.what)
    from change h
    cross join lateral (
      select w.opened_at, 'written' as what
      from unnest(h.candle_instrument_ids, h.candle_timeframes, h.candle_opened_ats)
        w (instrument_id, timeframe, opened_at)
      where w.instrument_id = series
        and w.timeframe = base
      union all
      select v.opened_at, 'revised'
      from unnest(h.revision_instrument_ids, h.revision_timeframes, h.revision_opened_ats)
        v (instrument_id, timeframe, opened_at)
      where v.instrument_id = series
        and v.timeframe = base
    ) k
    where k.opened_at >= it.opened_at
      and k.opened_at < it.closed_at
      and h.known_at in (
        select r.known_from
        from series_rows(series, base, it.opened_at, it.closed_at, null) r
        union
        select r.known_from
        from candle_revision r
        where r.instrument_id = series
          and r.timeframe = base
          and r.opened_at >= it.opened_at
          and r.opened_at < it.closed_at)
    order by h.seq, k.opened_at;
  return query
    select
      'served',
      greatest(v.since, it.opened_at),
      format('live quotes of %s%s', v.source, ' since ' || nullif(v.since, '-infinity'))
    from instrument i
    cross join lateral served(i.source, it.opened_at, it.closed_at) v
    where i.id = series
      and exists (select from source s where s.code = i.source and s.kind = 'quotes');
  return query
    select
      'gap', g.known_from,
      format(
        '%s to %s, %s, %s: volume %s turnover %s',
        g.from_at, g.to_at, g.cause, g.state, g.volume, g.turnover)
    from gaps g
    where g.instrument_id = series
      and g.trading_day = it.trading_day
      and g.from_at < it.closed_at
      and g.to_at > it.opened_at
    order by g.from_at, g.id;
  return query
    select
      'disagreement', d.known_from,
      format(
        '%s of %s %s, %s: %s says %s, %s says %s',
        d.field, d.timeframe, d.opened_at, d.state, d.our_source,
        coalesce(d.ours::text, 'nothing'), d.their_source, coalesce(d.theirs::text, 'nothing'))
    from disagreements d
    where d.instrument_id = series
      and d.opened_at >= it.opened_at
      and d.opened_at < it.closed_at
    order by d.opened_at, d.id;
  return query
    select
      'factor', f.known_from,
      format(
        '%s %s since %s: %s', f.kind, coalesce(f.factor::text, 'not known'), f.from_day,
        concat_ws(', ', f.basis, f.verdict, f.exception, 'the file has ' || f.filed))
    from (
      select distinct on (f.kind) f.*
      from factors f
      where f.instrument_id = series
        and f.known_to is null
        and f.from_day <= it.trading_day
      order by f.kind, f.from_day desc
    ) f
    order by f.kind;
  return query
    select
      'certificate', a.known_from,
      format(
        '%s: the exchange''s day %s%s, minutes %s, gaps %s, residual %s',
        a.trading_day, coalesce(a.exchange_volume::text, 'unknown'),
        case when a.coarse then ' (coarse)' end, a.minute_volume, a.gap_volume,
        coalesce(a.residual_volume::text, 'unknown'))
    from day_audit a
    where a.instrument_id = series
      and a.trading_day
        between (it.opened_at at time zone (market_of(series)).zone)::date and it.trading_day
    order by a.trading_day;
end
$function$;
comment on function why is
  'The origin of one candle: the candle with opened_at <= at < closed_at, the candles it was '
  'calculated from, its earlier revisions, the changes that wrote it (while the change feed keeps '
  'them), and who served, the gaps, disagreements and certificates in its interval, and the '
  'factors of its day.';

-- For followers. LISTEN candled is a hint; these are the truth.

create or replace function feed_position(
  out epoch bigint, out first_seq bigint, out last_seq bigint, out "position" bigint,
  out known_at timestamptz
)
language sql stable security definer
as $function$
  select
    f.epoch,
    coalesce((select min(c.seq) from change c), f.last_seq + 1),
    f.last_seq, j.position, j.known_from
  from feed_sequence f
  cross join journal_position j
  -- A logical replica gets table by table at first: changes come whose candles are not there yet.
  where not exists (
    select from pg_subscription_rel r join pg_class c on c.oid = r.srrelid
    where r.srsubstate <> 'r' and c.relnamespace = 'candled'::regnamespace)
$function$;
comment on function feed_position is
  'The feed''s epoch, its oldest kept change, its last one, and the journal position of that; nulls '
  'while a logical replica is being filled.';

create or replace function changes(
  after_seq bigint, max_rows integer default 1000
)
returns table (
  kind text, from_seq bigint, seq bigint, committed_at timestamptz, known_at timestamptz,
  quotes integer, rejections integer, candle_instrument_ids integer[],
  candle_timeframes smallint[], candle_opened_ats timestamptz[], revision_instrument_ids integer[],
  revision_timeframes smallint[], revision_opened_ats timestamptz[], gap_ids bigint[],
  closed_gap_ids bigint[], audit_instrument_ids integer[], audit_days date[], events jsonb
)
language sql stable security definer
as $function$
  (
    select
      'skipped',
      after_seq + 1,
      p.first_seq - 1,
      null, null, 0, 0, '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '[]'
    from feed_position() p
    where p.first_seq > after_seq + 1
  )
  union all
  (
    select
      'change', c.seq, c.seq, c.committed_at, c.known_at, c.quotes, c.rejections,
      c.candle_instrument_ids, c.candle_timeframes, c.candle_opened_ats, c.revision_instrument_ids,
      c.revision_timeframes, c.revision_opened_ats, c.gap_ids, c.closed_gap_ids,
      c.audit_instrument_ids, c.audit_days, c.events
    from change c
    where c.seq > after_seq
    order by c.seq
    limit max_rows
  )
$function$;
comment on function changes is
  'The changes after a cursor, in order, with the columns of the table change. kind is change, or '
  'skipped in a first row if changes from from_seq to seq were deleted.';

-- What is kept how long. Evidence is what an answer rests on, and stays. Diagnosis says how the
-- daemon fared: its rows go after 400 days, or by their number, and their count a day stays. Other
-- tables hold what is true now. `serving` says whose quotes old candles are of: evidence.

create table if not exists ledger (
  name text primary key,
  place text,
  day text,
  expires text,
  constraint what_expires_has_a_place check (expires is null or (place, day) is not null)
);
comment on table ledger is 'Tables that grow: evidence stays, diagnosis goes and is counted.';
comment on column ledger.place is 'By which column its rows go, the least first.';
comment on column ledger.day is 'The day on which a row counts.';
comment on column ledger.expires is
  'Which rows t go, by $1, the day of the daemon''s clock; null for evidence, which stays.';

create table if not exists ledger_day (
  ledger text not null,
  day date not null,
  rows bigint not null,
  primary key (ledger, day)
);
comment on table ledger_day is 'How many rows of a day of a ledger were deleted when they expired.';

insert into ledger (name, place, day, expires)
select unnest(array[
    'adjustment_factor', 'candle', 'candle_revision', 'day_audit', 'gap', 'instrument',
    'instrument_link', 'instrument_name', 'market_session', 'rule', 'serving', 'trading_day']),
  null, null, null
union all
values
  ('api_key_usage', 'day', 'day', 'day < $1 - 400'),
  ('backfill_chunk', 'done_at', 'done_at::date', 'done_at < $1 - 400'),
  -- About a month of commits: followers read up to here.
  ('change', 'seq', 'known_at::date', 'seq <= (select last_seq from feed_sequence) - 150000'),
  ('disagreement', 'id', 'known_from::date', 'resolved_at < $1 - 400'),
  -- The newest of each part is what the next one is compared with.
  ('instrument_list', 'id', 'judged_at::date',
    'judged_at < $1 - 400 and exists (
      select
      from instrument_list n
      where (n.source, n.part, n.verdict) = (t.source, t.part, ''accepted'') and n.id > t.id)'),
  ('lease_term', 'term', 'acquired_at::date',
    'acquired_at < $1 - 400 and term < (select l.term from lease l)'),
  -- Ten days of a source that has changed its format, and a year of one that has not.
  ('rejected', 'id', 'trading_day',
    'id <= (select max(id) from rejected) - 200000 or trading_day < $1 - 400')
on conflict (name) do update
set place = excluded.place, day = excluded.day, expires = excluded.expires;

create or replace function prune(today date, rows_max bigint)
returns bigint
language plpgsql
security definer
as $function$
declare
  kept ledger;
  taken bigint;
  total bigint := 0;
begin
  for kept in select * from ledger where expires is not null order by name loop
    execute format(
      $statement$
        with past as (
          select t.ctid
          from %1$I t
          where %2$s
          order by t.%3$I
          limit $2
        ),
        gone as (
          delete from %1$I t
          using past p
          where t.ctid = p.ctid
          returning t.%4$s as day
        ),
        counted as (
          insert into ledger_day as d (ledger, day, rows)
          select %1$L, g.day, count(*)
          from gone g
          group by g.day
          on conflict (ledger, day) do update set rows = d.rows + excluded.rows
        )
        select count(*)
        from gone
      $statement$,
      kept.name, kept.expires, kept.place, kept.day)
    into taken
    using today, rows_max;
    total := total + taken;
  end loop;
  return total;
end
$function$;
comment on function prune is
  'Deletes the oldest expired rows of each ledger, as many of one as given, counts them in '
  'ledger_day, and returns how many they were: call it until there are none.';

-- The same rows for programs, codes as numbers: the library, `candled query` and `candled status`
-- read these. Whatever only the daemon understands is left out.

do $views$
declare
  made record;
  shown text;
begin
  for made in
    select *
    from (
      values
        ('feed_instruments', 'instrument', '{missed_lists,listed_part}', ''),
        ('feed_quotes', 'quote', '{book_state}', ', without what is only the daemon''s'),
        ('feed_overview', 'overview', '{}', ''),
        ('feed_candles', 'candle', '{}', ''),
        ('feed_revisions', 'candle_revision', '{}', ''),
        (
          'feed_gaps', 'gap',
          '{closed_by,sightings,last_sighting_at,permanent_at,permanent_reason}',
          '; what became of each is in gaps'),
        ('feed_audits', 'day_audit', '{}', ''),
        ('feed_changes', 'change', '{term}', '; changes() also says what is kept no more'),
        ('feed_rejections', 'rejected', '{received_at,payload_md5}', ''),
        ('feed_health', 'source_health', '{updated_at}', ''),
        ('feed_serving', 'serving', '{}', '')
    ) v (name, source, hidden, remark)
  loop
    select string_agg(a.attname, ', ' order by a.attnum)
    into shown
    from pg_attribute a
    where a.attrelid = made.source::regclass
      and a.attnum > 0
      and not a.attisdropped
      and a.attname <> all (made.hidden::name[]);
    execute format('create or replace view %I as select %s from %I', made.name, shown, made.source);
    execute format(
      'comment on view %I is %L',
      made.name,
      format('As the table %s%s.', made.source, made.remark));
  end loop;
end
$views$;

create or replace view feed_place as
select j.position, j.known_from, j.updated_at, f.epoch, f.last_seq
from journal_position j
cross join feed_sequence f;
comment on view feed_place is 'Progress of the journal in the database, and the feed''s last seq.';

-- What the schema check compares.

create or replace function schema_objects()
returns setof text
language sql stable
-- Constants of a body print in the session's zone and style.
set timezone = 'UTC'
set datestyle = 'ISO'
set intervalstyle = 'postgres'
as $function$
  with relation as (
    select
      r.*,
      case r.relkind
        when 'v' then 'view '
        when 'S' then 'sequence '
        when 'c' then 'type '
        else 'table '
      end || r.relname as name
    from pg_class r
    where r.relnamespace = 'candled'::regnamespace
      and r.relkind in ('r', 'p', 'v', 'S', 'c')
      -- Copies of months come and go.
      and r.relname !~ '^candle_[0-9]{4}_[0-9]{2}_ordered$'
  ),
  routine as (
    select
      p.*,
      format('function %s(%s)', p.proname, pg_get_function_identity_arguments(p.oid)) as name
    from pg_proc p
    where p.pronamespace = 'candled'::regnamespace
      and p.prokind in ('f', 'p')
  ),
  owned (name, owner, acl, is_month) as (
    select 'schema candled', n.nspowner, n.nspacl, false
    from pg_namespace n
    where n.nspname = 'candled'
    union all
    select r.name, r.relowner, r.relacl, r.relispartition
    from relation r
    union all
    select f.name, f.proowner, coalesce(f.proacl, acldefault('f', f.proowner)), false
    from routine f
    union all
    select format('%s column %s', r.name, c.attname), null, c.attacl, false
    from relation r
    join pg_attribute c on c.attrelid = r.oid
  )
  select format(
    'column %s.%s %s%s%s%s%s',
    r.relname, a.attname, format_type(a.atttypid, a.atttypmod),
    case when a.attnotnull then ' not null' else '' end,
    case a.attidentity when 'a' then ' identity always' when 'd' then ' identity' else '' end,
    case when a.attgenerated = 's' then ' generated' else '' end,
    ' default ' || pg_get_expr(d.adbin, d.adrelid))
  from relation r
  join pg_attribute a on a.attrelid = r.oid
  left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
  where r.relkind <> 'S'
    and not r.relispartition
    and a.attnum > 0
    and not a.attisdropped
  union all
  select format('%s on %s: %s', d.what, r.name, d.definition)
  from (
    select 'constraint ' || conname, conrelid, pg_get_constraintdef(oid)
    from pg_constraint
    union all
    select 'index ' || indexrelid::regclass, indrelid, pg_get_indexdef(indexrelid)
    from pg_index
    union all
    select 'trigger ' || tgname, tgrelid, format('%s, %s', pg_get_triggerdef(oid), tgenabled)
    from pg_trigger
    where not tgisinternal
      and tgparentid = 0
      and tgname <> 'candle_moved'
    union all
    select 'rule ' || rulename, ev_class, md5(pg_get_ruledef(oid))
    from pg_rewrite
    union all
    select 'row security', oid, relforcerowsecurity::text
    from pg_class
    where relrowsecurity
      or relforcerowsecurity
    union all
    select
      'policy ' || polname, polrelid,
      concat_ws(
        ' ', polcmd, polpermissive, pg_get_expr(polqual, polrelid),
        pg_get_expr(polwithcheck, polrelid))
    from pg_policy
  ) d (what, relation, definition)
  join relation r on r.oid = d.relation
  -- Months have the constraints and indexes of their table.
  where not (r.relispartition and d.what ~ '^(constraint|index) ')
  union all
  select format('%s: %s', f.name, md5(pg_get_functiondef(f.oid)))
  from routine f
  union all
  select format('owner of %s: %s', o.name, pg_get_userbyid(o.owner))
  from owned o
  where case
    -- A month belongs to whom its table belongs to.
    when o.is_month then
      o.owner <> (select c.relowner from pg_class c where c.oid = 'candle'::regclass)
    else o.owner is not null
  end
  union all
  select format(
    'grant %s on %s to %s%s',
    g.privilege_type, o.name, coalesce(r.rolname, 'public'),
    case when g.is_grantable then ' with grant option' else '' end)
  from owned o
  cross join lateral aclexplode(o.acl) g
  left join pg_roles r on r.oid = g.grantee
  where g.grantee is distinct from o.owner
    -- What other roles are granted is the operator's. What the daemon may do with months it may do
    -- by their table.
    and (
      g.grantee = 0
      or r.rolname in ('candled_owner', 'candled_reader')
      or r.rolname = 'candled' and not o.is_month)
  union all
  select concat_ws(
    ' ',
    format('publication %s:', p.pubname),
    case when p.puballtables then 'all tables' end,
    case when p.pubinsert then 'insert' end,
    case when p.pubupdate then 'update' end,
    case when p.pubdelete then 'delete' end,
    case when p.pubtruncate then 'truncate' end,
    case when p.pubviaroot then 'via root' end)
  from pg_publication p
  where p.pubname in ('candled', 'candled_candles')
  union all
  select format(
    'publication %s of %s (%s)%s',
    t.pubname, t.tablename, array_to_string(t.attnames, ', '), ' where ' || t.rowfilter)
  from pg_publication_tables t
  where t.pubname in ('candled', 'candled_candles')
  union all
  -- What the daemon needs of the server, and an operator can take from everybody.
  select 'right of candled: ' || n.need
  from pg_roles r
  cross join lateral (
    values
      (
        'execute pg_try_advisory_lock(bigint)',
        has_function_privilege(r.oid, 'pg_try_advisory_lock(bigint)', 'execute')
      ),
      (
        'execute pg_current_xact_id()',
        has_function_privilege(r.oid, 'pg_current_xact_id()', 'execute')
      ),
      (
        'temporary tables in the database',
        has_database_privilege(r.oid, current_database(), 'temporary')
      )
  ) n (need, is_held)
  where r.rolname = 'candled'
    and n.is_held
  union all
  -- A dump has no settings, unless it creates the database.
  select lower(format(
    'setting of %s: %s',
    coalesce(pg_get_userbyid(nullif(s.setrole, 0)), 'the database'), split_part(c, '=', 1)))
  from pg_db_role_setting s
  cross join unnest(s.setconfig) c
  where case
    when s.setrole = 0 then
      s.setdatabase = (select oid from pg_database where datname = current_database())
      and (c ~* '^timezone=' or c ~ '^search_path=.*candled')
    else
      s.setdatabase = 0
      and pg_get_userbyid(s.setrole) = 'candled_reader'
      and c ~ '^(idle_in_transaction_session|statement)_timeout='
  end
  order by 1
$function$;
comment on function schema_objects is
  'One line per object or right, for comparison with schema_version.objects. Grants to other '
  'roles than the three of the schema, and the members of those, are left out: the operator '
  'manages them.';

-- A body that is text is looked up when it runs: in this schema, whoever calls it.
do $pins$
declare
  pinned regprocedure;
begin
  for pinned in
    select oid
    from pg_proc
    where pronamespace = 'candled'::regnamespace
      and prosqlbody is null
      and prokind = 'f'
      and proowner = (select nspowner from pg_namespace where nspname = 'candled')
  loop
    execute format('alter function %s set search_path = candled, pg_temp', pinned);
  end loop;
end
$pins$;

-- The columns of tables (table:column), views and types: the first pattern that fits, else the
-- comment of the table's column of that name. Views that are stages of the client's queries
-- (feed_*) have only the latter.
do $columns$
declare
  shown record;
begin
  for shown in
    with listed as materialized (
      select distinct on (r.oid, a.attnum)
        r.oid as relation, r.relname, a.attnum, a.attname,
        coalesce(c.comment, col_description(r.oid, a.attnum)) as comment, r.relkind
      from pg_class r
      join pg_attribute a on a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped
      left join (values
        (0, 'quote:candle\_opened\_at', 'When the forming minute opened; null without one.'),
        (0, 'quote:candle\_flags', 'As candle.flags, for the forming minute.'),
        (0, 'quote:candle\_source', 'As candle.source, for the forming minute.'),
        (0, 'quote:trading\_day', 'The exchange''s date of the stamp.'),
        (1, 'quote:candle\_%', 'Of the forming minute, so far.'),
        (1, '%:limit\_%', 'Of trading_day as a source stated it; 0: there is none.'),
        (1, 'day\_audit:minute\_%', 'Sum over the minute candles.'),
        (1, 'day\_audit:gap\_%', 'Sum over the open gaps.'),
        (1, 'day\_audit:after%', 'Of the fixed-price session; in no other sum.'),
        (1, 'day\_audit:residual%', 'Computed here, not by the daemon: 0, or a bug.'),
        (1, 'day\_audit:reference%', 'Who served the row with previous_close and the limits.'),
        (1, 'change:candle%', 'Candles it made final: parallel arrays of keys.'),
        (1, 'change:revision%', 'Candles it revised: parallel arrays of keys.'),
        (1, 'change:audit%', 'Certificates it wrote: parallel arrays of keys.'),
        (1, 'instrument:id', 'Small and dense: the key of quotes and candles.'),
        (
          1, 'instrument:source',
          'Source of the series, see source_name(); sina and mairui share the one of sina.'
        ),
        (1, 'serving:source', 'Who serves until the next row; see source_name().'),
        (
          1, 'disagreement:timeframe',
          'See timeframe_name(): 1 for a minute, or the gap that begins in it; 240 for the day as '
            'a whole.'
        ),
        (
          1, 'rejected:trading\_day',
          'The Shanghai date of received_at; with the reason refused_by_store, the row''s own day.'
        ),
        (2, '%:id', 'In the order they were written.'),
        (2, '%:instrument\_id', 'instrument.id'),
        (2, '%:trading\_day', 'The exchange''s date.'),
        (2, '%:timeframe', 'See timeframe_name().'),
        (2, '%:%source', 'See source_name().'),
        (1, 'latest.last', 'Last price; null before the first trade of the day.'),
        (2, 'latest.change', 'last minus previous_close; null before the first trade.'),
        (3, 'latest.percent_change', 'change in per cent of previous_close, to 2 places.'),
        (4, 'latest.open', 'Price of the day''s first trade; null before it.'),
        (5, 'latest.high', 'Highest price of the day so far; null before the first trade.'),
        (6, 'latest.low', 'Lowest price of the day so far; null before the first trade.'),
        (7, 'latest.trading', 'normal, halted, delisted, pre_open, auction or not_listed.'),
        (8, 'latest.%\_52w', 'Of the 364 days to trading_day, or to a newer day candle; adjusted. '
          'Null where no factor is known of some.'),
        (8, 'latest.%\_year', 'Of the calendar year of that day; null also if it did not trade.'),
        (
          8, '%.limit\_%',
          'The limit of trading_day as a source stated it; null where none did, or there is none.'
        ),
        (9, 'latest.turnover', 'Money traded since the day began, in the instrument''s currency.'),
        (10, 'latest.%\_prices', 'Prices of up to five levels, best first.'),
        (11, 'latest.%\_volumes', 'Shares or units of those levels.'),
        (10, 'ranges.trading\_day', 'The instrument''s newest day in those 52 weeks.'),
        (11, 'ranges.%\_day', 'Of the newest day of all; null if it did not trade then.'),
        (11, 'ranges.%\_52w',
          'Of the 364 days to the newest day; null where no factor is known of some.'),
        (11, 'ranges.%\_year',
          'Of the calendar year of the newest day; null also if it did not trade.'),
        (11, 'ranges.days', 'Days in those 52 weeks on which it traded.'),
        (
          10, '%.ex\_day',
          'The newest ex-day in those 52 weeks, by the factors known: prices before it are '
          'adjusted. Null where there is none.'
        ),
        (11, 'rolled\_candles.live', 'With what is forming; false: of final candles alone.'),
        (11, 'rolled\_candles.series', 'instrument.source'),
        (11, 'rolled\_candles.from\_ts', 'When the date began on the market''s clock.'),
        (11, 'rolled\_candles.to\_ts', 'When the date ended on the market''s clock.'),
        (12, 'coverage.traded', 'Minutes with trades.'),
        (13, 'coverage.untraded', 'Minutes without trades while the feed was alive.'),
        (14, 'coverage.missing', 'Minutes without a candle; null until certified.'),
        (15, 'coverage.minute_volume', 'Shares or units: sum over the minute candles.'),
        (16, 'coverage.gap_volume', 'Shares or units: sum over the open gaps; null until certified.'),
        (17, 'coverage.certified', 'Whether the day has a certificate.'),
        (18, 'gaps.cause', 'Why: the names of gap_cause_name().'),
        (19, 'gaps.state', 'open, closed or permanent.'),
        (20, 'revisions.cause', 'Why the values were replaced: the names of revision_cause_name().'),
        (21, 'disagreements.state', 'open or resolved.'),
        (22, 'factors.kind', 'qfq, hfq (dividends and splits) or split.'),
        (23, 'key\_usage.state', 'parked (not used before parked_until) or usable.'),
        (24, 'leaders.acquired\_at', 'When the term began, by the server''s clock.'),
        (25, 'leaders.state', 'leads, expired (the lease ran out) or over.'),
        (26, 'leaders.ended_at', 'When the next term began; null for the last one.'),
        (27, 'instruments.exchange', 'shanghai, shenzhen, beijing, hong_kong or united_states.'),
        (28, 'instruments.kind', 'stock, fund, index, convertible_bond, b_share or repo.'),
        (29, 'instruments.board', 'main, chinext, star or beijing; null where boards do not apply.'),
        (30, 'instruments.id', 'instrument_id of the other views.'),
        (30, 'instruments.symbol', 'Canonical spelling: sh600519, sz000001, bj920000, AAPL.'),
        (30, 'instruments.security', 'The id that stands for its security for ever.'),
        (30, 'instruments.living', 'The id of its security''s code of today.'),
        (30, 'instrument\_codes.instrument\_id', 'Of the security: the id of its first code.'),
        (30, 'instrument\_codes.series', 'The id of this code, instruments.id.'),
        (30, 'instrument\_codes.from\_day', 'The first day of the code; null where not known.'),
        (30, 'instrument\_codes.to\_day', 'The first day it was not its own; null while it is.'),
        (30, 'instrument\_codes.known\_from', 'When that became known.'),
        (30, 'links.from\_symbol', 'The old code.'),
        (30, 'links.to\_symbol', 'The new code.'),
        (30, 'links.said\_by', 'Where it comes from, for people.'),
        (30, 'ranges.name', 'The name the source sends now, without control characters.'),
        (30, 'instruments.name', 'The name the source sends now, without control characters.'),
        (31, 'candle\_fact.what', 'Kind of the fact: candle, part, revision, change, gap, ….'),
        (32, 'candle\_fact.at', 'The time the fact is about, or became known.'),
        (33, 'candle\_fact.detail', 'The fact in one sentence, for people.'),
        (34, 'coverage.served\_by', 'Whose live quotes were booked that day, by name.'),
        (34, 'health.serves', 'Whether its live quotes are booked; null for other endpoints.'),
        (35, '%.id', 'In order of writing.'),
        (36, '%candle%.state', 'final, or open while the interval is not over.'),
        (37, '%.no_trade', 'Whether the feed was alive and nothing traded: a flat candle.'),
        (38, '%.partial', 'Whether volume of the interval may be missing; see gaps.'),
        (39, '%candle%.coarse', 'Whether its totals are off by what their source rounds.'),
        (39, '%.extreme_ambiguous', 'Whether high or low may belong to the previous minute.'),
        (40, '%.length', 'Length in trading minutes: 240 a day, 1200 a week, 7200 a month.'),
        (41, '%.symbol', 'Canonical spelling: sh600519, sz000001, bj920000, AAPL.'),
        (42, '%.source', 'Name of the source.'),
        (43, '%.our_source', 'Name of the source of ours.'),
        (44, '%.their_source', 'Name of the source of theirs.'),
        (45, '%.timeframe', 'Name of the timeframe: 1m, 5m, … 1mo.'),
        (46, '%.instrument_id', 'instruments.id'),
        (47, '%.trading_day', 'The exchange''s date.'),
        (48, '%.opened_at', 'Start of the interval, exclusive.'),
        (49, '%.closed_at', 'End of the interval, inclusive.'),
        (50, '%candle%_open', 'First price in the interval, in the instrument''s currency.'),
        (51, '%candle%_high', 'Highest price in the interval, in the instrument''s currency.'),
        (52, '%candle%_low', 'Lowest price in the interval, in the instrument''s currency.'),
        (53, '%candle%_close', 'Last price in the interval, in the instrument''s currency.'),
        (54, '%candle%.volume', 'Shares or units.'),
        (55, '%candle%_turnover', 'Money, in the instrument''s currency; null if not sent.'),
        (56, '%candle%_trades', 'Number of trades; null if not sent.'),
        (57, '%candle%.vwap', 'Volume-weighted average price: the source''s, else turnover ÷ volume.'),
        (58, '%candle%.flags', 'Bits; flag_names() has their names.'),
        (59, '%candle%_revision', '0 as first written; each revision adds one.'),
        (60, '%candle%_known_from', 'When these values became known.')
      ) c (rank, pattern, comment)
        on concat(
          r.relname, case when r.relkind in ('r', 'p') then ':' else '.' end, a.attname)
          like c.pattern
        and r.relname not like 'feed\_%'
      where r.relnamespace = 'candled'::regnamespace
        and r.relkind in ('r', 'p', 'v', 'c')
        and not r.relispartition
      order by r.oid, a.attnum, c.rank
    )
    select l.relname, l.attname, coalesce(l.comment, inherited.comment) as comment
    from listed l
    left join lateral (
      select t.comment
      from pg_rewrite w
      join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = w.oid
      join listed t on t.relation = d.refobjid and t.attnum = d.refobjsubid
      where w.ev_class = l.relation
        and d.refclassid = 'pg_class'::regclass
        and t.attname = l.attname
        and t.relation <> l.relation
        and t.comment is not null
      order by t.relation
      limit 1
    ) inherited on true
    where coalesce(l.comment, inherited.comment) is not null
  loop
    execute format('comment on column %I.%I is %L', shown.relname, shown.attname, shown.comment);
  end loop;
end
$columns$;

-- Rights. Nobody outside the three roles gets any. Readers may read no table of data: the functions
-- they call read it for them, as their owner.

revoke all on schema candled from public;
revoke execute on all functions in schema candled from public;

do $grants$
begin
  if not exists (select from pg_roles where rolname = 'candled_reader') then
    return;
  end if;
  grant usage on schema candled to candled, candled_reader;
  revoke all on all tables in schema candled from candled_reader;
  grant select on all tables in schema candled to candled;
  execute (
    select format('grant select on %s to candled_reader', string_agg(oid::regclass::text, ', '))
    from pg_class
    where relnamespace = 'candled'::regnamespace
      and relkind = 'v');
  -- The only tables: a program must be able to tell a database of another version, and to know
  -- when, where and in what money a series trades.
  grant select on schema_version, market, rule, source, market_session to candled_reader;
  grant execute on all functions in schema candled to candled, candled_reader;
  revoke execute on function
    ensure_partition, keep_ranges, prune, feed_identity, recluster_month, swap_month, month_arrived,
    change_arrived, chain_instruments, link_instruments, unlink_instruments, factored_id,
    known_factors, price_ratio
  from candled_reader;
  grant insert, update on
    market, rule, source, instrument, instrument_name, instrument_link, trading_day, market_session,
    instrument_list, adjustment_factor, api_key_usage, bar_watermark, backfill_chunk, quote,
    overview, candle, candle_revision, gap, day_audit, day_lock, disagreement, rejected, serving,
    source_health, journal_position,
    feed_sequence, change, lease_term
  to candled;
  grant update on lease to candled;
end
$grants$;

-- Logical replication. `candled` has all that the views show, `candled_candles` the same without
-- what changes with every poll: for who keeps candles, and for Kafka. What only the daemon
-- understands is in neither, nor are keys and lists.

do $publications$
declare
  kept text :=
    'market, rule, source, instrument, instrument_name, instrument_link, trading_day,
    market_session, adjustment_factor, candle,
    candle_revision, candle_month (month), price_range, gap, day_audit, disagreement, serving,
    journal_position (only_row, position, known_from, updated_at, journal), feed_sequence, change,
    lease, lease_term';
  polled text;
  made record;
begin
  select format(
    'quote (%s), overview, rejected, source_health',
    string_agg(a.attname, ', ' order by a.attnum))
  into polled
  from pg_attribute a
  where a.attrelid = 'feed_quotes'::regclass;
  for made in
    select *
    from (
      values
        (
          'candled', kept || ', ' || polled,
          'Instruments, quotes, candles and the ledger, for logical replicas.'
        ),
        (
          'candled_candles', kept,
          'Instruments, candles and the ledger, without what changes with every poll.'
        )
    ) v (name, tables, comment)
  loop
    if not exists (select from pg_publication where pubname = made.name) then
      execute format('create publication %I with (publish_via_partition_root = true)', made.name);
    end if;
    -- Set as a whole, so that an upgrade changes what is there.
    execute format('alter publication %I set table %s', made.name, made.tables);
    execute format('comment on publication %I is %L', made.name, made.comment);
  end loop;
  -- For the first copy.
  if exists (select from pg_roles where rolname = 'candled_replica') then
    grant usage on schema candled to candled_replica;
    execute format(
      'grant select on %s to candled_replica',
      (
        select string_agg(distinct quote_ident(t.tablename), ', ')
        from pg_publication_tables t
        where t.pubname = 'candled'));
  end if;
exception
  when insufficient_privilege then
    raise notice 'not allowed to make the publications of candled: skipped';
end
$publications$;

delete from schema_version
where version < 13;

insert into schema_version (version, objects, text_digest)
values (
  13,
  array(
    select schema_objects()
    union
    -- Whether they are held or not.
    select 'right of candled: ' || unnest(array[
      'execute pg_try_advisory_lock(bigint)', 'execute pg_current_xact_id()',
      'temporary tables in the database'])
    where to_regrole('candled') is not null),
  nullif(current_setting('candled.schema_digest', true), ''))
on conflict (version) do update
set
  applied_at = excluded.applied_at,
  objects = excluded.objects,
  text_digest = excluded.text_digest
where (schema_version.objects, schema_version.text_digest)
  is distinct from (excluded.objects, excluded.text_digest);

commit;
