import Market
import Postgres

/// One reading connection: what people ask of a database, and for a follower snapshot, changes and
/// the wait for a hint. The rights of `candled_reader` suffice, unless a function says otherwise.
/// Every value is a parameter, never part of the SQL. Blocking; use it on the thread that made it.
///
/// NOTIFY is a hint, the tables are the truth: what a follower gets comes from one repeatable-read
/// transaction, so that rows and seq belong together.
package final class StoreReader {
  let connection: PostgresConnection

  /// Changes read at once, and the candles they may name together: both bound the memory of a
  /// follower that was away for long, and the time the server takes. A minute of the whole market
  /// has 5,400 candles, a piece of a backfill up to 192,000: that goes alone.
  static let changesMax: Int32 = 200
  static let candlesMaxDefault = 100_000
  let candlesMax: Int
  /// With the follower's timer of 5 s, half a minute until a way that is cut is known to be.
  package static let silenceSecondsMax = 25
  /// Where the feed was when it was looked at last.
  private var seen: (epoch: Int64, seq: Int64)?

  /// For queries.
  /// - Parameter url: a libpq URL or keyword string.
  /// - Throws: `connectionLost`, `transient`, `schemaMismatch`, `refused`, `badAddress`.
  package convenience init(url: String) throws(StoreError) {
    try self.init(url: url, application: "candled query")
  }

  /// For queries that others wait for: no statement takes longer.
  /// - Throws: as `init(url:)`.
  package convenience init(
    url: String, application: String, statementSecondsMax: Int
  ) throws(StoreError) {
    try self.init(url: url, application: application)
    try connection.execute(
      // To compile a statement over years of partitions takes longer than to run it. Workers would
      // take the cores that others wait for.
      """
      set statement_timeout = '\(statementSecondsMax)s';
      set jit = off;
      set max_parallel_workers_per_gather = 0
      """, context: StoreError.connecting)
  }

  /// For a follower: connects and, before anything is read, listens, so that no commit falls
  /// between. On a standby it looks instead.
  /// - Throws: `connectionLost`, `transient`, `schemaMismatch`, `refused`, `badAddress`.
  package convenience init(
    following url: String, candlesMax: Int = candlesMaxDefault
  ) throws(StoreError) {
    try self.init(url: url, application: "candled follower", candlesMax: candlesMax)
    connection.silenceSecondsMax = Self.silenceSecondsMax
    try connection.listen(to: ["candled"])
  }

  private init(
    url: String, application: String, candlesMax: Int = candlesMaxDefault
  ) throws(StoreError) {
    self.candlesMax = candlesMax
    connection = try PostgresConnection(url: url, application: application)
    try SchemaVersion.candled.require(connection)
  }

  /// On a connection of another's that finds candled's names.
  package init(on connection: PostgresConnection) throws(StoreError) {
    candlesMax = Self.candlesMaxDefault
    self.connection = connection
    try SchemaVersion.candled.require(connection)
  }

  func read<Value>(
    _ statement: Statement, with parameters: borrowing WireParameters = WireParameters(),
    context: String = "query", decode: (inout PostgresRow) throws(StoreError) -> Value
  ) throws(StoreError) -> [Value] {
    try connection.read(statement, with: parameters, context: context, decode: decode)
  }

  func parameters(day: TradingDay?, symbol: Symbol?) -> WireParameters {
    return WireParameters(.day(day), .text(symbol?.description))
  }

  /// From here on every answer is of one moment, whatever is committed meanwhile.
  /// - Throws: `connectionLost`.
  package func holdMoment() throws(StoreError) {
    try connection.execute("begin isolation level repeatable read read only", context: "query")
  }

  func inOneMoment<Response>(
    _ context: String, body: () throws(StoreError) -> Response
  ) throws(StoreError) -> Response {
    try connection.execute("begin isolation level repeatable read read only", context: context)
    do throws(StoreError) {
      let response = try body()
      try connection.execute("commit", context: context)
      return response
    } catch {
      _ = try? connection.execute("rollback", context: context)
      throw error
    }
  }

  private static let readPosition = Statement(
    name: "feed_position",
    sql: "select epoch, last_seq from feed_position() where epoch is not null")

  private static let readOverview = Statement(
    name: "read_overview",
    sql: """
      select symbol, name, last, change, percent_change, at
      from feed_overview
      order by symbol
      """)

  private static let readLastChange = Statement(
    name: "read_last_change",
    sql: """
      select committed_at, known_at
      from feed_changes
      order by seq desc
      limit 1
      """)

  func position() throws(StoreError) -> (epoch: Int64, seq: Int64) {
    let response = try connection.run(Self.readPosition, context: "follow")
    guard response.rowCount == 1 else { throw Self.noFeed(context: "follow") }
    var row = response.row(0)
    let found = (epoch: try row.int64(), seq: try row.int64())
    seen = found
    return found
  }

  static func noFeed(context: String) -> StoreError {
    StoreError(
      .transient, message: "the feed has not arrived: a logical replica is being filled",
      context: context)
  }

  /// World indexes. They are no part of the feed: whoever shows them asks again.
  /// - Throws: `connectionLost`, `transient`, `malformed`.
  package func overview() throws(StoreError) -> [OverviewRow] {
    try read(Self.readOverview, context: "overview") { (row) throws(StoreError) in
      OverviewRow(
        symbol: try row.text(), name: try row.optionalText(), last: try row.numeric(),
        change: try row.numeric(), percentChange: try row.numeric(), at: try row.timestamp())
    }
  }

  /// - Throws: `connectionLost`, `transient`, `malformed`.
  package func snapshot() throws(StoreError) -> FeedSnapshot {
    try inOneMoment("snapshot") { () throws(StoreError) -> FeedSnapshot in
      let (epoch, seq) = try position()
      let last = try read(Self.readLastChange, context: "snapshot") { (row) throws(StoreError) in
        (committedAt: try row.timestamp(), knownAt: try row.timestamp())
      }.first
      return FeedSnapshot(
        epoch: epoch, seq: seq, quotes: try quotes(after: -1, through: .max),
        overview: try overview(), committedAt: last?.committedAt, knownAt: last?.knownAt)
    }
  }

  /// Blocks until the server hints at a commit, a look finds one, `interrupt` becomes readable, or
  /// time is up.
  /// - Throws: `connectionLost`, `transient`.
  package func wait(milliseconds: Int32, interrupt: Int32) throws(StoreError) -> WakeReason {
    let end = ContinuousClock.now + .milliseconds(milliseconds)
    while true {
      let left = max((end - .now) / .milliseconds(1), 0)
      let reason = try connection.wait(
        milliseconds: Int32(left.rounded(.up)), interrupt: interrupt)
      guard connection.isLooking, reason != .interrupted else { return reason }
      let before = seen
      if let before, try position() == before {
        if left == 0 { return .timeout }
      } else {
        return .notification
      }
    }
  }
}
