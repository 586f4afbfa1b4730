/// Keeps the tokens in force in memory as the database has them.

import AppStore
import Logging
import Market
import Postgres

extension TokenDirectory {
  private static let reloadMilliseconds: Int32 = 60_000

  /// Reads all again at each notification, and every minute in case one was lost; also writes on
  /// which day tokens were used. While the database is unreachable it stays as it was. Uses that
  /// were not written when it is stopped are lost.
  /// - Throws: `transient` if the system has no thread to give.
  package func follow(url: String, log: Logger) throws(StoreError) -> DatabaseFollower {
    try DatabaseFollower(
      "tokens",
      failure: "the database of tokens cannot be used: those that were read stay in force",
      recovery: "tokens are read again", log: log
    ) { (follower) throws(AppStoreError) in
      let connection = try follower.connect(to: url, listeningTo: [.token])
      repeat {
        try self.load(over: connection)
        follower.succeeded()
      } while try follower.wait(on: connection, milliseconds: Self.reloadMilliseconds)
        != .interrupted
    }
  }

  private func load(over connection: AppConnection) throws(AppStoreError) {
    let tokens = TokenTable(connection)
    replace(with: try tokens.inForce())
    // Of a standby the uses wait until it is promoted.
    if try connection.isStandby() { return }
    let used = takeUsed()
    do throws(AppStoreError) {
      try tokens.use(used, on: MarketZone.utc.day(at: .now))
    } catch {
      keepUsed(used)
      throw error
    }
  }
}
