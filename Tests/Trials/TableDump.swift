import Commits
import Market
import Postgres
import Store
import TestSupport

/// What a day left in a database, as lines that can be compared with another database's. Times at
/// which something became known and numbers given by the database are left out: they tell when a
/// restart happened, not what was stored.
package struct TableDump: Sendable, Equatable {
  package var tables: [String: [String]] = [:]

  private static let queries = [
    "candle": """
    select i.symbol, c.timeframe, c.opened_at, c.closed_at, c.trading_day, c.open, c.high, c.low,
      c.close, c.volume, c.turnover, c.flags, c.source, c.revision
    from candle c join instrument i on i.id = c.instrument_id
    order by 1, 2, 3
    """,
    "candle_revision": """
    select i.symbol, r.timeframe, r.opened_at, r.revision, r.volume, r.cause
    from candle_revision r join instrument i on i.id = r.instrument_id
    order by 1, 2, 3, 4
    """,
    "gap": """
    select i.symbol, g.* from (select to_jsonb(g) - 'id' - 'known_from' - 'instrument_id' as row,
      instrument_id from gap g) g join instrument i on i.id = g.instrument_id
    order by 1, row::text
    """,
    "day_audit": """
    select i.symbol, to_jsonb(a) - 'known_from' - 'instrument_id' - 'known_at' - 'certified_at'
    from day_audit a join instrument i on i.id = a.instrument_id
    order by 1, 2::text
    """,
    "quote": """
    select i.symbol, q.quoted_at, q.status, q.trading, q.last, q.volume, q.turnover, q.bids,
      q.asks, q.open, q.high, q.low
    from quote q join instrument i on i.id = q.instrument_id
    order by 1
    """,
    "rejected": "select symbol, reason, detail from rejected order by 1, 2, 3",
    "instrument": "select symbol, name, kind, board from instrument order by 1",
  ]

  package init(url: String) throws {
    for (table, query) in TableDump.queries {
      tables[table] = try SQLProbe.run("set search_path to candled; " + query, url: url).map {
        $0.map { $0 ?? "∅" }.joined(separator: " ")
      }
    }
  }

  package var rows: Int { tables.values.reduce(0) { $0 + $1.count } }

  /// Readable differences to another dump, a few of each table.
  package func differences(from other: TableDump) -> [String] {
    var lines: [String] = []
    for (table, mine) in tables.sorted(by: { $0.key < $1.key }) {
      let theirs = other.tables[table] ?? []
      guard mine != theirs else { continue }
      lines.append("\(table): \(mine.count) rows against \(theirs.count)")
      let difference = mine.difference(from: theirs)
      for change in difference.prefix(6) {
        switch change {
        case .insert(_, let row, _): lines.append("  + \(row)")
        case .remove(_, let row, _): lines.append("  - \(row)")
        }
      }
    }
    return lines
  }
}
