import Glibc
import Market
import Platform
import Postgres
import TestSupport

/// Who reads and revises candles of the closed months, until they are told to leave. Each gives up
/// a lock it waits a second for, and complains.
final class ReclusterOthers: Sendable {
  struct Account: Sendable {
    var commits = 0
    var commitMicrosecondsMax: Int64 = 0
    var reads = 0
    var readMicrosecondsMax: Int64 = 0
    var snapshots = 0
    var complaints: [String] = []

    var line: String {
      "\(commits) commits of revisions, the longest \(commitMicrosecondsMax / 1_000) ms; "
        + "\(reads) reads of an instrument's month, the longest \(readMicrosecondsMax / 1_000) ms; "
        + "\(snapshots) snapshots compared"
    }
  }

  private enum Work: CaseIterable { case revise, read, compare }

  private let isOver = Locked(false)
  private let account = Locked(Account())
  private let threads: [JoinableThread]

  private static let pauseMicroseconds: UInt32 = 50_000
  private static let snapshotMicrosecondsMax: UInt32 = 1_000_000
  /// Now and then: a month that is written to all the time is none that is closed.
  private static let revisionMicroseconds: ClosedRange<UInt32> = 200_000...8_000_000

  init(_ months: ClosedMonths, seed: UInt64) throws {
    let (isOver, account) = (isOver, account)
    threads = try Work.allCases.enumerated().map { place, work in
      try JoinableThread(name: "beside-\(work)") {
        var random = SplitMix(seed: seed &+ UInt64(place))
        do throws(StoreError) {
          let connection = try PostgresConnection(url: months.url, application: "beside \(work)")
          try connection.execute("set statement_timeout = 0", context: "beside")
          while !isOver.withLock({ $0 }) {
            switch work {
            case .revise: try Self.revise(connection, &random, account)
            case .read: try Self.read(connection, &random, account)
            case .compare: try Self.compare(connection, &random, account)
            }
            usleep(Self.pauseMicroseconds)
          }
        } catch {
          account.withLock { $0.complaints.append("beside it, \(work): \(error)") }
        }
      }
    }
  }

  func leave() -> Account {
    isOver.withLock { $0 = true }
    for thread in threads { thread.join() }
    var account = account.withLock { $0 }
    if min(account.commits, account.reads, account.snapshots) == 0 {
      account.complaints.append("nobody was beside it: \(account.line)")
    }
    return account
  }

  private static func timed(_ body: () throws(StoreError) -> Void) throws(StoreError) -> Int64 {
    let start = MonotonicClock.microseconds()
    try body()
    return MonotonicClock.microseconds() - start
  }

  /// A few minutes of one instrument, there and in the table beside.
  private static func revise(
    _ connection: PostgresConnection, _ random: inout SplitMix, _ account: Locked<Account>
  ) throws(StoreError) {
    let month = ClosedMonths.months.randomElement(using: &random) ?? ""
    let day = Int.random(in: 1...28, using: &random)
    let from = "'\(month)-\(day < 10 ? "0" : "")\(day) 10:00+08'"
    let instrument = Int.random(in: 1...3, using: &random)
    let statements = ["candle", "public.expected"].map { table in
      """
      update \(table)
      set revision = revision + 1, volume = volume + 100
      where (instrument_id, timeframe) = (\(instrument), 1)
        and opened_at between \(from) and timestamptz \(from) + interval '3 minutes'
      """
    }
    let elapsed = try timed { () throws(StoreError) in
      try connection.execute(
        "begin; \(statements.joined(separator: "; ")); commit", context: "revise")
    }
    account.withLock {
      $0.commits += 1
      $0.commitMicrosecondsMax = max($0.commitMicrosecondsMax, elapsed)
    }
    usleep(.random(in: revisionMicroseconds, using: &random))
  }

  private static func read(
    _ connection: PostgresConnection, _ random: inout SplitMix, _ account: Locked<Account>
  ) throws(StoreError) {
    let month = ClosedMonths.months.randomElement(using: &random) ?? ""
    let elapsed = try timed { () throws(StoreError) in
      try connection.execute(
        """
        select count(*)
        from candle_1m
        where instrument_id = \(Int.random(in: 1...3, using: &random))
          and trading_day between '\(month)-01' and '\(month)-28'
        """, context: "read")
    }
    account.withLock {
      $0.reads += 1
      $0.readMicrosecondsMax = max($0.readMicrosecondsMax, elapsed)
    }
  }

  /// All closed months, in a snapshot that was taken some time before.
  private static func compare(
    _ connection: PostgresConnection, _ random: inout SplitMix, _ account: Locked<Account>
  ) throws(StoreError) {
    try connection.execute("begin isolation level repeatable read; select 1", context: "compare")
    usleep(UInt32.random(in: 0...snapshotMicrosecondsMax, using: &random))
    let found = try connection.execute(
      "select (\(ClosedMonths.hash(of: "candle"))), (\(ClosedMonths.hash(of: "public.expected")))",
      context: "compare"
    ).textRows
    try connection.execute("commit", context: "compare")
    account.withLock {
      $0.snapshots += 1
      if found.first?[0] != found.first?[1] {
        $0.complaints.append("a snapshot differs: \(found)")
      }
    }
  }
}
