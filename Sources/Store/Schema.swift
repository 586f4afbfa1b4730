import Glibc
import Market
import Postgres

/// The schema as this binary carries it, and how to compare a database with it.
package enum Schema {
  package static let version = SchemaVersion.current

  /// schema.sql, whole.
  package static let text = String(decoding: PackageResources.schema_sql, as: UTF8.self)

  /// How applying waits for those who read what it replaces. Everybody else waits behind it, the
  /// writer included: so it waits briefly, lets them pass, and tries again.
  struct Patience: Sendable {
    var lockMilliseconds: Int32 = 1_000
    var pauseMilliseconds: UInt32 = 2_000
    /// With the pauses a minute: by then the server has ended a reader's idle transaction, unless
    /// the reader has set that time-out off.
    var triesMax = 20
    /// On the last try the sessions of readers that are in the way are ended: an upgraded daemon
    /// must not stay out for as long as one of them likes. Takes a superuser.
    var endsReaders = false
  }

  /// Applies schema.sql in one transaction: an older version is upgraded in place, doing it again
  /// changes nothing, and a newer one is refused.
  /// - Parameters:
  ///   - sources: what is written to `market` and `source`.
  ///   - waiting: called with a sentence for people when a session is in the way, and again when it
  ///     is another one.
  /// - Throws: `operatorNeeded` where a right is missing, `schemaMismatch`, `connectionLost`,
  ///   `transient` with the session that was in the way at last.
  package static func apply(
    url: String, sources: [SourceRow] = [], waiting: (String) -> Void = { _ in }
  ) throws(StoreError) {
    try apply(url: url, sources: sources, patience: Patience(), waiting: waiting)
  }

  static func apply(
    url: String, sources: [SourceRow] = [], patience: Patience,
    waiting: (String) -> Void = { _ in }
  ) throws(StoreError) {
    let connection = try PostgresConnection(url: url, application: "candled schema")
    do throws(StoreError) {
      try SchemaVersion.require(connection)
    } catch  where error.code == .schemaMismatch {
      if let found = try? SchemaVersion.stored(in: connection), found > version { throw error }
    }
    try apply(over: connection, url: url, patience: patience, waiting: waiting)
    try SourceCatalog.write(sources, over: connection)
  }

  private static let announceDigest = Statement(
    name: "announce_schema_digest",
    sql: "select set_config('candled.schema_digest', md5($1::text), false)")

  private static func apply(
    over connection: PostgresConnection, url: String, patience: Patience,
    waiting: (String) -> Void
  ) throws(StoreError) {
    var parameters = WireParameters()
    parameters.add { $0.text(text) }
    try connection.run(announceDigest, with: parameters, context: context)
    try connection.execute(
      "set lock_timeout = \(patience.lockMilliseconds)", context: context)
    var reported: [String?]?
    for attempt in 1... {
      let blockers = Blockers(of: connection.backendProcess, url: url)
      let endsReaders = patience.endsReaders && attempt == patience.triesMax
      defer {
        for sentence in blockers.ended { waiting("ended the session of a reader: \(sentence)") }
      }
      do throws(StoreError) {
        try connection.execute(
          text, context: context, lookingEvery: patience.lockMilliseconds / 4
        ) { () throws(StoreError) in blockers.look(endingReaders: endsReaders) }
        return
      } catch {
        guard error.sqlState == StoreError.lockNotAvailable else { throw error }
        try connection.execute("rollback", context: context)
        let sentence = blockers.sentence
        guard attempt < patience.triesMax else {
          throw StoreError(
            .transient, message: "not applied: \(sentence)", sqlState: error.sqlState,
            context: context)
        }
        if reported != blockers.processes { waiting("waiting: \(sentence)") }
        reported = blockers.processes
      }
      usleep(patience.pauseMilliseconds * 1_000)
    }
  }

  static let context = "schema apply"

  private static let readDigest = Statement(
    name: "read_schema_digest",
    sql: """
      select exists (
        select
        from candled.schema_version
        where version = $1::int
          and text_digest = md5($2::text))
      """)

  /// Applies schema.sql unless the database holds what this very text made: applying replaces
  /// views, which waits for everybody who reads one, and makes all others wait.
  /// - Parameter endingReaders: at last ends the sessions of readers that are in the way, and tells
  ///   `waiting` of each; for the private cluster, as its superuser.
  /// - Throws: as `apply`.
  package static func applyIfDifferent(
    url: String, sources: [SourceRow] = [], endingReaders: Bool = false,
    waiting: (String) -> Void = { _ in }
  ) throws(StoreError) {
    if try holdsText(url: url) {
      let connection = try PostgresConnection(url: url, application: "candled schema")
      return try SourceCatalog.write(sources, over: connection)
    }
    try apply(
      url: url, sources: sources, patience: Patience(endsReaders: endingReaders), waiting: waiting)
  }

  private static func holdsText(url: String) throws(StoreError) -> Bool {
    let connection = try PostgresConnection(url: url, application: "candled schema")
    var parameters = WireParameters()
    parameters.add { $0.int32(Int32(version)) }
    parameters.add { $0.text(text) }
    do throws(StoreError) {
      var row = try connection.run(readDigest, with: parameters, context: "schema check").row(0)
      guard try row.bool() else { return false }
      return try connection.run(compare, context: "schema check").rowCount == 0
    } catch {
      if error.code == .connectionLost { throw error }
      // An older schema, or none, has no digest.
      return false
    }
  }

  private static let readPresence = Statement(
    name: "read_schema_presence", sql: "select to_regnamespace('candled') is not null")

  /// Applies schema.sql to a database that has none of it, and leaves any other alone.
  /// - Throws: as `apply`.
  package static func applyIfAbsent(
    url: String, sources: [SourceRow] = []
  ) throws(StoreError) {
    let connection = try PostgresConnection(url: url, application: "candled schema")
    var row = try connection.run(readPresence, context: "schema check").row(0)
    if try row.bool() { return }
    try apply(over: connection, url: url, patience: Patience()) { _ in }
    try SourceCatalog.write(sources, over: connection)
  }

  /// Compares a database with what schema.sql made of it.
  /// - Returns: one sentence a difference; none means it is as this binary needs it.
  /// - Throws: `connectionLost`.
  package static func check(url: String) throws(StoreError) -> [String] {
    let connection = try PostgresConnection(url: url, application: "candled schema")
    do throws(StoreError) {
      try SchemaVersion.require(connection)
    } catch  where error.code == .schemaMismatch {
      return [error.message]
    }
    var differences: [String] = []
    for row in try connection.run(compare, context: "schema check").rows {
      var row = row
      let object = try row.text()
      differences.append(try row.bool() ? "missing: \(object)" : "unexpected: \(object)")
    }
    return differences
  }

  private static let compare = Statement(
    name: "compare_schema",
    sql: """
      with expected as (
        select unnest(objects) as object
        from schema_version
      ),
      found as (
        select object
        from schema_objects() as object
      )
      select coalesce(e.object, f.object), f.object is null
      from expected e
      full join found f on f.object = e.object
      where e.object is null
        or f.object is null
      order by 1
      """)
}
