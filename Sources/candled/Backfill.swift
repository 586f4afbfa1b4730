/// `candled backfill`: history filled in beside the daemon, planned first, resumable at any moment.

import ArgumentParser
import Feeds
import Ingest
import Logging
import Market
import Operations
import Polling
import TerminalView

struct BackfillCommand: AsyncParsableCommand, DrainsOnSignal {
  static let configuration = CommandConfiguration(
    commandName: "backfill",
    abstract: "Fill in history from a source's bars.",
    discussion: Help.discussion(
      """
      Prints the plan and how long it takes, then sends the requests within the source's rate \
      limit, journals each response and stores chunk after chunk. The daemon may run meanwhile; \
      both use one change feed. After a kill or a stop, --resume continues where it ended. \
      Minutes of an A share are compared with the day's certificate: if they add up, gaps are \
      closed and candles revised; if not, the view `disagreements` has a row. A source may have \
      the newest bars only; the plan says how far it goes back.
      """,
      examples: [
        "candled backfill sh600519 --from 2021-01-01 --timeframe 1d": "daily candles since 2021",
        "candled backfill --all --from 2026-07-01 --timeframe 1m --dry-run": "print the plan only",
        "candled backfill AAPL --from 2026-01-01 --source \(Help.otherSource)":
          "daily candles of a US instrument",
      ]))

  @Argument(help: "The instruments, in any spelling.")
  var symbols: [String] = []

  @Flag(help: "All instruments of the source in the database.")
  var all = false

  @Option(help: "The timeframe: 1m, 5m, 15m, 30m, 60m, 1d, 1w or 1mo.")
  var timeframe = TimeframeArgument(.day1)

  @Option(help: ArgumentHelp("The first trading day.", valueName: "yyyy-mm-dd"))
  var from: DayArgument

  @Option(help: ArgumentHelp("The last trading day. (default: today)", valueName: "yyyy-mm-dd"))
  var to: DayArgument?

  @Option(help: "The source. (default: by the symbols)")
  var source: Source?

  @Flag(help: "Print the plan and stop.")
  var dryRun = false

  @Flag(help: "Skip what an earlier run stored; days since then come last.")
  var resume = false

  @OptionGroup var options: ConfigurationOptions

  func validate() throws {
    guard symbols.isEmpty == all else {
      throw ValidationError("Name at least one instrument, or use --all.")
    }
    guard timeframe.value != .afterHours else {
      throw ValidationError("--timeframe after_hours: no source has it.")
    }
  }

  func run() async throws {
    let settings = try options.load()
    try await CommandFailure.translating {
      let backfillSession = try BackfillSession(settings)
      // A typing error must not start a server first, nor may a plan.
      let order =
        all ? nil : try order(try symbols.map(BackfillSession.resolve), settings, backfillSession)
      try await backfillSession.whileOpen(starting: !dryRun) {
        let order =
          try order
          ?? self.order(try backfillSession.symbols(of: source), settings, backfillSession)
        try await fill(order, backfillSession)
      }
    }
  }

  private func fill(
    _ order: BackfillOrder, _ backfillSession: BackfillSession
  ) async throws {
    let plan = backfillSession.plan(order)
    let rounds = try await backfillSession.rounds(of: plan, leavingOutDone: resume)
    let (tasks, later) = (
      backfillSession.tasks(of: rounds.first, plan), backfillSession.tasks(of: rounds.second, plan)
    )
    printPlan(
      plan, rounds.first + rounds.second, tasks + later,
      backfillSession.budget(of: order.source).requestsPerMinute)
    if !tasks.isEmpty, !later.isEmpty {
      StandardError.writeLine("\(later.count) of these chunks, stored on an earlier day, come last")
    }
    if dryRun || (tasks + later).isEmpty { return }
    try await backfillSession.run(
      tasks, later: later, source: order.source, journal: order.name,
      resumption: "rerun with --resume")
  }

  private func order(
    _ symbols: [Symbol], _ settings: Settings, _ backfillSession: BackfillSession
  ) throws -> BackfillOrder {
    guard let source = source ?? symbols.first.flatMap({ settings.source(withBarsOf: $0) }) else {
      throw CommandFailure(status: .usage, sentence: "no source has bars of these symbols")
    }
    let last = to?.day ?? backfillSession.today(of: source)
    guard from.day <= last else {
      throw CommandFailure(status: .usage, sentence: "--from \(from.day) is after --to \(last)")
    }
    try backfillSession.check(symbols, of: source)
    guard let bars = SourceRegistry.definition(of: source).bars else {
      throw CommandFailure(status: .usage, sentence: "\(source.name) has no bars")
    }
    return BackfillOrder(
      source: source, name: source.name, form: bars.form, symbols: symbols,
      timeframe: timeframe.value, from: from.day, to: last)
  }

  private func printPlan(
    _ plan: BackfillPlan, _ chunks: [BackfillPlan.Chunk], _ tasks: [BackfillTask], _ budget: Int
  ) {
    let requests = zip(chunks, tasks).reduce(0) { sum, pair in
      // Pages are the plan's to guess; a day's factors are questions of their own.
      sum + max(pair.0.requests, pair.1.feedRequests.count)
    }
    StandardError.writeLine(
      "\(plan.order.source.name) \(plan.order.timeframe.name), \(plan.order.from) to "
        + "\(plan.order.to): \(counted(plan.order.symbols.count, "instrument")), "
        + "\(chunks.count) of \(counted(plan.chunks.count, "chunk")) to do, "
        + "about \(counted(requests, "request")), "
        + "\(counted((requests + budget - 1) / budget, "minute")) at \(budget) a minute")
    if let first = plan.reachesOnlyTo {
      StandardError.writeLine("the source has no bars before \(first)")
    }
  }
}

extension Settings {
  /// The first source that has bars of a symbol, and which of its series is configured.
  fileprivate func source(withBarsOf symbol: Symbol) -> Source? {
    SourceRegistry.all.first { $0.bars?.isRequestable(symbol) == true }.map { definition in
      definition.bars?.recording.map { $0.series(self) } ?? definition.mainSeries
    }
  }
}
