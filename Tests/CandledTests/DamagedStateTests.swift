import ExchangeSimulator
import Ledgers
import Market
import TestExchange
import TestSupport
import TestTraits
import Testing

/// What the daemon keeps of its candle book in the database, damaged there.
@Suite(.ownThread) struct `A damaged book state` {
  private let database: StoreDatabase
  private let exchange: ExchangeServer
  private let symbols: [Symbol]
  private let folder: String

  init() throws {
    let day = try #require(TradingDay("2026-07-06"))
    let market = SimulatedMarket(seed: 9, day: day, instruments: 12)
    exchange = try ExchangeServer(market: market)
    symbols = market.symbols
    database = try StoreDatabase()
    folder = try PrivateCluster.freshDirectory()
  }

  private func run(to end: String) throws -> BuiltBinary.Run {
    try BuiltBinary.run(
      ["run"] + SimulatedMorning.options(exchange, symbols, stateDirectory: folder) + [
        "--set", "clock.mode=stepped", "--set", "clock.start=2026-07-06T09:29:00+08:00",
        "--set", "clock.stop=2026-07-06T\(end):00+08:00",
      ], input: SimulatedMorning.configuration(database))
  }

  private func digest() throws -> String? {
    try database.value(
      """
      select md5(string_agg(t, '' order by t)) from (
        select c::text as t from candled.candle c
        union all select q::text from candled.quote q
        union all select concat(j.position, j.book_state) from candled.journal_position j) rows
      """)
  }

  @Test func `is named by table, instrument and field with exit 65, and costs nothing`() throws {
    defer { exchange.stop() }
    #expect(try run(to: "09:33").status == 0)
    try database.execute(
      """
      create table public.kept as select instrument_id, book_state from candled.quote;
      update candled.quote
      set book_state = set_byte(book_state, 2, 9)
      where instrument_id = (
        select id from candled.instrument where symbol = 'sh000001')
      """)
    let before = try digest()
    let refused = try run(to: "09:36")
    #expect(refused.status == 65, "\(refused.errors)")
    let sentence =
      "quote.book_state of sh000001 is damaged at byte 2: field is_in_step, expected 0 or 1. "
      + "Nothing was changed"
    #expect(refused.errors.contains(sentence), "\(refused.errors)")
    #expect(try digest() == before)
    // Restored, it goes on, and its journal has everything.
    try database.execute(
      """
      update candled.quote q set book_state = k.book_state
      from public.kept k where k.instrument_id = q.instrument_id;
      drop table public.kept
      """)
    let again = try run(to: "09:36")
    #expect(again.status == 0, "\(again.errors)")
    let verify = try SimulatedMorning.ask(
      database, ["replay", folder + "/journal", "--verify", "--json"])
    #expect(verify.status == 0, "\(verify.output)\(verify.errors)")
  }

  @Test func `of the whole book is named by its table`() throws {
    defer { exchange.stop() }
    #expect(try run(to: "09:31").status == 0)
    try database.execute("update candled.journal_position set book_state = '\\x0501'")
    let refused = try run(to: "09:33")
    #expect(refused.status == 65, "\(refused.errors)")
    let sentence =
      "journal_position.book_state is damaged at byte 1: field timers_done_through, "
      + "expected microseconds since 1970"
    #expect(refused.errors.contains(sentence), "\(refused.errors)")
  }
}
