import Market
import Platform
import TestSupport
import TestTraits
import Testing

@testable import Postgres
@testable import Store

/// Closed months are put in key order while others read and write.
@Suite(.ownThread) struct ReclusteringTests {
  private typealias Event = Reclustering.Event

  /// - Returns: what was reported, without counts of rows moved.
  private func run(
    _ database: StoreDatabase, folder: String? = "/tmp", closedBy day: TradingDay = ClosedMonth.end,
    url: String? = nil, steps: Int = .max, readersSeconds: Int64 = 30
  ) async throws -> [Event] {
    // With tries enough for autovacuum to get out of the way.
    let patience = Reclustering.Patience(
      pauseMilliseconds: 1, lockTriesMax: 12, readersSecondsMax: readersSeconds,
      lookMilliseconds: 20)
    let reclustering = Reclustering(
      url: try url ?? database.daemonURL(), folder: folder, patience: patience)
    let events = Locked<[Event]>([])
    let steps = Locked(steps)
    _ = try await reclustering.run(
      closedBy: day,
      mayGoOn: {
        steps.withLock { left in
          left -= 1
          return left >= 0
        }
      },
      report: { event in
        if case .moved = event { return }
        events.withLock { $0.append(event) }
      })
    return events.withLock { $0 }
  }

  private func isEnded(_ events: [Event]) -> Bool {
    events.contains { if case .ended("2026-06", _, _) = $0 { true } else { false } }
  }

  @Test func `a month in disorder has the same rows in key order, and a fresh month's form`()
    async throws
  {
    let month = try ClosedMonth(on: StoreDatabase())
    let before = try month.contents()
    #expect(try month.misplaced() != "0")
    let events = try await run(month.database)
    #expect(events.first == .left(1) && isEnded(events) && events.last == .left(0), "\(events)")
    #expect(try month.contents() == before)
    #expect(try month.misplaced() == "0")
    let fresh = try month.form(of: "candled.candle_2026_07")
    #expect(try month.form(of: "candled.candle_2026_06") == fresh)
    #expect(fresh.count > 30 && fresh.contains { $0.contains("candle_day") })
    #expect(
      try month.database.execute(
        """
        select m.rows, m.ordered_at is null, m.copied,
          to_regclass('candled.candle_2026_06_ordered'),
          (select count(*) from candled.candle_moving)
        from candled.candle_month m
        order by month
        """) == [[before[0][0], "f", nil, nil, "0"], [nil, "t", nil, nil, "0"]])
    #expect(try Schema.check(url: month.database.url) == [])
  }

  /// One that lies on as many pages as it has minutes is read through as many.
  @Test func `an instrument's minutes of a month are read in 150 pages for 4,560`() async throws {
    let month = try ClosedMonth(on: StoreDatabase())
    let before = try buffers(month)
    _ = try await run(month.database)
    let after = try buffers(month)
    #expect(before.rows == 5_280 && after.rows == 5_280)
    #expect(before.pages > 1_000, "\(before)")
    #expect(after.pages * 4_560 <= 150 * after.rows, "\(after)")
  }

  private func buffers(_ month: ClosedMonth) throws -> (pages: Int, rows: Int) {
    let plan = try month.database.execute(
      """
      explain (analyze, buffers, costs off, timing off, summary off)
      select *
      from candled.candle
      where instrument_id = 1
        and timeframe = 1
        and opened_at between '2026-06-01' and '2026-06-30 23:59'
      """
    ).map { $0[0] ?? "" }
    func number(after name: String) -> Int {
      let rest = plan.lazy.compactMap { $0.split(separator: name, maxSplits: 1).dropFirst().first }
      return rest.first.flatMap { Int($0.prefix { $0.isNumber }) } ?? 0
    }
    return (number(after: "shared hit=") + number(after: " read="), number(after: "rows="))
  }

  @Test func `a month that is not closed is left as it is`() async throws {
    let month = try ClosedMonth(on: StoreDatabase(), instruments: 2, days: 2)
    let events = try await run(month.database, closedBy: ClosedMonth.end.advanced(by: -1))
    #expect(events == [.left(0)])
  }

  @Test func `a month is done again when it has grown by more than a tenth`() async throws {
    let month = try ClosedMonth(on: StoreDatabase(), instruments: 10, days: 2)
    _ = try await run(month.database)
    for (instrument, isDoneAgain) in [(100, false), (101, true)] {
      try month.database.execute(
        """
        insert into candled.candle
        select opened_at, closed_at, known_from, \(instrument), trading_day, timeframe, flags,
          source, revision, open, high, low, close, volume, turnover
        from candled.candle
        where instrument_id = 1;
        analyze candled.candle_2026_06
        """)
      #expect(try await isEnded(run(month.database)) == isDoneAgain)
    }
    #expect(try month.misplaced() == "0")
  }

  // MARK: Space

  @Test func `without room nothing is begun, and the figures are named`() async throws {
    let month = try ClosedMonth(on: StoreDatabase(), instruments: 2, days: 2)
    let events = try await run(month.database, folder: "/proc")
    guard events.count == 2, case .stopped(let reason) = events[1] else {
      Issue.record("\(events)")
      return
    }
    let needed = try #require(
      try month.database.value(
        """
        select ceil(
          (pg_total_relation_size('candled.candle_2026_06') * 13 / 10
            + pg_size_bytes(current_setting('max_wal_size'))) / 1e6)
        """))
    #expect(
      reason == "the candles of 2026-06 are not put in key order: that takes \(needed) MB of /proc "
        + "for a while, and 0 MB are free")
    #expect(try month.database.value("select copied from candled.candle_month") == nil)
  }

  @Test func `where the free space is not known nothing is begun, and the setting is named`()
    async throws
  {
    let month = try ClosedMonth(on: StoreDatabase(), instruments: 2, days: 2)
    let events = try await run(month.database, folder: nil)
    guard events.count == 2, case .stopped(let reason) = events[1] else {
      Issue.record("\(events)")
      return
    }
    #expect(reason.contains("set store.data_directory"))
    // Whoever may see the server's settings need not be given the folder.
    #expect(try await isEnded(run(month.database, folder: nil, url: month.database.url)))
  }

  // MARK: Others

  @Test func `one that was interrupted is gone on with`() async throws {
    let month = try ClosedMonth(on: StoreDatabase(), instruments: 2, days: 3)
    let before = try month.contents()
    var events = try await run(month.database, steps: 6)
    #expect(!isEnded(events))
    let copied = try month.database.value(
      "select copied from candled.candle_month where copied is not null")
    #expect(copied == "4")
    // The copy begun has the form of before an upgrade: it is begun again.
    try Schema.apply(url: month.database.url)
    #expect(try Schema.check(url: month.database.url) == [])
    _ = try await run(month.database, steps: 6)
    #expect(try Schema.check(url: month.database.url) == [])
    events = try await run(month.database)
    #expect(isEnded(events))
    #expect(try month.contents() == before)
    #expect(try month.misplaced() == "0")
  }

  @Test func `two at once do not meet`() async throws {
    let month = try ClosedMonth(on: StoreDatabase(), instruments: 2, days: 2)
    let other = try ReclusteringSession(url: month.database.daemonURL(), gate: nil)
    #expect(try other.isAlone())
    let events = try await run(month.database)
    #expect(events == [.stopped("another process puts months of candles in key order")])
  }

  @Test func `a snapshot taken before sees the month unchanged`() async throws {
    let month = try ClosedMonth(on: StoreDatabase(), instruments: 2, days: 2)
    let reader = try PostgresConnection(url: month.database.url, application: "reader")
    // It has not touched the month: no lock of its own keeps the month in its place.
    try reader.execute("begin isolation level repeatable read; select 1", context: "test")
    let events = try await run(month.database, readersSeconds: 1)
    guard case .stopped(let reason) = events.last else {
      Issue.record("\(events)")
      return
    }
    #expect(reason.contains("a transaction that began before goes on (process "))
    let count = "select count(*) from candled.candle_2026_06"
    let expected = try month.database.value(count)
    let seen = try reader.execute("select count(*) from candled.candle", context: "test").textRows
    #expect(seen == [[expected]])
    try reader.execute("commit", context: "test")
    #expect(try await isEnded(run(month.database)))
  }

  @Test func `a reader in the way postpones the swap, and nobody else waits a second`()
    async throws
  {
    let month = try ClosedMonth(on: StoreDatabase(), instruments: 2, days: 2)
    let before = try month.contents()
    let session = try ReclusteringSession(url: month.database.daemonURL(), gate: nil)
    let june = ReclusteringSession.Month(firstDay: ClosedMonth.end.advanced(by: -30))
    let writer = try PostgresConnection(url: month.database.url, application: "writer")
    let touch = "update candled.candle set flags = flags where instrument_id = 1"
    try writer.execute("begin; \(touch)", context: "test")
    let refused = #expect(throws: StoreError.self) { try session.step(of: june) }
    #expect(refused?.sqlState == StoreError.lockNotAvailable)
    try writer.execute("commit", context: "test")
    while try session.step(of: june).step != "ready" {}
    let reader = try PostgresConnection(url: month.database.url, application: "reader")
    try reader.execute("begin; select 1 from candled.candle limit 1", context: "test")
    let url = month.database.url
    let others = Task {
      var longest = Duration.zero
      let other = try PostgresConnection(url: url, application: "other")
      while !Task.isCancelled {
        let start = ContinuousClock.now
        try other.execute("select count(*) from candled.candle; \(touch)", context: "test")
        longest = max(longest, ContinuousClock.now - start)
        await Task.yield()
      }
      return longest
    }
    for _ in 0..<3 {
      let start = ContinuousClock.now
      let error = #expect(throws: StoreError.self) { try session.swap(june) }
      #expect(error?.sqlState == StoreError.lockNotAvailable)
      #expect(ContinuousClock.now - start < .seconds(1))
    }
    others.cancel()
    #expect(try await others.value < .seconds(1))
    try reader.execute("commit", context: "test")
    // What the others wrote meanwhile is copied first.
    #expect(try !session.swap(june))
    while try session.step(of: june).step != "ready" {}
    #expect(try session.swap(june))
    #expect(try month.contents() == before)
  }

  @Test func `copies are not published, changes meanwhile are`() async throws {
    let database = try StoreDatabase.alone(more: ["wal_level": "logical"])
    _ = try ClosedMonth(on: database, instruments: 2, days: 2)
    try database.execute("select pg_create_logical_replication_slot('follower', 'pgoutput')")
    let session = try ReclusteringSession(url: database.daemonURL(), gate: nil)
    let june = ReclusteringSession.Month(firstDay: ClosedMonth.end.advanced(by: -30))
    let revise = """
      update candled.candle
      set revision = revision + 1
      where (instrument_id, timeframe) = (1, 240)
      """
    for _ in 0..<10 { _ = try session.step(of: june) }
    try database.execute(revise)
    while try session.step(of: june).step != "ready" {}
    #expect(try session.swap(june))
    try database.execute(revise)
    let changes = try database.execute(
      """
      select chr(get_byte(data, 0)), count(*)
      from pg_logical_slot_get_binary_changes('follower', null, null, 'proto_version', '1',
        'publication_names', 'candled')
      where get_byte(data, 0) in (ascii('I'), ascii('U'), ascii('D'))
        and substring(data from 2 for 4) = int4send('candled.candle'::regclass::integer)
      group by 1
      """)
    #expect(changes == [["U", "4"]])
  }
}
