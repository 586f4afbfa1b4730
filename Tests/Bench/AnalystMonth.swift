/// The newest month as it was written, minute by minute, and in key order, as candled puts closed
/// months: what the minutes of one series touch, and what a day of the market costs, in one run.

import Glibc

extension AnalystClient {
  private static let buffersMax = 150.0
  private static let month = "2026-07-01"
  private static let one = """
    select *
    from candle_1m
    where symbol = 'sh600519' and opened_at >= '\(month)'
    """

  func compareMonth() throws {
    let days = [
      ("5m of a day", AnalystBench.view(5, AnalystBench.columns)),
      ("60m of a day", AnalystBench.view(60, AnalystBench.columns)),
      ("1d of a day", "select * from candle_1d where trading_day = '\(AnalystBench.day)'"),
    ]
    let written = try days.map { try measured($0.1, named: "\($0.0), month as written") }
    let before = try buffers()
    let began = milliseconds()
    let moved = try putInOrder()
    printLine(
      "  \(moved) candles put in key order in \(decimals((milliseconds() - began) / 1000, 0)) s")
    for (row, day) in zip(written, days) {
      report([row, try measured(day.1, named: "\(day.0), in key order")])
    }
    let after = try buffers()
    printLine("  buffers per 4,560 minutes of one: \(decimals(before, 0)) as written")
    check("in key order", after, atMost: Self.buffersMax, "buffers")
  }

  private func measured(_ sql: String, named name: String) throws -> BenchRow {
    var row = BenchRow(name)
    for round in 0...Self.rounds {
      var turn = row
      try measure(sql, into: &turn)
      if round > 0 { row = turn }
    }
    return row
  }

  /// Of the minutes of one series.
  private func buffers() throws -> Double {
    let rows = try connection.firstRow("select count(*) from (\(Self.one)) q")[0]
    let plan = try connection.firstRow("explain (analyze, buffers, format json) \(Self.one)")[0]
    // Those of the whole plan stand first.
    let touched = ["Shared Hit Blocks", "Shared Read Blocks"].map { name in
      plan.split(separator: "\"\(name)\": ").dropFirst().first
        .flatMap { Double($0.prefix { $0.isNumber }) } ?? .nan
    }
    return touched.reduce(0, +) * 4560 / (Double(rows) ?? .nan)
  }

  private func putInOrder() throws -> Int {
    var moved = 0
    while true {
      let step = try patiently("select * from recluster_month('\(Self.month)')")
      moved += Int(step[1]) ?? 0
      if step[0] == "ready" { break }
    }
    guard try patiently("select swap_month('\(Self.month)')") == ["t"] else {
      throw BenchFailure(description: "the month in key order was not put in its place")
    }
    return moved
  }

  /// A step gives up after 300 ms without a lock: autovacuum holds one for as long as it works.
  private func patiently(_ sql: String) throws -> [String] {
    for _ in 0..<Self.triesMax {
      if let row = try? connection.firstRow(sql) { return row }
      sleep(1)
    }
    return try connection.firstRow(sql)
  }

  private static let triesMax = 600
}
