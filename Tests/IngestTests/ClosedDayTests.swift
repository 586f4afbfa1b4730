import Commits
import ExchangeSimulator
import Feeds
import Journal
import Ledgers
import Market
import Platform
import TestExchange
import TestSupport
import Testing

@testable import Ingest

/// Days on which the exchange does not do what its calendar says.
@Suite struct `Days that no calendar knew` {
  private static let cadenceSeconds = 15

  private func run(
    _ days: [String], from: Timestamp, to end: Timestamp,
    instead: @escaping @Sendable (FeedRequest, Timestamp) -> CannedResponse? = { _, _ in nil }
  ) throws -> WorkerRun {
    let days = days.compactMap { TradingDay($0) }
    let history = SimulatedHistory(seed: 11, instruments: 14, days: days)
    var run = try WorkerRun(
      SimulatedWorld(MemoryExchange(history: history), instead: instead), history.symbols,
      from: from, to: end)
    run.cadenceSeconds = Self.cadenceSeconds
    run.lines = LogLines()
    return run
  }

  /// When quotes were requested on a day.
  private func requests(_ run: WorkerRun, on day: String) throws -> [Timestamp] {
    try run.entries().filter { $0.quotesGroup != nil }.map(\.requestedAt)
      .filter { $0.shanghaiDay.description == day }
  }

  @Test func `a closure that nobody declared leaves no gap, one notice and a ready daemon`()
    async throws
  {
    let friday = try shanghai("2026-07-03", 14, 59)
    for end in [try shanghai("2026-07-06", 10, 30), try shanghai("2026-07-07", 9, 35)] {
      let run = try run(["2026-07-03", "2026-07-07"], from: friday, to: end)
      let feeds = FeedSink()
      let sink = feeds.sink
      let engine = try run.engine(sink)
      await run.world.follow(engine)
      #expect(try await engine.run().isNone)
      let tables = await sink.tables
      #expect(tables.gaps.allSatisfy { $0.tradingDay == friday.shanghaiDay }, "\(tables.gaps)")
      #expect(tables.certificates.keys.allSatisfy { $0.day == friday.shanghaiDay })
      #expect(tables.rejections.isEmpty)
      #expect(run.lines?.count("the exchanges are closed on 2026-07-06") == 1)
      let asked = try requests(run, on: "2026-07-06").filter { $0.shanghaiSecondOfDay > 36_060 }
      #expect(!asked.isEmpty)
      #expect(zip(asked, asked.dropFirst()).allSatisfy { $1.microseconds(since: $0) >= 59_000_000 })
      let monday = try #require(TradingDay("2026-07-06"))
      let session = feeds.current.sessions[FeedTables.Day(of: "\(Exchange.shanghai)", day: monday)]
      guard end.shanghaiDay == monday else {
        #expect(session?.reading == CalendarReading(trades: false, grade: .observed))
        #expect(run.lines?.count("the exchanges were closed on 2026-07-06") == 1)
        #expect(tables.candles.keys.contains { $0.openedAt.shanghaiDay == end.shanghaiDay })
        #expect(await engine.report(on: []).calendarNotice == nil)
        continue
      }
      #expect(session == nil || session?.trades == true)
      let report = await engine.report(on: [])
      #expect(report.quotes?.freshness?.isFresh == true && !report.isCertificateOverdue)
      #expect(report.calendarNotice?.contains("every source keeps rows of 2026-07-03") == true)
      #expect(report.sessionText.contains("next session Tue 09:15"))
    }
  }

  @Test func `a day that was declared closed and trades is recorded from its first minute`()
    async throws
  {
    let run = try run(
      ["2026-09-24", "2026-09-25"], from: try shanghai("2026-09-24", 14, 59),
      to: try shanghai("2026-09-25", 9, 40))
    let holiday = run.end.shanghaiDay
    try #require(TradingCalendar.shanghai.isTradingDay(holiday) == false)
    let feeds = FeedSink()
    let sink = feeds.sink
    #expect(try await run.run(sink).isNone)
    let tables = await sink.tables
    let opens = Timestamp(day: holiday, secondOfDay: Session.morningOpen)
    #expect(tables.candles.count { $0.key.openedAt == opens } > 8)
    #expect(tables.gaps.allSatisfy { $0.tradingDay < holiday } && tables.rejections.isEmpty)
    #expect(run.lines?.count("the exchanges trade on 2026-09-25") == 1)
    let session = feeds.current.sessions[FeedTables.Day(of: "\(Exchange.shanghai)", day: holiday)]
    #expect(session?.reading == CalendarReading(trades: true, grade: .observed))
    #expect(try requests(run, on: "2026-09-25").filter { $0 < opens }.count > 20)
  }

  @Test func `of a holiday one batch a minute is requested, of a weekend nothing`() async throws {
    let run = try run(
      ["2026-09-24", "2026-09-28"], from: try shanghai("2026-09-24", 15, 45),
      to: try shanghai("2026-09-28", 8, 50))
    #expect(try await run.run(MemorySink()).isNone)
    let holiday = try requests(run, on: "2026-09-25")
    #expect(holiday.count == 400, "\(holiday.count)")
    #expect(try requests(run, on: "2026-09-26").isEmpty)
    #expect(try requests(run, on: "2026-09-27").isEmpty)
    #expect(run.lines?.count("closed") == 0)
  }

  @Test func `a file that withdraws and adds days to come is followed, and both are reported`()
    async throws
  {
    let (withdrawn, added) = ("2026-12-25", "2027-01-04")
    let listed = CalendarFile.file(
      CalendarFile.days.filter { $0.description != withdrawn }
        + [try #require(TradingDay(added))])
    let run = try run(
      ["2026-12-24", "2026-12-28"], from: try shanghai("2026-12-24", 15, 45),
      to: try shanghai("2026-12-26", 8)
    ) { request, _ in request == .sinaCalendar ? .text(listed) : nil }
    let feeds = FeedSink()
    let sink = feeds.sink
    let engine = try run.engine(sink)
    await run.world.follow(engine)
    #expect(try await engine.run().isNone)
    let calendar = await engine.calendar
    let day = try #require(TradingDay(withdrawn))
    #expect(calendar.reading(of: day) == CalendarReading(trades: false, grade: .declared))
    #expect(calendar.lastDay.description == added)
    #expect(run.lines?.count("the trading calendar of Shanghai withdrew \(withdrawn)") == 1)
    let session = feeds.current.sessions[FeedTables.Day(of: "\(Exchange.shanghai)", day: day)]
    #expect(session?.reading == CalendarReading(trades: false, grade: .declared))
    #expect(try requests(run, on: withdrawn).count == 400)
  }

  @Test func `a day that the operator declared closed and trades is recorded, and contradicted`()
    async throws
  {
    var run = try run(
      ["2026-07-03", "2026-07-06"], from: try shanghai("2026-07-03", 15, 45),
      to: try shanghai("2026-07-06", 9, 40))
    let monday = run.end.shanghaiDay
    run.declaredDays = [monday: false]
    let found = Locked<[DayContradiction]>([])
    let sink = MemorySink(inspect: { commit in
      found.withLock { $0 += commit.reference.contradictions }
    })
    #expect(try await run.run(sink).isNone)
    let opens = Timestamp(day: monday, secondOfDay: Session.morningOpen)
    #expect(await sink.tables.candles.keys.count { $0.openedAt == opens } > 8)
    let index = try #require(Symbol("sh000001"))
    #expect(
      found.withLock { $0 } == [
        DayContradiction(day: monday, trades: true, symbol: index, source: .live)
      ])
    #expect(run.lines?.count("contradicts what was observed on 2026-07-06") == 1)
  }

  @Test func `what is declared against a day that was observed is reported once`() throws {
    var pipeline = Pipeline()
    let opened = try #require(TradingDay("2026-09-25"))
    let open = opened.advanced(by: 3)
    for day in [opened, open] { _ = pipeline.calendar.observe(day, trades: true) }
    var configuration = WorkerConfiguration()
    configuration.declaredDays = [opened: false, open: true, open.advanced(by: 1): false]
    #expect(pipeline.configure(configuration) == [.contradicted(opened)])
    #expect(pipeline.configure(configuration).isEmpty)
    #expect(pipeline.takeCommit()?.reference.contradictions.map(\.day) == [opened])
    #expect(pipeline.calendar.isTradingDay(opened) == true)
  }

  @Test func `a session of New York that is withdrawn is closed, also once it is over`() throws {
    let days = ["2025-01-07", "2025-01-08", "2025-01-09", "2025-01-10"]
    var pipeline = Pipeline()
    var tables = FeedTables()
    var reported: [DayFinding] = []
    func answer(_ days: [String], at now: Timestamp, _ number: Int64) throws {
      let range = try (#require(TradingDay("2025-01-01")), #require(TradingDay("2025-02-01")))
      let rows = days.map { #"{"date":"\#($0)","open":"09:30","close":"16:00"}"# }
      let entry = JournalEntry.response(
        to: FeedRequest(.sessions(from: range.0, to: range.1), to: .alpacaIEX), requestedAt: now,
        receivedAt: now, status: 200, body: Array("[\(rows.joined(separator: ","))]".utf8))
      reported += pipeline.process(entry, at: JournalPosition(number)).days
      if let commit = pipeline.takeCommit() { tables.take(commit) }
    }
    let mourning = try #require(TradingDay("2025-01-09"))
    try answer(days, at: try newYork("2025-01-06", 10), 1)
    // The eighth is over by then.
    try answer(["2025-01-07", "2025-01-10"], at: try newYork("2025-01-09", 8), 2)
    #expect(
      reported == [
        .withdrawn(mourning.advanced(by: -1), of: .unitedStates),
        .withdrawn(mourning, of: .unitedStates),
      ])
    let known = { (day: TradingDay) in
      tables.sessions[FeedTables.Day(of: "\(Exchange.unitedStates)", day: day)]?.trades
    }
    #expect(known(mourning) == false && known(mourning.advanced(by: -1)) == false)
    #expect(!pipeline.recorded.sessions.contains { $0.day == mourning })
    // An answer without a day says nothing of any.
    try answer([], at: try newYork("2025-01-09", 9), 3)
    #expect(pipeline.recorded.sessions.count == 2)
    // One that lacks many closes none of them, and what is new of it is known.
    let month = [13, 14, 15, 16, 17, 20, 21, 22, 23, 24].map { "2025-01-\($0)" }
    try answer(["2025-01-07", "2025-01-10"] + month, at: try newYork("2025-01-09", 10), 4)
    try answer(["2025-01-07", "2025-01-31"], at: try newYork("2025-01-09", 11), 5)
    #expect(reported.last == .calendarRefused(.unitedStates))
    #expect(pipeline.recorded.sessions.count == 13)
    #expect(known(mourning.advanced(by: 1)) == true && known(mourning.advanced(by: 22)) == true)
  }
}
