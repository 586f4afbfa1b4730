/// `candled backfill`: history filled in beside the daemon, planned first, resumable at any moment.

import ArgumentParser
import Commands
import DaemonCommands
import Feeds
import History
import Market

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

  @Option(help: "The timeframe.")
  var timeframe = TimeframeArgument(.day1)

  @Option(help: ArgumentHelp("The first trading day.", valueName: "yyyy-mm-dd"))
  var from: DayArgument

  @Option(help: ArgumentHelp("The last trading day. (default: today)", valueName: "yyyy-mm-dd"))
  var to: DayArgument?

  @Option(help: "The source. (default: by the symbols)")
  var source: SourceArgument?

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
      throw ValidationError("The session after hours has no bars.")
    }
  }

  func run() async throws {
    let settings = try options.load()
    let session = try BackfillSession(settings)
    // A typing error must not start a server first, nor may a plan.
    let early = all ? nil : try order(try symbols.map(BackfillPlanner.resolve), by: session)
    try await session.whileOpen(starting: !dryRun) {
      let order = try early ?? order(try session.symbols(of: source?.value), by: session)
      try await fill(order, by: session)
    }
  }

  private func order(
    _ symbols: [Symbol], by session: BackfillSession
  ) throws(HistoryError) -> BackfillOrder {
    try session.planner.order(
      of: symbols, from: source?.value, timeframe: timeframe.value, first: from.day, last: to?.day)
  }

  private func fill(_ order: BackfillOrder, by session: BackfillSession) async throws {
    let plan = session.planner.plan(order)
    let done = resume ? try await session.done(plan) : [:]
    let schedule = session.planner.schedule(plan, done: done)
    printPlan(
      plan, schedule: schedule,
      requestsPerMinute: session.budget(of: order.source).requestsPerMinute)
    if dryRun || schedule.isEmpty { return }
    try await session.run(
      schedule, source: order.source, journal: order.name, resumption: "rerun with --resume")
  }

  private func printPlan(
    _ plan: BackfillPlan, schedule: BackfillSchedule, requestsPerMinute budget: Int
  ) {
    let (order, later) = (plan.order, schedule.later.count)
    StandardError.writeLine(
      "\(order.source.name) \(order.timeframe.name), \(order.from) to \(order.to): "
        + "\(counted(order.symbols.count, "instrument")), \(schedule.tasks.count + later) of "
        + "\(counted(plan.chunks.count, "chunk")) to do, "
        + "about \(counted(schedule.requests, "request")), "
        + "\(counted((schedule.requests + budget - 1) / budget, "minute")) at \(budget) a minute")
    if let first = plan.reachesOnlyTo {
      StandardError.writeLine("the source has no bars before \(first)")
    }
    if !schedule.tasks.isEmpty, later > 0 {
      StandardError.writeLine("\(later) of these chunks, stored on an earlier day, come last")
    }
  }
}
