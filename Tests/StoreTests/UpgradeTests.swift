import Commits
import Foundation
import Market
import Postgres
import Store
import TestSupport
import Testing

/// Databases of earlier versions: `Fixtures/schema-1.sql` makes one of version 1 out of today's.
@Suite struct UpgradeTests {
  private static let versionOne = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "Fixtures/schema-1.sql")

  /// A database of version 1 with rows in it.
  private func oldDatabase() throws -> String {
    // The roles are the whole cluster's: they must not be made by two at once.
    _ = try StoreDatabase()
    let url = try PrivateCluster.shared().freshDatabase(named: "old")
    try SQLProbe.run(Schema.text, url: url)
    try SQLProbe.run(String(contentsOf: Self.versionOne, encoding: .utf8), url: url)
    try SQLProbe.run(
      """
      insert into candled.instrument (id, symbol, first_seen) values (1, 'sh600519', now());
      select candled.ensure_partition('2026-07-06');
      insert into candled.candle
        (opened_at, closed_at, known_from, instrument_id, trading_day, timeframe, flags, source,
        open, high, low, close, volume, turnover)
      values ('2026-07-06 09:30+08', '2026-07-06 09:31+08', now(), 1, '2026-07-06', 1, 0, 1,
        10, 11, 9, 10, 100, 1000);
      update candled.journal_position set position = 7
      """, url: url)
    return url
  }

  @Test func `an older database is upgraded in place and keeps its rows`() throws {
    let url = try oldDatabase()
    try Schema.apply(url: url)
    #expect(try Schema.check(url: url) == [])
    #expect(
      try SQLProbe.run("select version from candled.schema_version", url: url)
        == [["\(Schema.version)"]])
    #expect(
      try SQLProbe.run(
        """
        select symbol, volume, position
        from candled.candle_1m, candled.journal_position
        """, url: url) == [["sh600519", "100", "7"]])
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

  @Test func `a database in which nothing was taken back is upgraded`() throws {
    let database = try StoreDatabase()
    try database.execute(
      """
      alter table candled.gap
        drop constraint gap_is_negative_only_if_taken_back,
        add constraint gap_is_not_negative check (volume >= 0 and turnover >= 0)
      """)
    try database.execute("update candled.schema_version set version = 2")
    try Schema.apply(url: database.url)
    #expect(try Schema.check(url: database.url) == [])
  }

  @Test func `markets that traded shares alone are upgraded and keep their rows`() throws {
    let database = try StoreDatabase()
    let markets = "select code, name, zone, currency, units from candled.market order by code"
    let before = try database.execute(markets)
    #expect(before.count > 1)
    try database.execute(
      """
      alter table candled.market drop column units;
      revoke select on candled.market, candled.source from candled_reader;
      update candled.schema_version set version = 3
      """)
    try Schema.apply(url: database.url)
    #expect(try Schema.check(url: database.url) == [])
    #expect(try database.execute(markets) == before)
  }

  @Test func `factors of funds that were taken for 1 end, and others stay`() throws {
    let database = try StoreDatabase()
    try database.execute(
      """
      alter table candled.day_audit drop column previous_close cascade;
      insert into candled.instrument (id, symbol, first_seen, kind) values
        (1, 'sh510300', now(), 2), (2, 'sh600519', now(), 1), (3, 'sh510050', now(), 2);
      insert into candled.adjustment_factor values
        (1, 1, '1900-01-01', 1, now(), null), (1, 2, '1900-01-01', 1, now(), null),
        (2, 2, '1900-01-01', 1, now(), null),
        (3, 2, '1900-01-01', 1, now(), null), (3, 2, '2026-01-05', 1.5, now(), null);
      update candled.schema_version set version = 8
      """)
    try Schema.apply(url: database.url)
    #expect(try Schema.check(url: database.url) == [])
    #expect(
      try database.execute(
        """
        select instrument_id, count(*) from candled.adjustment_factor
        where known_to is null group by 1 order by 1
        """) == [["2", "1"], ["3", "2"]])
  }

  @Test func `a database in which one source served is upgraded and keeps its rows`() throws {
    let database = try StoreDatabase()
    try database.execute(
      """
      alter publication candled drop table candled.serving;
      drop table candled.serving cascade;
      alter table candled.day_audit drop column coarse cascade;
      insert into candled.instrument (id, symbol, first_seen) values (1, 'sh600519', now());
      insert into candled.day_audit
      values
        (1, '2026-07-06', 5, 50, 5, 50, 0, 0, 0, 0, default, default, default, 1, 239, 0, now());
      update candled.schema_version set version = 4
      """)
    try Schema.apply(url: database.url)
    #expect(try Schema.check(url: database.url) == [])
    #expect(
      try database.execute("select balanced, coarse, served_by from candled.coverage") == [
        ["t", "f", "{sina}"]
      ])
  }

  @Test func `a database whose views were calculated series by series is upgraded`() throws {
    let database = try StoreDatabase()
    try database.execute(
      """
      set role candled_owner;
      set search_path = candled;
      drop index candle_day;
      drop table price_range cascade;
      drop function keep_ranges;
      drop view rolled_candles, coverage cascade;
      drop function market_at(timestamptz, timestamptz, text);
      drop function stored_days, market_hours, hours_bucket, hours_bucket_end, holds_minutes,
        market_sources, set_candles, market_candles, newest_day, movers;
      create function market_at(at timestamptz, as_of timestamptz default null) returns void
      language sql return null;
      """)
    let fixtures = Self.versionOne.deletingLastPathComponent()
    let old = try String(
      contentsOf: fixtures.appending(path: "rolled-by-day.sql"), encoding: .utf8)
    try database.execute(
      "set role candled_owner; " + old.replacing("rolled_by_day", with: "rolled_candles"))
    try database.execute(
      """
      set role candled_owner;
      set search_path = candled;
      drop view coverage_by_group;
      create view candle_60m as
      select symbol, trading_day, opened_at, closed_at, open, high, low, close, volume, turnover,
        trades, vwap, state, no_trade, partial, extreme_ambiguous, revision, source, known_from,
        instrument_id, coarse
      from rolled_candles
      where length = 60;
      update schema_version set version = 6
      """)
    try Schema.apply(url: database.url)
    #expect(try Schema.check(url: database.url) == [])
    let objects = "select unnest(objects) from candled.schema_version order by 1"
    #expect(try database.execute(objects) == StoreDatabase().execute(objects))
  }

  @Test func `a database whose months were never put in order is upgraded`() throws {
    let database = try StoreDatabase()
    try database.execute(
      """
      select candled.ensure_partition('2026-07-06');
      drop function candled.recluster_month, candled.swap_month, candled.candle_moved;
      drop table candled.candle_month, candled.candle_moving;
      update candled.schema_version set version = 7
      """)
    try Schema.apply(url: database.url)
    #expect(try Schema.check(url: database.url) == [])
    #expect(
      try database.execute("select * from candled.candle_month") == [["2026-07-01", nil, nil, nil]])
  }

  @Test func `a database whose ranges were calculated is upgraded and has them`() throws {
    let database = try StoreDatabase()
    try database.execute(
      """
      alter publication candled drop table candled.price_range;
      drop table candled.price_range cascade;
      drop function candled.keep_ranges;
      insert into candled.instrument (id, symbol, first_seen) values (1, 'sh600519', now());
      select candled.ensure_partition('2026-07-06');
      insert into candled.candle
        (opened_at, closed_at, known_from, instrument_id, trading_day, timeframe, flags, source,
        open, high, low, close, volume, turnover)
      values ('2026-07-06 09:30+08', '2026-07-06 15:00+08', now(), 1, '2026-07-06', 240, 0, 1,
        10, 11, 9, 10, 100, 1000);
      update candled.schema_version set version = 7
      """)
    try Schema.apply(url: database.url)
    #expect(try Schema.check(url: database.url) == [])
    #expect(
      try database.execute("select symbol, high_52w, low_year, days from candled.ranges")
        == [["sh600519", "11", "9", "1"]])
  }

  @Test func `a database without limits of quotes is upgraded and is as a fresh one`() throws {
    let database = try StoreDatabase()
    try database.execute(
      """
      set search_path = candled;
      drop view latest, feed_quotes cascade;
      alter publication candled drop table quote;
      alter table quote drop column limit_up, drop column limit_down;
      update schema_version set version = 9
      """)
    try Schema.apply(url: database.url)
    #expect(try Schema.check(url: database.url) == [])
    let objects = "select unnest(objects) from candled.schema_version order by 1"
    #expect(try database.execute(objects) == StoreDatabase().execute(objects))
  }

  @Test func `an upgraded database is a fresh one but for its rows`() throws {
    let url = try oldDatabase()
    try Schema.apply(url: url)
    let objects = "select unnest(objects) from candled.schema_version order by 1"
    let (upgraded, fresh) = (
      try SQLProbe.run(objects, url: url), try StoreDatabase().execute(objects)
    )
    #expect(upgraded == fresh, "\(Set(upgraded).symmetricDifference(fresh))")
  }

  @Test func `an older database gives the command to run`() throws {
    let differences = try Schema.check(url: oldDatabase())
    #expect(
      differences == [
        "the database has schema version 1, this candled needs \(Schema.version): "
          + "run `candled schema apply`"
      ])
  }

  @Test func `a newer database is left alone`() throws {
    let database = try StoreDatabase()
    try database.execute("update candled.schema_version set version = 99")
    #expect(
      try Schema.check(url: database.url) == [
        "the database has schema version 99, newer than version \(Schema.version) of this "
          + "candled: install the release that applied it"
      ])
    let error = #expect(throws: StoreError.self) { try Schema.apply(url: database.url) }
    #expect(error?.code == .schemaMismatch)
    let byHand = #expect(throws: StoreError.self) {
      try SQLProbe.run(Schema.text, url: database.url)
    }
    #expect(byHand?.message == "the database has schema version 99, newer than \(Schema.version)")
    #expect(try database.value("select version from candled.schema_version") == "99")
  }
}
