import Market

/// The trading days behind and ahead of a simulated market: what traded in each of them, minute by
/// minute, and which market each morning begins with.
///
/// The first of its `days` is `SimulatedMarket(seed, day)` itself, each later one follows from the
/// one before, so a day is reached by running those before it once; afterwards only its morning is
/// kept, and the minutes of the latest used days. Days before the first are day bars, drawn
/// backwards from the first previous close (`EarlierDays`): five years of them cost nothing, and
/// the last of them may have minutes. It must never know more at a moment than had traded by then.
package struct SimulatedHistory: Sendable {
  /// The days simulated trade by trade, ascending.
  package let days: [TradingDay]
  /// Days before those, ascending, that have day bars.
  package let earlierDays: [TradingDay]
  /// How many of the last of those have minutes, too.
  package let earlierMinuteDays: Int

  /// The market of each day reached so far, before it begins.
  private var mornings: [SimulatedMarket]
  /// For each day that was run to its end: every instrument's day.
  private(set) var daySums: [[TrueLedger.Minute]] = []
  /// Who traded ex dividend on a day reached so far.
  private(set) var exDays: [Int: [ExDay]] = [:]
  private var finished: [Int: TrueLedger] = [:]
  private var finishedOrder: [Int] = []
  private var running: (place: Int, market: SimulatedMarket, ledger: TrueLedger)?
  private let following: Following?

  /// The market of a day after one that has happened to its end.
  package typealias Following = @Sendable (SimulatedMarket, TradingDay) -> SimulatedMarket

  /// 48 bytes a minute: a hundred instruments for two months, a whole market for one day.
  private static let ledgerBytesMax = 64 << 20

  /// The history that begins with `market`, which must not have been advanced into its day.
  /// - Parameters:
  ///   - days: trading days in ascending order, simulated trade by trade; nil: the market's alone.
  ///   - earlierDays: those before, in ascending order, for day bars.
  ///   - earlierMinuteDays: how many of the last of those have minutes, too.
  ///   - following: what makes the days after the first.
  package init(
    _ market: SimulatedMarket, days: [TradingDay]? = nil, earlierDays: [TradingDay] = [],
    earlierMinuteDays: Int = 0, following: Following? = nil
  ) {
    let days = days ?? [market.day]
    precondition(following != nil || days.count == 1, "several days follow each other")
    precondition(
      days.first == market.day && market.second < Grid.dayReset,
      "a history begins with its market, before anything happened")
    precondition(
      zip(earlierDays + days, (earlierDays + days).dropFirst()).allSatisfy { $0 < $1 },
      "days come in order")
    self.days = days
    self.earlierDays = earlierDays
    self.earlierMinuteDays = earlierMinuteDays
    self.following = following
    mornings = [market.withoutLines()]
  }

  /// `count` days on which Shanghai trades, the last of them `day` or the last before it;
  /// ascending.
  package static func tradingDays(_ count: Int, through day: TradingDay) -> [TradingDay] {
    var days: [TradingDay] = []
    var next = TradingCalendar.shanghai.previous(before: day.advanced(by: 1))
    while let found = next, days.count < count {
      days.append(found)
      next = TradingCalendar.shanghai.previous(before: found)
    }
    return days.reversed()
  }

  package var symbols: [Symbol] { mornings[0].symbols }

  /// Which of `days` a moment belongs to: the last that has begun, midnight Shanghai time. Moments
  /// before the first belong to the first.
  package func day(at moment: Timestamp) -> TradingDay { days[place(at: moment)] }

  func place(at moment: Timestamp) -> Int {
    let day = moment.shanghaiDay
    return max((days.lastIndex { $0 <= day }) ?? 0, 0)
  }
}

/// Running the days.
extension SimulatedHistory {
  /// An instrument on the days before the simulated ones.
  func earlier(_ instrument: Int) -> EarlierDays {
    let first = mornings[0]
    return EarlierDays(
      seed: first.seed, place: instrument, traits: first.traits[instrument], days: earlierDays)
  }

  /// The market of one of `days` as it stands before the day begins.
  package mutating func market(on day: TradingDay) -> SimulatedMarket {
    guard let place = days.firstIndex(of: day) else {
      preconditionFailure("\(day) is no day of this history")
    }
    return morning(place)
  }

  package mutating func morning(_ place: Int) -> SimulatedMarket {
    while mornings.count <= place { finish(mornings.count - 1) }
    return mornings[place]
  }

  package mutating func ledger(_ place: Int, at second: Int) -> TrueLedger {
    if let known = finished[place], second >= Grid.dayEnd { return known }
    run(place, to: second)
    guard let running else { preconditionFailure("a day that was run is there") }
    return running.ledger
  }

  /// Every instrument's whole day.
  mutating func sums(_ place: Int) -> [TrueLedger.Minute] {
    while daySums.count <= place { finish(daySums.count) }
    return daySums[place]
  }

  private mutating func finish(_ place: Int) {
    run(place, to: Grid.dayEnd)
    running = nil
  }

  /// Time mostly runs forward; an earlier second of a day begins it again.
  private mutating func run(_ place: Int, to second: Int) {
    var (market, ledger): (SimulatedMarket, TrueLedger)
    if let running, running.place == place, running.market.second <= second {
      (market, ledger) = (running.market, running.ledger)
    } else {
      market = morning(place)
      ledger = TrueLedger(market)
    }
    running = nil  // or every step would copy what it holds
    while market.second < second {
      market.step()
      ledger.add(market.events.trades)
    }
    if second >= Grid.dayEnd { keep(place, market: market, ledger: ledger) }
    running = (place, market, ledger)
  }

  package func next(after market: SimulatedMarket, on day: TradingDay) -> SimulatedMarket {
    guard let following else { preconditionFailure("a history of one day has no next one") }
    return following(market, day)
  }

  private mutating func keep(_ place: Int, market: SimulatedMarket, ledger: TrueLedger) {
    if daySums.count == place {
      daySums.append(ledger.symbols.indices.map { ledger.sum(at: $0) })
    }
    if mornings.count == place + 1, place + 1 < days.count {
      let next = self.next(after: market, on: days[place + 1])
      for instrument in next.traits.indices {
        let close = market.states[instrument].anchor
        if let dividend = next.dividend(at: instrument, close: close) {
          exDays[instrument, default: []].append(dividend)
        }
      }
      mornings.append(next)
    }
    let bytes = ledger.minutes.count * MemoryLayout<TrueLedger.Minute>.stride
    finished[place] = ledger
    finishedOrder.append(place)
    while finishedOrder.count > max(SimulatedHistory.ledgerBytesMax / bytes, 1) {
      finished[finishedOrder.removeFirst()] = nil
    }
  }
}

extension SimulatedMarket {
  /// The dividend this day began with, if the last close was `close`.
  package func dividend(at place: Int, close: Int64) -> ExDay? {
    ExDay(
      seed: seed, place: place, traits: traits[place], on: day, after: previousDay, close: close)
  }
}

extension TrueLedger {
  /// The whole day of one instrument, without the session after the close.
  func sum(at place: Int) -> Minute { Minute(minutes(at: place)) }
}
