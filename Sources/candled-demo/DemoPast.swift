import Commands
import DaemonCommands
import DemoView
import ExchangeSimulator
import Feeds
import History
import Ingest
import Market
import Operations
import Platform
import Polling

/// The days behind a demo's day, filled in as `candled backfill` does it: the simulated exchange
/// serves them as K-lines and factors, and a response is journaled before its rows are stored.
struct DemoPast {
  /// Ascending, all before the demo's day.
  let days: [TradingDay]
  /// When they are filled in: before the demo's day begins.
  let now: Timestamp

  /// The last days that have minutes, too.
  static let minuteDaysMax = 5
  static let daysMax = 250
  private static let secondOfDay = 7 * 3600

  /// The host is this machine's own, so that only the machine limits the pace. Four requests under
  /// way keep both the exchange and the store busy.
  private static let requestsPerMinute = 600_000
  private static let inFlightMax = 4
  private static let burst = 64

  init(_ count: Int, before day: TradingDay) {
    days = SimulatedHistory.tradingDays(count, through: day.advanced(by: -1))
    now = Timestamp(day: day, secondOfDay: Self.secondOfDay)
  }

  /// - Returns: false if it was stopped.
  /// - Throws: `temporaryFailure` if a request was given up.
  func fill(_ symbols: [Symbol], by session: BackfillSession, until stop: Latch<Void>) async throws
    -> Bool
  {
    guard let first = days.first else { return true }
    let minuteDays = Array(days.suffix(Self.minuteDaysMax))
    let parts = [
      (counted(days.count, "day"), Timeframe.day1, first),
      ("minutes of \(counted(minuteDays.count, "day"))", .minute1, minuteDays[0]),
    ]
    var isWhole = true
    try await session.whileOpen {
      for (what, timeframe, first) in parts where isWhole {
        let order = try session.planner.order(
          of: symbols, from: nil, timeframe: timeframe, first: first, last: days.last)
        isWhole = try await fill(order, what: what, by: session, until: stop)
      }
    }
    return isWhole
  }

  private func fill(
    _ order: BackfillOrder, what: String, by session: BackfillSession, until stop: Latch<Void>
  ) async throws -> Bool {
    let schedule = session.planner.schedule(session.planner.plan(order), done: [:]).grouped
    var line = PacedQueueConfiguration(
      order.source, requestsPerMinute: Self.requestsPerMinute, seed: 1)
    line.inFlightMax = Self.inFlightMax
    line.burst = Self.burst
    let printer = ProgressPrinter()
    let begun = ContinuousClock.now
    let shown = { @Sendable (progress: BackfillProgress) in
      var shown = DemoPastProgress(what, instruments: order.symbols.count)
      shown.instrumentsDone = min(
        progress.tasksDone * BackfillSchedule.instrumentsPerCommit, order.symbols.count)
      shown.candles = progress.candles
      return shown
    }
    let end = try await session.perform(schedule, of: order.source, journal: order.name, line: line)
    { end in
      stop.whenSet { _ in end() }
    } report: { progress in
      printer.show(shown(progress).line, at: progress.now)
    }
    if stop.isSet { return false }
    guard end.tasksDone == end.tasks else {
      throw CommandFailure(
        status: .temporaryFailure,
        sentence: "\(what) behind the demo's day: \(end.tasksFailed) requests given up")
    }
    let seconds = Int((ContinuousClock.now - begun).components.seconds)
    printer.finish(shown(end).line(afterSeconds: seconds))
    return true
  }
}

extension BackfillSchedule {
  /// A commit for each instrument took 1.5 times as long.
  fileprivate static let instrumentsPerCommit = 20

  /// The same requests in fewer commits. They are stored under no name: nobody resumes a demo.
  fileprivate var grouped: BackfillSchedule {
    var grouped = self
    grouped.tasks = stride(from: 0, to: tasks.count, by: Self.instrumentsPerCommit).map { start in
      let group = tasks[start..<min(start + Self.instrumentsPerCommit, tasks.count)]
      return BackfillTask(
        feedRequests: group.flatMap(\.feedRequests), days: tasks[start].days)
    }
    return grouped
  }
}
