import Commits
import Market
import TestSupport
import Testing

@testable import Postgres
@testable import Store

@Suite struct SchemaTests {
  @Test func `a fresh database has no differences`() throws {
    let database = try StoreDatabase()
    #expect(try Schema.check(url: database.url) == [])
  }

  @Test func `applying twice changes nothing`() throws {
    let database = try StoreDatabase()
    let before = try database.execute("select version, objects from candled.schema_version")
    try Schema.apply(url: database.url)
    #expect(try database.execute("select version, objects from candled.schema_version") == before)
  }

  /// Someone who reads, and leaves the transaction open.
  private func reader(_ database: StoreDatabase, _ sql: String) throws -> PostgresConnection {
    let reader = try PostgresConnection(url: database.url, application: "reader")
    try reader.execute("begin; \(sql)", context: "test")
    return reader
  }

  @Test func `a start on the schema it would apply waits for no reader`() throws {
    let database = try StoreDatabase()
    let reader = try reader(database, "select 1 from candled.latest")
    // What replaces a view waits for the reader, and gives up after a minute.
    try Schema.applyIfDifferent(url: database.url)
    try reader.execute("commit", context: "test")
  }

  private static let impatient = SchemaFile.Patience(
    lockMilliseconds: 1_000, pauseMilliseconds: 1, triesMax: 3)

  @Test func `applying names the reader in the way, and gives up`() throws {
    let database = try StoreDatabase()
    let reader = try reader(database, "select 1 from candled.latest")
    var messages: [String] = []
    let error = #expect(throws: StoreError.self) {
      try Schema.apply(url: database.url, patience: Self.impatient) { messages.append($0) }
    }
    let sentence = "session \(reader.backendProcess) (postgres, reader, idle in transaction, in a "
    #expect(error?.code == .transient && error?.sqlState == "55P03")
    #expect(error?.message.hasPrefix("not applied: \(sentence)") == true, "\(error as Any)")
    #expect(messages.count == 1 && messages.allSatisfy { $0.hasPrefix("waiting: \(sentence)") })
    try reader.execute("commit", context: "test")
    #expect(try Schema.check(url: database.url) == [])
  }

  @Test func `in the private cluster a reader that stays in the way is ended at last`() throws {
    let database = try StoreDatabase()
    let reader = try PostgresConnection(
      url: "\(database.url) user=candled_reader", application: "notebook")
    try reader.execute("begin; select 1 from candled.latest", context: "test")
    var patience = Self.impatient
    patience.endsReaders = true
    var messages: [String] = []
    try Schema.apply(url: database.url, patience: patience) { messages.append($0) }
    let sentence = "session \(reader.backendProcess) (candled_reader, notebook, idle in transaction"
    #expect(messages.count == 2 && messages[0].hasPrefix("waiting: \(sentence)"), "\(messages)")
    #expect(
      messages.last?.hasPrefix("ended the session of a reader: \(sentence)") == true, "\(messages)")
    #expect(throws: StoreError.self) { try reader.execute("commit", context: "test") }
    let superuser = try self.reader(database, "select 1 from candled.latest")
    #expect(throws: StoreError.self) { try Schema.apply(url: database.url, patience: patience) }
    try superuser.execute("commit", context: "test")
  }

  @Test func `applying goes on once the reader in the way has ended its transaction`() throws {
    let database = try StoreDatabase()
    try database.execute("update candled.schema_version set text_digest = 'another'")
    let reader = try reader(database, "select 1 from candled.latest")
    var waits = 0
    try Schema.applyIfDifferent(url: database.url) { _ in
      waits += 1
      _ = try? reader.execute("commit", context: "test")
    }
    #expect(waits == 1)
    #expect(
      try database.value("select text_digest = 'another' from candled.schema_version") == "f")
  }

  /// Applying waits for a lock while it has others, for which the writer waits.
  @Test func `a reader in the way of applying is in the way of no commit`() async throws {
    let database = try StoreDatabase()
    try database.setLockTimeout(seconds: 20)
    let reader = try reader(database, "select 1 from candled.latest")
    let writer = try await freshWriter(database)
    let (waits, inbox) = AsyncStream.makeStream(of: String.self)
    let url = database.url
    let applying = Task {
      let patience = SchemaFile.Patience(
        lockMilliseconds: 200, pauseMilliseconds: 200, triesMax: 100)
      try Schema.apply(url: url, patience: patience) { inbox.yield($0) }
    }
    for await _ in waits { break }
    var samples = StoreSamples(seed: 12)
    for position in 1...20 {
      let commit = samples.sweep(position: Int64(position), instruments: 1)
      #expect(try await writer.commit(commit).seq != nil)
    }
    try reader.execute("commit", context: "test")
    try await applying.value
  }

  @Test(arguments: [
    "update candled.schema_version set text_digest = 'another'",
    "drop view candled.feed_overview",
    "drop schema candled cascade",
  ])
  func `a start on any other schema applies it`(_ change: String) throws {
    let database = try StoreDatabase()
    let digest = "select text_digest from candled.schema_version"
    let before = try #require(try database.value(digest))
    try database.execute(change)
    try Schema.applyIfDifferent(url: database.url)
    #expect(try Schema.check(url: database.url) == [])
    #expect(try database.value(digest) == before)
  }

  @Test func `a dropped column, a missing check and a strange table are named`() throws {
    let database = try StoreDatabase()
    try database.execute(
      """
      alter table candled.overview drop column percent_change cascade;
      alter table candled.candle drop constraint high_is_highest;
      create table candled.scratch (id integer)
      """)
    let differences = try Schema.check(url: database.url)
    #expect(differences.contains("missing: column overview.percent_change numeric not null"))
    let check = "missing: constraint high_is_highest on table candle: CHECK"
    #expect(differences.contains { $0.hasPrefix(check) })
    #expect(differences.contains("unexpected: column scratch.id integer"))
  }

  /// What is done to a database, and what the check says of it.
  private static let alterations: [(sql: String, difference: String)] = [
    ("grant insert on candle to candled_reader", "unexpected: grant INSERT on table candle"),
    ("grant select (id) on gap to candled_reader", "unexpected: grant SELECT on table gap column"),
    ("grant select on candle to public", "unexpected: grant SELECT on table candle to public"),
    ("revoke update on quote from candled", "missing: grant UPDATE on table quote to candled"),
    ("revoke select on latest from candled_reader", "missing: grant SELECT on view latest to"),
    ("grant usage on schema candled to public", "unexpected: grant USAGE on schema candled to"),
    ("grant execute on function feed_position to public", "unexpected: grant EXECUTE on function"),
    ("alter table quote owner to candled", "unexpected: owner of table quote: candled"),
    ("alter view latest owner to candled", "unexpected: owner of view latest: candled"),
    ("alter function feed_position owner to candled", "unexpected: owner of function feed_pos"),
    (
      "create trigger t after insert on quote execute function tsvector_update_trigger()",
      "unexpected: trigger t on table quote"
    ),
    ("create rule r as on delete to gap do instead nothing", "unexpected: rule r on table gap"),
    ("alter table candle enable row level security", "unexpected: row security on table candle"),
    ("create policy p on candle using (false)", "unexpected: policy p on table candle"),
    ("alter table lease alter only_row set default false", "unexpected: column lease.only_row"),
    ("alter table lease alter only_row drop default", "missing: column lease.only_row boolean"),
    ("alter table gap alter id drop identity", "missing: column gap.id bigint not null identity"),
    ("alter publication candled drop table gap", "missing: publication candled of gap"),
    (
      "alter publication candled set (publish = insert)",
      "missing: publication candled: insert update delete truncate via root"
    ),
    ("drop publication candled", "missing: publication candled of change"),
    ("alter function changes security invoker", "unexpected: function changes(after_seq bigint"),
    ("grant select on candle_2026_07 to candled_reader", "unexpected: grant SELECT on table can"),
    ("alter table candle_2026_07 owner to candled", "unexpected: owner of table candle_2026_07"),
    (
      "do $$ begin execute format('alter database %I reset all', current_database()); end $$",
      "missing: setting of the database: search_path"
    ),
    (
      "revoke execute on function pg_try_advisory_lock(bigint) from public, candled",
      "missing: right of candled: execute pg_try_advisory_lock(bigint)"
    ),
    (
      """
      do $$
      begin
        execute format('revoke temporary on database %I from public, candled', current_database());
      end
      $$
      """, "missing: right of candled: temporary tables in the database"
    ),
  ]

  @Test(arguments: alterations.map(\.sql))
  func `whatever is altered, the check names it`(_ sql: String) throws {
    let database = try StoreDatabase()
    try database.execute("select candled.ensure_partition('2026-07-06')")
    #expect(try Schema.check(url: database.url) == [])
    try database.execute("set search_path = candled, public; \(sql)")
    let expected = try #require(Self.alterations.first { $0.sql == sql }).difference
    let found = try Schema.check(url: database.url)
    #expect(found.contains { $0.hasPrefix(expected) }, "\(found)")
  }

  @Test func `what an operator may give to others is no difference`() throws {
    let database = try StoreDatabase()
    try database.execute(
      """
      create role operators_friend;
      grant candled_reader to operators_friend;
      grant usage on schema candled to operators_friend;
      grant select on candled.candle to operators_friend;
      create publication of_an_operator for table candled.quote
      """)
    #expect(try Schema.check(url: database.url) == [])
  }

  @Test func `an empty database gives the command to run`() throws {
    let database = try StoreDatabase()
    try database.execute("drop schema candled cascade")
    let differences = try Schema.check(url: database.url)
    #expect(differences == ["the database has no candled schema: run `candled schema apply`"])
  }

  /// Only the daemon reads what has no view.
  @Test func `every table, view, function and column of a view is commented`() throws {
    let database = try StoreDatabase()
    let bare = try database.execute(
      """
      select r.relname || coalesce('.' || a.attname, '')
      from pg_class r
      cross join lateral (
        select
          null as attname,
          coalesce(obj_description(r.oid, 'pg_class'), obj_description(r.reltype, 'pg_type'))
            as comment
        union all
        select attname, col_description(r.oid, attnum)
        from pg_attribute
        where attrelid = r.oid
          and attnum > 0
          and not attisdropped
      ) a
      where r.relnamespace = 'candled'::regnamespace
        and r.relkind in ('r', 'p', 'v', 'c')
        and not r.relispartition
        and a.comment is null
        and (a.attname is null or r.relkind in ('v', 'c'))
      union all
      select p.proname
      from pg_proc p
      where p.pronamespace = 'candled'::regnamespace
        and obj_description(p.oid, 'pg_proc') is null
      """)
    #expect(bare == [])
  }

  @Test(arguments: ["600519.SH", "sh600519", "SH600519", "600519.ss", "600519.XSHG"])
  func `every usual spelling finds the instrument`(_ spelling: String) throws {
    let database = try StoreDatabase()
    try database.execute(
      "insert into candled.instrument (id, symbol, first_seen) values (7, 'sh600519', now())")
    #expect(try database.value("select candled.instrument_id('\(spelling)')") == "7")
  }

  @Test func `the views show a day with its forming minute`() async throws {
    let database = try StoreDatabase()
    let writer = try await freshWriter(database)
    var samples = StoreSamples(seed: 9)
    var commit = samples.minute(0, position: 1, instruments: 1)
    let forming = samples.candle(0, minute: 1)
    commit.quotes[0].forming = forming
    commit.quotes[0].quote.bids[0] = BookLevel(
      price: ExactDecimal(units: 12_340, scale: 3), volume: ExactDecimal(500))
    _ = try await writer.commit(commit)
    #expect(
      try database.execute("select state, volume from candled.candle_1m order by opened_at")
        == [
          ["final", commit.candles[0].volume.description], ["open", forming.volume.description],
        ])
    #expect(
      try database.execute("select bid_prices[1], bid_volumes[1] from candled.latest")
        == [["12.340", "500"]])
    #expect(
      try database.value("select count(*) from candled.candles('600000.SH', '1m')") == "1")
    #expect(try database.value("select state from candled.candle_1d") == "open")
    #expect(try database.value("select traded + untraded from candled.coverage") == "1")
  }

  @Test func `every final candle's partition is made on demand`() async throws {
    let database = try StoreDatabase()
    let writer = try await freshWriter(database)
    var samples = StoreSamples(seed: 10)
    var commit = Commit(position: JournalPosition(1), knownAt: StoreSamples.start)
    commit.candles = [samples.candle(0, minute: 0), samples.candle(0, minute: 0)]
    commit.candles[1].openedAt = StoreSamples.start.adding(seconds: 40 * 86_400)
    commit.candles[1].closedAt = StoreSamples.start.adding(seconds: 40 * 86_400 + 60)
    #expect(try await writer.commit(commit).candles == 2)
    #expect(
      try database.execute(
        "select relname from pg_class where relispartition and relkind = 'r' order by 1")
        == [["candle_2026_07"], ["candle_2026_08"]])
  }

  @Test func `a month's first candle waits for no reader of candles`() async throws {
    let database = try StoreDatabase()
    let writer = try await freshWriter(database)
    let reader = try reader(database, "select 1 from candled.candle_1m limit 1")
    var samples = StoreSamples(seed: 11)
    var commit = Commit(position: JournalPosition(1), knownAt: StoreSamples.start)
    commit.candles = [samples.candle(0, minute: 0)]
    // A statement that waits for it gives up after a minute.
    #expect(try await writer.commit(commit).candles == 1)
    try reader.execute("commit", context: "test")
    #expect(try database.value("select count(*) from candled.candle_2026_07") == "1")
    // As a partition made at once has them: each index is one of the whole table's.
    #expect(
      try database.value(
        """
        select string_agg(p.relname, ' ' order by p.relname)
        from pg_index x
        left join pg_inherits h on h.inhrelid = x.indexrelid
        left join pg_class p on p.oid = h.inhparent
        where x.indrelid = 'candled.candle_2026_07'::regclass
        """) == "candle_day candle_doubtful candle_pkey candle_time")
  }
}
