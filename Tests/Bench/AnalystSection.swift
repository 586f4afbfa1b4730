/// What analysts and pages ask of the whole market: views beside what one would write by hand over
/// `candle_1m`, and the questions of pages with their limits.
///
/// The database is what the daemon leaves behind: minutes in the order of sweeps, days in the order
/// of days. The figures are CPU time of the server's process, both sides in turn: what else runs on
/// the machine counts little. Rows are thrown away, as by `explain analyze`.

import EmbeddedPostgres
import Foundation
import TestSupport

let analystSection = BenchSection(
  name: "analyst", title: "questions to the whole market: 5,400 series, 250 days"
) { plan in
  let database = try filledDatabase(by: AnalystBench.filling(days: plan.days))
  defer { try? database.server.stopImmediately() }
  let client = try AnalystClient(url: database.url)
  for length in [5, 60] {
    try client.compare(
      "\(length)m of a day", view: AnalystBench.view(length, "*"),
      AnalystBench.view(length, AnalystBench.columns), byHand: AnalystBench.byHand(length))
  }
  for question in AnalystBench.questions { try client.measure(question) }
}

private enum AnalystBench {
  static let ratioMax = 1.2
  private static let day = "2026-07-15"
  static let columns = "instrument_id, opened_at, open, high, low, close, volume, turnover"

  static func view(_ length: Int, _ columns: String) -> String {
    "select \(columns) from candle_\(length)m where trading_day = '\(day)'"
  }

  /// Right for a market whose sessions begin on whole and half hours, where every minute traded.
  static func byHand(_ length: Int) -> String {
    """
    select
      instrument_id, date_bin('\(length) minutes', opened_at, '\(day) 09:30+08') as opened_at,
      (array_agg(open order by opened_at))[1] as open, max(high) as high, min(low) as low,
      (array_agg(close order by opened_at desc))[1] as close, sum(volume) as volume,
      sum(turnover) as turnover
    from candle_1m
    where trading_day = '\(day)'
    group by 1, 2
    """
  }

  static let questions = [
    BenchQuery(
      name: "candle_1d of a day", sql: "select * from candle_1d where trading_day = '\(day)'",
      rows: 5400, millisecondsMax: 20),
    BenchQuery(
      name: "market_at of one market of 16,400 series",
      sql: "select * from market_at('\(day) 10:00+08', market => 'cn')", rows: 5400,
      millisecondsMax: 40),
    BenchQuery(
      name: "newest 240 minutes of one", sql: "select * from candles('sh600519', newest => 240)",
      rows: 240, millisecondsMax: 2),
    BenchQuery(
      name: "coverage of a day", sql: "select * from coverage where trading_day = '\(day)'",
      rows: 5400),
    BenchQuery(name: "gainers of today", sql: "select * from movers('gainers')", rows: 20),
    BenchQuery(name: "new highs of today", sql: "select * from movers('new_highs')", rows: 20),
    BenchQuery(
      name: "ranges of one", sql: "select * from ranges where symbol = 'sh600519'", rows: 1),
    BenchQuery(name: "ranges of the market", sql: "select * from ranges", rows: 5400),
    BenchQuery(
      name: "all days of the market, as floats", sql: "select * from candle_1d_f8",
      rows: 1_355_400),
  ]

  private static let price = "((n % 90) * 10 + 10 + s.age % 50)::numeric(10, 3)"
  private static let values = """
    p + 0.01, p + 0.05, p, p + 0.03, 100 * (n % 70), 100 * (n % 70) * p, null, null
    """

  static func filling(days: Int) -> [String] {
    [
      """
      insert into instrument (id, symbol, source, exchange, kind, board, first_seen)
      select
        n,
        case when n = 1 then 'sh600519' when n > 5400 then 'X' || n else 'sz' || 300000 + n end,
        case when n > 5400 then 4 else 1 end, 1, 1, 1, '2021-01-01'
      from generate_series(1, 16400) n;
      select count(ensure_partition(month::date))
      from generate_series('2025-07-01'::date, '2026-07-01', interval '1 month') month;
      create table bench_day as
      select day::date, row_number() over (order by day desc) as age
      from generate_series('2025-07-02'::timestamp, '2026-07-27', interval '1 day') day
      where extract(isodow from day) < 6
      order by day desc
      limit 250
      """,
      """
      insert into candle
      select o, o + interval '5.5 hours', o + interval '6 hours', n, s.day, 240, 0, 1, 0, \(values)
      from bench_day s
      cross join generate_series(1, 5400) n
      cross join lateral (
        select \(price), (s.day + time '09:30') at time zone 'Asia/Shanghai'
      ) x (p, o)
      order by o, n
      """,
      """
      insert into candle
      select
        o, o + interval '1 minute', o + interval '65 seconds', n, s.day, 1,
        case when (n + extract(epoch from o)::bigint / 60) % 7 = 0 then 1 else 0 end, 1, 0,
        \(values)
      from (
        select *
        from bench_day
        where day >= '2026-07-01'
        order by abs(day - date '\(day)')
        limit \(days)
      ) s
      cross join lateral (
        select m
        from market p
        cross join lateral (select * from market_day(p, s.day) where anchor = opens) d
        cross join lateral generate_series(
          d.opens, d.closes - interval '1 minute', interval '1 minute') m
        where p.code = 1
      ) t (o)
      cross join generate_series(1, 5400) n
      cross join lateral (select \(price)) x (p)
      order by o, n
      """,
      // A day that is going on: 5,400 quotes, each with the minute that is forming.
      """
      insert into quote
        (changed_seq, quoted_at, received_at, candle_opened_at, instrument_id, trading_day, status,
          trading, candle_flags, candle_source, open, previous_close, last, high, low, bid, ask,
          volume, turnover, candle_open, candle_high, candle_low, candle_close, candle_volume,
          candle_turnover, bids, asks, book_state)
      select
        1, '2026-07-28 10:00+08', '2026-07-28 10:00+08', '2026-07-28 10:00+08', n, '2026-07-28', 0,
        0, 0, 1, p, p, p + 0.01 * (n % 300), p + 60, p, p, p, 1000, 1000 * p, p, p, p, p, 10,
        10 * p, '1:100 2:100', '1:100 2:100', ''
      from generate_series(1, 5400) n
      cross join lateral (select ((n % 90) * 10 + 10)::numeric(10, 3)) x (p)
      """,
      "analyze",
    ]
  }
}

/// One session, and the account the kernel keeps of its process.
private final class AnalystClient {
  private static let rounds = 5
  private let connection: BareConnection
  private let schedule: String

  init(url: String) throws {
    connection = try BareConnection(url: url)
    // Workers would be other processes.
    try connection.run("set max_parallel_workers_per_gather = 0")
    schedule = "/proc/\(try connection.firstRow("select pg_backend_pid()")[0])/schedstat"
  }

  /// Of CPU, since the process began.
  private func consumed() throws -> Double {
    let text = try String(contentsOfFile: schedule, encoding: .utf8)
    guard let nanoseconds = text.split(separator: " ").first.flatMap({ Double($0) }) else {
      throw BenchFailure(description: "cannot read \(schedule)")
    }
    return nanoseconds / 1_000_000
  }

  private func measure(_ sql: String, into row: inout BenchRow) throws {
    let before = try consumed()
    consume(try connection.firstRow("explain (analyze, timing off) \(sql)"))
    row.rounds.append(try consumed() - before)
  }

  func compare(_ what: String, view: String, _ sameColumns: String, byHand: String) throws {
    var rows = [
      BenchRow("\(what): date_bin by hand"), BenchRow("\(what): view, the same columns"),
      BenchRow("\(what): view, all columns"),
    ]
    for round in 0...Self.rounds {
      var turn = rows
      try measure(byHand, into: &turn[0])
      try measure(sameColumns, into: &turn[1])
      try measure(view, into: &turn[2])
      if round > 0 { rows = turn }
    }
    report(rows)
    check(
      "\(what): view ÷ by hand", rows[1].median / rows[0].median, atMost: AnalystBench.ratioMax,
      "×")
  }

  func measure(_ question: BenchQuery) throws {
    let found = try connection.firstRow("select count(*) from (\(question.sql)) q")[0]
    guard found == "\(question.rows)" else {
      throw BenchFailure(description: "\(question.name): \(found) rows")
    }
    var row = BenchRow(question.name)
    for round in 0...Self.rounds * 2 {
      var turn = row
      try measure(question.sql, into: &turn)
      if round > 0 { row = turn }
    }
    report([row])
    if let bound = question.millisecondsMax {
      check(question.name, row.median, atMost: bound, "ms of CPU")
    }
  }
}
