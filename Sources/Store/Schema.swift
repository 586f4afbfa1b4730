import CEmbeddedFiles
import Market
import Postgres

/// The schema as this binary carries it, with what is written beside it, and how to compare a
/// database with it.
package enum Schema {
  package static let version = SchemaVersion.candled.current

  /// schema.sql, whole.
  package static let text = String(cString: embedded_schema().text)

  private static let file = SchemaFile(.candled, text: text)

  /// As `SchemaFile.apply`.
  /// - Parameter sources: what is written to `market` and `source`.
  package static func apply(
    url: String, sources: [SourceRow] = [], patience: SchemaFile.Patience = SchemaFile.Patience(),
    waiting: (String) -> Void = { _ in }
  ) throws(StoreError) {
    try file.apply(
      url: url, patience: patience, waiting: waiting,
      then: { (connection) throws(StoreError) in
        // A replica has its primary's.
        if try !isReplica(connection) { try SourceCatalog.write(sources, over: connection) }
      })
  }

  /// As `SchemaFile.applyIfDifferent`.
  /// - Parameter endingReaders: at last ends the sessions of readers that are in the way, and tells
  ///   `waiting` of each; for the private cluster, as its superuser.
  package static func applyIfDifferent(
    url: String, sources: [SourceRow] = [], endingReaders: Bool = false,
    waiting: (String) -> Void = { _ in }
  ) throws(StoreError) {
    let patience = SchemaFile.Patience(endsReaders: endingReaders)
    try file.applyIfDifferent(url: url, patience: patience, waiting: waiting) {
      (connection) throws(StoreError) in try SourceCatalog.write(sources, over: connection)
    }
  }

  /// As `SchemaFile.applyIfAbsent`.
  package static func applyIfAbsent(
    url: String, sources: [SourceRow] = []
  ) throws(StoreError) {
    try file.applyIfAbsent(url: url) { (connection) throws(StoreError) in
      try SourceCatalog.write(sources, over: connection)
    }
  }

  /// For a logical replica: as `apply`, but without a row, for those come from the primary.
  /// - Throws: as `apply`; `refused` where the database has candles of its own.
  package static func applyForReplica(
    url: String, waiting: (String) -> Void = { _ in }
  ) throws(StoreError) {
    try file.apply(
      url: url, waiting: waiting,
      after: { (connection) throws(StoreError) in
        try connection.execute("set candled.as_replica = 'on'", context: context)
      },
      then: { (connection) throws(StoreError) in
        try connection.execute("reset candled.as_replica", context: context)
        if try isReplica(connection) { return }
        try empty(connection)
      })
  }

  private static func empty(_ connection: PostgresConnection) throws(StoreError) {
    var row = try connection.run(readIsEmpty, context: context).row(0)
    guard try row.bool() else {
      throw StoreError(
        .refused, message: "the database has rows of its own: a logical replica begins empty",
        context: context)
    }
    try connection.execute(emptying, context: context)
  }

  private static let context = "schema apply"

  private static func isReplica(_ connection: PostgresConnection) throws(StoreError) -> Bool {
    var row = try connection.run(readIsReplica, context: context).row(0)
    return try row.bool()
  }

  private static let readIsReplica = Statement(
    name: "schema_is_replica", sql: "select candled.is_replica()")

  private static let readIsEmpty = Statement(
    name: "schema_is_empty",
    sql: """
      select not exists (select from candled.instrument)
        and not exists (select from candled.change)
        and not exists (select from candled.candle)
      """)

  /// What applying for a primary had written.
  private static let emptying = """
    delete from candled.source;
    delete from candled.market;
    delete from candled.lease;
    delete from candled.feed_sequence;
    delete from candled.journal_position
    """

  /// As `SchemaFile.check`.
  package static func check(url: String) throws(StoreError) -> [String] {
    try file.check(url: url)
  }
}
