import Market
import Postgres

/// Arbitrary SQL, for tests and benchmarks.
package enum SQLProbe {
  /// Machines that tests share stand still for a minute at times.
  private static let allowTime = "set statement_timeout = '5min'"

  /// - Returns: the last statement's rows as text, NULL as nil.
  @discardableResult
  package static func run(_ sql: String, url: String) throws(StoreError) -> [[String?]] {
    let connection = try PostgresConnection(url: url, application: "candled probe")
    try connection.execute(allowTime, context: "probe")
    return try connection.execute(sql, context: "probe").textRows
  }
}
