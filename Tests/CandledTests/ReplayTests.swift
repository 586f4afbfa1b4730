import Journal
import Market
import TestSupport
import TestTraits
import Testing

@Suite(.ownThread) struct `candled replay` {
  @Test func `finds the database to be what the journal says`() throws {
    let morning = try SimulatedMorning.get()
    let run = try morning.ask("replay", morning.journal, "--verify", "--json")
    #expect(run.status == 0, "\(run.output)\(run.errors)")
    let counts = try #require(try Parsed.lines(run.output).last)
    #expect(counts["differences"] as? Int == 0)
    #expect((counts["candles"] as? Int ?? 0) > 0)
  }

  @Test func `makes the same rows in an empty database, and finds one that was altered`() throws {
    let morning = try SimulatedMorning.get()
    let again = try StoreDatabase()
    let into = try BuiltBinary.run(
      ["replay", morning.journal, "--into", again.daemonURL(), "--json"])
    #expect(into.status == 0, "\(into.errors)")
    #expect(try Self.digest(again) == Self.digest(morning.database))
    // Roll-ups cut its days by them.
    let rules = "select count(*) from candled.rule where known_to is null"
    #expect(try again.value(rules) == morning.database.value(rules))

    try again.execute(
      """
      update candle set volume = volume + 1
      where (instrument_id, timeframe, opened_at)
        = (select instrument_id, timeframe, opened_at from candle order by 1, 2, 3 limit 1);
      delete from quote where instrument_id = 1
      """)
    let verify = try SimulatedMorning.ask(again, ["replay", morning.journal, "--verify", "--json"])
    #expect(verify.status == 65)
    let lines = try Parsed.lines(verify.output)
    #expect(lines.compactMap { $0["table"] as? String } == ["candle", "quote"])
    #expect(lines.last?["differences"] as? Int == 2)
  }

  @Test func `refuses a database that holds something`() throws {
    let morning = try SimulatedMorning.get()
    let run = try BuiltBinary.run(
      ["replay", morning.journal, "--into", morning.database.daemonURL()])
    #expect(run.status == 73)
    #expect(run.errors.contains("not empty"))
  }

  @Test func `wants to know what to do with the journal`() throws {
    let run = try BuiltBinary.run(["replay", "/nonexistent"])
    #expect(run.status == 64)
  }

  /// The last minute of a year, and one of the next, whose days are in no table, as a K-line told
  /// them.
  private static func journalOfNextYear() throws -> String {
    let folder = try PrivateCluster.freshDirectory()
    let now = Timestamp(day: try #require(TradingDay("2027-07-05")), secondOfDay: 16 * 3_600)
    let body = #"""
      =([{"day":"2026-12-31 15:00:00","open":"11.870","high":"11.900","low":"11.850",
      "close":"11.88","volume":"1204300","amount":"14304872.0000"},
      {"day":"2027-07-05 09:31:00","open":"11.870","high":"11.900","low":"11.850",
      "close":"11.88","volume":"1204300","amount":"14304872.0000"}]);
      """#
    let journal = try JournalWriter(directory: folder + "/journal")
    try journal.append(
      JournalEntry(
        kind: .response, source: .sina, key: "kline/1", requestedAt: now, receivedAt: now,
        status: 200, request: Array("kline 1 sh600519 241".utf8), body: Array(body.utf8)))
    try journal.sync()
    return folder + "/journal"
  }

  @Test func `knows the days that the database learnt and the journal has forgotten`() throws {
    let journal = try Self.journalOfNextYear()
    let learnt = try StoreDatabase()
    try learnt.execute(
      """
      insert into market_session (exchange, day, opens, closes)
      select 1, d, d + interval '9.5 hours', d + interval '15 hours'
      from generate_series(date '2027-01-01', date '2027-12-10', interval '1 day') d
      where extract(isodow from d) < 6
      """)
    let again = try StoreDatabase()
    let into = try SimulatedMorning.ask(
      learnt, ["replay", journal, "--into", again.daemonURL()])
    #expect(into.status == 0 && into.errors.isEmpty, "\(into.errors)")
    #expect(try again.value("select count(*) from rejected") == "0")
    let days = "select count(*) from market_session where exchange = 1 and day > '2026-12-31'"
    #expect(try again.value(days) == learnt.value(days))
    let verify = try SimulatedMorning.ask(again, ["replay", journal, "--verify"])
    #expect(verify.status == 0, "\(verify.output)\(verify.errors)")

    // Where nobody knows, a weekday's bars are taken, and it is said.
    try again.execute("delete from market_session")
    let blind = try SimulatedMorning.ask(again, ["replay", journal, "--verify"])
    #expect(blind.status == 0)
    #expect(blind.errors.contains("no trading calendar after 2026-12-31"), "\(blind.errors)")
  }

  private static func digest(_ database: StoreDatabase) throws -> String? {
    try database.value(
      """
      select md5(string_agg(row::text, '|' order by row::text))
      from (
        select i.symbol, c.timeframe, c.opened_at, c.closed_at, c.trading_day, c.open, c.high,
          c.low, c.close, c.volume, c.turnover, c.flags, c.source, c.revision
        from candle c
        join instrument i on i.id = c.instrument_id
      ) row
      """)
  }
}
