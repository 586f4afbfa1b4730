import Market

/// Arbitrary SQL for tests and benchmarks of this package; nothing in the daemon uses it.
package enum SQLProbe {
  /// - Returns: the last statement's rows as text, NULL as nil.
  @discardableResult
  package static func run(_ sql: String, url: String) throws(StoreError) -> [[String?]] {
    let connection = try PostgresConnection(url: url, application: "candled probe")
    return try connection.execute(sql, context: "probe").textRows
  }
}
