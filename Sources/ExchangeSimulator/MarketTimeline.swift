import Market

/// A market that can be asked about any moment of its days, in any order.
///
/// Time mostly runs forward and then this is just the market. A client that was killed asks again
/// for a moment that has passed, and a lagging node shows one: then a copy is stepped forward from
/// the nearest checkpoint, and kept, because the next such question is usually a little later.
/// Answers are a pure function of (seed, time) whatever was asked before. At midnight the next day
/// begins where the last one ended, and shows its lines until it has its own.
struct MarketTimeline: Sendable {
  private(set) var front: SimulatedMarket
  /// The days the market lives through, and what traded in them.
  var history: SimulatedHistory
  private var checkpoints: [SimulatedMarket]
  private var behind: SimulatedMarket?

  /// Ten minutes: rewinding costs 200 steps at most, a day's checkpoints some 40 MB.
  private static let checkpointSeconds = 600

  init(_ history: SimulatedHistory, beginning market: SimulatedMarket) {
    self.history = history
    front = market
    checkpoints = [market.withoutLines()]
  }

  /// Shows the market as of `moment` to `reader`. `recorders` see each step of a day once,
  /// whatever is shown again later.
  mutating func show<Result>(
    at moment: Timestamp, recording recorders: DayRecorders,
    to reader: (inout SimulatedMarket) -> Result
  ) -> Result {
    let day = history.day(at: moment)
    if day > front.day { begin(day, recorders) }
    let second = front.publication(at: moment)
    if day == front.day, second >= front.second {
      advanceFront(to: second, recorders.recorder(of: front))
      return reader(&front)
    }
    var copy = copy(before: moment, on: day)
    behind = nil
    copy.advance(to: moment)
    defer { behind = copy }
    return reader(&copy)
  }

  /// Every day on the way happens to its end, so that its recorder has seen all of it.
  private mutating func begin(_ day: TradingDay, _ recorders: DayRecorders) {
    for next in history.days where front.day < next && next <= day {
      advanceFront(to: Grid.dayEnd, recorders.recorder(of: front))
      front = SimulatedMarket(following: front, on: next)
      checkpoints = [front.withoutLines()]
      recorders.begin(front)
    }
  }

  private mutating func copy(before moment: Timestamp, on day: TradingDay) -> SimulatedMarket {
    if let behind, behind.day == day, behind.second <= behind.publication(at: moment) {
      return behind
    }
    if day < front.day { return history.market(on: day) }
    return checkpoint(before: front.publication(at: moment))
  }

  private mutating func advanceFront(to second: Int, _ recorder: DayRecorder?) {
    while front.second < second {
      let last = checkpoints[checkpoints.count - 1].second
      let stop = min(second, last + MarketTimeline.checkpointSeconds)
      front.advance(
        to: Timestamp(day: front.day, secondOfDay: stop), recording: recorder)
      if front.second >= last + MarketTimeline.checkpointSeconds {
        checkpoints.append(front.withoutLines())
      }
    }
  }

  /// The latest checkpoint not after `second`; the first is from before the day begins.
  private func checkpoint(before second: Int) -> SimulatedMarket {
    checkpoints.last { $0.second <= second } ?? checkpoints[0]
  }
}

/// Who records which day: the recorder that was handed in its own, and every later day a new one if
/// that is wanted.
///
/// Not safe for several threads at once: `ExchangeServer` holds its lock around it.
final class DayRecorders {
  private(set) var byDay: [TradingDay: DayRecorder]
  private let recordsEveryDay: Bool
  /// What later days mix among their lines.
  private let falseRows: FalseRowPlan?

  init(_ first: DayRecorder?, recordsEveryDay: Bool, falseRows: FalseRowPlan? = nil) {
    byDay = first.map { [$0.day: $0] } ?? [:]
    self.recordsEveryDay = recordsEveryDay
    self.falseRows = falseRows
  }

  /// A day is about to begin.
  func begin(_ market: SimulatedMarket) {
    if recordsEveryDay, byDay[market.day] == nil {
      byDay[market.day] = DayRecorder(market, falseRows: falseRows)
    }
  }

  /// nil if nobody records that day.
  func recorder(of market: SimulatedMarket) -> DayRecorder? { byDay[market.day] }

  func withdraw(_ ticket: DayRecorder.Ticket) { byDay[ticket.day]?.withdraw(ticket) }
}
