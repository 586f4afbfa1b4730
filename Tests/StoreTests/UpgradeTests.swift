import Market
import Postgres
import Store
import TestSupport
import Testing

/// Databases of other versions, and one that is applied again.
@Suite struct UpgradeTests {
  /// As the release after this one would carry it.
  private static let next = SchemaFile(
    SchemaVersion(
      schema: "candled", title: "schema", current: Schema.version + 1, oldest: Schema.version,
      program: "candled", readerRole: "candled_reader"),
    text: Schema.text
      .replacing("and \(Schema.version) then", with: "and \(Schema.version + 1) then")
      .replacing("found > \(Schema.version)", with: "found > \(Schema.version + 1)")
      .replacing("version < \(Schema.version)", with: "version < \(Schema.version + 1)")
      .replacing("values (\n  \(Schema.version),", with: "values (\n  \(Schema.version + 1),"))

  @Test func `the version of an older release is upgraded in place and keeps its rows`() throws {
    let database = try StoreDatabase()
    try database.execute(
      """
      insert into candled.instrument (id, symbol, first_seen) values (1, 'sh600519', now());
      select candled.ensure_partition('2026-07-06');
      insert into candled.candle
        (opened_at, closed_at, known_from, instrument_id, trading_day, timeframe, flags, source,
        open, high, low, close, volume, turnover)
      values ('2026-07-06 09:30+08', '2026-07-06 09:31+08', now(), 1, '2026-07-06', 1, 0, 1,
        10, 11, 9, 10, 100, 1000);
      update candled.journal_position set position = 7
      """)
    #expect(
      try Self.next.check(url: database.url) == [
        "the database has schema version \(Schema.version), this candled needs "
          + "\(Schema.version + 1): run `candled schema apply`"
      ])
    try Self.next.apply(url: database.url)
    #expect(try Self.next.check(url: database.url) == [])
    #expect(
      try database.execute("select version from candled.schema_version")
        == [["\(Schema.version + 1)"]])
    #expect(
      try database.execute(
        """
        select symbol, volume, position
        from candled.candle_1m, candled.journal_position
        """) == [["sh600519", "100", "7"]])
  }

  @Test func `applied again in another time zone it is the same schema`() throws {
    let database = try StoreDatabase()
    for zone in ["America/New_York", "Asia/Shanghai"] {
      let name = try database.value("select current_database()")
      try database.execute("alter database \"\(name ?? "")\" set timezone to '\(zone)'")
      try Schema.apply(url: database.url)
      #expect(try Schema.check(url: database.url) == [], "\(zone)")
    }
  }

  @Test(arguments: [
    (
      SchemaVersion.candled.oldest - 1,
      "which no release had and this candled cannot upgrade: begin with a new database",
      "which no release had: it cannot be upgraded"
    ),
    (
      99,
      "newer than version \(Schema.version) of this candled: install the release that applied it",
      "newer than \(Schema.version)"
    ),
  ])
  func `any other version is left alone`(
    _ version: Int, _ advice: String, _ adviceByHand: String
  ) throws {
    let database = try StoreDatabase()
    try database.execute("update candled.schema_version set version = \(version)")
    let sentence = "the database has schema version \(version), "
    #expect(try Schema.check(url: database.url) == [sentence + advice])
    let error = #expect(throws: StoreError.self) {
      try Schema.applyIfDifferent(url: database.url)
    }
    #expect(error?.code == .schemaMismatch && error?.message == sentence + advice)
    let byHand = #expect(throws: StoreError.self) {
      try SQLProbe.run(Schema.text, url: database.url)
    }
    #expect(byHand?.message == sentence + adviceByHand)
    #expect(try database.value("select version from candled.schema_version") == "\(version)")
  }
}
