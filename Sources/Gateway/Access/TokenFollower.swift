import AppStore
import Logging
import Market
import Platform
import Postgres

/// Keeps a `TokenDirectory` as the database has it: read again at each notification, and every
/// minute in case one was lost; also writes on which day tokens were used. While the database is
/// unreachable the directory stays as it was. On a thread of its own, for libpq blocks.
package final class TokenFollower: Sendable {
  private let url: String
  private let directory: TokenDirectory
  private let log: Logger
  private let stopping = Interrupt()

  private static let reloadMilliseconds: Int32 = 60_000
  private static let retryMillisecondsMin: Int32 = 1_000
  private static let retryMillisecondsMax: Int32 = 10_000

  /// Begins at once.
  /// - Throws: `transient` if the system has no thread to give.
  package init(url: String, directory: TokenDirectory, log: Logger) throws(StoreError) {
    self.url = url
    self.directory = directory
    self.log = log
    do throws(ThreadError) {
      try DetachedThread.start(name: "tokens") { self.run() }
    } catch {
      throw StoreError(
        .transient, message: "the system has no thread to give", context: "tokens")
    }
  }

  /// The thread ends soon; uses that were not yet written are lost.
  package func stop() { stopping.signal() }

  private func run() {
    var retry = Self.retryMillisecondsMin
    var reported: String?
    while !stopping.isSignalled {
      do throws(AppStoreError) {
        try follow {
          if reported != nil { log.notice("tokens are read again") }
          (retry, reported) = (Self.retryMillisecondsMin, nil)
        }
      } catch {
        if reported != error.description {
          log.warning(
            "the database of tokens cannot be used: those that were read stay in force",
            metadata: ["reason": "\(error)"])
        }
        reported = error.description
        stopping.wait(milliseconds: retry)
        retry = min(retry * 2, Self.retryMillisecondsMax)
      }
    }
  }

  /// Until stopped.
  /// - Parameter loaded: called after each time all were read.
  private func follow(loaded: () -> Void) throws(AppStoreError) {
    do throws(StoreError) {
      let connection = try AppConnection(url: url, application: "candled gateway tokens")
      // Before anything is read, so that no change falls between.
      try connection.listenForTokens()
      while true {
        try load(over: connection)
        loaded()
        let reason = try connection.wait(
          milliseconds: Self.reloadMilliseconds, interrupt: stopping.descriptor)
        if reason == .interrupted { return }
      }
    } catch {
      throw .store(error)
    }
  }

  private func load(over connection: AppConnection) throws(StoreError) {
    let tokens = TokenTable(connection)
    do throws(AppStoreError) {
      directory.replace(with: try tokens.inForce())
      // Of a standby the uses wait until it is promoted.
      if try isStandby(connection) { return }
      let used = directory.takeUsed()
      do throws(AppStoreError) {
        try tokens.use(used, on: Timestamp(microseconds: SystemClock.realMicroseconds()).utcDay)
      } catch {
        directory.keepUsed(used)
        throw error
      }
    } catch {
      guard case .store(let cause) = error else {
        preconditionFailure("reading tokens has no other errors")
      }
      throw cause
    }
  }

  private func isStandby(_ connection: AppConnection) throws(AppStoreError) -> Bool {
    do throws(StoreError) { return try connection.isStandby() } catch { throw .store(error) }
  }
}

extension Timestamp {
  fileprivate var utcDay: TradingDay {
    TradingDay(daysSince1970: Int32(clamping: microseconds.flooredQuotient(86_400_000_000)))
  }
}
