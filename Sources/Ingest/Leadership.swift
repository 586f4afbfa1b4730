import Glibc
import Logging
import Market
import Operations
import Platform
import Postgres

/// A daemon's side of the lease: it asks for it until it is given, then renews it every third of
/// its length. On a thread of its own, for a database that hangs must not keep anybody else
/// waiting, and with a connection of its own, for a slow commit must not cost the lead.
///
/// It decides nothing about what may be written: that is the fence in the store's transactions. All
/// that a late renewal can do is to let the other daemon begin.
actor Leadership {
  private let executor = ThreadExecutor(name: "lease")
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  private let connection: LeaseConnection
  private let milliseconds: Int64
  private let log: Logger
  /// The term of the leader that was told of last.
  private var loggedLeader: Int64?
  /// Kinds of faults told of since the database last answered: each once, however they alternate.
  private var loggedFaults = Once<StoreError.Code>()

  /// The pause between two attempts; the gate makes it a second where they connect.
  private static let retryMilliseconds: Int64 = 700
  /// How often a standby looks whether the lease was given up, in parts of a lease.
  private static let looksPerLease: Int64 = 10
  /// The server's clock and the way to it may differ by so much from what is waited here.
  private static let expiryMilliseconds: Int64 = 5

  init(url: String, holder: String, lease: Duration, gate: ConnectGate, log: Logger) {
    milliseconds = lease.wholeMilliseconds
    connection = LeaseConnection(
      url: url, holder: holder, host: Leadership.host, milliseconds: milliseconds, gate: gate)
    self.log = log
  }

  /// Waits until the lease is ours, or the task is cancelled. A database that is not there is
  /// waited for, also at the start; what it says when it is there is to be heard at the start.
  /// - Parameters:
  ///   - loop: beats at every turn, and rests while the database is waited for.
  ///   - waiting: called when a leader was found that was not known yet.
  ///   - away: told at every turn whether the database cannot be asked.
  /// - Throws: what the first answer was, if it was a refusal; later ones are waited out.
  func lead(
    _ loop: Heartbeat, waiting: @Sendable (LeaseRow) -> Void,
    away: @Sendable (Bool) -> Void
  ) async throws(StoreError) -> (Lease, before: LeaseRow)? {
    var hasAsked = false
    while !Task.isCancelled {
      var wait = Self.retryMilliseconds
      do throws(StoreError) {
        let response = try take(loop)
        away(false)
        if !hasAsked, !loggedFaults.isEmpty { log.notice("connected to the database") }
        hasAsked = true
        switch response {
        case .taken(let lease, let before):
          guard !Task.isCancelled else {
            try? connection.release(lease)
            return nil
          }
          (loggedLeader, loggedFaults) = (nil, Once())
          return (lease, before)
        case .held(let row):
          let isNew = loggedLeader != row.term || !loggedFaults.isEmpty
          (loggedLeader, loggedFaults) = (row.term, Once())
          if isNew {
            waiting(row)
            log.notice(
              "standing by", metadata: ["leader": "\(row.host)", "term": "\(row.term)"])
          }
          wait = min(
            milliseconds / Self.looksPerLease,
            max(row.microsecondsLeft, 0) / 1000 + Self.expiryMilliseconds)
        }
      } catch {
        guard hasAsked || error.code == .connectionLost else { throw error }
        away(true)
        record(error, sentence: hasAsked ? Self.cannotAsk : "cannot reach the database, will retry")
      }
      await pause(wait)
    }
    return nil
  }

  private func take(_ loop: Heartbeat) throws(StoreError) -> LeaseAttempt {
    loop.rest()
    defer { loop.beat() }
    return try connection.take()
  }

  /// Renews the lease until it is lost, or the task is cancelled.
  /// - Parameter away: told at every turn whether the database cannot be asked; where nothing is
  ///   committed, by night, nobody else would know.
  /// - Returns: why it was lost; nil if it was not.
  func keep(_ lease: Lease, away: @Sendable (Bool) -> Void) async -> StoreError? {
    while !Task.isCancelled {
      var wait = milliseconds / 3
      do throws(StoreError) {
        try connection.renew(lease)
        away(false)
        if !loggedFaults.isEmpty { log.notice("the lease is renewed again") }
        loggedFaults = Once()
      } catch {
        away(error.code != .leaseLost)
        if error.code == .leaseLost { return error }
        record(error, sentence: Self.cannotAsk)
        wait = min(wait, Self.retryMilliseconds)
      }
      await pause(wait)
    }
    return nil
  }

  /// Lets a standby begin at once. Failing matters little: then it waits for the lease to run out.
  func release(_ lease: Lease) { try? connection.release(lease) }

  private static let cannotAsk = "cannot take or renew the lease, will retry"

  private func record(_ error: StoreError, sentence: String) {
    guard loggedFaults.isNew(error.code) else { return }
    log.error("\(sentence)", metadata: ["error": "\(error)"])
  }

  private func pause(_ milliseconds: Int64) async {
    try? await Task.sleep(nanoseconds: UInt64(max(milliseconds, 1)) * 1_000_000)
  }

  /// The host's name, for people, and to tell a copied journal from its original.
  private static var host: String {
    var bytes = [CChar](repeating: 0, count: hostBytesMax)
    guard gethostname(&bytes, bytes.count - 1) == 0 else { return "unknown" }
    return bytes.prefix { $0 != 0 }.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
  }

  /// HOST_NAME_MAX and its end.
  private static let hostBytesMax = 65
}
