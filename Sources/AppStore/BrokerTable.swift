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

/// What the broker reads and writes. A step is one transaction: under the lease's term, the
/// commands that wait, in order; then all that follows from them and from the feed; then the
/// cursors.
package struct BrokerTable: AppTable {
  let connection: AppConnection
  static let context = "broker"

  package init(_ connection: AppConnection) { self.connection = connection }

  package var books: LedgerTable { LedgerTable(connection) }

  private static let readNewest = Statement(
    name: "read_command_sequence",
    sql: """
      select coalesce(max(sequence), 0)
      from command
      """)

  /// Runs a step under a term. What `body` returns was written, whole, unless this throws.
  /// - Parameter body: is given the sequence of the newest command that has its outcome.
  /// - Throws: `termIsOver` if another gateway leads; what `body` throws; `store`.
  package func step<Value>(
    term: Int64, body: (_ commandSequence: Int64) throws(AppStoreError) -> Value
  ) throws(AppStoreError) -> Value {
    try connection.inTransaction(Self.context) { () throws(AppStoreError) in
      try GatewayLease.fence(.broker, term: term, over: connection)
      return try body(try numbers(Self.readNewest).first ?? 0)
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
