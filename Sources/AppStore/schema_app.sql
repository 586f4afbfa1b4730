-- What apps keep beside the candles: users, tokens, preferences, watchlists, alerts, webhooks, paper
-- trading. A schema of its own, `candled_app`, with its own owner and version; candled's schema does not know
-- of it.
--
-- Install: `candled-gateway schema apply`, after `candled schema apply`, in the same database.
-- Applying it to the version of an older release upgrades that; applying twice changes nothing.
--
-- Roles: `candled_app_owner` owns every object; `candled_app` is the gateway: it reads what
-- `candled_reader` may read, and selects, inserts, updates and deletes here. A group, to be granted
-- to logins. They are made when the installing role may make roles; without that right the
-- installing role owns everything: create both roles first and apply again.
--
-- Rows belong to a user (`app_user`), never to a token: a user has one token per device, and a new
-- one sees the same watchlists. A user has several accounts of paper trading. A user with any of
-- these is never deleted: `on delete restrict`.

begin;

set local client_min_messages = warning;

-- A newer version is left alone, and so is one that no release had. Any other is upgraded in place.

do $version$
declare
  found integer;
begin
  if to_regclass('candled_app.schema_version') is null then
    return;
  end if;
  execute 'select max(version) from candled_app.schema_version' into found;
  if found > 12 then
    raise exception using
      errcode = 'object_not_in_prerequisite_state',
      message = format('the database has candled_app schema version %s, newer than 12', found);
  elsif found < 12 then
    raise exception using
      errcode = 'object_not_in_prerequisite_state',
      message = format(
        'the database has candled_app schema version %s, which no release had: it cannot be '
          'upgraded',
        found);
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

comment on schema candled_app is 
  'What apps keep beside the candles: tokens, watchlists, the ledger of paper trading.';

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
  constraint token_hash_is_sha256 check (octet_length(hash) = 32),
  constraint token_scopes_are_known check (
    scopes <@ array['market', 'account', 'trade', 'admin'] and cardinality(scopes) between 1 and 4)
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
  updated_at timestamptz not null default now(),
  constraint watchlist_name_is_short check (char_length(name) between 1 and 64),
  constraint watchlist_name_is_new unique (user_id, name),
  constraint watchlist_place_is_one
    unique (user_id, position) deferrable initially deferred,
  constraint watchlists_are_few check (position between 0 and 99)
);
comment on table watchlist is 'Lists of instruments that a user follows, in the order of position.';
comment on column watchlist.position is 'Order of the user''s lists, from 0.';
comment on column watchlist.updated_at is 'When its name or its symbols changed.';

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

create or replace function notify_channel()
returns trigger
language plpgsql
set search_path = candled_app, pg_temp
as $function$
begin
  -- Where it is called for a table, there is no row.
  perform pg_notify(tg_argv[0], coalesce(to_jsonb(new) ->> tg_argv[1], ''));
  return null;
end
$function$;
comment on function notify_channel is
  'Says on a channel that a table changed, and of a row its column of that name: gateways, the '
  'broker and who waits for it look then.';

create or replace trigger token_changed
after insert or delete or update of user_id, scopes, hash, expires_at, revoked_at or truncate
on token
for each statement
execute function notify_channel('candled_app_token');

-- Paper trading: a ledger in double entry, and what is executed on it.
--
-- The broker alone executes, one transaction a step: `gateway_lease` of its term for share, the
-- commands without an outcome by id, the quotes changed since `broker_cursor.quote_sequence`; then
-- fills, postings with their entries, events, outcomes, and the cursor. A cursor over the ids of
-- commands would miss one that commits later than its successor: hence no outcome is the queue,
-- and `sequence` is the order of execution, by which everything can be derived again.

create table if not exists account (
  id bigint generated always as identity primary key,
  user_id bigint not null references app_user on delete restrict,
  name text not null,
  market text not null,
  currency text not null,
  created_at timestamptz not null default now(),
  closed_at timestamptz,
  constraint account_name_is_short check (char_length(name) between 1 and 64),
  constraint account_currency_is_known check (currency in ('CNY', 'USD'))
);
create unique index if not exists account_name_is_new on account (user_id, name)
where closed_at is null;
create index if not exists account_user on account (user_id, created_at);
comment on table account is 'Accounts of paper trading, each a world of its own.';
comment on column account.closed_at is
  'Since then it executes nothing, and another one may have its name; null: it is open.';

create table if not exists user_day (
  user_id bigint primary key references app_user on delete restrict,
  day date not null,
  commands bigint not null,
  payments bigint not null,
  alerts bigint not null
);
comment on table user_day is
  'How much of what has a bound a user did on the newest day (UTC) on which there was any.';
comment on column user_day.commands is 'Requests to the broker, those with a known key left out.';
comment on column user_day.payments is 'Of them: deposits and withdrawals.';
comment on column user_day.alerts is 'Alerts that were made, or made anew.';

create table if not exists command (
  id bigint generated always as identity primary key,
  account_id bigint not null references account on delete restrict,
  idempotency_key text not null,
  fingerprint bytea not null,
  kind text not null,
  body text not null,
  sent_at timestamptz not null default clock_timestamp(),
  sequence bigint unique,
  outcome text,
  answer text,
  answered_at timestamptz,
  constraint command_key_is_new unique (account_id, idempotency_key),
  constraint command_key_is_short check (octet_length(idempotency_key) between 1 and 128),
  constraint command_fingerprint_is_sha256 check (octet_length(fingerprint) = 32),
  constraint command_kind_is_known check (
    kind in ('deposit', 'withdraw', 'order', 'cancel', 'replace', 'arm', 'disarm', 'close')),
  constraint command_body_is_small check (octet_length(body) between 1 and 4096),
  constraint command_answer_is_short check (octet_length(answer) <= 1024),
  constraint command_outcome_is_known check (outcome in ('done', 'refused')),
  constraint command_outcome_is_whole check (
    num_nulls(sequence, outcome, answer, answered_at) in (0, 4))
);
create index if not exists command_pending on command (id) where outcome is null;
create index if not exists command_replacement
on command (substring(body from '^replace order=([0-9]+)')) where kind = 'replace';
comment on table command is
  'What users asked of the broker. Rows only come, and get their outcome once.';
comment on column command.idempotency_key is 'The same key is the same command, sent again.';
comment on column command.fingerprint is
  'SHA-256 of the body: the same key with another one is a conflict.';
comment on column command.body is 'One line: a kind, and key=value of each field.';
comment on column command.sequence is 'Place in the order of execution, from 1 without a gap.';

create table if not exists corporate_action (
  id bigint generated always as identity primary key,
  symbol text not null,
  ex_day date not null,
  kind text not null,
  per_share numeric not null,
  posted_at timestamptz not null default now(),
  withdrawn_at timestamptz,
  booked_on date,
  reversed_on date,
  failed_in bigint[] not null default '{}',
  successor text,
  cash numeric,
  constraint corporate_action_kind_is_known check (
    kind in ('dividend', 'bonus', 'rename', 'merger', 'conversion')),
  constraint corporate_action_is_some check (
    per_share > case kind when 'bonus' then -1 else 0 end and per_share <> 0),
  constraint corporate_action_has_successor check (
    (successor is not null) = (kind in ('rename', 'merger', 'conversion'))
      and successor <> symbol),
  constraint corporate_action_cash_is_beside check (
    cash is null or cash > 0 and successor is not null)
);
create index if not exists corporate_action_symbol on corporate_action (symbol, ex_day);
comment on table corporate_action is
  'What an operator posted, cash and shares per share held; and the links of instruments: what '
  'became of shares whose code ended.';
comment on column corporate_action.symbol is 'The code until the ex-day.';
comment on column corporate_action.kind is
  'dividend: cash; bonus: shares, splits included; rename: another code of the same share; merger: '
  'shares of another company; conversion: shares in another currency.';
comment on column corporate_action.per_share is
  'Cash, or shares added: 0.3 for 3 per 10, 1 for a split in two, -0.9 for ten into one. Of the '
  'successor: shares of it for one.';
comment on column corporate_action.successor is
  'The code from the ex-day on, of those that the broker takes from candled''s links.';
comment on column corporate_action.cash is 'Paid for one share beside those of the successor.';
comment on column corporate_action.withdrawn_at is
  'When an operator took it back: what is booked of it is reversed.';
comment on column corporate_action.booked_on is
  'On which day the broker booked it, once the ex-day had come; reversed_on: took it back.';
comment on column corporate_action.failed_in is
  'Accounts in which it, or its reversal, is not booked: shares or cash that it takes are not '
  'there. Tried again when a day begins.';

create table if not exists holding_trigger (
  account_id bigint not null references account on delete restrict,
  symbol text not null,
  low numeric,
  high numeric,
  primary key (account_id, symbol),
  constraint holding_trigger_symbol_is_short check (octet_length(symbol) between 1 and 16),
  constraint holding_triggers_are_prices check (low > 0 and high > 0 and low <= high)
);
comment on table holding_trigger is
  'Prices at or beyond which a holding is highlighted. They stay when it is sold.';
comment on column holding_trigger.low is 'At or below this price it is highlighted; null: never.';
comment on column holding_trigger.high is 'At or above this price it is highlighted; null: never.';

create table if not exists queue_purchase (
  id bigint primary key,
  account_id bigint not null references account on delete restrict,
  command_id bigint not null unique references command on delete restrict,
  symbol text not null,
  quantity numeric not null,
  trigger text not null,
  state text not null,
  reason text,
  changed_at timestamptz not null,
  constraint queue_purchase_is_some check (quantity > 0),
  constraint queue_purchase_state_is_known check (
    state in ('armed', 'ordered', 'filled', 'rejected', 'cancelled', 'expired'))
);

create index if not exists queue_purchase_armed
on queue_purchase (symbol, id) where state in ('armed', 'ordered');
create index if not exists queue_purchase_account on queue_purchase (account_id, id);
comment on table queue_purchase is 'Purchases that wait for their trigger at the limit-up price.';
comment on column queue_purchase.trigger is
  'When it becomes an order: near:5,sealed:30,window:34200-53100,carries for example; '
  'carries: it stays armed past the close.';

create table if not exists paper_order (
  id bigint primary key,
  account_id bigint not null references account on delete restrict,
  command_id bigint references command on delete restrict,
  queue_purchase_id bigint references queue_purchase on delete restrict,
  symbol text not null,
  side text not null,
  kind text not null,
  time_in_force text not null,
  quantity numeric not null,
  limit_price numeric,
  stop_price numeric,
  worst_price numeric,
  settles_same_day boolean not null,
  trading_day date not null,
  accepted_at timestamptz not null,
  state text not null,
  filled numeric not null default 0,
  turnover numeric not null default 0,
  commission numeric not null default 0,
  stamp_duty numeric not null default 0,
  transfer_fee numeric not null default 0,
  frozen numeric not null default 0,
  commission_rate numeric not null default 0.00025,
  commission_min numeric not null default 5.00,
  code text,
  constraint paper_order_has_one_cause check (num_nulls(command_id, queue_purchase_id) = 1),
  constraint paper_order_side_is_known check (side in ('buy', 'sell')),
  constraint paper_order_kind_is_known check (
    kind in (
      'limit', 'five_best_then_cancel', 'five_best_then_limit', 'own_best', 'opposite_best',
      'immediate_or_cancel', 'all_or_cancel', 'stop', 'stop_limit')),
  constraint paper_order_force_is_known check (
    time_in_force in ('day', 'ioc', 'fok', 'gtc')),
  constraint paper_order_prices_are_positive check (
    coalesce(worst_price > 0, side = 'sell')
      and coalesce(limit_price > 0, true)
      and coalesce(stop_price > 0, true)),
  constraint paper_order_filled_is_part check (
    quantity > 0 and filled between 0 and quantity and turnover >= 0),
  constraint paper_order_fees_are_not_negative check (
    commission >= 0 and stamp_duty >= 0 and transfer_fee >= 0 and frozen >= 0),
  constraint paper_order_state_is_known check (
    state in (
      'held', 'accepted', 'partially_filled', 'pending_cancel', 'filled', 'cancelled', 'expired',
      'replaced')),
  constraint paper_order_end_is_whole check (
    state in ('held', 'accepted', 'partially_filled', 'pending_cancel') or frozen = 0)
);
create unique index if not exists paper_order_command on paper_order (command_id);
create index if not exists paper_order_open on paper_order (symbol, id)
where state in ('held', 'accepted', 'partially_filled', 'pending_cancel');
create index if not exists paper_order_account on paper_order (account_id, id);
create index if not exists paper_order_day on paper_order (trading_day);
create index if not exists paper_order_purchase on paper_order (queue_purchase_id)
where queue_purchase_id is not null;
comment on table paper_order is 'Orders that were accepted. One that was refused is its command.';
comment on column paper_order.code is
  'Under which it goes on since its instrument was renamed; null: under symbol, as it was ordered.';
comment on column paper_order.worst_price is
  'By which cash is frozen: the limit, or what protects an order without one. Null: any.';
comment on column paper_order.trading_day is
  'On which it is in the book. One that lives for days is a new one each day: turnover, fees and '
  'frozen are of that day.';
comment on column paper_order.settles_same_day is 'Shares bought may be sold on the same day.';
comment on column paper_order.commission_rate is
  'Of the money moved: the setting when it was accepted. The least of a day is commission_min.';
comment on column paper_order.turnover is 'Price × quantity of its fills, exact.';
comment on column paper_order.frozen is 'Cash for a buy, shares for a sale: of what is not filled.';

-- Written with every row of an instrument: in a row that has room, and no index but its key's.
create table if not exists order_progress (
  order_id bigint primary key references paper_order on delete restrict,
  body text not null,
  constraint order_progress_is_short check (octet_length(body) between 1 and 256)
) with (fillfactor = 50);
comment on table order_progress is
  'What is known of an order beside its fills: what some flow of orders would have given it by now.';
comment on column order_progress.body is 'One line: key=value of each field.';

create table if not exists posting (
  account_id bigint not null references account on delete restrict,
  sequence bigint not null,
  kind text not null,
  at timestamptz not null,
  trading_day date not null,
  command_id bigint references command on delete restrict,
  order_id bigint references paper_order on delete restrict,
  corporate_action_id bigint references corporate_action on delete restrict,
  refers_to bigint,
  deposit_type text,
  description text not null default '',
  cost numeric,
  primary key (account_id, sequence),
  constraint posting_is_from_one check (sequence > 0),
  constraint posting_kind_is_known check (
    kind in (
      'deposit', 'withdrawal', 'acceptance', 'fill', 'end', 'settlement', 'dividend', 'bonus',
      'rename', 'merger', 'conversion', 'reversal')),
  constraint posting_deposit_has_type check ((kind = 'deposit') = (deposit_type is not null)),
  constraint posting_deposit_type_is_known check (deposit_type in ('ApplePay', 'LinePay', 'Bank')),
  constraint posting_description_is_short check (char_length(description) <= 256),
  constraint posting_command_is_named check (
    (kind in ('deposit', 'withdrawal')) = (command_id is not null)),
  constraint posting_order_is_named check (
    kind not in ('acceptance', 'fill', 'end') or order_id is not null),
  constraint posting_action_is_named check (
    (kind in ('dividend', 'bonus', 'rename', 'merger', 'conversion'))
      = (corporate_action_id is not null)),
  constraint posting_cost_moves check (
    (kind in ('rename', 'merger', 'conversion')) = (cost is not null) and cost >= 0),
  constraint posting_reversal_refers check ((kind = 'reversal') = (refers_to is not null)),
  constraint posting_is_reversed_once unique (account_id, refers_to),
  constraint posting_refers_back check (refers_to < sequence),
  constraint posting_refers_to_posting
    foreign key (account_id, refers_to) references posting on delete restrict
);
create unique index if not exists posting_of_command on posting (command_id)
where command_id is not null;
create unique index if not exists posting_of_action on posting (account_id, corporate_action_id)
where corporate_action_id is not null;
create index if not exists posting_of_any_action on posting (corporate_action_id)
where corporate_action_id is not null;
create index if not exists posting_of_order on posting (order_id) where order_id is not null;
comment on table posting is 'What changed balances. Rows only come.';
comment on column posting.sequence is 'Of the account''s postings, from 1 without a gap.';
comment on column posting.refers_to is
  'The fill that a reversal takes back; without an order, what a corporate action gave.';
comment on column posting.cost is
  'Of shares that become others: what was paid for them, and is now for the others.';

create table if not exists entry (
  account_id bigint not null,
  posting_sequence bigint not null,
  line smallint not null,
  unit text not null,
  kind text not null,
  amount numeric not null,
  balance_after numeric not null,
  primary key (account_id, posting_sequence, line),
  constraint entry_amount_is_some check (amount <> 0),
  constraint entry_is_not_overdrawn check (
    balance_after >= 0 or kind not in ('available', 'frozen', 'sellable', 'today'))
);
create index if not exists entry_book on entry (account_id, unit, kind, posting_sequence, line);
comment on table entry is 
  'Lines of postings; per posting and unit they add up to 0. Rows only come.';
comment on column entry.unit is
  'cash, of the account''s currency; or a symbol, none of which is spelled so.';
comment on column entry.balance_after is 'Of the book, by the broker; the database compares it.';

create table if not exists book (
  account_id bigint not null references account on delete restrict,
  unit text not null,
  kind text not null,
  balance numeric not null,
  primary key (account_id, unit, kind),
  constraint book_kind_is_known check (
    case when unit = 'cash'
      then kind in (
        'available', 'frozen', 'world', 'market', 'commission', 'stamp_duty', 'transfer_fee',
        'income')
      else kind in ('sellable', 'today', 'frozen', 'market')
    end),
  constraint book_is_not_overdrawn check (
    balance >= 0 or kind not in ('available', 'frozen', 'sellable', 'today'))
);
comment on table book is 'Balances. Only entries change them.';
comment on column book.kind is
  'Own: available, frozen, sellable, today (bought, not to be sold yet). The others are the far '
  'side of what came and went, a set of them per account.';

create table if not exists day_balance (
  account_id bigint not null references account on delete restrict,
  unit text not null,
  trading_day date not null,
  balance numeric not null,
  paid_in numeric not null,
  primary key (account_id, unit, trading_day)
);
comment on table day_balance is
  'What accounts had when a trading day ended: a row for each unit and day on which that changed. '
  'Only entries change them.';
comment on column day_balance.balance is 'Of the account''s own books of the unit together.';
comment on column day_balance.paid_in is 'All that was paid in until then, less what was paid out.';

create table if not exists order_event (
  order_id bigint not null references paper_order on delete restrict,
  sequence integer not null,
  kind text not null,
  at timestamptz not null,
  posting_sequence bigint,
  primary key (order_id, sequence),
  constraint order_event_kind_is_known check (
    kind in (
      'accepted', 'released', 'held_again', 'fill', 'pending_cancel', 'cancelled', 'expired',
      'replaced', 'reversed', 'kept'))
);
comment on column order_event.kind is
  'held_again: the row that released a stop order was taken out. kept: a fill whose snapshots were '
  'taken back, but whose shares or money are spent: it stands.';
comment on table order_event is 'What happened to an order. Rows only come.';

create table if not exists fill (
  order_id bigint not null references paper_order on delete restrict,
  sequence integer not null,
  account_id bigint not null,
  posting_sequence bigint not null,
  price numeric not null,
  quantity numeric not null,
  amount numeric not null,
  commission numeric not null,
  stamp_duty numeric not null,
  transfer_fee numeric not null,
  filled_at timestamptz not null,
  trading_day date not null,
  evidence text not null,
  filled_so_far numeric not null,
  possible_so_far numeric,
  primary key (order_id, sequence),
  constraint fill_has_posting unique (account_id, posting_sequence),
  constraint fill_posting_is_there
    foreign key (account_id, posting_sequence) references posting on delete restrict,
  constraint fill_is_some check (price > 0 and quantity > 0 and amount >= 0),
  constraint fill_fees_are_not_negative check (
    commission >= 0 and stamp_duty >= 0 and transfer_fee >= 0),
  constraint fill_evidence_is_short check (octet_length(evidence) between 1 and 2048),
  constraint fill_is_certain check (
    quantity <= filled_so_far and coalesce(filled_so_far <= possible_so_far, true))
);
comment on table fill is 'Parts of orders that were executed, and why. Rows only come.';
comment on column fill.amount is
  'Rounded to the cent over all fills of the order: each books the difference.';
comment on column fill.filled_at is 'The exchange''s stamp of the snapshot that gave it.';
comment on column fill.evidence is
  'Both snapshots'' totals and level, queue, volume, money: all that the model looked at.';
comment on column fill.possible_so_far is
  'What some flow between the snapshots would have given the order; null: not computed.';

-- What one gateway of all does. No clock is compared with another: who waits for the lease counts
-- by its own steady clock how long no beat came. A sequence is a beat that costs no row, and that
-- is seen at once; unlogged, it writes nothing: behind a crash of the server no session is left.

create table if not exists gateway_lease (
  role text primary key,
  term bigint not null default 0,
  holder text not null default '',
  session integer,
  constraint gateway_lease_role_is_known check (role in ('broker', 'webhooks'))
);
comment on table gateway_lease is
  'Which gateway executes orders, and which calls webhooks, or did last, in which term. Another '
  'takes the lease once the session has ended or its beats have stopped; whoever has an earlier '
  'term commits nothing.';
comment on column gateway_lease.session is 'The server''s process of the holder''s connection.';
insert into gateway_lease (role)
values ('broker'), ('webhooks')
on conflict do nothing;

create unlogged sequence if not exists broker_beat;
comment on sequence broker_beat is 'Grows while a gateway holds the lease of the broker.';
create unlogged sequence if not exists webhooks_beat;
comment on sequence webhooks_beat is 'Grows while a gateway holds the lease of the webhooks.';

create table if not exists broker_cursor (
  is_only boolean primary key default true,
  quote_sequence bigint not null default 0,
  trading_day date,
  constraint broker_cursor_is_one check (is_only)
);
comment on table broker_cursor is 'One row: how far the broker is in the feed.';
comment on column broker_cursor.trading_day is 'The day that was begun last; null before the first.';
insert into broker_cursor default values on conflict do nothing;

-- Written with every row that moves an order, by one key; nothing else is indexed.
create table if not exists order_place (
  symbol text not null,
  account_id bigint not null,
  body bytea not null,
  primary key (symbol, account_id)
) with (fillfactor = 50);
comment on table order_place is
  'Where the open orders of an account in an instrument stand on the broker''s day, and what the '
  'newest rows led to. The broker that leads next goes on from it. Emptied when a day begins: a fill '
  'carries its own evidence.';
comment on column order_place.account_id is '0: the newest rows of the instrument itself.';
comment on column order_place.body is 'Of the gateway''s fill model: a format''s number, integers and texts.';

create or replace view transaction_log as
select
  p.account_id,
  p.sequence,
  p.at,
  p.trading_day,
  case
    when p.kind <> 'fill' then p.kind
    when o.side = 'sell' then 'Sell-Order'
    when o.queue_purchase_id is not null then 'Auto-Buy'
    else 'Buy-Order'
  end as kind,
  p.deposit_type,
  p.description,
  coalesce(o.code, o.symbol, a.symbol) as symbol,
  f.quantity,
  f.price,
  (
    select coalesce(sum(e.amount), 0)
    from entry e
    where e.account_id = p.account_id
      and e.posting_sequence = p.sequence
      and e.unit = 'cash'
      and e.kind in ('available', 'frozen')
  ) as amount,
  p.order_id,
  p.refers_to
from posting p
left join paper_order o on o.id = p.order_id
left join posting r on r.account_id = p.account_id
  and r.sequence = p.refers_to
left join corporate_action a on a.id = coalesce(p.corporate_action_id, r.corporate_action_id)
left join fill f on f.account_id = p.account_id
  and f.posting_sequence = coalesce(p.refers_to, p.sequence)
where p.kind not in ('acceptance', 'end', 'settlement', 'rename')
  and r.kind is distinct from 'rename';
comment on view transaction_log is
  'deposit, withdrawal, Buy-Order, Sell-Order, Auto-Buy, dividend, bonus, merger, conversion, '
  'reversal; amount is signed as the account''s cash changed.';

-- What keeps the ledger true, whoever writes. Balances are the owner's to change: the gateway has
-- no right to.

create or replace function refuse_change()
returns trigger
language plpgsql
set search_path = candled_app, pg_temp
as $function$
begin
  raise exception using
    errcode = 'restrict_violation',
    message = format('this row of "%s" is not changed or deleted: "%s"', tg_table_name, tg_name);
end
$function$;
comment on function refuse_change is 'Refuses what its trigger is for.';

create or replace function book_entries()
returns trigger
language plpgsql
security definer
set search_path = candled_app, pg_temp
as $function$
begin
  if exists (
    select
    from added a
    left join posting p on p.account_id = a.account_id
      and p.sequence = a.posting_sequence
    where p.xmin is distinct from pg_current_xact_id_if_assigned()::xid)
  then
    raise exception using
      errcode = 'integrity_constraint_violation',
      message = 'an entry needs a posting of its own transaction: "entry_posting_is_new"';
  end if;
  insert into book (account_id, unit, kind, balance)
  select distinct account_id, unit, kind, 0
  from added
  on conflict do nothing;
  update book b
  set balance = b.balance + s.amount
  from (
    select account_id, unit, kind, sum(amount) as amount
    from added
    group by account_id, unit, kind
  ) s
  where b.account_id = s.account_id
    and b.unit = s.unit
    and b.kind = s.kind;
  if exists (
    select
    from (
      select
        a.balance_after,
        b.balance - sum(a.amount) over later + a.amount as expected
      from added a
      join book b on b.account_id = a.account_id
        and b.unit = a.unit
        and b.kind = a.kind
      window later as (
        partition by a.account_id, a.unit, a.kind
        order by a.posting_sequence desc, a.line desc)
    ) s
    where s.balance_after <> s.expected)
  then
    raise exception using
      errcode = 'integrity_constraint_violation',
      message = 'a balance is not the one before plus the amount: "entry_balance_is_chained"';
  end if;
  -- The books have what the last of the days ends with; the ones before it lack what came later.
  insert into day_balance (account_id, unit, trading_day, balance, paid_in)
  select
    s.account_id,
    s.unit,
    s.trading_day,
    b.balance - coalesce(sum(s.change) over later, 0),
    b.paid_in - coalesce(sum(s.paid) over later, 0)
  from (
    select
      a.account_id,
      a.unit,
      p.trading_day,
      coalesce(sum(a.amount) filter (
        where a.kind in ('available', 'frozen', 'sellable', 'today')), 0) as change,
      coalesce(-sum(a.amount) filter (where a.kind = 'world'), 0) as paid
    from added a
    join posting p on p.account_id = a.account_id
      and p.sequence = a.posting_sequence
    group by a.account_id, a.unit, p.trading_day
  ) s
  cross join lateral (
    select
      coalesce(sum(balance) filter (
        where kind in ('available', 'frozen', 'sellable', 'today')), 0) as balance,
      coalesce(-sum(balance) filter (where kind = 'world'), 0) as paid_in
    from book
    where account_id = s.account_id
      and unit = s.unit
  ) b
  where s.change <> 0
    or s.paid <> 0
  window later as (
    partition by s.account_id, s.unit
    order by s.trading_day desc
    rows between unbounded preceding and 1 preceding)
  on conflict (account_id, unit, trading_day) do update
  set
    balance = excluded.balance,
    paid_in = excluded.paid_in;
  return null;
end
$function$;
comment on function book_entries is
  'Adds entries to their books and to the balances of their days, and compares balance_after.';

create or replace function require_balance()
returns trigger
language plpgsql
set search_path = candled_app, pg_temp
as $function$
declare
  lines integer;
  units integer;
begin
  select sum(n), count(*) filter (where total <> 0)
  into lines, units
  from (
    select count(*) as n, sum(amount) as total
    from entry
    where account_id = new.account_id
      and posting_sequence = new.sequence
    group by unit
  ) s;
  if lines is null or units > 0 then
    raise exception using
      errcode = 'integrity_constraint_violation',
      message = format(
        'posting %s of account %s does not add up to 0 in each unit: "posting_is_balanced"',
        new.sequence, new.account_id);
  end if;
  return null;
end
$function$;
comment on function require_balance is 'At COMMIT: entries of a posting add up to 0 per unit.';

create or replace function require_same()
returns trigger
language plpgsql
set search_path = candled_app, pg_temp
as $function$
begin
  if to_jsonb(old) - tg_argv is distinct from to_jsonb(new) - tg_argv then
    raise exception using
      errcode = 'restrict_violation',
      message = format('what "%s" says does not change: "%s"', tg_table_name, tg_name);
  end if;
  return new;
end
$function$;
comment on function require_same is 'Only columns that the trigger names are ever changed.';

create or replace function guard_order()
returns trigger
language plpgsql
set search_path = candled_app, pg_temp
as $function$
begin
  if (old.id, old.account_id, old.command_id, old.queue_purchase_id, old.symbol, old.side,
      old.kind, old.time_in_force, old.quantity, old.limit_price, old.stop_price,
      old.worst_price, old.settles_same_day, old.accepted_at, old.commission_rate,
      old.commission_min)
    is distinct from (new.id, new.account_id, new.command_id, new.queue_purchase_id, new.symbol,
      new.side, new.kind, new.time_in_force, new.quantity, new.limit_price, new.stop_price,
      new.worst_price, new.settles_same_day, new.accepted_at, new.commission_rate,
      new.commission_min)
    or (old.state in ('filled', 'cancelled', 'expired', 'replaced') and new.state <> old.state)
  then
    raise exception using
      errcode = 'restrict_violation',
      message = 'what was ordered, and how it ended, does not change: "paper_order_is_constant"';
  end if;
  return new;
end
$function$;
comment on function guard_order is 'What was ordered does not change, nor the state of an end.';

create or replace function require_limit()
returns trigger
language plpgsql
set search_path = candled_app, pg_temp
as $function$
begin
  if exists (
    select
    from added f
    cross join lateral (
      select *
      from paper_order
      where id = f.order_id
      offset 0
    ) o
    where f.account_id <> o.account_id
      or (o.side = 'buy' and f.price > o.worst_price)
      or (o.side = 'sell' and f.price < o.worst_price))
  then
    raise exception using
      errcode = 'integrity_constraint_violation',
      message = 'a fill is at a worse price than its order allows: "fill_is_within_limit"';
  end if;
  return null;
end
$function$;
comment on function require_limit is 'No fill is worse than the limit of its order.';

do $triggers$
declare
  grown text;
begin
  foreach grown in array array[
    'posting', 'entry', 'order_event', 'fill'
  ] loop
    execute format(
      'create or replace trigger only_grows before update or delete or truncate on %I '
      'for each statement execute function refuse_change()', grown);
  end loop;
  foreach grown in array array[
    'command', 'paper_order', 'queue_purchase', 'account', 'book', 'day_balance',
    'corporate_action'
  ] loop
    execute format(
      'create or replace trigger is_kept before delete or truncate on %I '
      'for each statement execute function refuse_change()', grown);
  end loop;
end
$triggers$;

create or replace trigger entry_booked
after insert on entry
referencing new table as added
for each statement
execute function book_entries();

drop trigger if exists posting_is_balanced on posting;
create constraint trigger posting_is_balanced
after insert on posting
deferrable initially deferred
for each row
execute function require_balance();

create or replace trigger command_is_answered_once
before update on command
for each row
when (old.outcome is not null)
execute function refuse_change();

create or replace trigger command_is_constant
before update on command
for each row
execute function require_same('sequence', 'outcome', 'answer', 'answered_at');

create or replace trigger paper_order_is_constant
before update on paper_order
for each row
execute function guard_order();

create or replace trigger account_is_closed_once
before update on account
for each row
when (old.closed_at is not null)
execute function refuse_change();

create or replace trigger account_is_constant
before update on account
for each row
execute function require_same('closed_at');

create or replace trigger corporate_action_is_constant
before update on corporate_action
for each row
execute function require_same('withdrawn_at', 'booked_on', 'reversed_on', 'failed_in');

create or replace trigger corporate_action_happens_once
before update on corporate_action
for each row
when (
  old.withdrawn_at is not null and old.withdrawn_at is distinct from new.withdrawn_at
  or old.booked_on is not null and old.booked_on is distinct from new.booked_on
  or old.reversed_on is not null and old.reversed_on is distinct from new.reversed_on
)
execute function refuse_change();

create or replace trigger fill_is_within_limit
after insert on fill
referencing new table as added
for each statement
execute function require_limit();

create or replace trigger command_sent
after insert on command
for each statement
execute function notify_channel('candled_app_command');

create or replace trigger corporate_action_posted
after insert or update of withdrawn_at on corporate_action
for each statement
execute function notify_channel('candled_app_command');

create or replace trigger command_answered
after update on command
for each statement
execute function notify_channel('candled_app_outcome');

-- Alerts: what users wait for, and what came of it.
--
-- Every gateway looks at every state of the feed; `notification_is_once` decides which of them
-- writes, under the lock of `alert_cursor`, so that ids of notifications are in commit order.

create table if not exists alert (
  id bigint generated always as identity primary key,
  user_id bigint not null references app_user on delete restrict,
  symbol text,
  source text not null,
  condition text not null,
  threshold numeric,
  repeats text not null,
  revision integer not null default 1,
  state text not null default 'armed',
  created_at timestamptz not null default now(),
  armed_at timestamptz not null,
  armed_epoch bigint not null,
  armed_seq bigint not null,
  armed_day date,
  armed_high numeric,
  armed_low numeric,
  armed_last numeric,
  armed_volume numeric,
  constraint alert_symbol_is_short check (octet_length(symbol) between 1 and 16),
  constraint alert_source_is_short check (octet_length(source) between 1 and 32),
  constraint alert_condition_is_known check (
    condition in (
      'above', 'below', 'changePercentAbove', 'changePercentBelow', 'volumeAbove',
      'limitUpTouched', 'limitUpOpened', 'gap', 'sourceStale')),
  constraint alert_threshold_is_there check (
    (threshold is null)
      = (condition in ('limitUpTouched', 'limitUpOpened', 'gap', 'sourceStale'))),
  constraint alert_is_about_a_series check ((symbol is null) = (condition = 'sourceStale')),
  constraint alert_repeats_is_known check (repeats in ('once', 'daily')),
  constraint alert_state_is_known check (state in ('armed', 'fired', 'ended', 'deleted'))
);
create index if not exists alert_user on alert (user_id) where state <> 'deleted';
create index if not exists alert_armed on alert (id) where state = 'armed';
comment on table alert is 'What users wait for. A deleted one stays: its notifications name it.';
comment on column alert.symbol is 'Canonical spelling: sh600519; null: it is about a source.';
comment on column alert.source is 'Of the series, or the source itself, by name.';
comment on column alert.state is 'ended: its instrument became another one, and it fires no more.';
comment on column alert.revision is
  'Each edit adds one, and so does arming it again after a notice was withdrawn.';
comment on column alert.armed_at is 'What the daemon''s clock showed: minutes since then count.';
comment on column alert.armed_seq is 'The feed''s last change then: states behind it count.';
comment on column alert.armed_high is 'The day''s high then: it must grow to count.';
comment on column alert.armed_low is 'The day''s low then: it must fall to count.';
comment on column alert.armed_last is 'The last price then.';
comment on column alert.armed_volume is 'The day''s volume then.';

create table if not exists notification (
  id bigint generated always as identity primary key,
  user_id bigint not null references app_user on delete restrict,
  alert_id bigint references alert on delete restrict,
  revision integer,
  period text,
  kind text not null,
  refers_to bigint references notification on delete restrict,
  symbol text,
  source text,
  condition text,
  threshold numeric,
  trading_day date not null,
  basis text,
  value numeric,
  feed_epoch bigint,
  feed_seq bigint,
  observed_at timestamptz not null,
  at timestamptz not null default clock_timestamp(),
  read_at timestamptz,
  deleted_at timestamptz,
  account_id bigint references account on delete restrict,
  event text,
  order_id bigint references paper_order on delete restrict,
  queue_purchase_id bigint references queue_purchase on delete restrict,
  side text,
  quantity numeric,
  filled numeric,
  turnover numeric,
  reason text,
  constraint notification_is_once unique (alert_id, revision, period, kind),
  constraint notification_period_is_known check (
    period ~ '^(once|[0-9]{4}-[0-9]{2}-[0-9]{2})$'),
  constraint notification_basis_is_known check (
    basis in (
      'last', 'high', 'low', 'minute', 'volume', 'gap', 'stall', 'correction', 'merger',
      'conversion')),
  constraint notification_kind_is_known check (
    kind in ('fired', 'withdrawn', 'ended', 'order', 'purchase')),
  constraint notification_refers_if_withdrawn check (
    (refers_to is not null) = (kind = 'withdrawn')),
  constraint notification_event_is_known check (
    event in (
      'armed', 'ordered', 'filled', 'rejected', 'cancelled', 'expired', 'reversed', 'kept',
      'queue_empty')),
  constraint notification_is_of_its_kind check (
    case
      when kind in ('fired', 'withdrawn', 'ended') then
        num_nulls(
          alert_id, revision, period, source, condition, basis, feed_epoch, feed_seq) = 0
        and num_nonnulls(account_id, event) = 0
      else
        num_nulls(account_id, event) = 0
        and num_nonnulls(
          alert_id, revision, period, source, condition, basis, feed_epoch, feed_seq) = 0
    end)
);
create index if not exists notification_inbox
on notification (user_id, id) where deleted_at is null;
create index if not exists notification_day on notification (trading_day);
comment on table notification is
  'The inbox: what alerts fired, and withdrew since; what became of orders and of queue purchases. '
  'Rows only come; the user reads and hides them.';
comment on column notification.kind is
  'Of an alert: fired, withdrawn, ended. Of a paper account: order, purchase.';
comment on column notification.period is 'once, or the trading day: no two firings share it.';
comment on column notification.refers_to is 'Of a withdrawn one: the firing that was false.';
comment on column notification.basis is
  'What of the row met the condition; of an ended one what became of the instrument.';
comment on column notification.value is 'The price, or the volume, that met it.';
comment on column notification.feed_seq is 'The change that showed it; of a past day the newest.';
comment on column notification.observed_at is 'What the daemon''s clock showed.';
comment on column notification.event is
  'What became of the order or the purchase; queue_empty: the account''s last purchase has ended.';
comment on column notification.filled is 'As it was then; turnover is its price × quantity.';
comment on column notification.reason is 'Why a purchase was rejected.';

create table if not exists alert_cursor (
  is_only boolean primary key default true,
  examined_day date,
  constraint alert_cursor_is_one check (is_only)
);
comment on table alert_cursor is 'One row: whoever writes notifications locks it.';
comment on column alert_cursor.examined_day is
  'Days before it were looked at by some gateway; null: none was yet.';
insert into alert_cursor default values on conflict do nothing;

create or replace trigger notification_is_constant
before update on notification
for each row
execute function require_same('read_at', 'deleted_at');

create or replace trigger notification_sent
after insert on notification
for each statement
execute function notify_channel('candled_app_notification');

-- What becomes of orders changes no alert.
create or replace trigger alert_fired
after insert on notification
for each row
when (new.alert_id is not null)
execute function notify_channel('candled_app_alert', 'alert_id');

create or replace trigger alert_changed
after insert or update on alert
for each row
execute function notify_channel('candled_app_alert', 'id');

create or replace trigger is_kept
before delete or truncate on alert
for each statement
execute function refuse_change();

create or replace trigger is_kept
before delete or truncate on notification
for each statement
execute function refuse_change();

-- What streams pass on: an outbox of each user, by whose numbers a stream resumes.
--
-- The broker adds to it, and every gateway that writes notifications; `outbox_cursor` is locked
-- until their transactions end, so that ids are in the order of commits, and numbers without a gap.

create table if not exists outbox_cursor (
  is_only boolean primary key default true,
  last_id bigint not null default 0,
  constraint outbox_cursor_is_one check (is_only)
);
comment on table outbox_cursor is 'One row: whoever adds to the outbox locks it.';
insert into outbox_cursor default values on conflict do nothing;

create table if not exists outbox (
  id bigint primary key,
  user_id bigint not null references app_user on delete restrict,
  number bigint not null,
  kind text not null,
  refers_to bigint not null,
  part integer,
  constraint outbox_number_is_one unique (user_id, number),
  constraint outbox_kind_is_known check (kind in ('order', 'refusal', 'notification')),
  constraint outbox_part_is_an_event check ((kind = 'order') = (part is not null))
);
comment on table outbox is 'What became of users'' orders, and notifications. Rows only come.';
comment on column outbox.id is 'Of all users, in the order of commits.';
comment on column outbox.number is 'Of the user''s rows, from 1 without a gap.';
comment on column outbox.refers_to is 'An order, a command that was refused, or a notification.';
comment on column outbox.part is 'The event of the order.';

-- A restored backup counts on from where it was taken: what was numbered behind it, clients may
-- have seen, and those numbers are given again. So they belong to an epoch.

create table if not exists epoch (
  epoch bigint primary key,
  identity text,
  order_id bigint not null default 0,
  command_id bigint not null default 0,
  notification_id bigint not null default 0,
  outbox_id bigint not null default 0
);
comment on table epoch is
  'One row per database that these rows lived in: the first is 0, each restored one has a higher '
  'number, its second since 1970.';
comment on column epoch.identity is 'The server, its timeline, the database and its outbox.';
comment on column epoch.order_id is 'The newest order of the epochs before.';
comment on column epoch.command_id is 'The newest command of the epochs before.';
comment on column epoch.notification_id is 'The newest notification of the epochs before.';
comment on column epoch.outbox_id is 'The newest row of the outbox of the epochs before.';
insert into epoch (epoch) values (0) on conflict do nothing;

create or replace function begin_epoch()
returns void
language plpgsql volatile security definer
set search_path = candled_app, pg_temp
as $function$
declare
  known text;
  found text := format(
    '%s %s',
    (select oid from pg_database where datname = current_database()), 'outbox'::regclass::oid);
begin
  if pg_is_in_recovery() then
    return;
  end if;
  begin
    found := format(
      '%s %s %s',
      (select system_identifier from pg_control_system()),
      left(pg_walfile_name(pg_current_wal_lsn()), 8), found);
  exception
    -- Some managed servers do not tell.
    when insufficient_privilege or feature_not_supported or undefined_function then null;
  end;
  select identity into known from epoch order by epoch desc limit 1;
  if known is not distinct from found then
    return;
  end if;
  perform from outbox_cursor for update;
  select identity into known from epoch order by epoch desc limit 1;
  if known is null then
    update epoch set identity = found;
  elsif known <> found then
    insert into epoch (epoch, identity, order_id, command_id, notification_id, outbox_id)
    select
      greatest(extract(epoch from clock_timestamp())::bigint, max(e.epoch) + 1),
      found,
      (select coalesce(max(id), 0) from paper_order),
      (select coalesce(max(id), 0) from command),
      (select coalesce(max(id), 0) from notification),
      (select last_id from outbox_cursor)
    from epoch e;
  end if;
end
$function$;
comment on function begin_epoch is
  'Begins an epoch where the rows are not in the database in which the newest one began: a backup '
  'was restored, or a replica promoted. Gateways call it when they connect.';

create or replace function add_to_outbox()
returns trigger
language plpgsql
security definer
set search_path = candled_app, pg_temp
as $function$
declare
  users bigint[];
  things bigint[];
  parts integer[];
  last bigint;
begin
  case tg_argv[0]
    when 'order' then
      select
        array_agg(a.user_id order by e.order_id, e.sequence),
        array_agg(e.order_id order by e.order_id, e.sequence),
        array_agg(e.sequence order by e.order_id, e.sequence)
      into users, things, parts
      from added e
      cross join lateral (
        select account_id
        from paper_order
        where id = e.order_id
        offset 0
      ) o
      join account a on a.id = o.account_id;
    when 'refusal' then
      select array_agg(a.user_id order by c.sequence), array_agg(c.id order by c.sequence)
      into users, things
      from added c
      join account a on a.id = c.account_id
      where c.kind = 'order'
        and c.outcome = 'refused';
    when 'notification' then
      select array_agg(user_id order by id), array_agg(id order by id)
      into users, things
      from added;
  end case;
  if users is null then
    return null;
  end if;
  update outbox_cursor
  set last_id = last_id + cardinality(users)
  returning last_id - cardinality(users) into last;
  insert into outbox (id, user_id, number, kind, refers_to, part)
  select
    last + s.place,
    s.user_id,
    coalesce(
      (select max(number) from outbox where user_id = s.user_id), 0)
      + row_number() over (partition by s.user_id order by s.place),
    tg_argv[0],
    s.thing,
    s.part
  from unnest(users, things, parts) with ordinality as s (user_id, thing, part, place);
  perform pg_notify('candled_app_outbox', '');
  return null;
end
$function$;
comment on function add_to_outbox is
  'Adds what happened to the outbox of its user, and wakes the gateways.';

create or replace trigger added_to_outbox
after insert on order_event
referencing new table as added
for each statement
execute function add_to_outbox('order');

create or replace trigger added_to_outbox
after update on command
referencing new table as added
for each statement
execute function add_to_outbox('refusal');

create or replace function hold_outbox()
returns trigger
language plpgsql
security definer
set search_path = candled_app, pg_temp
as $function$
begin
  perform
  from outbox_cursor
  for update;
  return null;
end
$function$;
comment on function hold_outbox is
  'Locks the outbox before ids are given, so that they are in the order of commits.';

create or replace trigger hold_outbox
before insert on notification
for each statement
execute function hold_outbox();

create or replace trigger added_to_outbox
after insert on notification
referencing new table as added
for each statement
execute function add_to_outbox('notification');

create or replace trigger only_grows
before update or delete or truncate on outbox
for each statement
execute function refuse_change();

-- Webhooks: where notifications are sent, beside the inbox.
--
-- One gateway delivers, that which holds the lease of the webhooks. A webhook gets the
-- notifications of its user in order; `position` moves once the receiver has taken one, so that
-- none is lost, and one may come twice.

create table if not exists webhook (
  id bigint generated always as identity primary key,
  user_id bigint not null references app_user on delete restrict,
  url text not null,
  secret bytea not null,
  position bigint not null,
  created_at timestamptz not null default now(),
  delivered_at timestamptz,
  failures integer not null default 0,
  failing_since timestamptz,
  retry_at timestamptz,
  last_error text,
  disabled_at timestamptz,
  constraint webhook_url_is_short check (octet_length(url) between 1 and 2048),
  constraint webhook_secret_is_long check (octet_length(secret) between 24 and 64),
  constraint webhook_error_is_short check (char_length(last_error) <= 256),
  constraint webhook_failures_are_whole check (
    (failures = 0) = (num_nulls(failing_since, retry_at, last_error) = 3)
      and num_nulls(failing_since, retry_at, last_error) in (0, 3))
);
create index if not exists webhook_user on webhook (user_id, id);
comment on table webhook is 'Where the notifications of a user are sent.';
comment on column webhook.secret is 'What deliveries are signed with: the user has it, too.';
comment on column webhook.position is
  'The notification that was delivered last; at first the newest that there was.';
comment on column webhook.failures is 'In a row, of the notification behind position.';
comment on column webhook.retry_at is 'When it is tried again; null: at once.';
comment on column webhook.disabled_at is 'Since then nothing is sent; null: it is.';

create or replace trigger webhook_changed
after insert or update of url on webhook
for each statement
execute function notify_channel('candled_app_webhook');

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
  owned (name, owner, acl) as (
    select 'schema candled_app', n.nspowner, n.nspacl
    from pg_namespace n
    where n.nspname = 'candled_app'
    union all
    select r.name, r.relowner, r.relacl
    from relation r
    union all
    select f.name, f.proowner, coalesce(f.proacl, acldefault('f', f.proowner))
    from routine f
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
  -- What the gateway's role, and everybody, may do. What other roles are granted is the operator's.
  select format('right %s on %s to %s', g.privilege_type, o.name, coalesce(r.rolname, 'public'))
  from owned o
  cross join lateral aclexplode(o.acl) g
  left join pg_roles r on r.oid = g.grantee
  where g.grantee <> o.owner
    and (g.grantee = 0 or r.rolname = 'candled_app')
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
    app_user, token, preference, watchlist, watchlist_item, webhook
  to candled_app;
  grant select, insert on posting, entry, order_event, fill to candled_app;
  grant select, insert, update on
    account, user_day, command, paper_order, queue_purchase, holding_trigger, corporate_action
  to candled_app;
  grant select, update on gateway_lease, broker_cursor to candled_app;
  grant usage, select on sequence broker_beat, webhooks_beat to candled_app;
  grant select, insert, update, delete on order_place to candled_app;
  grant select, insert, update on order_progress to candled_app;
  grant select, insert, update on alert, notification to candled_app;
  grant select, update on alert_cursor to candled_app;
  grant select on book, day_balance, transaction_log, outbox, outbox_cursor, epoch to candled_app;
  grant execute on function schema_objects() to candled_app;
  grant execute on function begin_epoch() to candled_app;
end
$grants$;

delete from schema_version
where version < 12;

insert into schema_version (version, objects, text_digest)
values (
  12,
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
