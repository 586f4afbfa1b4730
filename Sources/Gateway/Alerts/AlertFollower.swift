/// Writes what alerts fired, on a thread of its own, for libpq blocks.
///
/// Every gateway does so: the database lets each notice be written once. After a start, or a lost
/// connection, days that are over are examined by their candles, so that what happened while no
/// gateway ran fires with its day. A commit that fires nothing costs the database nothing. On a
/// standby it writes nothing: gateways of the primary do, and their notices are passed on.

import Alerts
import AppStore
import Logging
import Market
import Platform
import Postgres

package final class AlertFollower: Sendable {
  private let url: String
  private let watch: AlertWatch
  private let log: Logger

  private static let reloadMilliseconds: Int32 = 60_000
  private static let retryMillisecondsMin: Int32 = 500
  private static let retryMillisecondsMax: Int32 = 10_000
  /// Of a statement that reads the days of all alerts.
  private static let statementSecondsMax = 60

  /// Begins at once.
  /// - Throws: `transient` if the system has no thread to give.
  package init(
    url: String, watch: AlertWatch, log: Logger
  ) throws(StoreError) {
    self.url = url
    self.watch = watch
    self.log = log
    do throws(ThreadError) {
      try DetachedThread.start(name: "alerts") { self.run() }
    } catch {
      throw StoreError(
        .transient, message: "the system has no thread to give", context: "alerts")
    }
  }

  /// The thread ends soon; what was not written yet another gateway writes, or the next start.
  package func stop() { watch.stop() }

  private func run() {
    var retry = Self.retryMillisecondsMin
    var reported: String?
    while !watch.isStopped {
      do throws(AppStoreError) {
        try follow {
          if reported != nil { log.notice("alerts are looked at again") }
          (retry, reported) = (Self.retryMillisecondsMin, nil)
        }
      } catch {
        watch.forget()
        if reported != error.description {
          log.warning(
            "the database of alerts cannot be used: what fires now is written later",
            metadata: ["reason": "\(error)"])
        }
        reported = error.description
        watch.interrupt.clear()
        watch.interrupt.wait(milliseconds: retry)
        retry = min(retry * 2, Self.retryMillisecondsMax)
      }
    }
  }

  /// Until stopped, or until a standby is promoted.
  /// - Parameter loaded: called after each time all were read.
  private func follow(loaded: () -> Void) throws(AppStoreError) {
    do throws(StoreError) {
      let connection = try AppConnection(
        url: url, application: "candled gateway alerts",
        statementSeconds: Self.statementSecondsMax)
      try AppStoreError.asStoreError { () throws(AppStoreError) in
        // Before anything is read, so that no change falls between.
        try NoticeTable(connection).listen()
      }
      var writer = NoticeWriter(connection: connection, watch: watch)
      var isDue = true
      let beganOnStandby = try connection.isStandby()
      while !watch.isStopped {
        let due = isDue
        try AppStoreError.asStoreError { () throws(AppStoreError) in
          if beganOnStandby { watch.forget() } else { try writer.turn(isDue: due) }
        }
        loaded()
        // Once promoted it takes notifications, of a new connection.
        if beganOnStandby {
          guard try connection.isStandby() else { return }
        }
        let reason = try connection.wait(
          milliseconds: Self.reloadMilliseconds, interrupt: watch.interrupt.descriptor)
        isDue = reason != .interrupted
      }
    } catch {
      throw .store(error)
    }
  }
}

extension AppStoreError {
  /// Where the database alone can be at fault.
  fileprivate static func asStoreError(
    _ body: () throws(AppStoreError) -> Void
  ) throws(StoreError) {
    do throws(AppStoreError) {
      try body()
    } catch {
      guard case .store(let cause) = error else {
        throw StoreError(.malformed, message: error.description, context: "alerts")
      }
      throw cause
    }
  }
}
