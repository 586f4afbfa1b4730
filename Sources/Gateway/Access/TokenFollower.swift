import AppStore
import Glibc
import Logging
import Market
import Platform

/// Keeps a `TokenDirectory` as the database has it: read again at each notification, and every
/// minute in case one was lost; also writes on which day tokens were used. While the database is
/// unreachable the directory stays as it was. On a thread of its own, for libpq blocks.
package final class TokenFollower: Sendable {
  private let url: String
  private let directory: TokenDirectory
  private let log: Logger
  private let stopping = Locked(false)
  /// What is written to the one end wakes the thread at the other.
  private let wakeEnd: Int32
  private let waitEnd: Int32

  private static let reloadMilliseconds: Int32 = 60_000
  private static let retryMillisecondsMin: Int32 = 1_000
  private static let retryMillisecondsMax: Int32 = 10_000

  /// Begins at once.
  /// - Throws: `transient` if the system has no thread or no descriptor to give.
  package init(url: String, directory: TokenDirectory, log: Logger) throws(StoreError) {
    self.url = url
    self.directory = directory
    self.log = log
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw Self.noResources }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    (waitEnd, wakeEnd) = (ends[0], ends[1])
    do throws(ThreadError) {
      try DetachedThread.start(name: "tokens") { self.run() }
    } catch {
      throw Self.noResources
    }
  }

  private static let noResources = StoreError(
    .transient, message: "the system has no thread or descriptor to give", context: "tokens")

  deinit {
    close(waitEnd)
    close(wakeEnd)
  }

  /// The thread ends soon; uses that were not yet written are lost.
  package func stop() {
    stopping.withLock { $0 = true }
    _ = write(wakeEnd, "x", 1)
  }

  private func run() {
    var retry = Self.retryMillisecondsMin
    var reported: String?
    while !stopping.withLock({ $0 }) {
      do throws(AppStoreError) {
        try follow {
          if reported != nil { log.notice("tokens are read again") }
          (retry, reported) = (Self.retryMillisecondsMin, nil)
        }
      } catch {
        if reported != error.description {
          log.warning(
            "tokens cannot be read, those in memory stay in force",
            metadata: ["reason": "\(error)"])
        }
        reported = error.description
        var descriptor = pollfd(fd: waitEnd, events: Int16(POLLIN), revents: 0)
        poll(&descriptor, 1, retry)
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
          milliseconds: Self.reloadMilliseconds, interrupt: waitEnd)
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
}

extension Timestamp {
  fileprivate var utcDay: TradingDay {
    TradingDay(daysSince1970: Int32(clamping: microseconds.flooredQuotient(86_400_000_000)))
  }
}
