/// `candled replay`: a journal read again, into a database or against one. What the daemon wrote is
/// a function of its journal; this is how anybody can see that it is.

import ArgumentParser
import Candles
import Glibc
import Ingest
import Journal
import Market
import Operations
import Reader
import Store
import TerminalView

struct Replay: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Read a journal again, into an empty database or against the present one.",
    discussion: Help.discussion(
      """
      With --into, writes what the journal says into an empty database; the schema is applied if \
      there is none. With --verify, compares what the journal says with the configured database, \
      as far as that has come: candles, gaps, certificates, refused rows and quotes; every \
      difference is a line, and the exit status is 65 if there is one. The configuration must be \
      the one the daemon ran with. Where two daemons took turns, name the journals of both: each \
      term is read from its leader's, as far as the next leader found it stored.
      """,
      examples: [
        "candled replay /var/lib/candled/journal --verify":
          "is the database what the journal says?",
        "candled replay journal --into postgres://db/again":
          "make another database of it",
        "candled replay first/journal second/journal --verify":
          "of two daemons on one database",
        "candled replay journal --verify --from-position 120000":
          "where the journal's beginning is no longer kept",
      ]))

  @Argument(help: "The folder of the journal, or of each daemon's.", completion: .directory)
  var journals: [String]

  @Option(help: ArgumentHelp("Write into this database.", valueName: "url"))
  var into: String?

  @Flag(help: "Compare with the configured database.")
  var verify = false

  @Option(help: "Begin behind this entry, best one between two days.")
  var fromPosition: Int64 = 0

  @Flag(help: "Print JSON: one object a difference, and one with the counts.")
  var json = false

  @OptionGroup var options: ConfigurationOptions

  func validate() throws {
    guard (into != nil) != verify else {
      throw ValidationError("Say either --into with a database, or --verify.")
    }
    guard fromPosition >= 0 else {
      throw ValidationError("--from-position is a number from 0 on")
    }
    guard !journals.isEmpty, fromPosition == 0 || journals.count == 1 else {
      throw ValidationError("--from-position is of one journal")
    }
  }

  func run() async throws {
    let settings = try options.load()
    var pipeline = Pipeline(rules: CandleRules(settings))
    let learnt = await learntSessions(settings)
    pipeline.know(stored: (try? learnt.get()) ?? [])
    if let into {
      let counts = try await CommandFailure.translating {
        try await write(pipeline, into: into, settings)
      }
      try StandardOutput.write(lines: [counts.line(json: json)])
      counts.complain(of: learnt)
    } else {
      let outcome = try await CommandFailure.translating {
        try compare(pipeline, with: settings.storeAddress())
      }
      try StandardOutput.write(
        lines: outcome.differences.lines(json: json) + [
          outcome.counts.line(differences: outcome.differences.total, json: json)
        ])
      outcome.counts.complain(of: learnt)
      if outcome.differences.total > 0 { throw CommandFailure.silent(.dataError) }
    }
  }

  /// The days behind the table that the daemon learnt in a December: its journal may have
  /// forgotten. A database that is lost is what a replay is for: it may do without.
  private func learntSessions(
    _ settings: Settings
  ) async -> Result<[MarketSession], any Error> {
    do {
      return .success(
        try await CommandFailure.translating {
          try StoreReader(url: settings.storeAddress()).sessions()
        })
    } catch {
      return .failure(error)
    }
  }

  private func order() throws -> ReplayOrder {
    for journal in journals where access(journal, R_OK | X_OK) != 0 {
      throw CommandFailure(
        status: .noInput, sentence: "cannot read \(journal): \(reason(errno))")
    }
    return try ReplayOrder(journals, from: JournalPosition(fromPosition))
  }
}

// MARK: - Into a database

extension Replay {
  /// Entries received within so long share a commit: about a sweep, as in the daemon.
  private static let commitSpanMicroseconds: Int64 = 1_000_000

  private func write(
    _ start: Pipeline, into url: String, _ settings: Settings
  ) async throws -> ReplayCounts {
    var pipeline = start
    var order = try order()
    let writer = try await emptyDatabase(url, settings)
    var spanStart: Timestamp?
    while let (position, entry) = try order.next() {
      let span = entry.receivedAt.microseconds(since: spanStart ?? entry.receivedAt)
      if span >= Self.commitSpanMicroseconds, let commit = pipeline.takeCommit() {
        _ = try await writer.commit(commit)
        spanStart = nil
      }
      spanStart = spanStart ?? entry.receivedAt
      pipeline.process(entry, at: position)
    }
    if let commit = pipeline.takeCommit() { _ = try await writer.commit(commit) }
    await writer.disconnect()
    return ReplayCounts(pipeline)
  }

  private func emptyDatabase(_ url: String, _ settings: Settings) async throws -> StoreWriter {
    try Schema.applyIfAbsent(url: url)
    let writer = StoreWriter(url: url, confirmSeconds: settings.confirmSeconds)
    try await writer.connect()
    let stored = try await writer.load()
    guard stored.position == .start, stored.lastSeq == 0 else {
      throw CommandFailure(
        status: .cannotCreate,
        sentence: "the database is not empty: it stands at journal entry "
          + "\(stored.position.sequence); --into wants an empty one")
    }
    return writer
  }
}

// MARK: - Against a database

extension Replay {
  private func compare(_ start: Pipeline, with url: String) throws
    -> (counts: ReplayCounts, differences: Differences)
  {
    var pipeline = start
    let queries = try StoreReader(url: url)
    // The daemon may go on writing meanwhile.
    try queries.holdMoment()
    let stored = try queries.status().feed.position
    var order = try order()
    var verification = try ReplayVerification(queries)
    while pipeline.position < stored, let (position, entry) = try order.next() {
      pipeline.process(entry, at: position)
      try verification.record(entry.receivedAt)
      if let commit = pipeline.takeCommit() { try verification.add(commit) }
    }
    guard pipeline.position == stored else {
      throw CommandFailure(
        status: .dataError,
        sentence: "the database stands at journal entry \(stored.sequence), "
          + "\(journals.joined(separator: ", ")) ends at \(pipeline.position.sequence): "
          + "not its journal, or entries were lost")
    }
    try verification.finish()
    return (ReplayCounts(pipeline), verification.differences)
  }
}

/// What a replay came to.
struct ReplayCounts {
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

  /// Says so if days were replayed of which nobody knows whether they traded.
  func complain(of learnt: Result<[MarketSession], any Error>) {
    guard calendarEnd < lastDay else { return }
    let reason =
      switch learnt {
      case .success: "nor does the configured database"
      case .failure(let failure as CommandFailure): failure.sentence ?? "\(failure)"
      case .failure(let error): "\(error)"
      }
    StandardError.writeLine(
      "the journal does not say which days trade after \(calendarEnd), and K-lines of them were "
        + "refused; \(reason)")
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
