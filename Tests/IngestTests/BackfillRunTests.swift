import Candles
import Commits
import Feeds
import History
import Journal
import Market
import Operations
import Platform
import Polling
import Store
import TestSupport
import TestTraits
import Testing

@testable import Ingest

/// Beside the command: what a backfill makes of what it is given, its source answering from memory.
@Suite(.ownThread) struct `A backfill` {
  /// Answers every question with one day bar each of some days, but for those it does not know.
  private struct DaySource: Upstream {
    var days: [TradingDay]
    var unknown: Set<FeedRequest> = []
    var factors = ""

    func response(to feedRequest: FeedRequest, key: String?, host: Int) -> UpstreamResponse {
      if unknown.contains(feedRequest) { return .response(status: 404, body: [], retryAfter: nil) }
      var text = KlineText.days(days)
      if case .factors = feedRequest.query { text = factors }
      return .response(status: 200, body: Array(text.utf8), retryAfter: nil)
    }
  }

  /// Sleeps, and counts the sleeps under way.
  private final class Sleeper: Sendable {
    private let counts = Locked((underWay: 0, most: 0))

    var most: Int { counts.withLock { $0.most } }

    func sleep(nanoseconds: UInt64) async {
      counts.withLock {
        $0.underWay += 1
        $0.most = max($0.most, $0.underWay)
      }
      try? await Task.sleep(nanoseconds: nanoseconds)
      counts.withLock { $0.underWay -= 1 }
    }
  }

  private let writer: HistoryWriter
  private let database: StoreDatabase

  init() async throws {
    database = try StoreDatabase()
    writer = HistoryWriter(url: database.url)
    try await writer.connect()
  }

  private func backfill(
    of days: [TradingDay], unknown: Set<FeedRequest> = [], factors: String = "",
    calendar: TradingCalendar = .shanghai, at start: Timestamp,
    in folder: JournalFolder, sleeper: Sleeper = Sleeper(), lines: LogLines = LogLines()
  ) throws -> Backfill {
    var parts = BackfillParts(
      upstream: DaySource(days: days, unknown: unknown, factors: factors), key: nil, writer: writer,
      journal: try JournalWriter(directory: folder.path), rules: CandleRules(),
      calendar: calendar, log: lines.logger)
    parts.clock = .scaled(from: start, speed: 1)
    parts.sleep = { await sleeper.sleep(nanoseconds: $0) }
    return Backfill(
      parts,
      line: PacedQueueConfiguration(
        .live, requestsPerMinute: 60_000, seed: 1))
  }

  private static let last = TradingCalendar.shanghai.lastDay
  private static let lateOnLast = Timestamp(day: last, secondOfDay: 20 * 3_600)

  @Test func `stores the bars of a year whose days the daemon learnt`() async throws {
    let first = try #require(CalendarFile.nextYear.first)
    let sessions = CalendarFile.nextYear.map { "(1, '\($0)', '\($0) 09:30+8', '\($0) 15:00+8')" }
    try database.execute(
      "insert into candled.market_session values \(sessions.joined(separator: ", "))")
    let calendar = TradingCalendar.shanghai.extended(byStored: try await writer.sessions())
    let folder = try JournalFolder()
    let backfill = try backfill(
      of: [Self.last, first], calendar: calendar,
      at: Timestamp(day: first, secondOfDay: 20 * 3_600), in: folder)
    let feedRequest = FeedRequest.sinaKline(StoreSamples.symbol(519), .day1, bars: 2)
    let end = try await backfill.run(
      [BackfillTask(feedRequests: [feedRequest], days: Self.last...first)]
    ) { _ in }
    #expect(end.tasksDone == 1 && end.candles == 2)
    let stored = try database.execute(
      "select trading_day from candled.candle where timeframe = 240 order by trading_day")
    #expect(stored == [["\(Self.last)"], ["\(first)"]])
  }

  @Test func `says which rows it does not take`() async throws {
    let lines = LogLines()
    let weekend = (1...7).map { Self.last.advanced(by: $0) }.first { $0.isWeekend }
    let day = try #require(weekend)
    let folder = try JournalFolder()
    let backfill = try backfill(
      of: [Self.last, day], at: Timestamp(day: day, secondOfDay: 20 * 3_600), in: folder,
      lines: lines)
    let feedRequest = FeedRequest.sinaKline(StoreSamples.symbol(519), .day1, bars: 2)
    let end = try await backfill.run(
      [BackfillTask(feedRequests: [feedRequest], days: Self.last...day)]
    ) { _ in }
    #expect(end.candles == 1 && lines.count("rows refused") == 1, "\(lines.lines)")
    #expect(lines.count("\(feedRequest.text)") == 1 && lines.count("rows=1") == 1)
  }

  @Test(.timeLimit(.minutes(2)))
  func `ends whatever it is given, tasks without questions too`() async throws {
    let nothing = BackfillTask(feedRequests: [], days: Self.last...Self.last)
    let feedRequest = FeedRequest.sinaKline(StoreSamples.symbol(519), .day1, bars: 1)
    let something = BackfillTask(feedRequests: [feedRequest], days: Self.last...Self.last)
    for (tasks, done) in [([nothing], 0), ([nothing, something, nothing], 1)] {
      let folder = try JournalFolder()
      let end = try await backfill(of: [Self.last], at: Self.lateOnLast, in: folder)
        .run(tasks) { _ in }
      #expect(end.tasks == done && end.tasksDone == done && end.tasksFailed == 0)
    }
  }

  @Test func `stores the days of an instrument that has no file of factors`() async throws {
    let folder = try JournalFolder()
    let symbol = StoreSamples.symbol(1)
    let factors = AdjustmentFactor.Kind.allCases.map { FeedRequest.sinaFactors(symbol, $0) }
    let feedRequests = factors + [FeedRequest.sinaKline(symbol, .day1, bars: 1)]
    let end = try await backfill(
      of: [Self.last], unknown: Set(factors), at: Self.lateOnLast, in: folder
    ).run([BackfillTask(feedRequests: feedRequests, days: Self.last...Self.last)]) { _ in }
    #expect(end.tasksDone == 1 && end.tasksFailed == 0 && end.candles == 1)
  }

  @Test func `alarms of a file of factors that the exchange contradicts`() async throws {
    let before = try #require(TradingCalendar.shanghai.previous(before: Self.last))
    try database.execute(
      """
      insert into candled.market_session values
        (1, '\(before)', '\(before) 09:30+08', '\(before) 15:00+08'),
        (1, '\(Self.last)', '\(Self.last) 09:30+08', '\(Self.last) 15:00+08');
      insert into candled.instrument (id, symbol, source, first_seen)
      values (1, 'sh600001', 1, now());
      select candled.ensure_partition('\(before)');
      insert into candled.candle
        (opened_at, closed_at, known_from, instrument_id, trading_day, timeframe, flags, source,
        open, high, low, close, volume, turnover)
      values
        ('\(before) 09:30+08', '\(before) 15:00+08', now(), 1, '\(before)', 240, 0, 1, 12.01,
        12.01, 12.01, 12.01, 100, 1201);
      insert into candled.day_audit
        (instrument_id, trading_day, minute_volume, minute_turnover, gap_volume, gap_turnover,
        after_hours_volume, after_hours_turnover, minutes_traded, minutes_untraded,
        minutes_missing, known_from, previous_close)
      values (1, '\(Self.last)', 0, 0, 0, 0, 0, 0, 0, 0, 0, now(), 8.39)
      """)
    let (folder, lines) = (try JournalFolder(), LogLines())
    let file =
      #"{"total":2,"data":[{"d":"\#(Self.last)","f":"14.31"},{"d":"1900-01-01","f":"1.0"}]}"#
    let end = try await backfill(
      of: [], factors: "var sh600001hfq=\(file)", at: Self.lateOnLast, in: folder, lines: lines
    ).run([
      BackfillTask(
        feedRequests: [.sinaFactors(StoreSamples.symbol(1), .hfq)], days: Self.last...Self.last)
    ]) { _ in }
    #expect(end.tasksDone == 1 && lines.count("level=critical") == 1, "\(lines.lines)")
  }

  @Test func `begins the later tasks once all others are done, and not if one was given up`()
    async throws
  {
    let feedRequests = (0..<3).map {
      FeedRequest.sinaKline(StoreSamples.symbol($0), .day1, bars: 1)
    }
    let tasks = feedRequests.map { BackfillTask(feedRequests: [$0], days: Self.last...Self.last) }
    for (unknown, done, asked) in [([feedRequests[0]], 1, 2), ([], 3, 3)]
      as [([FeedRequest], Int, Int)]
    {
      let folder = try JournalFolder()
      let end = try await backfill(
        of: [Self.last], unknown: Set(unknown), at: Self.lateOnLast, in: folder
      ).run(Array(tasks[..<2]), later: [tasks[2]]) { _ in }
      #expect(end.tasks == 3 && end.tasksDone == done && end.requests == asked)
    }
  }

  @Test func `sleeps a few times at a time at most, however much it asks`() async throws {
    let (sleeper, folder) = (Sleeper(), try JournalFolder())
    let backfill = try backfill(
      of: [Self.last], at: Self.lateOnLast, in: folder, sleeper: sleeper)
    let feedRequests = (0..<200).map {
      FeedRequest.sinaKline(StoreSamples.symbol($0), .day1, bars: 1)
    }
    let end = try await backfill.run(
      [BackfillTask(feedRequests: feedRequests, days: Self.last...Self.last)]
    ) { _ in }
    #expect(end.requests == 200 && end.candles == 200)
    // Until the next request may go out, and until the one under way counts as lost; one of each
    // that is over on the clock may not have been told so.
    #expect((1...4).contains(sleeper.most), "\(sleeper.most) sleeps at a time")
  }

  @Test(arguments: [
    (Source.sina, 20, true, 10), (.sina, 20, false, 20), (.sina, 29, true, 2), (.sina, 1, true, 1),
    (.sina, 1_000, true, 100), (.alpacaSIP, 180, true, 20), (.alpacaSIP, 60, true, 60),
    (.alpacaIEX, 180, false, 180), (.alpacaIEX, 9_000, true, 900),
  ])
  func `leaves a daemon its budget`(
    source: Source, own: Int, besideDaemon: Bool, left: Int
  ) throws {
    let key = source == .sina ? "sina.history_requests_per_minute" : "alpaca.requests_per_minute"
    var settings = try ConfigurationFile.load(nil, overrides: [], table: .candled)
    try settings.overlay(key: key, value: "\(own)")
    try settings.overlay(key: "alpaca.symbols", value: "AAPL")
    let budget = CommandBudget(of: source, settings: settings, besideDaemon: besideDaemon)
    #expect(budget.requestsPerMinute == left && budget.isShared == besideDaemon)
  }

  @Test func `has all of the account where the daemon asks nothing of it`() throws {
    let settings = try ConfigurationFile.load(nil, overrides: [], table: .candled)
    let budget = CommandBudget(of: .alpacaIEX, settings: settings, besideDaemon: true)
    #expect(budget.requestsPerMinute == 180 && !budget.isShared)
  }

  @Test(arguments: [Source.sina, .alpacaIEX])
  func `asks nobody twice while it waits for the answer`(source: Source) throws {
    let settings = try ConfigurationFile.load(nil, overrides: [], table: .candled)
    let budget = CommandBudget(of: source, settings: settings, besideDaemon: false)
    var line = PacedQueue<Int>(
      PacedQueueConfiguration(source, requestsPerMinute: budget.requestsPerMinute, seed: 1))
    let asked = line.received(.enqueued([PacedJob(1, priority: 0)]), at: Self.lateOnLast)
    #expect(asked.count { $0.isRequest } == 1)
    for second in 1...Int64(HTTPUpstream.deadlineMilliseconds / 1_000) {
      let more = line.received(.woke, at: Self.lateOnLast.adding(seconds: second))
      #expect(!more.contains { $0.isRequest }, "again after \(second) s")
    }
  }
}

extension PacedQueue.Action {
  fileprivate var isRequest: Bool { if case .request = self { true } else { false } }
}

/// K-lines as Sina tells them.
enum KlineText {
  static func days(_ days: [TradingDay]) -> String {
    let rows = days.map { day in
      #"{"day":"\#(day)","open":"4.210","high":"4.220","low":"4.200","close":"4.210","#
        + #""volume":"367300"}"#
    }
    return "[\(rows.joined(separator: ","))]"
  }
}
