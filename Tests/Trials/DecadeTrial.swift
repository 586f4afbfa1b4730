import Candles
import Commits
import Feeds
import Foundation
import Ingest
import Journal
import Logging
import Market
import Operations
import Platform
import Polling
import Store
import TestSupport

/// Eleven years, 2016 to 2026, and the same again ten years later, with what happened to exchanges,
/// sources, codes and clocks on its day (`DecadeEvent`).
///
/// A day is lived through by the daemon's own engine, workers, journal, pipeline and writer, on a
/// real PostgreSQL, with a clock that jumps from one due moment to the next; every day begins with
/// a restart from what is stored. Left out are HTTP, the process and its lease.
package struct DecadeTrial: Sendable {
  /// Years between what happened and when it happens in the trial.
  package var shift: Int
  package var seed: UInt64
  /// The days of some events alone, each with the day before it.
  package var isShort = false
  /// The events by their numbers; nil for all.
  package var numbers: Set<Int>?
  package var years = 11
  /// Of the first year's, what a commit, a query and its planning may take in the last one.
  package var slowerPercentMax = 120

  package init(shift: Int, seed: UInt64) { (self.shift, self.seed) = (shift, seed) }

  /// An ordinary day is requested 24 times, and each trade is seen by itself.
  static let quietSilenceSeconds = 660

  package func run(progress: @escaping @Sendable (String) -> Void) async throws -> ChaosVerdict {
    let database = try StoreDatabase.alone(more: ["shared_buffers": "256MB"])
    let events =
      numbers.map { numbers in
        DecadeEvent.all.filter { numbers.contains($0.number) }
      } ?? DecadeEvent.all.filter { !isShort || $0.isShort }
    let first = TradingDay.of(2016 + shift, 1, 4)
    var calendar = DecadeCalendar()
    for event in events { event.calendar(&calendar, shift) }
    let market = DecadeMarket(seed: seed, before: first.advanced(by: -4))
    let world = DecadeWorld(market: market, calendar: calendar)
    let run = try DecadeRun(
      seed: seed, database: database, world: world,
      table: DecadeCalendar.table(before: .of(2016 + shift, 1, 1)))
    let schedule = DecadeSchedule(
      events: events, shift: shift, calendar: calendar, isShort: isShort,
      hasFirstDates: isShort && numbers == nil)
    var verifier = DecadeVerifier(
      database: database, isShort: isShort, excused: schedule.daysOff)
    let through = TradingDay.of(2015 + years + shift, 12, 31)
    var year = first.civil.year
    for day in schedule.days(from: first, through: through) {
      if day.civil.year != year, !isShort {
        progress(try verifier.endYear(year))
        year = day.civil.year
      }
      let facts = try await run.live(schedule.plan(of: day, seed: seed))
      try verifier.verify(facts, events: schedule.events(on: day))
    }
    if !isShort { progress(try verifier.endYear(year)) }
    return verifier.verdict(
      events, isWhole: years == 11, slowerPercentMax: isShort ? nil : slowerPercentMax)
  }
}

/// What a day was, for those who judge it.
struct DecadeFacts {
  let plan: DecadePlan
  /// Of the daemon's log.
  let lines: [String]
  /// What the minutes of each instrument that was requested must be, by the second at which they
  /// open.
  let minutes: [Symbol: [Int: (close: Int64, shares: Int64)]]
  let instruments: [Symbol: DecadeMarket.Instrument]
  let requests: [String: Int]
  /// Microseconds of each commit that stored something.
  let commits: [Int]
  let report: EngineReport
  /// The day's rows as an uninterrupted reading of the journal makes them; nil where nobody asked.
  let replayed: DayRows?
  let database: StoreDatabase

  var day: TradingDay { plan.day }

  func rows(_ sql: String) throws -> [[String?]] { try database.execute(sql) }

  func count(_ sql: String) throws -> Int {
    Int(try rows(sql).first?.first.flatMap { $0 } ?? "") ?? 0
  }

  func logged(_ words: String) -> Int { lines.count { $0.contains(words) } }
}

/// The daemon of the ten years, as far as it outlives a day.
final class DecadeRun {
  private let seed: UInt64
  private let database: StoreDatabase
  private let world: DecadeWorld
  private let folder: String
  private let table: TradingCalendar?
  private let alpacaKey: String
  private var links: [InstrumentLink] = []

  init(
    seed: UInt64, database: StoreDatabase, world: DecadeWorld, table: TradingCalendar?
  ) throws {
    (self.seed, self.database, self.world, self.table) = (seed, database, world, table)
    folder = try PrivateCluster.freshDirectory()
    alpacaKey = folder + "/alpaca.key"
    _ = FileManager.default.createFile(
      atPath: alpacaKey, contents: Data("decade-key decade-secret\n".utf8),
      attributes: [.posixPermissions: 0o600])
  }

  func live(_ plan: DecadePlan) async throws -> DecadeFacts {
    await world.begin(plan)
    links += plan.links
    let log = LogLines(level: .notice)
    var commits: [Int] = []
    var replay: Pipeline?
    var position = JournalPosition.start
    let ends = [plan.restartAt, plan.end].compactMap { $0 }
    var report: EngineReport?
    for (place, end) in ends.enumerated() {
      let writer = StoreWriter(url: database.url)
      try await writer.connect()
      let stored = try await writer.load()
      if place == 0, plan.restartAt != nil {
        (replay, position) = (try Self.pipeline(stored, plan, table), stored.position)
        replay?.declare(links)
      }
      let sink = TimedSink(writer)
      let start = place == 0 ? plan.start : ends[0] + 1
      let engine = try engine(
        plan, from: start, to: end, sink: sink, stored: stored, log: log)
      await world.follow(engine)
      let unsaved = try await engine.run()
      if !unsaved.isNone { throw TrialFailure("\(plan.day): \(unsaved) were not saved") }
      report = await engine.report(on: [])
      commits += await sink.microseconds
      await world.follow(nil)
      await writer.disconnect()
    }
    guard let report else { preconditionFailure("a day has an end") }
    let (market, polled) = (await world.market, await world.polled)
    return DecadeFacts(
      plan: plan, lines: log.lines,
      minutes: Dictionary(
        uniqueKeysWithValues: market.symbols.filter(polled.contains).map {
          ($0, market.minutes(of: $0))
        }),
      instruments: market.instruments, requests: await world.requests, commits: commits,
      report: report, replayed: try replay.map { try rows(of: $0, after: position) },
      database: database)
  }

  private static func pipeline(
    _ stored: StoredState, _ plan: DecadePlan, _ table: TradingCalendar?
  ) throws -> Pipeline {
    var rules = CandleRules()
    if plan.cadenceSeconds > rules.silenceSecondsMax {
      rules.silenceSecondsMax = DecadeTrial.quietSilenceSeconds
      rules.sourceTimeoutSeconds = DecadeTrial.quietSilenceSeconds + 60
    }
    var limits = UniverseLimits()
    limits.mainRowsMin = 5
    // One of twenty is five per cent.
    limits.keptPercentMin = 80
    var pipeline = try Pipeline(rules: rules, limits: limits, stored: stored)
    if let table { pipeline.calendar = table.extended(byStored: stored.sessions) }
    return pipeline
  }

  private func engine(
    _ plan: DecadePlan, from start: Int, to end: Int, sink: TimedSink, stored: StoredState,
    log: LogLines
  ) throws -> Engine {
    let midnight = Timestamp(day: plan.day, secondOfDay: 0)
    var options = JournalOptions()
    options.segmentBytes = 4 << 20
    let parts = EngineParts(
      clock: .stepped(start: midnight.adding(seconds: Int64(start)), jumps: plan.jumps),
      workers: SourceWorkers(try configuration(plan), upstream: world), store: sink,
      journal: try JournalWriter(
        directory: folder + "/journal", options: options, committed: stored.position),
      journalDirectory: folder + "/journal", log: log.logger)
    var limits = EngineLimits()
    limits.stopAt = midnight.adding(seconds: Int64(end))
    limits.journalBytesMax = 128 << 20
    return Engine(parts: parts, pipeline: try Self.pipeline(stored, plan, table), limits: limits)
  }

  private func configuration(_ plan: DecadePlan) throws -> WorkerConfiguration {
    var settings = Settings(.candled)
    try settings.overlay(key: "universe.follow", value: "true")
    if plan.hasNight {
      try settings.overlay(key: "alpaca.key_file", value: alpacaKey)
      try settings.overlay(key: "alpaca.symbols", value: "\(DecadeAmerica.symbol)")
    }
    var configuration = WorkerConfiguration(
      settings, credentials: try SourceCredentials(settings), speed: 1, seed: seed)
    configuration.repairs.requestsPerNight = 0
    configuration.declaredLinks = links
    // One lost sweep is no reason to leave a source.
    configuration.failoverMilliseconds = Int64(plan.cadenceSeconds) * 2_500
    var poller = PollerConfiguration(referenceSymbol: DecadeMarket.index, seed: seed)
    poller.batchSymbolsMax = 60
    let fixed = [DecadeMarket.index] + DecadeMarket.funds
    configuration.quotes = [Source.live, .decadeTencent].prefix(plan.hasBoth ? 2 : 1).map {
      QuotesConfiguration(
        source: $0, poller: poller,
        schedule: PollSchedule(
          windows: PollWindow.aShare(every: plan.cadenceSeconds), seed: seed,
          isTradingDay: TradingCalendar.shanghai.mayTrade),
        symbols: fixed, followsUniverse: true)
    }
    return configuration
  }

  /// What the journal says of the day, read without a stop.
  private func rows(of pipeline: Pipeline, after position: JournalPosition) throws -> DayRows {
    var pipeline = pipeline
    var rows = DayRows()
    let reader = try JournalReader(directory: folder + "/journal", after: position)
    while let (position, entry) = try reader.next() {
      pipeline.process(entry, at: position)
      if let commit = pipeline.takeCommit() { rows.take(commit) }
    }
    return rows
  }
}
