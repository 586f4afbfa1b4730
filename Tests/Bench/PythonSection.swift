/// Candles of a whole market's day into pandas by the Python package and by what else there is,
/// against a bare binary COPY of the same query: clients/python/tests/measure.py.
///
/// The others come from PyPI, pinned, into a folder that goes again.

import EmbeddedPostgres
import Foundation
import TestSupport

let pythonSection = BenchSection(
  name: "python", title: "a day of 5,400 series, 1,296,000 candles, into pandas"
) { _ in
  let folder = URL(filePath: "/tmp/candled-bench-python-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: folder) }
  let python = try PythonBench.environment(in: folder)
  let database = try filledDatabase(by: PythonBench.filling)
  defer { try? database.server.stopImmediately() }
  let script = PythonBench.package.appending(path: "tests/measure.py").path
  let arguments = ["'\(database.url)'", PythonBench.day, "--all", "--real-time"]
  let lines = try PythonBench.run("\(python) \(script) \(arguments.joined(separator: " "))")
  for line in lines { printLine("  \(line)") }
}

private enum PythonBench {
  static let day = "2026-07-15"
  private static let peers = [
    "connectorx==0.4.6", "pandas==3.1.1", "pyarrow==26.0.1", "sqlalchemy==2.1.9",
  ]
  /// Of the installation, mostly downloads.
  private static let secondsMax = 600

  static var package: URL { PythonScript.root.appending(path: "clients/python") }

  /// - Returns: its interpreter.
  static func environment(in folder: URL) throws -> String {
    let home = folder.appending(path: "venv").path
    // pip leaves its work beside what it builds.
    let copy = folder.appending(path: "candled")
    try FileManager.default.copyItem(at: package, to: copy)
    _ = try run("/usr/bin/python3 -m venv \(home)")
    let wanted = ([copy.path] + peers).joined(separator: " ")
    _ = try run("timeout \(secondsMax) \(home)/bin/pip install --quiet \(wanted)")
    return "\(home)/bin/python"
  }

  static func run(_ command: String) throws -> [Substring] {
    guard let output = Shell.output(of: command) else {
      throw BenchFailure(description: "this failed: \(command)")
    }
    return String(decoding: output, as: UTF8.self).split(separator: "\n")
  }

  /// Prices that walk by cents, with three decimals as the source sends them, in the order of
  /// sweeps.
  static let filling = [
    """
    set role candled_owner;
    insert into instrument (id, symbol, source, exchange, kind, board, first_seen)
    select n, 'sz' || 300000 + n, 1, 1, 1, 1, '2021-01-01'
    from generate_series(1, 5400) n;
    select ensure_partition('\(day)');
    select setseed(0.5);
    insert into candle
      (opened_at, closed_at, known_from, instrument_id, trading_day, timeframe, flags, source,
        revision, open, high, low, close, volume, turnover)
    select
      m, m + interval '1 minute', m + interval '65 seconds', n, '\(day)', 1, 0, 1, 0,
      c.open, greatest(c.open, c.close) + 0.010 * (volume / 100 % 3),
      least(c.open, c.close) - 0.010 * (volume / 100 % 2), c.close, volume,
      volume * round((c.open + c.close) / 2, 3)
    from (
      select
        n, m, volume, 300 + n * 7 % 20000 + sum(step) over day - step as opened,
        300 + n * 7 % 20000 + sum(step) over day as closed
      from (
        select
          n, m, floor(random() * 5)::integer - 2 as step,
          100 * floor(exp(random() * 7))::integer as volume
        from generate_series(1, 5400) n
        cross join lateral (
          select generate_series(s, s + interval '119 minutes', interval '1 minute')
          from unnest(array['\(day) 09:30+08', '\(day) 13:00+08']::timestamptz[]) s) x (m)
      ) r
      window day as (partition by n order by m)
    ) w
    cross join lateral (
      select (w.opened / 100.0)::numeric(10, 3), (w.closed / 100.0)::numeric(10, 3)
    ) c (open, close)
    order by m, n
    """,
    "analyze candle",
  ]
}
