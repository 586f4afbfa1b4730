/// Passes what is added to users' outboxes on to their streams, in order. Only what
/// somebody follows is read whole.

import AppStore
import Logging
import Market
import Platform
import Postgres

package final class Outbox: Sendable {
  private let memory: MarketMemory
  private let hub: StreamHub
  /// The newest row that was passed on; nil: it is not known where to begin.
  private let last = Locked<Int64?>(nil)
  /// When all that was there had been passed on.
  private let emptiedAt = Locked<ContinuousClock.Instant?>(nil)

  static let rowsMax: Int32 = 500

  init(memory: MarketMemory, hub: StreamHub) {
    self.memory = memory
    self.hub = hub
  }

  /// Whether what is added from now on is passed on.
  var isBegun: Bool { last.withLock { $0 != nil } }

  /// How long ago all had been passed on that was there; nil: never yet.
  var age: Duration? { emptiedAt.withLock { $0?.duration(to: .now) } }

  /// After a lost connection it goes on where it was.
  func begin(_ connection: AppConnection) throws(AppStoreError) {
    try connection.beginEpoch()
    memory.begin(try AppEpochs(over: connection))
    let newest = try OutboxTable(connection).last()
    let isGoingOn = last.withLock { last in
      // Another database has less.
      if let known = last, known <= newest { return true }
      last = newest
      return false
    }
    if !isGoingOn { hub.recheckOutboxes() }
  }

  func publish(_ connection: AppConnection) throws(AppStoreError) {
    while let after = last.withLock({ $0 }) {
      let rows = try OutboxTable(connection).rows(after: after, limit: Self.rowsMax)
      guard let newest = rows.last?.id else {
        return emptiedAt.withLock { $0 = .now }
      }
      let followed = hub.services.users.withLock { $0.keys }
      let items = try OutboxItem.items(
        of: rows.filter { followed.contains($0.userID) }, over: connection, in: memory.state)
      last.withLock { $0 = newest }
      if !items.isEmpty { hub.deliver(items) }
    }
  }

  /// A part of a user's outbox, for a stream that is behind.
  /// - Parameter number: nil: only how far it goes.
  static func page(
    of userID: Int64, after number: Int64?, over connection: AppConnection, in state: MarketState
  ) throws(AppStoreError) -> OutboxPage {
    let table = OutboxTable(connection)
    let (last, epoch) = try table.end(of: userID)
    guard let number, number < last else { return OutboxPage(last: last, epoch: epoch) }
    let rows = try table.rows(of: userID, after: number, limit: rowsMax)
    let items = try OutboxItem.items(of: rows, over: connection, in: state)
    return OutboxPage(items: items[userID] ?? [], last: last, epoch: epoch)
  }
}

extension Outbox {
  private static let waitMilliseconds: Int32 = 60_000

  /// Passes on what is added from now on.
  /// - Throws: `transient` if the system has no thread to give.
  package func follow(url: String, log: Logger) throws(StoreError) -> DatabaseFollower {
    try DatabaseFollower(
      "outbox", failure: "the database of orders cannot be read: updates come later",
      recovery: "updates of orders are passed on again", retryMilliseconds: 1_000...1_000, log: log
    ) { (follower) throws(AppStoreError) in
      let connection = try follower.connect(to: url, listeningTo: [.outbox])
      try self.begin(connection)
      repeat {
        try self.publish(connection)
        follower.succeeded()
      } while try follower.wait(on: connection, milliseconds: Self.waitMilliseconds)
        != .interrupted
    }
  }
}
