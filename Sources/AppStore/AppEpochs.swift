import Market
import Postgres

/// The databases that the rows have lived in: after a backup was restored, numbers that clients may
/// have seen are given again, and belong to another epoch.
package struct AppEpochs: Sendable, Hashable {
  package struct Row: Sendable, Hashable {
    var epoch: Int64
    /// The newest numbers of the epochs before.
    package private(set) var order: Int64
    package private(set) var command: Int64
    package private(set) var event: Int64

    package init(_ epoch: Int64, order: Int64, command: Int64, event: Int64) {
      (self.epoch, self.order, self.command, self.event) = (epoch, order, command, event)
    }
  }

  /// The epochs, oldest first.
  private var rows: [Row]

  package init(_ rows: [Row]) { self.rows = rows }

  /// Of a database that never was restored.
  package static let none = AppEpochs([])

  private static let read = Statement(
    name: "read_epochs",
    sql: """
      select epoch, order_id, command_id, outbox_id
      from epoch
      order by epoch
      """)

  package init(over connection: AppConnection) throws(AppStoreError) {
    rows = try connection.read(Self.read, context: "epoch") { (row) throws(StoreError) in
      Row(
        try row.int64(), order: try row.int64(), command: try row.int64(),
        event: try row.int64())
    }
  }

  /// In which a number was given; 0: the first.
  package func epoch(of kind: KeyPath<Row, Int64>, number: Int64) -> Int64 {
    rows.last { $0[keyPath: kind] < number }?.epoch ?? 0
  }
}

extension AppConnection {
  /// Where these rows are a restored backup, what is numbered from now on is of a new epoch.
  package func beginEpoch() throws(AppStoreError) {
    try execute("select begin_epoch()", context: "epoch")
  }
}
