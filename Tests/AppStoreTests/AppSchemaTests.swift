import AppStore
import EmbeddedPostgres
import Market
import Postgres
import TestSupport
import TestTraits
import Testing

@Suite(.ownThread) struct AppSchemaTests {
  @Test func `a fresh database has no differences, and applying twice changes nothing`() throws {
    let database = try AppDatabase()
    #expect(try AppSchema.file.check(url: database.store.url) == [])
    let rows = "select version, applied_at, objects from candled_app.schema_version"
    let before = try database.store.execute(rows)
    try AppSchema.file.apply(url: database.store.url)
    #expect(try database.store.execute(rows) == before)
    #expect(try AppSchema.file.check(url: database.url) == [])
  }

  @Test func `what is restored from a backup has no differences`() throws {
    let (database, restored) = (try AppDatabase(), try StoreDatabase())
    let tools = try #require(PostgresServers.used).directory
    let copy = """
      \(tools)/pg_dump -n candled_app '\(database.store.url)' \
        | psql -q -v ON_ERROR_STOP=1 '\(restored.url)'
      """
    #expect(Shell.output(of: copy) != nil)
    #expect(try AppSchema.file.check(url: restored.url) == [])
  }

  @Test func `candled's own schema is as it was`() throws {
    let store = try StoreDatabase()
    let objects = "select unnest(array(select candled.schema_objects())) order by 1"
    let before = try store.execute(objects)
    try AppSchema.file.apply(url: store.url)
    #expect(try store.execute(objects) == before)
  }

  @Test(arguments: [
    ("alter table candled_app.token add column colour text", "unexpected: column token.colour"),
    ("drop trigger token_changed on candled_app.token", "missing: trigger CREATE"),
    ("grant select on candled_app.token to public", "unexpected: right SELECT on table token"),
    ("revoke delete on candled_app.token from candled_app", "missing: right DELETE on table token"),
    (
      "alter table candled_app.preference drop constraint preference_is_small",
      "missing: constraint preference.preference_is_small"
    ),
  ])
  func `the check names what differs`(_ change: String, _ difference: String) throws {
    let database = try AppDatabase()
    try database.store.execute(change)
    let found = try AppSchema.file.check(url: database.store.url)
    #expect(found.contains { $0.hasPrefix(difference) }, "\(found)")
  }

  @Test(arguments: [
    (7, "which no release had and this candled-gateway cannot upgrade: begin with a new database"),
    (
      99,
      "newer than version \(AppSchema.version.current) of this candled-gateway: install the "
        + "release that applied it"
    ),
  ])
  func `any other schema is refused, by the program and by hand`(
    _ version: Int, _ advice: String
  ) throws {
    let database = try AppDatabase()
    try database.store.execute("update candled_app.schema_version set version = \(version)")
    let sentence = "the database has candled_app schema version \(version), \(advice)"
    #expect(try AppSchema.file.check(url: database.store.url) == [sentence])
    let error = #expect(throws: StoreError.self) {
      try AppSchema.file.apply(url: database.store.url)
    }
    #expect(error?.code == .schemaMismatch && error?.message == sentence)
    #expect(throws: StoreError.self) { try database.store.execute(AppSchema.text) }
    #expect(throws: StoreError.self) { try database.connection() }
  }

  @Test func `a database without the schema is answered with what to do`() throws {
    let store = try StoreDatabase()
    let error = #expect(throws: StoreError.self) {
      try AppConnection(url: store.url, application: "test")
    }
    #expect(error?.code == .schemaMismatch)
    #expect(
      error?.message
        == "the database has no candled_app schema: run `candled-gateway schema apply`")
  }

  @Test func `a login without rights is told which role it lacks`() throws {
    let database = try AppDatabase()
    let url = try database.store.url(memberOf: "candled_reader")
    let error = #expect(throws: StoreError.self) {
      try AppConnection(url: url, application: "test")
    }
    #expect(
      error?.message
        == "this login may not read the candled_app schema: grant it the role candled_app")
  }

  @Test func `every table and column that needs one has a comment, and all has one owner`() throws {
    let database = try AppDatabase()
    let silent = try database.store.execute(
      """
      select relname
      from pg_class
      where relnamespace = 'candled_app'::regnamespace
        and relkind = 'r'
        and obj_description(oid, 'pg_class') is null
      """)
    #expect(silent == [])
    let owners = try database.store.execute(
      """
      select distinct relowner::regrole
      from pg_class
      where relnamespace = 'candled_app'::regnamespace
      """)
    #expect(owners == [["candled_app_owner"]])
  }
}
