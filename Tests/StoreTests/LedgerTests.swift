import Market
import Store
import TestSupport
import Testing

/// What is kept how long: evidence for ever, diagnosis for 400 days and then as a count.
@Suite struct LedgerTests {
  private static let today = StoreSamples.start.shanghaiDay
  /// What is true now, a row a thing: it does not grow with the years.
  private static let state: Set = [
    "bar_watermark", "candle_month", "candle_moving", "day_lock", "feed_sequence",
    "journal_position", "lease", "ledger", "ledger_day", "market", "overview", "price_range",
    "quote", "schema_version", "source", "source_health",
  ]

  @Test func `each table is a ledger of one class, or holds what is true now`() throws {
    let database = try StoreDatabase()
    let tables = try database.execute(
      """
      select c.relname
      from pg_class c
      where c.relnamespace = 'candled'::regnamespace
        and c.relkind in ('r', 'p') and not c.relispartition
      """
    ).compactMap { $0[0] }
    let ledgers = try database.execute("select name from candled.ledger").compactMap { $0[0] }
    #expect(Set(tables) == Self.state.union(ledgers))
    #expect(Self.state.isDisjoint(with: ledgers))
  }

  @Test func `what expired goes in batches, the oldest first, and is counted by its day`()
    async throws
  {
    let database = try StoreDatabase()
    let writer = try await freshWriter(database)
    let horizon = "date '\(Self.today.advanced(by: -400))'"
    try database.execute(
      """
      set search_path to candled;
      insert into rejected (received_at, trading_day, source, reason, detail, payload)
      select d, d, 1, 'malformed', '', n::text::bytea
      from (values (\(horizon) - 2, 1500), (\(horizon) - 1, 1500), (\(horizon), 5)) v (d, rows),
        generate_series(1, rows) n;
      insert into instrument_list (
        source, part, judged_at, rows, content_hash, verdict, detail)
      select 1, part, \(horizon) - age, 1, 1, verdict, ''
      from (values ('a', 9, 'accepted'), ('a', 8, 'accepted'), ('a', 7, 'quarantined'),
        ('b', 9, 'accepted')) v (part, age, verdict);
      insert into disagreement (
        instrument_id, timeframe, opened_at, trading_day, field, ours, our_source, their_source,
        known_from, resolved_at)
      select n, 1, now(), \(horizon) - 9, 'open', 1, 1, 2, \(horizon) - 9, resolved
      from (values (1, null), (2, \(horizon) - 1), (3, \(horizon))) v (n, resolved);
      insert into api_key_usage (source, label, day, requests, updated_at)
      select 1, 'k', \(horizon) - n, 1, now()
      from generate_series(0, 1) n
      """)
    // 2,000 of a ledger at most, and one each of the others.
    #expect(try await writer.prune(on: Self.today) == 2_000 + 1 + 1 + 1)
    let left = "count(*) filter (where trading_day = \(horizon) - 2), count(*)"
    #expect(try database.execute("select \(left) from candled.rejected") == [["0", "1005"]])
    #expect(try await writer.prune(on: Self.today) == 1_000)
    #expect(try await writer.prune(on: Self.today) == 0)
    #expect(
      try database.execute(
        "select ledger, \(horizon) - day, rows from candled.ledger_day order by 1, 2 desc") == [
          ["api_key_usage", "1", "1"], ["disagreement", "9", "1"], ["instrument_list", "9", "1"],
          ["rejected", "2", "1500"], ["rejected", "1", "1500"],
        ])
    #expect(
      try database.execute("select part, verdict from candled.instrument_list order by id")
        == [["a", "accepted"], ["a", "quarantined"], ["b", "accepted"]])
    #expect(try database.value("select count(*) from candled.api_key_usage") == "1")
  }

  @Test func `refused rows go by their number, too`() async throws {
    let database = try StoreDatabase()
    let writer = try await freshWriter(database)
    try database.execute(
      """
      insert into candled.rejected (
        id, received_at, trading_day, source, reason, detail, payload)
      overriding system value
      select n, now(), '\(Self.today)', 1, 'malformed', '', n::text::bytea
      from unnest(array[1, 2, 3, 200002]) n
      """)
    #expect(try await writer.prune(on: Self.today) == 2)
    #expect(
      try database.execute("select id from candled.rejected order by id") == [["3"], ["200002"]])
  }
}
