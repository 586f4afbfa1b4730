import AppStore
import Market
import Postgres
import TestSupport
import TestTraits
import Testing

/// The grants of schema_app.sql, statement by statement, each tried as a member of its role in a
/// transaction that is taken back. Only 42501 counts as a refusal; and of a view that nobody can
/// write what the server says of that.
@Suite(.ownThread) struct AppRightsTests {
  /// What each role may do: `s`elect, `i`nsert, `u`pdate, `d`elete, `t`runcate. A new table must be
  /// entered here, or a test fails.
  private static let tables: [String: (app: String, reader: String, daemon: String)] = [
    "schema_version": ("s", "", ""), "app_user": ("siud", "", ""), "token": ("siud", "", ""),
    "preference": ("siud", "", ""), "watchlist": ("siud", "", ""),
    "watchlist_item": ("siud", "", ""), "account": ("siu", "", ""), "command": ("siu", "", ""),
    "corporate_action": ("siu", "", ""), "user_day": ("siu", "", ""),
    "day_balance": ("s", "", ""),
    "queue_purchase": ("siu", "", ""), "holding_trigger": ("siu", "", ""),
    "paper_order": ("siu", "", ""), "posting": ("si", "", ""), "entry": ("si", "", ""),
    "book": ("s", "", ""), "order_event": ("si", "", ""), "fill": ("si", "", ""),
    "gateway_lease": ("su", "", ""), "broker_cursor": ("su", "", ""),
    "order_place": ("siud", "", ""), "order_progress": ("siu", "", ""),
    "transaction_log": ("s", "", ""), "alert": ("siu", "", ""),
    "notification": ("siu", "", ""), "alert_cursor": ("su", "", ""), "outbox": ("s", "", ""),
    "outbox_cursor": ("s", "", ""), "epoch": ("s", "", ""), "webhook": ("siud", "", ""),
  ]

  /// What is not about one table of the schema.
  private static let others: [(statement: String, isApps: Bool)] = [
    ("create table candled_app.scratch (id integer)", false),
    ("create table candled.scratch (id integer)", false),
    ("create temporary table scratch (id integer)", false),
    ("drop table candled_app.token", false),
    ("alter table candled_app.token add column scratch integer", false),
    ("alter table candled_app.token disable trigger token_changed", false),
    ("create index on candled_app.token (name)", false),
    ("alter function candled_app.schema_objects security definer", false),
    ("select candled_app.schema_objects()", true),
    ("select candled_app.begin_epoch()", true),
    ("select nextval('candled_app.broker_beat')", true),
    ("select setval('candled_app.broker_beat', 1)", false),
    ("select candled_app.refuse_change()", false),
    ("select candled_app.book_entries()", false),
    ("select candled_app.require_balance()", false),
    ("select candled_app.require_limit()", false),
    ("select candled_app.require_same()", false),
    ("select candled_app.guard_order()", false),
    ("select candled_app.notify_channel()", false),
    ("select candled_app.add_to_outbox()", false),
    ("select candled_app.hold_outbox()", false),
    ("alter table candled_app.notification disable trigger notification_is_constant", false),
    ("alter table candled_app.entry disable trigger only_grows", false),
    ("alter table candled_app.posting disable trigger posting_is_balanced", false),
    ("drop trigger entry_booked on candled_app.entry", false),
    ("set session_replication_role = replica", false),
    (
      "create or replace trigger token_changed after insert on candled_app.token "
        + "execute function candled_app.notify_channel()", false
    ),
    ("select nextval('candled_app.app_user_id_seq')", false),
    ("select setval('candled_app.token_id_seq', 1)", false),
    ("create view candled_app.scratch as select 1", false),
    ("create function candled_app.scratch() returns integer language sql return 1", false),
    ("comment on table candled_app.token is ''", false),
    ("drop schema candled_app cascade", false),
    ("copy candled_app.token to stdout", true),
    ("copy candled_app.token to program 'true'", false),
    ("lock table candled_app.token in access exclusive mode", true),
    ("select pg_notify('candled_app_token', '')", true),
    ("set session authorization candled_app_owner", false),
    ("create role scratch", false),
    ("set role candled_app_owner", false),
    ("set role candled_owner", false),
    ("set role candled", false),
    ("select * from candled.latest limit 0", true),
    ("select * from candled.candles('sh600519') limit 0", true),
    ("select * from candled.changes(0)", true),
    ("select * from candled.market limit 0", true),
    ("select from candled.candle limit 0", false),
    ("select from candled.quote limit 0", false),
    ("insert into candled.candle default values", false),
    ("update candled.quote set last = null", false),
    ("delete from candled.change", false),
    ("select candled.prune(date '2026-07-06', 0)", false),
    ("select candled.ensure_partition(null)", false),
    ("select pg_advisory_lock(1)", false),
    ("listen candled", true),
    ("listen candled_app_token", true),
    ("select pg_read_file('/etc/hostname')", false),
  ]

  private static let logins = [
    "app_rights_app": "candled_app", "app_rights_reader": "candled_reader",
    "app_rights_daemon": "candled",
  ]

  private let database: AppDatabase

  init() throws {
    database = try AppDatabase()
    for (login, role) in Self.logins {
      try database.store.execute(
        """
        do $$
        begin
          create role \(login) login nosuperuser in role \(role);
        exception
          when duplicate_object or unique_violation then null;
        end
        $$
        """)
    }
  }

  private func isAllowed(_ statement: String, as login: String) throws -> Bool {
    do {
      try SQLProbe.run("begin; \(statement); rollback", url: database.store.url(role: login))
      return true
    } catch {
      return !["42501", "55000", "42809"].contains(error.sqlState)
    }
  }

  @Test func `every table has its entry`() throws {
    let names = try database.store.execute(
      """
      select relname
      from pg_class
      where relnamespace = 'candled_app'::regnamespace
        and relkind in ('r', 'p', 'v')
      """)
    #expect(Set(names.compactMap { $0[0] }) == Set(Self.tables.keys))
  }

  @Test(arguments: tables.keys.sorted())
  func `a table gives each role its rights and no other`(_ table: String) throws {
    let rights = try #require(Self.tables[table])
    let column = try #require(
      try database.store.value(
        """
        select attname
        from pg_attribute
        where attrelid = 'candled_app.\(table)'::regclass
          and attnum > 0
          and attidentity = ''
        order by attnum
        limit 1
        """))
    let statements = [
      "s": "select from candled_app.\(table) limit 0",
      "i": "insert into candled_app.\(table) default values",
      "u": "update candled_app.\(table) set \(column) = null",
      "d": "delete from candled_app.\(table)",
      "t": "truncate candled_app.\(table) cascade",
    ]
    for (letter, statement) in statements {
      for (login, letters) in [
        ("app_rights_app", rights.app), ("app_rights_reader", rights.reader),
        ("app_rights_daemon", rights.daemon),
      ] {
        let isGranted = letters.contains(letter)
        #expect(try isAllowed(statement, as: login) == isGranted, "\(login): \(statement)")
      }
    }
  }

  @Test func `every function of the schema has its entry`() throws {
    let names = try database.store.execute(
      "select proname from pg_proc where pronamespace = 'candled_app'::regnamespace")
    #expect(
      names.compactMap { $0[0] }.allSatisfy { name in
        Self.others.contains { $0.statement == "select candled_app.\(name)()" }
      })
  }

  /// Which of the reader's rights the app must have is in `RightsTable` of StoreTests.
  @Test func `in candled's schema an app may do what a reader may, statement by statement`() throws
  {
    let relations = try database.store.execute(
      """
      select c.relname, (
        select quote_ident(attname) from pg_attribute
        where attrelid = c.oid and attnum = 1)
      from pg_class c
      where c.relnamespace = 'candled'::regnamespace
        and c.relkind in ('r', 'p', 'v')
        and not c.relispartition
      """)
    #expect(relations.count > 50)
    for relation in relations {
      guard let name = relation[0], let column = relation[1] else { continue }
      for statement in [
        "select from candled.\(name) limit 0", "insert into candled.\(name) default values",
        "update candled.\(name) set \(column) = null where false",
        "delete from candled.\(name) where false", "truncate candled.\(name)",
        "lock table candled.\(name) in share mode",
      ] {
        let isReaders = try isAllowed(statement, as: "app_rights_reader")
        #expect(try isAllowed(statement, as: "app_rights_app") == isReaders, "\(statement)")
      }
    }
    let functions = try database.store.execute(
      """
      select proname
      from pg_proc
      where pronamespace = 'candled'::regnamespace
        and has_function_privilege('candled_app', oid, 'execute')
          <> has_function_privilege('candled_reader', oid, 'execute')
      """)
    #expect(functions == [])
  }

  @Test(arguments: others.map(\.statement))
  func `what is about no one table is as the list has it`(_ statement: String) throws {
    let entry = try #require(Self.others.first { $0.statement == statement })
    #expect(try isAllowed(statement, as: "app_rights_app") == entry.isApps)
  }
}
