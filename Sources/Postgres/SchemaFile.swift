import Glibc
import Market

/// The file of a schema as a program carries it, and how to compare a database with it. It is one
/// transaction, ends with the row of its version, and has a function `schema_objects()`.
package struct SchemaFile: Sendable {
  package let version: SchemaVersion
  /// The file, whole.
  package let text: String

  package init(_ version: SchemaVersion, text: String) {
    self.version = version
    self.text = text
  }

  /// How applying waits for those who read what it replaces. Everybody else waits behind it, the
  /// writer included: so it waits briefly, lets them pass, and tries again.
  package struct Patience: Sendable {
    var lockMilliseconds: Int32
    var pauseMilliseconds: UInt32
    /// With the pauses a minute: by then the server has ended a reader's idle transaction, unless
    /// the reader has set that time-out off.
    var triesMax: Int
    /// On the last try the sessions of readers that are in the way are ended: an upgraded daemon
    /// must not stay out for as long as one of them likes. Takes a superuser.
    package var endsReaders: Bool

    package init(
      lockMilliseconds: Int32 = 1_000, pauseMilliseconds: UInt32 = 2_000, triesMax: Int = 20,
      endsReaders: Bool = false
    ) {
      self.lockMilliseconds = lockMilliseconds
      self.pauseMilliseconds = pauseMilliseconds
      self.triesMax = triesMax
      self.endsReaders = endsReaders
    }
  }

  /// What goes before, or follows, in the same connection.
  package typealias Sequel = (PostgresConnection) throws(StoreError) -> Void

  /// Applies the file in one transaction: the version of an older release is upgraded in place,
  /// doing it again changes nothing. A newer one is refused, and one that no release had.
  /// - Parameters:
  ///   - waiting: called with a sentence for people when a session is in the way, and again when it
  ///     is another one.
  ///   - prelude: comes before, in the same connection.
  /// - Throws: `operatorNeeded` where a right is missing, `schemaMismatch`, `connectionLost`,
  ///   `transient` with the session that was in the way at last.
  package func apply(
    url: String, patience: Patience = Patience(), waiting: (String) -> Void = { _ in },
    after prelude: Sequel = { (_) throws(StoreError) in },
    then sequel: Sequel = { (_) throws(StoreError) in }
  ) throws(StoreError) {
    let connection = try PostgresConnection(url: url, application: Self.application)
    do throws(StoreError) {
      try version.require(connection)
    } catch  where error.code == .schemaMismatch {
      if let found = try? version.stored(in: connection), !version.upgrades(from: found) {
        throw error
      }
    }
    try prelude(connection)
    try apply(over: connection, url: url, patience: patience, waiting: waiting)
    try sequel(connection)
  }

  private static let announceDigest = Statement(
    name: "announce_schema_digest",
    sql: "select set_config('candled.schema_digest', md5($1::text), false)")

  private func apply(
    over connection: PostgresConnection, url: String, patience: Patience,
    waiting: (String) -> Void
  ) throws(StoreError) {
    let parameters = WireParameters(.text(text))
    try connection.run(Self.announceDigest, with: parameters, context: Self.context)
    try connection.execute(
      "set lock_timeout = \(patience.lockMilliseconds)", context: Self.context)
    var reported: [String?]?
    for attempt in 1... {
      let blockers = Blockers(of: connection.backendProcess, url: url)
      let endsReaders = patience.endsReaders && attempt == patience.triesMax
      defer {
        for sentence in blockers.ended { waiting("ended the session of a reader: \(sentence)") }
      }
      do throws(StoreError) {
        try connection.execute(
          text, context: Self.context, lookingEvery: patience.lockMilliseconds / 4
        ) { () throws(StoreError) in blockers.look(endingReaders: endsReaders) }
        return
      } catch {
        guard error.sqlState == StoreError.lockNotAvailable else { throw error }
        try connection.execute("rollback", context: Self.context)
        let sentence = blockers.sentence
        guard attempt < patience.triesMax else {
          throw StoreError(
            .transient, message: "not applied: \(sentence)", sqlState: error.sqlState,
            context: Self.context)
        }
        if reported != blockers.processes { waiting("waiting: \(sentence)") }
        reported = blockers.processes
      }
      usleep(patience.pauseMilliseconds * 1_000)
    }
  }

  private static let application = "candled schema"
  private static let context = "schema apply"

  private var readDigest: Statement {
    Statement(
      name: "read_schema_digest",
      sql: """
        select exists (
          select
          from \(version.schema).schema_version
          where version = $1::int
            and text_digest = md5($2::text))
        """)
  }

  /// Applies the file unless the database holds what this very text made: applying replaces views,
  /// which waits for everybody who reads one, and makes all others wait.
  /// - Throws: as `apply`.
  package func applyIfDifferent(
    url: String, patience: Patience = Patience(), waiting: (String) -> Void = { _ in },
    then sequel: Sequel = { (_) throws(StoreError) in }
  ) throws(StoreError) {
    if try holdsText(url: url) {
      return try sequel(try PostgresConnection(url: url, application: Self.application))
    }
    try apply(url: url, patience: patience, waiting: waiting, then: sequel)
  }

  private func holdsText(url: String) throws(StoreError) -> Bool {
    let connection = try PostgresConnection(url: url, application: Self.application)
    let parameters = WireParameters(.int32(Int32(version.current)), .text(text))
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

  /// Applies the file to a database that has none of it, and leaves any other alone.
  /// - Throws: as `apply`.
  package func applyIfAbsent(
    url: String, then sequel: Sequel = { (_) throws(StoreError) in }
  ) throws(StoreError) {
    let connection = try PostgresConnection(url: url, application: Self.application)
    let readPresence = Statement(
      name: "read_schema_presence",
      sql: "select to_regnamespace('\(version.schema)') is not null")
    var row = try connection.run(readPresence, context: "schema check").row(0)
    if try row.bool() { return }
    try apply(over: connection, url: url, patience: Patience()) { _ in }
    try sequel(connection)
  }

  /// Compares a database with what the file made of it.
  /// - Returns: one sentence a difference; none means it is as this binary needs it.
  /// - Throws: `connectionLost`.
  package func check(url: String) throws(StoreError) -> [String] {
    let connection = try PostgresConnection(url: url, application: Self.application)
    do throws(StoreError) {
      try version.require(connection)
    } catch  where error.code == .schemaMismatch {
      return [error.message]
    }
    var differences: [String] = []
    for var row in try connection.run(compare, context: "schema check").rows {
      let object = try row.text()
      differences.append(try row.bool() ? "missing: \(object)" : "unexpected: \(object)")
    }
    return differences
  }

  private var compare: Statement {
    Statement(
      name: "compare_schema",
      sql: """
        with expected as (
          select unnest(objects) as object
          from \(version.schema).schema_version
        ),
        found as (
          select object
          from \(version.schema).schema_objects() as object
        )
        select coalesce(e.object, f.object), f.object is null
        from expected e
        full join found f on f.object = e.object
        where e.object is null
          or f.object is null
        order by 1
        """)
  }
}
