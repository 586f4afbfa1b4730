import EmbeddedPostgres
import Glibc
import Market
import Platform
import Postgres
import TestSupport

/// Readers that take all they can get: every connection, held in an open transaction; some that ask
/// and never read; and one that tries to fill the lock table. What is ended comes again.
final class Crowd: Sendable {
  struct Account: Sendable {
    var sessionsMax = 0
    var locksRefused = 0
    var complaints: [String] = []
  }

  private let server: EmbeddedServer
  private let isOver = Locked(false)
  private let account = Locked(Account())
  private let threads: [JoinableThread]

  /// Enough to be there again as soon as a connection is free, and no load of its own.
  private static let pauseMicroseconds: UInt32 = 50_000
  /// The handles of those that were ended are kept, too.
  private static let sessionsMax = 400

  private static let lockFillers = [
    "for n in 1..40000 loop perform pg_advisory_lock(n); end loop",
    "for n in 1..40000 loop execute format('create temporary table t%s ()', n); end loop",
    """
    for n in 1..40000 loop
      begin perform pg_current_xact_id(); exception when division_by_zero then null; end;
    end loop
    """,
    "for n in 1..40000 loop perform lo_unlink(lo_create(0)); end loop",
  ]

  /// Returns once no connection is left.
  init(_ server: EmbeddedServer, mute: Int) throws {
    self.server = server
    let url = server.url(database: EmbeddedServer.databaseName, role: "alice")
    let (isOver, account) = (isOver, account)
    let isFull = Monitor(false)
    let sitting = try JoinableThread(name: "crowd-sits") {
      let readers = (0..<mute).compactMap { _ in try? MuteReader(url) }
      if readers.count < mute { account.withLock { $0.complaints.append("no mute readers") } }
      var sessions: [StuckListener] = []
      while !isOver.withLock({ $0 }) {
        while sessions.count < Self.sessionsMax, let one = try? StuckListener(url) {
          sessions.append(one)
        }
        isFull.change { $0 = true }
        usleep(Self.pauseMicroseconds)
      }
      for reader in readers { reader.close() }
      for session in sessions { session.close() }
    }
    let locking = try JoinableThread(name: "crowd-locks") {
      var attempt = 0
      while !isOver.withLock({ $0 }) {
        Self.fillLocks(Self.lockFillers[attempt % Self.lockFillers.count], url, account)
        attempt += 1
        usleep(Self.pauseMicroseconds)
      }
    }
    threads = [sitting, locking]
    isFull.wait(while: { !$0 }, then: { _ in })
  }

  private static func fillLocks(_ body: String, _ url: String, _ account: Locked<Account>) {
    do throws(StoreError) {
      try SQLProbe.run("do $$ begin \(body); end $$", url: url)
      account.withLock { $0.complaints.append("a reader could do: \(body)") }
    } catch {
      if error.sqlState == "42501" { account.withLock { $0.locksRefused += 1 } }
      if error.sqlState == "53200" { account.withLock { $0.complaints.append("locks ran out") } }
    }
  }

  /// Ends all of them.
  func leave() -> Account {
    let count = try? SQLProbe.run(
      "select count(*) from pg_stat_activity where usename = 'alice'",
      url: server.ownerConnectionString)
    isOver.withLock { $0 = true }
    for thread in threads { thread.join() }
    var account = account.withLock { $0 }
    account.sessionsMax = count?.first?.first?.flatMap { Int($0) } ?? 0
    return account
  }
}
