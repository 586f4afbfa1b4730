/// Writes what alerts fired.
///
/// Every gateway does so: the database lets each notice be written once. After a start, or a lost
/// connection, days that are over are examined by their candles, so that what happened while no
/// gateway ran fires with its day. A commit that fires nothing costs the database nothing. On a
/// standby it writes nothing: gateways of the primary do, and their notices are passed on.

import AppStore
import Logging
import Market
import Postgres

extension AlertWatch {
  /// A new day is noticed so late at most, if nothing else is to do.
  private static let idleMilliseconds: Int32 = 60_000
  /// Alerts that users change, or that fired, are read again so often that what fires just behind a
  /// change is written within a second, and for a fifth of the time: what fires meanwhile waits.
  private static let pauseMilliseconds: Int64 = 200
  private static let pauseShare = 4
  /// Of a statement that reads the days of all alerts.
  private static let statementSecondsMax = 60

  /// What is not written when it is stopped another gateway writes, or the next start.
  /// - Throws: `transient` if the system has no thread to give.
  package func follow(url: String, log: Logger) throws(StoreError) -> DatabaseFollower {
    try DatabaseFollower(
      "alerts",
      failure: "the database of alerts cannot be used: what fires now is written later",
      recovery: "alerts are looked at again", retryMilliseconds: 100...250,
      interrupt: interrupt, log: log
    ) { (follower) throws(AppStoreError) in
      do throws(AppStoreError) {
        try self.write(to: url, for: follower)
      } catch {
        self.forget()
        throw error
      }
    }
  }

  /// Until stopped, or until a standby is promoted.
  private func write(to url: String, for follower: DatabaseFollower) throws(AppStoreError) {
    let connection = try follower.connect(
      to: url, listeningTo: [.alert], statementSeconds: Self.statementSecondsMax)
    var writer = NoticeWriter(connection: connection, watch: self)
    var changes = AlertChanges.all
    var pauseEnds = ContinuousClock.now
    let beganOnStandby = try connection.isStandby()
    while !follower.isStopped {
      let begun = ContinuousClock.now
      let isLoading = changes != .none && pauseEnds <= begun
      if beganOnStandby { forget() } else { try writer.turn(isLoading ? changes : .none) }
      follower.succeeded()
      if isLoading {
        changes = .none
        let pause = begun.duration(to: .now) * Self.pauseShare
        pauseEnds = .now + max(pause, .milliseconds(Self.pauseMilliseconds))
      }
      // Once promoted it takes notifications, of a new connection.
      if beganOnStandby {
        guard try connection.isStandby() else { return }
      }
      let pauseLeft = ContinuousClock.now.duration(to: pauseEnds) / .milliseconds(1)
      let reason = try follower.wait(
        on: connection,
        milliseconds: changes == .none
          ? Self.idleMilliseconds : Int32(max(pauseLeft.rounded(.up), 0)))
      if reason == .notification { changes.add(connection.payloads) }
    }
  }
}
