-- What apps keep beside the candles: users, tokens, preferences, watchlists. A schema of its own,
-- `candled_app`, with its own owner and version; candled's schema does not know of it.
--
-- Install: `candled-gateway schema apply`, after `candled schema apply`, in the same database.
-- Applying it to an older version upgrades that; applying twice changes nothing.
--
-- Roles: `candled_app_owner` owns every object; `candled_app` is the gateway: it reads what
-- `candled_reader` may read, and selects, inserts, updates and deletes here. A group, to be granted
-- to logins. They are made when the installing role may make roles; without that right the
-- installing role owns everything: create both roles first and apply again.
--
-- Rows belong to a user (`app_user`), never to a token: a user has one token per device, and a new
-- one sees the same watchlists. Accounts of paper trading, orders, queue purchases and alerts
-- reference `app_user` in the same way, several accounts a user; they have tables of their own, so
-- that a ledger that only grows does not stand beside what may be deleted. Hence a user is never
-- deleted by what is here: `on delete restrict`.

begin;

set local client_min_messages = warning;

-- An older version is upgraded in place; a newer one is left alone.

do $version$
declare
  found integer;
begin
  if to_regclass('candled_app.schema_version') is null then
    return;
  end if;
  execute 'select max(version) from candled_app.schema_version' into found;
  if found > 1 then
    raise exception using
      errcode = 'object_not_in_prerequisite_state',
      message = format('the database has candled_app schema version %s, newer than 1', found);
  end if;
end
$version$;

-- Roles and the schema itself: the only part that needs more than ownership.

do $roles$
declare
  role_name text;
begin
  foreach role_name in array array['candled_app_owner', 'candled_app'] loop
    if not exists (select from pg_roles where rolname = role_name) then
      begin
        execute format('create role %I nologin', role_name);
      exception
        -- Another database of the cluster made it at the same moment.
        when duplicate_object or unique_violation then null;
      end;
    end if;
  end loop;
exception
  when insufficient_privilege then
    raise notice 'not allowed to create roles: % will own and use everything', current_user;
end
$roles$;

do $reading$
begin
  if exists (select from pg_roles where rolname = 'candled_app')
    and not pg_has_role('candled_app', 'candled_reader', 'member')
  then
    grant candled_reader to candled_app;
  end if;
exception
  when undefined_object then
    raise exception using
      errcode = 'object_not_in_prerequisite_state',
      message = 'the database has no candled schema: run `candled schema apply`';
  when unique_violation then null;
  when insufficient_privilege then
    raise notice 'not allowed to grant candled_reader to candled_app: do it by hand';
end
$reading$;

do $schema$
declare
  -- To PostgreSQL 16 who makes a role is a member of it that may not become it.
  becoming text := case
    when current_setting('server_version_num')::integer >= 160000 then 'set'
    else 'member'
  end;
begin
  if exists (select from pg_roles where rolname = 'candled_app_owner')
    and not pg_has_role(current_user, 'candled_app_owner', becoming)
  then
    begin
      grant candled_app_owner to current_user;
    exception
      when insufficient_privilege or unique_violation then null;
    end;
  end if;
  if exists (select from pg_roles where rolname = 'candled_app_owner')
    and pg_has_role(current_user, 'candled_app_owner', becoming)
  then
    create schema if not exists candled_app authorization candled_app_owner;
  else
    create schema if not exists candled_app;
  end if;
  if (select pg_has_role(current_user, nspowner, becoming)
      from pg_namespace
      where nspname = 'candled_app')
  then
    perform set_config(
      'role',
      (select nspowner::regrole::text from pg_namespace where nspname = 'candled_app'),
      true);
  end if;
end
$schema$;

set local search_path = candled_app;

comment on schema candled_app is 'What apps keep beside the candles: tokens, watchlists.';

create table if not exists schema_version (
  version integer primary key,
  applied_at timestamptz not null default now(),
  objects text[] not null default '{}',
  text_digest text
);
comment on table schema_version is 'One row: the version of the schema, and the objects it made.';
comment on column schema_version.objects is 'Of schema_objects() then, for the schema check.';
comment on column schema_version.text_digest is 'MD5 of the text that made it.';

create table if not exists app_user (
  id bigint generated always as identity primary key,
  name text not null unique,
  created_at timestamptz not null default now(),
  constraint app_user_name_is_short check (octet_length(name) between 1 and 64)
);
comment on table app_user is 'Whose the rows are. One is made with the first token of a name.';

create table if not exists token (
  id bigint generated always as identity primary key,
  user_id bigint not null references app_user on delete restrict,
  name text not null,
  scopes text[] not null,
  hash bytea not null unique,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  last_used_day date,
  revoked_at timestamptz,
  constraint token_name_is_short check (octet_length(name) between 1 and 64),
  constraint token_scopes_are_known check (
    cardinality(scopes) between 1 and 4
      and scopes <@ array['market', 'account', 'trade', 'admin']),
  constraint token_hash_is_sha256 check (octet_length(hash) = 32)
);
create index if not exists token_user on token (user_id);
comment on table token is 'Tokens of apps. A revoked one stays, so that its use can be explained.';
comment on column token.name is 'For people: which device or program has it.';
comment on column token.hash is 'SHA-256 of the token, which is stored nowhere.';
comment on column token.expires_at is 'From then on it is refused; null: never.';
comment on column token.last_used_day is 'The newest day (UTC) on which it was used.';
comment on column token.revoked_at is 'Since then it is refused.';

create table if not exists preference (
  user_id bigint primary key references app_user on delete restrict,
  value jsonb not null,
  updated_at timestamptz not null default now(),
  constraint preference_is_an_object check (jsonb_typeof(value) = 'object'),
  constraint preference_is_small check (octet_length(value::text) <= 16384)
);
comment on table preference is 'One JSON object of a user: refresh interval, colours and the like.';

create table if not exists watchlist (
  id bigint generated always as identity primary key,
  user_id bigint not null references app_user on delete restrict,
  position integer not null,
  name text not null,
  created_at timestamptz not null default now(),
  constraint watchlist_name_is_short check (char_length(name) between 1 and 64),
  constraint watchlist_name_is_new unique (user_id, name),
  constraint watchlist_place_is_one
    unique (user_id, position) deferrable initially deferred,
  constraint watchlists_are_few check (position between 0 and 99)
);
comment on table watchlist is 'Lists of instruments that a user follows, in the order of position.';
comment on column watchlist.position is 'Order of the user''s lists, from 0.';

create table if not exists watchlist_item (
  watchlist_id bigint not null references watchlist on delete cascade,
  position integer not null,
  symbol text not null,
  low numeric,
  high numeric,
  primary key (watchlist_id, symbol),
  constraint watchlist_item_place_is_one
    unique (watchlist_id, position) deferrable initially deferred,
  constraint watchlist_items_are_few check (position between 0 and 999),
  constraint watchlist_item_symbol_is_short check (octet_length(symbol) between 1 and 16),
  constraint watchlist_item_triggers_are_prices check (low > 0 and high > 0 and low <= high)
);
comment on table watchlist_item is 'Instruments of a watchlist, in the order of position from 0.';
comment on column watchlist_item.symbol is 'Canonical spelling: sh600519, sz000001, AAPL.';
comment on column watchlist_item.low is 'At or below this price it is highlighted; null: never.';
comment on column watchlist_item.high is 'At or above this price it is highlighted; null: never.';

-- Gateways keep all tokens in memory. What they look at is in the table; the notification only says
-- when. Uses are not notified.

create or replace function notify_tokens()
returns trigger
language plpgsql
set search_path = candled_app, pg_temp
as $function$
begin
  perform pg_notify('candled_app_token', '');
  return null;
end
$function$;
comment on function notify_tokens is 'Makes every gateway read the tokens again.';

create or replace trigger token_changed
after insert or delete or update of user_id, scopes, hash, expires_at, revoked_at or truncate
on token
for each statement
execute function notify_tokens();

-- What the schema check compares.

create or replace function schema_objects()
returns setof text
language sql stable
set search_path = candled_app, pg_temp
set timezone = 'UTC'
set datestyle = 'ISO'
set intervalstyle = 'postgres'
as $function$
  with relation as (
    select
      r.*,
      case r.relkind when 'S' then 'sequence ' when 'v' then 'view ' else 'table ' end
        || r.relname as name
    from pg_class r
    where r.relnamespace = 'candled_app'::regnamespace
      and r.relkind in ('r', 'p', 'v', 'S')
  ),
  routine as (
    select
      p.*,
      format('function %s(%s)', p.proname, pg_get_function_identity_arguments(p.oid)) as name
    from pg_proc p
    where p.pronamespace = 'candled_app'::regnamespace
  ),
  -- What the gateway's role, and everybody, may do. What other roles are granted is the operator's.
  granted (name, entry) as (
    select 'schema candled_app', a
    from pg_namespace n
    cross join lateral aclexplode(coalesce(n.nspacl, acldefault('n', n.nspowner))) a
    where n.nspname = 'candled_app'
      and a.grantee <> n.nspowner
    union all
    select r.name, a
    from relation r
    cross join lateral aclexplode(
      coalesce(
        r.relacl, acldefault(case r.relkind when 'S' then 's' else 'r' end::"char", r.relowner))) a
    where a.grantee <> r.relowner
    union all
    select f.name, a
    from routine f
    cross join lateral aclexplode(coalesce(f.proacl, acldefault('f', f.proowner))) a
    where a.grantee <> f.proowner
  )
  select format(
    'column %s.%s %s%s%s%s',
    r.relname, a.attname, format_type(a.atttypid, a.atttypmod),
    case when a.attnotnull then ' not null' else '' end,
    case a.attidentity when 'a' then ' identity always' when 'd' then ' identity' else '' end,
    ' default ' || pg_get_expr(d.adbin, d.adrelid))
  from relation r
  join pg_attribute a on a.attrelid = r.oid
  left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
  where r.relkind <> 'S'
    and a.attnum > 0
    and not a.attisdropped
  union all
  select format('constraint %s.%s %s', r.relname, c.conname, pg_get_constraintdef(c.oid))
  from pg_constraint c
  join pg_class r on r.oid = c.conrelid
  where c.connamespace = 'candled_app'::regnamespace
  union all
  select format('index %s', pg_get_indexdef(i.indexrelid))
  from pg_index i
  join relation r on r.oid = i.indrelid
  union all
  select format('trigger %s', pg_get_triggerdef(t.oid))
  from pg_trigger t
  join relation r on r.oid = t.tgrelid
  where not t.tgisinternal
  union all
  select format('%s %s', f.name, md5(pg_get_functiondef(f.oid)))
  from routine f
  union all
  select format(
    'right %s on %s to %s', (g.entry).privilege_type, g.name,
    case (g.entry).grantee when 0 then 'public' else pg_get_userbyid((g.entry).grantee) end)
  from granted g
  where (g.entry).grantee in (
    0, (select oid from pg_roles where rolname = 'candled_app'))
  order by 1
$function$;
comment on function schema_objects is
  'One line per object or right, for comparison with schema_version.objects. Grants to other '
  'roles than candled_app are left out: the operator manages them.';

-- Rights. Only the gateway gets any.

revoke all on schema candled_app from public;
revoke execute on all functions in schema candled_app from public;

do $grants$
begin
  if not exists (select from pg_roles where rolname = 'candled_app') then
    return;
  end if;
  grant usage on schema candled_app to candled_app;
  revoke all on all tables in schema candled_app from candled_app;
  grant select on schema_version to candled_app;
  grant select, insert, update, delete on
    app_user, token, preference, watchlist, watchlist_item
  to candled_app;
  grant execute on function schema_objects() to candled_app;
end
$grants$;

delete from schema_version
where version < 1;

insert into schema_version (version, objects, text_digest)
values (
  1,
  array(select schema_objects()),
  nullif(current_setting('candled.schema_digest', true), ''))
on conflict (version) do update
set
  applied_at = excluded.applied_at,
  objects = excluded.objects,
  text_digest = excluded.text_digest
where (schema_version.objects, schema_version.text_digest)
  is distinct from (excluded.objects, excluded.text_digest);

commit;
