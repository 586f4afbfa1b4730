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
