/// `candled replay`: a journal read again, into a database or against one. What the daemon wrote is
/// a function of its journal; this is how anybody can see that it is.

import ArgumentParser
import Candles
import Commands
import Commits
import DaemonCommands
import Feeds
import Glibc
import History
import Ingest
import Journal
import Market
import Operations
import Reader
import Store
import TerminalView

struct Replay: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Replay a journal into an empty database, or compare it with the present one.",
    discussion: Help.discussion(
      """
      With --into, writes the rows of the journal into an empty database; a missing schema is \
      applied. With --verify, compares the rows of the journal with the configured database, up \
      to the position the database has stored: candles, gaps, certificates, refused rows, \
      quotes, and which source served. Every difference is one line, and the exit status is 65 \
      if there is one. Use the configuration the daemon ran with. If two daemons have led in \
      turn, name the journals of both: each term is read from the journal of its leader, up to \
      where the next one began.
      """,
      examples: [
        "candled replay /var/lib/candled/journal --verify":
          "compare the database with the journal",
        "candled replay journal --into postgres://db/again":
          "build another database from it",
        "candled replay first/journal second/journal --verify":
          "the journals of two daemons on one database",
        "candled replay journal --verify --from-position 120000":
          "if the journal's oldest segments were deleted",
      ]))

  @Argument(help: "The folder of the journal, or one of each daemon.", completion: .directory)
  var journals: [String]

  @Option(help: ArgumentHelp("Write into this empty database.", valueName: "url"))
  var into: String?

  @Flag(help: "Compare with the configured database.")
  var verify = false

  @Option(help: "Begin after this entry; choose one between two days.")
  var fromPosition: Int64 = 0

  @Flag(help: "Print one JSON object per difference, and one with the counts.")
  var json = false

  @OptionGroup var options: ConfigurationOptions

  func validate() throws {
    guard (into != nil) != verify else {
      throw ValidationError("Use either --into or --verify.")
    }
    guard fromPosition >= 0 else {
      throw ValidationError("--from-position takes a number from 0")
    }
    guard !journals.isEmpty, fromPosition == 0 || journals.count == 1 else {
      throw ValidationError("--from-position works with one journal only")
    }
  }

  func run() async throws {
    let settings = try options.load()
    RuleBook.use(operators: try settings.operatorsRules())
    var pipeline = Pipeline(rules: CandleRules(settings))
    let learnt = learntSessions(settings)
    pipeline.know(stored: (try? learnt.get()) ?? [])
    pipeline.calendar.overrides = try settings.declaredDays().byDay
    pipeline.declare(try settings.declaredLinks())
    let counts: ReplayCounts
    var differences: ReplayDifferences?
    if let into {
      counts = try await write(pipeline, into: into, settings: settings)
    } else {
      (counts, differences) = try compare(pipeline, with: settings.storeAddress())
    }
    try StandardOutput.write(
      lines: (differences?.lines(json: json) ?? [])
        + [counts.line(differences: differences?.total, json: json)])
    counts.complain(of: learnt)
    if let differences, differences.total > 0 { throw CommandFailure.silent(.dataError) }
  }

  /// The days beyond the built-in calendar that the daemon learnt: the journal may no longer hold
  /// them. A replay is for a database that is lost, too: it may do without.
  private func learntSessions(_ settings: Settings) -> Result<[MarketSession], any Error> {
    Result { try StoreReader(url: settings.storeAddress()).sessions() }
  }

  private func replay(_ pipeline: Pipeline) throws -> JournalReplay {
    for journal in journals where access(journal, R_OK | X_OK) != 0 {
      throw CommandFailure(
        status: .noInput, sentence: "cannot read \(journal): \(reason(errno))")
    }
    return try JournalReplay(pipeline, of: journals, after: JournalPosition(fromPosition))
  }

  private func write(
    _ pipeline: Pipeline, into url: String, settings: Settings
  ) async throws -> ReplayCounts {
    var replay = try replay(pipeline)
    try Schema.applyIfAbsent(url: url, sources: SourceRegistry.rows)
    let writer = StoreWriter(url: url, confirmSeconds: settings.confirmSeconds)
    try await writer.connect()
    let stored = try await writer.load()
    guard stored.position == .start, stored.lastSeq == 0 else {
      throw CommandFailure(
        status: .cannotCreate,
        sentence: "the database is not empty, it stands at journal entry "
          + "\(stored.position.sequence): --into needs an empty one")
    }
    try await writer.record(RuleBook.current)
    while let commit = try replay.nextCommit() { _ = try await writer.commit(commit) }
    await writer.disconnect()
    return ReplayCounts(replay.pipeline)
  }

  private func compare(
    _ pipeline: Pipeline, with url: String
  ) throws -> (ReplayCounts, ReplayDifferences?) {
    let tables = try StoreReader(url: url)
    // The daemon may go on writing meanwhile.
    try tables.holdMoment()
    let stored = try tables.status().feed.position
    var replay = try replay(pipeline)
    let differences = try replay.differences(from: tables, at: stored)
    return (ReplayCounts(replay.pipeline), differences)
  }
}

extension ReplayDifferences {
  fileprivate func lines(json: Bool) -> [String] {
    let lines = kept.map { json ? $0.object : $0.sentence }
    let more = total - kept.count
    return json || more == 0 ? lines : lines + ["… and \(more) more differences"]
  }
}

extension ReplayDifference {
  fileprivate var object: String {
    JSONText.object([
      ("table", .text(table)), ("key", .text(key)), ("stored", .optional(stored)),
      ("replayed", .optional(replayed)),
    ])
  }

  fileprivate var sentence: String {
    let subject = "\(table) \(key): "
    switch (stored, replayed) {
    case (let stored?, let replayed?): return subject + "database \(stored), journal \(replayed)"
    case (_?, nil): return subject + "only in the database"
    case (nil, _): return subject + "only in the journal"
    }
  }
}

/// What a replay came to.
private struct ReplayCounts {
  private let position: JournalPosition
  private let totals: PipelineCounters
  private let calendarEnd: TradingDay
  private let lastDay: TradingDay

  init(_ pipeline: Pipeline) {
    position = pipeline.position
    totals = pipeline.counters
    calendarEnd = pipeline.calendar.lastDay
    lastDay = pipeline.knownAt.shanghaiDay
  }

  /// Prints a warning if the trading calendar does not cover all replayed days.
  func complain(of learnt: Result<[MarketSession], any Error>) {
    guard calendarEnd < lastDay else { return }
    let reason =
      switch learnt {
      case .success: "the configured database has no calendar for them, either"
      case .failure(let error): CommandFailure(of: error)?.sentence ?? "\(error)"
      }
    StandardError.writeLine(
      "the journal holds no trading calendar after \(calendarEnd), so weekdays after it were taken "
        + "for trading days: \(reason)")
  }

  /// - Parameter differences: nil where nothing was compared.
  func line(differences: Int? = nil, json: Bool) -> String {
    var members: [(key: String, value: ResultCell)] = [
      ("position", .integer(position.sequence)), ("entries", .integer(Int64(totals.entries))),
      ("candles", .integer(Int64(totals.candles))), ("gaps", .integer(Int64(totals.gaps))),
      ("certificates", .integer(Int64(totals.certificates))),
    ]
    if let differences { members.append(("differences", .integer(Int64(differences)))) }
    if json { return JSONText.object(members) }
    return members.map { "\($0.key) \($0.value.text)" }.joined(separator: ", ")
  }
}
