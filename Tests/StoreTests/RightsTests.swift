import Commits
import EmbeddedPostgres
import Market
import TestSupport
import TestTraits
import Testing

@testable import Postgres
@testable import Store

/// The grants of schema.sql, statement by statement: each is tried as a member of its role, in a
/// transaction that is taken back. Only 42501 counts as a refusal: what is allowed may still fail
/// on the empty row it tries.
@Suite(.ownThread) struct RightsTests {
  private let database: StoreDatabase
  private static let daemon = "rights_daemon"
  private static let reader = "rights_reader"

  init() throws {
    database = try StoreDatabase()
    // Logins of their own: what a role may is then not mixed up with who owns the cluster.
    for (login, role) in [(Self.daemon, "candled"), (Self.reader, "candled_reader")] {
      try database.execute(
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
      try SQLProbe.run("begin; \(statement); rollback", url: database.url(role: login))
      return true
    } catch {
      return error.sqlState != "42501"
    }
  }

  private func names(_ sql: String) throws -> Set<String> {
    Set(try database.execute(sql).compactMap { $0.first ?? nil })
  }

  @Test func `every object of the schema has its entry in the table of rights`() throws {
    let relations = """
      select relname
      from pg_class
      where relnamespace = 'candled'::regnamespace
        and not relispartition
        and relkind
      """
    #expect(try names("\(relations) in ('r', 'p')") == Set(RightsTable.tables.keys))
    #expect(try names("\(relations) = 'v'") == RightsTable.views)
    #expect(
      try names("select proname from pg_proc where pronamespace = 'candled'::regnamespace")
        == Set(RightsTable.functions.keys))
  }

  @Test(arguments: RightsTable.tables.keys.sorted())
  func `a table gives each role its rights and no other`(_ table: String) throws {
    let rights = try #require(RightsTable.tables[table])
    let column = try #require(
      try database.value(
        """
        select attname
        from pg_attribute
        where attrelid = 'candled.\(table)'::regclass
          and attnum > 0
          and attidentity = ''
          and attgenerated = ''
        order by attnum
        limit 1
        """))
    let statements = [
      "s": "select from candled.\(table) limit 0",
      "i": "insert into candled.\(table) default values",
      "u": "update candled.\(table) set \(column) = null",
      "d": "delete from candled.\(table)",
      "t": "truncate candled.\(table)",
    ]
    for (letter, statement) in statements {
      let isDaemons = try isAllowed(statement, as: Self.daemon)
      #expect(isDaemons == rights.daemon.contains(letter), "daemon: \(statement)")
      let isReaders = try isAllowed(statement, as: Self.reader)
      #expect(isReaders == rights.reader.contains(letter), "reader: \(statement)")
    }
  }

  @Test(arguments: RightsTable.views.sorted())
  func `a view is read by both roles and written by neither`(_ view: String) throws {
    for login in [Self.daemon, Self.reader] {
      #expect(try isAllowed("select * from candled.\(view)", as: login), "\(login)")
      // PostgreSQL refuses most views before it looks at rights: ask for the right itself.
      let writing = try SQLProbe.run(
        """
        select has_table_privilege('candled.\(view)', 'insert, update, delete, truncate')
        """, url: database.url(role: login))
      #expect(writing == [["f"]], "\(login)")
    }
  }

  @Test(arguments: RightsTable.functions.keys.sorted())
  func `a function is called by those who may`(_ function: String) throws {
    let rights = try #require(RightsTable.functions[function])
    let argumentLists = try names(
      """
      select coalesce(
        (
          select string_agg('null::' || format_type(t.type, null), ', ' order by t.place)
          from unnest(p.proargtypes) with ordinality t (type, place)
        ), '')
      from pg_proc p
      where p.pronamespace = 'candled'::regnamespace
        and p.proname = '\(function)'
      """)
    #expect(!argumentLists.isEmpty)
    for arguments in argumentLists {
      let statement = "select * from candled.\(function)(\(arguments))"
      #expect(try isAllowed(statement, as: Self.daemon) == (rights.daemon == "x"))
      #expect(try isAllowed(statement, as: Self.reader) == (rights.reader == "x"))
    }
  }

  @Test(arguments: RightsTable.others.map(\.statement))
  func `what is about no one object is as the table says`(_ statement: String) throws {
    let entry = try #require(RightsTable.others.first { $0.statement == statement })
    #expect(try isAllowed(statement, as: Self.daemon) == entry.isDaemons, "daemon")
    #expect(try isAllowed(statement, as: Self.reader) == entry.isReaders, "reader")
  }

  @Test func `a role without grants may do nothing`() throws {
    let login = "rights_stranger"
    try database.execute("create role \(login) login nosuperuser")
    for view in RightsTable.views.sorted() {
      #expect(try !isAllowed("select from candled.\(view)", as: login), "\(view)")
    }
    #expect(try !isAllowed("select * from candled.candles('sh600519')", as: login))
  }

  @Test func `a login that may make roles installs for the owner`() throws {
    let login = "rights_installer"
    try database.execute("create role \(login) login createrole nosuperuser")
    let url = try PrivateCluster.shared().freshDatabase(named: "installed")
    try SQLProbe.run(
      """
      do $$
      begin
        execute format('alter database %I owner to \(login)', current_database());
        -- What to PostgreSQL 16 who makes a role has of it: the cluster has these already.
        if current_setting('server_version_num')::integer >= 160000 then
          execute 'grant candled_owner, candled, candled_reader to \(login)'
            ' with admin true, set false, inherit false';
        end if;
      end
      $$
      """, url: url)
    let installer = "\(url) user=\(login)"
    try Schema.apply(url: installer)
    // And again, as an upgrade does.
    try Schema.apply(url: installer)
    let owners = try SQLProbe.run(
      """
      select nspowner::regrole
      from pg_namespace
      where nspname = 'candled'
      union
      select relowner::regrole
      from pg_class
      where relnamespace = 'candled'::regnamespace
      """, url: url)
    #expect(owners == [["candled_owner"]])
    #expect(try Schema.check(url: "\(url) user=\(Self.daemon)") == [])
    let objects = "select unnest(objects) from candled.schema_version order by 1"
    #expect(try SQLProbe.run(objects, url: url) == database.execute(objects))
  }

  @Test func `readers do not hold a snapshot open, nor run for ever`() throws {
    let settings = try database.execute(
      "select unnest(rolconfig) from pg_roles where rolname = 'candled_reader' order by 1")
    #expect(
      settings == [["idle_in_transaction_session_timeout=60s"], ["statement_timeout=5min"]])
  }

  @Test func `a start sets the time-outs again that readers have set off`() throws {
    let own = try PrivateCluster.own()
    let url = own.server.adminConnectionString()
    let settings =
      "select unnest(rolconfig) from pg_roles where rolname = 'candled_reader' order by 1"
    let given = try SQLProbe.run(settings, url: url)
    #expect(given == [["idle_in_transaction_session_timeout=60s"], ["statement_timeout=5min"]])
    try SQLProbe.run(
      "alter role candled_reader set statement_timeout = 0", url: "\(url) user=candled_reader")
    #expect(try SQLProbe.run(settings, url: url) != given)
    try own.server.stop()
    try own.server.start()
    #expect(try SQLProbe.run(settings, url: url) == given)
  }

  @Test func `no reader may take an advisory lock, in any of its forms`() throws {
    let forms = try names(
      """
      select format(
        '%s(%s)', p.proname, array_to_string(array_fill(a.argument, array[p.pronargs]), ','))
      from pg_proc p
      cross join lateral (select '0::' || format_type(p.proargtypes[0], null)) a (argument)
      where p.proname ~ 'advisory.*lock'
        and p.proname !~ 'unlock'
      """)
    #expect(forms.count == 16)
    for form in forms {
      #expect(try !isAllowed("select \(form)", as: Self.reader), "\(form)")
    }
  }

  @Test(arguments: [
    "for n in 1..40000 loop perform pg_advisory_lock(n); end loop",
    "for n in 1..40000 loop execute format('create temporary table t%s ()', n); end loop",
    """
    for n in 1..40000 loop
      begin perform pg_current_xact_id(); exception when division_by_zero then null; end;
    end loop
    """,
    """
    for n in 1..40000 loop
      begin perform txid_current(); exception when division_by_zero then null; end;
    end loop
    """,
    """
    for n in 1..40000 loop
      begin
        perform pg_logical_emit_message(true, '', '');
      exception
        when division_by_zero then null;
      end;
    end loop
    """,
    "for n in 1..40000 loop perform lo_unlink(lo_create(0)); end loop",
  ])
  func `no reader can fill the lock table of all`(_ body: String) throws {
    for database in [database.url, try PrivateCluster.shared().server.adminConnectionString()] {
      let error = #expect(throws: StoreError.self) {
        try SQLProbe.run("do $$ begin \(body); end $$", url: "\(database) user=\(Self.reader)")
      }
      #expect(error?.sqlState == "42501")
    }
  }

  @Test func `schema.sql makes the readers' role a group, and a login of it reads`() throws {
    let own = try PrivateCluster.own()
    let url = own.server.ownerConnectionString
    // As a server that is not ours has it before: without the role.
    try SQLProbe.run("drop role candled_reader", url: url)
    try Schema.apply(url: url)
    let role = try SQLProbe.run(
      "select rolcanlogin from pg_roles where rolname = 'candled_reader'", url: url)
    #expect(role == [["f"]])
    try SQLProbe.run("create role alice login in role candled_reader", url: url)
    let alice = own.server.url(database: EmbeddedServer.databaseName, role: "alice")
    #expect(try SQLProbe.run("select count(*) from latest", url: alice) == [["0"]])
    let error = #expect(throws: StoreError.self) {
      try SQLProbe.run("alter role candled_reader reset all", url: alice)
    }
    #expect(error?.sqlState == "42501")
  }

  @Test func `functions that read for readers look nothing up elsewhere`() throws {
    #expect(
      try names(
        """
        select proname
        from pg_proc
        where pronamespace = 'candled'::regnamespace
          and prosecdef
          and not coalesce('search_path=candled, pg_temp' = any (proconfig), false)
        """) == [])
  }
}
