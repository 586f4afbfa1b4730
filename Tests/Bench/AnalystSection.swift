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
  let database = try filledDatabase(by: AnalystFilling.statements(days: plan.days))
  defer { try? database.server.stopImmediately() }
  let client = try AnalystClient(url: database.url)
  for length in [5, 60] {
    try client.compare(
      "\(length)m of a day", view: AnalystBench.view(length, "*"),
      AnalystBench.view(length, AnalystBench.columns), byHand: AnalystBench.byHand(length))
  }
  for question in AnalystBench.questions { try client.measure(question) }
  try client.compareMonth()
  try await sweepsBesideScans(database)
}

enum AnalystBench {
  static let ratioMax = 1.2
  static let day = "2026-07-15"
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
    BenchQuery(
      name: "new highs of today", sql: "select * from movers('new_highs')", rows: 20,
      millisecondsMax: 40),
    BenchQuery(
      name: "ranges of one", sql: "select * from ranges where symbol = 'sh600519'", rows: 1),
    BenchQuery(
      name: "ranges of the market", sql: "select * from ranges", rows: 5400, millisecondsMax: 40),
    BenchQuery(
      name: "gainers of latest",
      sql: "select symbol, percent_change from latest order by 2 desc nulls last limit 20",
      rows: 20, millisecondsMax: 3.6),
    BenchQuery(
      name: "latest, its ranges alone",
      sql: "select symbol, high_52w, low_52w, high_year, low_year from latest", rows: 5400,
      millisecondsMax: 40),
    BenchQuery(name: "latest, all columns", sql: "select * from latest", rows: 5400),
    BenchQuery(
      name: "all days of the market, as floats", sql: "select * from candle_1d_f8",
      rows: 1_355_400),
  ]
}

/// The CPU time of a process, as the kernel counts it.
struct ProcessAccount {
  private let path: String

  init(pid: String) { path = "/proc/\(pid)/schedstat" }

  /// Since the process began.
  func milliseconds() throws -> Double {
    let text = try String(contentsOfFile: path, encoding: .utf8)
    guard let nanoseconds = text.split(separator: " ").first.flatMap({ Double($0) }) else {
      throw BenchFailure(description: "cannot read \(path)")
    }
    return nanoseconds / 1_000_000
  }
}

/// One session, with the account of its process.
final class AnalystClient {
  static let rounds = 5
  let connection: BareConnection
  private let account: ProcessAccount

  init(url: String) throws {
    connection = try BareConnection(url: url)
    // Workers would be other processes.
    try connection.run("set max_parallel_workers_per_gather = 0")
    account = ProcessAccount(pid: try connection.firstRow("select pg_backend_pid()")[0])
  }

  func measure(_ sql: String, into row: inout BenchRow) throws {
    let before = try account.milliseconds()
    consume(try connection.firstRow("explain (analyze, timing off) \(sql)"))
    row.rounds.append(try account.milliseconds() - before)
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
