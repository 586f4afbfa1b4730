import Commits
import EmbeddedPostgres
import Market
import TestSupport
import Testing

@testable import Postgres
@testable import Store

/// What the views and functions answer to people: where there is no answer they say why.
@Suite struct ResponseTests {
  private let database: StoreDatabase

  init() throws {
    database = try StoreDatabase()
    try database.execute(
      """
      set search_path = candled;
      insert into instrument (id, symbol, kind, source, first_seen) values
        (1, 'sh600519', 1, 1, now()), (2, 'sh600518', 1, 1, now()), (3, 'sz000001', 1, 1, now()),
        (4, 'sh000001', 3, 1, now()), (5, 'AAPL', 1, 3, now());
      select ensure_partition('2026-07-06');
      insert into candle
        (opened_at, closed_at, known_from, instrument_id, trading_day, timeframe, flags, source,
        open, high, low, close, volume, turnover, vwap)
      select
        '2026-07-06 09:30+08'::timestamptz + n * interval '1 minute',
        '2026-07-06 09:31+08'::timestamptz + n * interval '1 minute',
        now(), i.id, '2026-07-06', 1, case n when 2 then 2 else 0 end, i.source,
        10, 11, 9, 10, case n when 2 then 0 else 3 end, case n when 2 then 0 else 31 end,
        case i.id when 5 then 10.5 end
      from instrument i
      cross join generate_series(0, 2) n;
      insert into candle
        (opened_at, closed_at, known_from, instrument_id, trading_day, timeframe, flags, source,
        open, high, low, close, volume, turnover)
      values ('2026-07-06 09:30+08', '2026-07-06 15:00+08', now(), 1, '2026-07-06', 240, 0, 1,
        10, 11, 9, 10, 6, 62)
      """)
  }

  private func refusal(_ sql: String) -> (state: String?, message: String)? {
    do {
      try database.execute(sql)
      return nil
    } catch let error as StoreError {
      return (error.sqlState, error.message)
    } catch {
      return nil
    }
  }

  @Test(arguments: [
    ("candles('sh60051')", "sh600518, sh600519)"),
    ("candles('sh600591')", "sh600518, sh600519"),
    ("candles('600519')", "sh600519"),
    ("candles(array['sh600519', 'SZ00001'])", "sz000001"),
    ("why('sh6005199', now())", "sh600519"),
    ("candles('appl')", "AAPL"),
    ("candles('appl', source => 'alpaca_iex')", "AAPL)"),
  ])
  func `an unknown symbol is refused with the nearest ones`(_ call: String, _ nearest: String) {
    let refusal = refusal("select * from candled.\(call)")
    #expect(refusal?.state == "22023")
    #expect(refusal?.message.contains("(the nearest: \(nearest)") == true, "\(refusal as Any)")
  }

  @Test func `an unknown symbol that is like no other is refused without any`() throws {
    #expect(
      refusal("select * from candled.candles('sh777345')")?.message
        == "symbol: expected a known instrument, found 'sh777345'")
    #expect(
      refusal("select * from candled.candles('sh600519', source => 'alpaca_iex')")?.message
        == "symbol: expected an instrument of alpaca_iex, found 'sh600519'")
    try database.execute("delete from candled.candle; delete from candled.instrument")
    #expect(
      refusal("select * from candled.candles('sh600519')")?.message
        == "symbol: expected a known instrument, found 'sh600519'")
  }

  @Test(arguments: [
    "candles('600519.SH', '1m', '2026-07-06 09:30+08', '2026-07-06 09:31+08')",
    "candles(symbol => 'SH600519', to_ts => '2026-07-06 09:31+08')",
    "candles('sh600519', newest => 3)",
    "candles(array['600519.XSHG'], '1m')",
    "candles(symbols => array['sh600519']::text[], newest => 1)",
    "candles('sh600519', '1h')",
    "candles('sh600519', as_of => now())",
    "candles('sh600519', fill => 'flat')",
  ])
  func `every form of the question names the instrument as it is stored`(_ call: String) throws {
    let found = try database.execute("select distinct symbol from candled.\(call)")
    #expect(found == [["sh600519"]])
  }

  @Test func `candles of several instruments come in their order, newest of each`() throws {
    let found = try database.execute(
      """
      select symbol, (opened_at at time zone 'Asia/Shanghai')::time
      from candled.candles(array['sz000001', '600519.SH'], newest => 2)
      """)
    #expect(
      found == [
        ["sz000001", "09:31:00"], ["sz000001", "09:32:00"], ["sh600519", "09:31:00"],
        ["sh600519", "09:32:00"],
      ])
    #expect(try database.execute("select * from candled.candles('{}'::text[])") == [])
  }

  @Test(arguments: [
    "select vwap from candled.candles('{}', '1m') order by opened_at",
    "select vwap from candled.candles('{}', '1m', as_of => now()) order by opened_at",
    "select vwap from candled.candle_1m where symbol = '{}' order by opened_at",
    """
    select m.vwap
    from generate_series(31, 33) n
    cross join candled.market_at(('2026-07-06 09:' || n || '+08')::timestamptz) m
    where m.symbol = '{}'
    order by n
    """,
  ])
  func `vwap is turnover by volume, the source's own where it has one`(_ sql: String) throws {
    func vwap(_ symbol: String) throws -> [[String?]] {
      try database.execute(sql.replacing("{}", with: symbol))
    }
    #expect(try vwap("sh600519") == [["10.3333"], ["10.3333"], [nil]])
    #expect(try vwap("AAPL") == [["10.5"], ["10.5"], ["10.5"]])
    #expect(try vwap("sh000001") == [[nil], [nil], [nil]])
  }

  @Test(arguments: [
    "candles('sh600519', '60m')", "candles('sh600519', '1d')", "candles('sh600519', '1w')",
    "candle_60m where symbol = 'sh600519'", "candle_1d where symbol = 'sh600519'",
  ])
  func `vwap is the same whatever the timeframe`(_ relation: String) throws {
    #expect(try database.execute("select vwap from candled.\(relation)") == [["10.3333"]])
  }

  private func insertQuotes() throws {
    try database.execute(
      """
      insert into candled.quote
        (changed_seq, quoted_at, received_at, instrument_id, trading_day, status, trading, open,
        previous_close, last, high, low, bid, ask, volume, turnover, bids, asks, book_state)
      select 1, now(), now(), v.id, '2026-07-06', 0, v.trading, v.last, 8, v.last, v.last, v.last,
        0, 0, 0, 0, '', '', ''
      from (values (1, 0, 10), (2, 0, 0), (3, 1, 0)) v (id, trading, last)
      """)
  }

  @Test func `a last price without a day's high is the previous close, and shown as none`() throws {
    try insertQuotes()
    try database.execute("update candled.quote set last = 8 where instrument_id <> 1")
    #expect(
      try database.execute(
        """
        select last, change, percent_change, previous_close
        from candled.latest
        where symbol <> 'sh600519'
        """) == [[nil, nil, nil, "8"], [nil, nil, nil, "8"]])
  }

  @Test func `what has not traded today has no price and no change`() throws {
    try insertQuotes()
    #expect(
      try database.execute(
        """
        select symbol, trading, last, change, percent_change, open, high, low
        from candled.latest
        order by symbol
        """) == [
          ["sh600518", "normal", nil, nil, nil, nil, nil, nil],
          ["sh600519", "normal", "10", "2", "25.00", "10", "10", "10"],
          ["sz000001", "halted", nil, nil, nil, nil, nil, nil],
        ])
  }

  @Test func `a server that thinks in UTC prints Shanghai's time`() throws {
    let cluster = try PrivateCluster.own(more: ["timezone": "UTC"])
    let url = cluster.server.ownerConnectionString
    try Schema.apply(url: url)
    try SQLProbe.run("create role alice login in role candled_reader", url: url)
    for role in ["alice", "candled_reader"] {
      let login = cluster.server.url(database: EmbeddedServer.databaseName, role: role)
      #expect(try SQLProbe.run("show timezone", url: login) == [["Asia/Shanghai"]])
    }
    // Who wants another says so once.
    try SQLProbe.run("alter database candled set timezone to 'UTC'", url: url)
    try Schema.apply(url: url)
    #expect(try SQLProbe.run("show timezone", url: url) == [["UTC"]])
  }
}
