import ExchangeSimulator
import Market

/// A market that can be asked about any moment of its days, in any order.
///
/// Time mostly runs forward and then this is just the market. A client that was killed asks again
/// for a moment that has passed, and a lagging node shows one: then a copy is stepped forward from
/// the nearest checkpoint, and kept, because the next such question is usually a little later.
/// Answers are a pure function of (seed, time) whatever was asked before. At midnight the next day
/// begins where the last one ended, and shows its lines until it has its own.
package struct MarketTimeline: Sendable {
  package private(set) var front: SimulatedMarket
  /// The days the market lives through, and what traded in them.
  package var history: SimulatedHistory
  private var checkpoints: [SimulatedMarket]
  private var behind: SimulatedMarket?

  /// Ten minutes: rewinding costs 200 steps at most, a day's checkpoints some 40 MB.
  private static let checkpointSeconds = 600

  init(_ history: SimulatedHistory, beginning market: SimulatedMarket) {
    self.history = history
    front = market
    checkpoints = [market.withoutLines()]
  }

  /// Shows the market as of `moment` to `reader`. `observers` see each step of a day once,
  /// whatever is shown again later.
  package mutating func show<Result>(
    at moment: Timestamp, watchedBy observers: DayObservers,
    to reader: (inout SimulatedMarket) -> Result
  ) -> Result {
    let day = history.day(at: moment)
    if day > front.day { begin(day, watchedBy: observers) }
    let second = front.publication(at: moment)
    if day == front.day, second >= front.second {
      advanceFront(to: second, watchedBy: observers.observer(of: front))
      return reader(&front)
    }
    var copy = copy(before: moment, on: day)
    behind = nil
    copy.advance(to: moment)
    defer { behind = copy }
    return reader(&copy)
  }

  /// Every day on the way happens to its end, so that its observer has seen all of it.
  private mutating func begin(_ day: TradingDay, watchedBy observers: DayObservers) {
    for next in history.days where front.day < next && next <= day {
      advanceFront(to: Grid.dayEnd, watchedBy: observers.observer(of: front))
      front = history.next(after: front, on: next)
      checkpoints = [front.withoutLines()]
      observers.begin(front)
    }
  }

  private mutating func copy(before moment: Timestamp, on day: TradingDay) -> SimulatedMarket {
    if let behind, behind.day == day, behind.second <= behind.publication(at: moment) {
      return behind
    }
    if day < front.day { return history.market(on: day) }
    return checkpoint(before: front.publication(at: moment))
  }

  private mutating func advanceFront(to second: Int, watchedBy observer: (any DayObserver)?) {
    while front.second < second {
      let last = checkpoints[checkpoints.count - 1].second
      let stop = min(second, last + MarketTimeline.checkpointSeconds)
      front.advance(
        to: Timestamp(day: front.day, secondOfDay: stop), watchedBy: observer)
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

/// Watches one day of the exchange: every step of its market, and what of it was served.
///
/// The ledgers of the tests are one; the exchange answers the same without any. It is called by one
/// thread at a time.
package protocol DayObserver: AnyObject {
  /// The market made a step.
  func stepped(_ market: SimulatedMarket)

  /// May put other bytes in the place of an instrument's line, which stands in `body` from `start`
  /// to the end.
  /// - Returns: a number for them; nil if the line stays.
  func replaceLine(
    at place: Int32, of market: inout SimulatedMarket, in body: inout [UInt8], from start: Int
  ) -> Int?

  /// A client is about to see these lines, as `market` shows them.
  func observed(_ lines: ServedLines, of market: SimulatedMarket) -> ResponseTicket

  /// The moment the question named.
  func asked(_ ticket: ResponseTicket, at moment: Timestamp)

  /// The answer did not reach its client after all.
  func withdraw(_ ticket: ResponseTicket)

  /// The latest stamp an instrument's valid lines were served with; 0 if never.
  func lastServedStamp(at place: Int32) -> Int32
}

/// One answer that was observed, to be withdrawn if it never arrived.
package struct ResponseTicket: Sendable, Hashable {
  package let day: TradingDay
  package let sequence: Int32

  package init(day: TradingDay, sequence: Int32) {
    self.day = day
    self.sequence = sequence
  }
}

/// Who watches which day.
///
/// Not safe for several threads at once.
package final class DayObservers {
  /// Who is to watch the day of a market that is about to begin; nil if nobody.
  package typealias Choice = (SimulatedMarket) -> (any DayObserver)?

  package private(set) var byDay: [TradingDay: any DayObserver] = [:]
  private let choice: Choice

  package init(_ choice: @escaping Choice) { self.choice = choice }

  /// A day is about to begin.
  func begin(_ market: SimulatedMarket) {
    if byDay[market.day] == nil { byDay[market.day] = choice(market) }
  }

  /// nil if nobody watches that day.
  package func observer(of market: SimulatedMarket) -> (any DayObserver)? { byDay[market.day] }

  package func withdraw(_ ticket: ResponseTicket) { byDay[ticket.day]?.withdraw(ticket) }
}

extension SimulatedMarket {
  /// As `advance(to:)`, with an observer that sees every step.
  package mutating func advance(to moment: Timestamp, watchedBy observer: (any DayObserver)?) {
    advance(to: moment) { observer?.stepped($0) }
  }
}
