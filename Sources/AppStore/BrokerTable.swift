import Market
import PaperTrading
import Postgres

/// A command that waits for the broker.
package struct PendingCommand: Sendable, Hashable {
  package var id: Int64
  package var accountID: Int64
  /// nil for a body that this version does not know.
  package var request: CommandRequest?
  /// How long it has waited, by the server's clock.
  package var waitedMicroseconds: Int64
}

/// Where a step leaves the broker; nil: where it was.
package struct CursorMove: Sendable {
  /// Up to which change of the feed quotes were looked at.
  package var quoteSequence: Int64?
  /// A day that begins.
  package var day: TradingDay?
  /// Whether the step is on disk once it is stored. What only follows from rows of the feed need
  /// not be: after a crash of the server the cursor is where it was, and they are read again.
  package var isDurable = true

  package init() {}
}

/// What the broker reads and writes. A step is one transaction: under the lease's term, the
/// cursor; then the commands that wait, in order, and all that follows from them and from the feed.
package struct BrokerTable: AppTable {
  let connection: AppConnection
  static let context = "broker"

  package init(_ connection: AppConnection) { self.connection = connection }

  package var books: LedgerTable { LedgerTable(connection) }

  private static let begin = Statement(
    name: "begin_broker_step",
    sql: """
      with lease as materialized (
        select nextval('broker_beat')
        from gateway_lease
        where role = 'broker'
          and term = $1::bigint
        for share
      )
      update broker_cursor
      set
        quote_sequence = coalesce($2::bigint, quote_sequence),
        trading_day = coalesce($3::date, trading_day)
      from lease
      returning (select coalesce(max(sequence), 0) from command)
      """)

  /// Runs a step under a term, as one transaction: no other term begins before its end. What `body`
  /// returns was written, whole, unless this throws.
  /// - Parameters:
  ///   - move: where it leaves the cursor, and whether it waits for the disk.
  ///   - body: is given the sequence of the newest command that has its outcome.
  /// - Throws: `termIsOver` if another gateway leads; what `body` throws; `store`.
  package func step<Value>(
    term: Int64, move: CursorMove = CursorMove(),
    body: (_ commandSequence: Int64) throws(AppStoreError) -> Value
  ) throws(AppStoreError) -> Value {
    let begin = move.isDurable ? "begin" : "begin; set local synchronous_commit = off"
    return try connection.inTransaction(Self.context, begin: begin) { () throws(AppStoreError) in
      let newest = try numbers(
        Self.begin, with: [.int64(term), .int64(move.quoteSequence), .day(move.day)])
      guard let newest = newest.first else { throw .termIsOver(term) }
      return try body(newest)
    }
  }

  private static let readPending = Statement(
    name: "read_pending_commands",
    sql: """
      select
        id, account_id, body,
        (extract(epoch from clock_timestamp() - sent_at) * 1000000)::bigint
      from command
      where outcome is null
      order by id
      limit $1::bigint
      """)

  /// The oldest without an outcome.
  package func pending(limit: Int) throws(AppStoreError) -> [PendingCommand] {
    return try read(Self.readPending, with: [.int64(Int64(limit))]) { (row) throws(StoreError) in
      PendingCommand(
        id: try row.int64(), accountID: try row.int64(),
        request: CommandRequest(text: try row.text()), waitedMicroseconds: try row.int64())
    }
  }
}
