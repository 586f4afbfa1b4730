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

  static let rowsMax: Int32 = 500

  init(memory: MarketMemory, hub: StreamHub) {
    self.memory = memory
    self.hub = hub
  }

  /// Whether what is added from now on is passed on.
  var isBegun: Bool { last.withLock { $0 != nil } }

  /// After a lost connection it goes on where it was.
  func begin(_ connection: AppConnection) throws(AppStoreError) {
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
      guard let newest = rows.last?.id else { return }
      let followed = hub.users.followed
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
    let last = try table.lastNumber(of: userID)
    guard let number, number < last else { return OutboxPage(last: last) }
    let rows = try table.rows(of: userID, after: number, limit: rowsMax)
    let items = try OutboxItem.items(of: rows, over: connection, in: state)
    return OutboxPage(items: items[userID] ?? [], last: last)
  }
}

/// The thread that waits for what is added, for libpq blocks.
package final class OutboxFollower: Sendable {
  private let url: String
  private let outbox: Outbox
  private let log: Logger
  private let stopping = Interrupt()

  private static let waitMilliseconds: Int32 = 60_000
  private static let retryMilliseconds: Int32 = 1_000

  /// Begins at once.
  /// - Throws: `transient` if the system has no thread to give.
  package init(url: String, outbox: Outbox, log: Logger) throws(StoreError) {
    self.url = url
    self.outbox = outbox
    self.log = log
    do throws(ThreadError) {
      try DetachedThread.start(name: "outbox") { self.run() }
    } catch {
      throw StoreError(
        .transient, message: "the system has no thread to give", context: "outbox")
    }
  }

  package func stop() { stopping.signal() }

  private func run() {
    var reported: String?
    while !stopping.isSignalled {
      do throws(AppStoreError) {
        try follow {
          if reported != nil { log.notice("updates of orders are passed on again") }
          reported = nil
        }
      } catch {
        if reported != error.description {
          log.warning(
            "the database of orders cannot be read: updates come later",
            metadata: ["reason": "\(error)"])
        }
        reported = error.description
        stopping.wait(milliseconds: Self.retryMilliseconds)
      }
    }
  }

  /// Until stopped.
  /// - Parameter begun: called when all that there was is passed on.
  private func follow(begun: () -> Void) throws(AppStoreError) {
    let connection = try connect()
    // Before anything is read, so that nothing falls between.
    try OutboxTable(connection).listen()
    try outbox.begin(connection)
    while !stopping.isSignalled {
      try outbox.publish(connection)
      begun()
      do throws(StoreError) {
        _ = try connection.wait(
          milliseconds: Self.waitMilliseconds, interrupt: stopping.descriptor)
      } catch {
        throw .store(error)
      }
    }
  }

  private func connect() throws(AppStoreError) -> AppConnection {
    do throws(StoreError) {
      return try AppConnection(url: url, application: "candled gateway outbox")
    } catch {
      throw .store(error)
    }
  }
}
