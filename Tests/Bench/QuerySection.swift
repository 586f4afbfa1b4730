/// What people ask of a database of ten million candles: the last minutes, years of days, the whole
/// market at a minute. All data is warm; the time is what the server says it executed, beside it
/// what a client waits for the rows.
///
/// The database is what candled leaves behind: days and older minutes as a backfill writes them,
/// series by series, and the last week's minutes as the daemon does, minute by minute.

import CPostgres
import Commits
import EmbeddedPostgres
import Store
import TestSupport

let querySection = BenchSection(
  name: "query", title: "questions to 10 M candles, 5,400 series, five years"
) { _ in
  let database = try filledDatabase(by: QueryBench.filling)
  defer { try? database.server.stopImmediately() }
  let client = try QueryClient(url: database.url)
  for query in QueryBench.queries { try client.measure(query) }
}

struct BenchQuery {
  var name: String
  var sql: String
  var rows: Int
  /// Of the section's own measure; nil where none was promised.
  var millisecondsMax: Double?
}

/// A database of its own with what the statements put into it, as is printed; the caller stops it.
func filledDatabase(by statements: [String]) throws -> StoreDatabase {
  let database = try StoreDatabase.alone(isDurable: true)
  let began = milliseconds()
  do {
    for statement in statements {
      try database.execute("set statement_timeout = 0; set search_path = candled; \(statement)")
    }
    let candles = try database.value("select count(*) from candled.candle") ?? "no"
    let seconds = (milliseconds() - began) / 1000
    printLine("  \(candles) candles made in \(decimals(seconds, 0)) s")
  } catch {
    try? database.server.stopImmediately()
    throw error
  }
  return database
}

private enum QueryBench {
  static let queries = [
    BenchQuery(
      name: "last 240 minutes", sql: "select * from candles('sh600519', newest => 240)", rows: 240,
      millisecondsMax: 2),
    BenchQuery(
      name: "5 years of days", sql: "select * from candles('sh600519', '1d')", rows: 1215,
      millisecondsMax: 5),
    BenchQuery(
      name: "whole market at a minute", sql: "select * from market_at('2026-07-08 10:00+08')",
      rows: 5400, millisecondsMax: 40),
    BenchQuery(
      name: "a day of 5m", sql: "select * from candles('sh600519', '5m', newest => 48)", rows: 48),
    BenchQuery(name: "5 years of weeks", sql: "select * from candles('sh600519', '1w')", rows: 243),
    BenchQuery(
      name: "last 240 minutes as of a day ago",
      sql: """
        select * from candles(
          'sh600519', from_ts => '2026-07-09', to_ts => '2026-07-10',
          as_of => '2026-07-09 20:00+08')
        """, rows: 240),
  ]

  /// A candle at a price that depends on the series and the day.
  private static let values = """
    p + 0.01, p + 0.05, p, p + 0.03, 100 * s.age, 100 * s.age * p, null, null
    """
  /// Those of the sessions of a day.
  private static let minutes = """
    (
      select m
      from market p
      cross join lateral trading_sessions(p, s.day) d
      cross join lateral generate_series(
        d.opens, d.closes - interval '1 minute', interval '1 minute') m
      where p.code = 1
    )
    """
  private static let price = "((n % 90) * 10 + 10 + s.age % 50)::numeric(10, 3)"

  static let filling = [
    """
    insert into instrument (id, symbol, exchange, kind, board, first_seen)
    select n, case n when 1 then 'sh600519' else 'sz' || 300000 + n end, 1, 1, 1, '2021-01-01'
    from generate_series(1, 5400) n;
    select count(ensure_partition(month::date))
    from generate_series('2021-11-01'::date, '2026-07-01', interval '1 month') month;
    create table bench_day as
    select day::date, row_number() over (order by day desc) as age
    from generate_series('2021-11-01'::timestamp, '2026-07-10', interval '1 day') day
    where extract(isodow from day) < 6
    order by day desc
    limit 1215
    """,
    """
    insert into candle
    select o, o + interval '5.5 hours', o + interval '6 hours', n, s.day, 240, 0, 1, 0, \(values)
    from generate_series(1, 1480) n
    cross join bench_day s
    cross join lateral (
      select \(price), (s.day + time '09:30') at time zone 'Asia/Shanghai'
    ) x (p, o)
    order by n, o
    """,
    """
    insert into candle
    select o, o + interval '1 minute', o + interval '65 seconds', n, s.day, 1, 0, 1, 0, \(values)
    from generate_series(1, 130) n
    cross join bench_day s
    cross join lateral \(minutes) t (o)
    cross join lateral (select \(price)) x (p)
    where s.age between 6 and 60
    order by n, o
    """,
    """
    insert into candle
    select o, o + interval '1 minute', o + interval '65 seconds', n, s.day, 1, 0, 1, 0, \(values)
    from bench_day s
    cross join lateral \(minutes) t (o)
    cross join generate_series(1, 5400) n
    cross join lateral (select \(price)) x (p)
    where s.age <= 5
    order by o, n
    """,
    "analyze candle",
  ]
}

/// One session over libpq, as a client without this package would ask.
private final class QueryClient {
  private static let rounds = 51
  private static let warmingRounds = 10
  private let connection: OpaquePointer

  init(url: String) throws {
    guard let connection = PQconnectdb(url), PQstatus(connection) == CONNECTION_OK else {
      throw BenchFailure(description: "libpq cannot connect")
    }
    self.connection = connection
    _ = try rows("set search_path = candled")
  }

  deinit { PQfinish(connection) }

  func measure(_ query: BenchQuery) throws {
    var execution = BenchRow("\(query.name): execution")
    var roundTrip = BenchRow("\(query.name): round trip")
    for round in 0..<Self.rounds + Self.warmingRounds {
      let plan = try rows("explain (analyze, timing off) \(query.sql)")
      let start = milliseconds()
      let found = try rows(query.sql)
      let elapsed = milliseconds() - start
      guard found.count == query.rows else {
        throw BenchFailure(description: "\(query.name): \(found.count) rows")
      }
      guard
        let milliseconds = plan.last?.split(separator: " ").dropFirst(2).first.flatMap({
          Double($0)
        })
      else { throw BenchFailure(description: "no execution time in \(plan)") }
      if round < Self.warmingRounds { continue }
      execution.rounds.append(milliseconds)
      roundTrip.rounds.append(elapsed)
    }
    report([execution, roundTrip])
    if let bound = query.millisecondsMax {
      check(query.name, execution.median, atMost: bound, "ms p50")
    }
  }

  /// The first column.
  private func rows(_ sql: String) throws -> [String] {
    let response = PQexec(connection, sql)
    defer { PQclear(response) }
    let status = PQresultStatus(response)
    guard status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK else {
      throw BenchFailure(description: String(cString: PQerrorMessage(connection)))
    }
    return (0..<PQntuples(response)).map { String(cString: PQgetvalue(response, $0, 0)) }
  }
}
