import Candles
import Commits
import Feeds
import Ingest
import Market
import Operations
import Polling

/// What is left of a plan, as tasks in the order they are carried out.
package struct BackfillSchedule: Sendable {
  /// Of these nothing is stored.
  package var tasks: [BackfillTask] = []
  /// Stored on an earlier day, with new days since then: carried out last.
  package var later: [BackfillTask] = []
  /// As far as can be known before: how many pages an answer has is an estimate.
  package var requests = 0

  package var isEmpty: Bool { tasks.isEmpty && later.isEmpty }
}

/// Decides what a backfill requests, in which order, and what an earlier run has left of it.
///
/// A function of the settings, the calendar, the time and the chunks that are stored. It sends no
/// request and opens no database, so that a plan can be printed, and tested, without either.
package struct BackfillPlanner: Sendable {
  private let settings: Settings
  private let credentials: SourceCredentials
  private let calendar: TradingCalendar
  private let now: Timestamp

  /// What a bar ended with may reach the source a few seconds late.
  private static let lateSeconds: Int64 = 60

  /// - Parameter calendar: the exchange's, as far as it is known.
  package init(
    _ settings: Settings, credentials: SourceCredentials, calendar: TradingCalendar, now: Timestamp
  ) {
    self.settings = settings
    self.credentials = credentials
    self.calendar = calendar
    self.now = now
  }

  // MARK: - Orders

  /// Any well-formed symbol that a source has bars of.
  package static func resolve(_ spelling: String) throws(HistoryError) -> Symbol {
    for spelling in [spelling, spelling.uppercased()] {
      guard let symbol = Symbol(anySpelling: spelling) else { continue }
      if SourceRegistry.all.contains(where: { $0.bars?.isRequestable(symbol) == true }) {
        return symbol
      }
    }
    throw HistoryError(
      .invalidOrder, sentence: "\(spelling): expected a symbol such as sh600519 or AAPL")
  }

  /// - Parameters:
  ///   - symbols: at least one.
  ///   - source: nil is the first one that has bars of them.
  ///   - last: nil is today, where they are traded.
  /// - Throws: `invalidOrder`, `keyMissing`.
  package func order(
    of symbols: [Symbol], from source: Source?, timeframe: Timeframe, first: TradingDay,
    last: TradingDay?
  ) throws(HistoryError) -> BackfillOrder {
    guard let source = source ?? symbols.first.flatMap(self.source(withBarsOf:)) else {
      throw HistoryError(.invalidOrder, sentence: "no source has bars of these symbols")
    }
    let last = last ?? source.today(at: now)
    guard first <= last else {
      throw HistoryError(.invalidOrder, sentence: "--from \(first) is after --to \(last)")
    }
    let definition = SourceRegistry.definition(of: source)
    let unknown = symbols.first { definition.bars?.isRequestable($0) != true }
    guard unknown == nil, let bars = definition.bars else {
      throw HistoryError(
        .invalidOrder,
        sentence: "\(source.name) does not know \(unknown?.description ?? "any symbol")")
    }
    if let file = definition.credentials?.file, credentials.keys(of: definition).isEmpty {
      throw HistoryError(
        .keyMissing, sentence: "\(source.name) needs a key: set \(file.key)")
    }
    return BackfillOrder(
      source: source, name: source.name, form: bars.form, symbols: symbols, timeframe: timeframe,
      from: first, to: last)
  }

  /// The first source that has bars of a symbol, and which of its series is configured.
  private func source(withBarsOf symbol: Symbol) -> Source? {
    SourceRegistry.all.first { $0.bars?.isRequestable(symbol) == true }.map { definition in
      definition.bars?.recording.map { $0.series(settings) } ?? definition.mainSeries
    }
  }

  // MARK: - Plans

  package func plan(_ order: BackfillOrder) -> BackfillPlan {
    let isBooked = !order.source.hasBarsAlone
    let availableAt = availableAt(order.source).adding(seconds: -Self.lateSeconds)
    let today = order.source.today(at: availableAt)
    let isOver =
      isBooked && availableAt.shanghaiSecondOfDay >= CandleRules(settings).dayEndSecondOfDay
    return BackfillPlan(
      order, today: today, lastOver: isOver ? today : today.advanced(by: -1)
    ) { isBooked ? calendar.isTradingDay($0) : nil }
  }

  /// - Parameter done: how far chunks are stored, by name; empty begins anew.
  package func schedule(_ plan: BackfillPlan, done: [String: TradingDay]) -> BackfillSchedule {
    let rounds = plan.rounds(leavingOut: done)
    var schedule = BackfillSchedule(
      tasks: rounds.first.map { task(of: $0, in: plan) },
      later: rounds.second.map { task(of: $0, in: plan) })
    let chunks = rounds.first + rounds.second
    schedule.requests = zip(chunks, schedule.tasks + schedule.later).reduce(0) { sum, pair in
      // Pages are the plan's to guess; a day's factors are requests of their own.
      sum + max(pair.0.requests, pair.1.feedRequests.count)
    }
    return schedule
  }

  private func task(of chunk: BackfillPlan.Chunk, in plan: BackfillPlan) -> BackfillTask {
    BackfillTask(
      chunk: HistoryCommit.Chunk(name: chunk.name, through: plan.through(chunk)),
      feedRequests: feedRequests(of: chunk, in: plan.order), days: chunk.from...chunk.to)
  }

  private func feedRequests(
    of chunk: BackfillPlan.Chunk, in order: BackfillOrder
  ) -> [FeedRequest] {
    guard !order.source.hasBarsAlone else {
      let query = BarsQuery(
        symbols: chunk.symbols, timeframe: order.timeframe,
        start: order.source.midnight(of: chunk.from),
        end: min(
          order.source.midnight(of: chunk.to.advanced(by: 1)), availableAt(order.source)))
      return query.start < query.end ? [FeedRequest(.bars(query), to: order.source)] : []
    }
    let bars = SourceRegistry.definition(of: order.source).bars
    guard let bars, bars.timeframes.contains(order.timeframe) else { return [] }
    // Days of years are of little use without what they must be adjusted by.
    let withFactors = bars.hasFactors && order.timeframe == .day1
    return chunk.symbols.flatMap { symbol -> [FeedRequest] in
      let factors = withFactors ? AdjustmentFactor.Kind.allCases : []
      let queries =
        [FeedQuery.newestBars(symbol, order.timeframe, count: chunk.newestBars)]
        + factors.map { .factors(symbol, $0) }
      return queries.map { FeedRequest($0, to: order.source) }
    }
  }

  /// The newest moment that the account's plan has bars of.
  private func availableAt(_ source: Source) -> Timestamp {
    let recording = SourceRegistry.definition(of: source).bars?.recording
    return now.adding(
      milliseconds: -(recording.map { settings[$0.delay].wholeMilliseconds } ?? 0))
  }

  // MARK: - Repairs

  /// The first day whose minutes can still be had.
  package var firstRepairDay: TradingDay {
    RepairPlan().firstDay(on: Source.live.today(at: now)) { calendar.isTradingDay($0) }
  }

  /// The minutes of every day that has open gaps, or is not balanced.
  /// - Parameter symbol: nil for all.
  package func repairs(_ candidates: [RepairCandidate], of symbol: Symbol?) -> BackfillSchedule {
    let today = Source.live.today(at: now)
    let wanted = candidates.filter { candidate in
      // A clock that is behind the rows must not ask for a day that it has not come to.
      candidate.day <= today && candidate.want >= .unbalanced
        && (symbol == nil || candidate.symbol == symbol)
    }
    // Ordered by hand, nothing rests.
    let never = wanted.map { RepairCandidate(symbol: $0.symbol, day: $0.day, want: $0.want) }
    let tasks = RepairPlan().orders(never, at: now).map { order in
      BackfillTask(
        feedRequests: [.minutes(of: order, on: today, calendar: calendar, from: .live)],
        days: order.firstDay...today)
    }
    return BackfillSchedule(tasks: tasks, requests: tasks.count)
  }
}

extension Source {
  fileprivate func midnight(of day: TradingDay) -> Timestamp {
    SourceRegistry.definition(of: self).market.zone.moment(on: day, secondOfDay: 0)
  }
}
