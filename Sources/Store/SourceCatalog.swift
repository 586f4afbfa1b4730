import Market
import Postgres

/// Markets and sources as rows: what the functions of the schema know of them. Written by whoever
/// applies the schema, and by the daemon at the start of its term. An equal row is left alone.
enum SourceCatalog {
  private static let context = "source catalog"

  private static let writeMarkets = statement(
    table: "market",
    columns: "name, zone, opens, closes, day_opens, weekdays, calendar, every_minute, "
      + "silent_minutes, currency, units")
  private static let writeSources = statement(
    table: "source", columns: "name, market, series, priority, kind, quoted")

  /// - Parameter columns: beside the key, the code.
  private static func statement(table: String, columns: String) -> Statement {
    Statement(
      name: "write_\(table)s",
      sql: """
        insert into candled.\(table) as t
        select r.*
        from jsonb_populate_recordset(null::candled.\(table), $1::jsonb) r
        on conflict (code) do update
        set (\(columns)) = (excluded.\(columns.replacing(", ", with: ", excluded.")))
        where t is distinct from excluded
        """)
  }

  /// - Throws: `connectionLost`, `operatorNeeded`.
  static func write(
    _ sources: [SourceRow], over connection: PostgresConnection
  ) throws(StoreError) {
    if sources.isEmpty { return }
    let markets = Set(sources.map(\.market)).sorted { $0.code < $1.code }
    try write(markets.map(\.json), by: writeMarkets, over: connection)
    try write(sources.map(\.json), by: writeSources, over: connection)
  }

  private static func write(
    _ objects: [String], by statement: Statement, over connection: PostgresConnection
  ) throws(StoreError) {
    let parameters = WireParameters(.jsonb("[\(objects.joined(separator: ","))]"))
    try connection.run(statement, with: parameters, context: context)
  }
}

extension MarketDefinition {
  /// Its names are words of ours: nothing needs escaping.
  fileprivate var json: String {
    func times(_ seconds: [Int]) -> String {
      "[" + seconds.map { "\"\(Self.clock($0))\"" }.joined(separator: ",") + "]"
    }
    return """
      {"code":\(code),"name":"\(name)","zone":"\(zone.rawValue)",\
      "opens":\(times(sessions.map(\.opens))),"closes":\(times(sessions.map(\.closes))),\
      "day_opens":"\(Self.clock(dayOpens))",\
      "weekdays":\(tradingDays == .everyDay ? [1, 2, 3, 4, 5, 6, 7] : [1, 2, 3, 4, 5]),\
      "calendar":\(calendar.map { "\($0.rawValue)" } ?? "null"),\
      "every_minute":\(hasEveryMinute),"silent_minutes":\(times(silentMinutes)),\
      "currency":"\(currency)","units":"\(units)"}
      """
  }

  private static func clock(_ seconds: Int) -> String { "\(seconds / 3600):\(seconds / 60 % 60)" }
}

extension SourceRow {
  fileprivate var json: String {
    """
    {"code":\(source.rawValue),"name":"\(name)","market":\(market.code),\
    "series":\(instruments.rawValue),"priority":\(priority),\
    "kind":"\(hasQuotes ? "quotes" : "bars")","quoted":\(quoted)}
    """
  }

  private var quoted: String {
    guard let quotedKinds else { return "null" }
    let kinds = quotedKinds.flatMap { kind, exchanges in
      exchanges.map { "\"\($0.name) \(kind.name)\"" }
    }
    return "[\(kinds.sorted().joined(separator: ","))]"
  }
}

extension StoreWriter {
  /// What the schema's functions know of markets and sources from here on.
  /// - Throws: `connectionLost`, `operatorNeeded`.
  package func record(_ sources: [SourceRow]) throws(StoreError) {
    try SourceCatalog.write(sources, over: session.opened().connection)
  }
}
