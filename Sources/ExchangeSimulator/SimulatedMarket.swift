import Market

/// One trading day of a whole market, made from a seed.
///
/// A value: stepping it forward is a pure function of (seed, day, instruments, time), a copy is an
/// older exchange that can be stepped on its own (a CDN node that lags). Each instrument is
/// published every 3 s, in a second of its own among the three: what a line published in second s
/// shows contains every trade up to s, and its stamp is that of the instrument's last change. It
/// must never look at a clock, and never go back.
///
/// Turnover keeps three decimals everywhere. The real Shanghai rounds to whole yuan, which would
/// make "the sum of the minutes equals the day" true only up to rounding; here it is exactly true.
package struct SimulatedMarket: Sendable {
  package static let instrumentsDefault = 5400

  /// In which of three seconds an instrument is published.
  package enum Stamps: Sendable {
    /// Each share and fund in one of its own, as Shanghai does.
    case own
    /// All on the minute's grid: then minutes of lines are minutes of trades.
    case shared
  }

  package let seed: UInt64
  package private(set) var day: TradingDay
  package private(set) var previousDay: TradingDay
  /// In the order the roster was made; `Trade.instrument` counts in it. `sh000001` is the first.
  package let symbols: [Symbol]
  package var listings: [Listing]

  package var traits: [Traits]
  let places: [Symbol: Int32]
  package var lineage: Lineage
  package var states: [InstrumentState]
  /// Second of each instrument's next event; `never` if none is planned.
  var due: [Int32]
  /// Seconds since Shanghai midnight up to which the day has happened.
  package internal(set) var second: Int
  /// What happened in the last step.
  package var events = StepEvents()
  package var oddities: (any MarketOddities)?
  package var lineTable: LineTable

  static let never = Int32.max

  /// - Parameters:
  ///   - instruments: how many, indexes and oddities included; fewer than
  ///     `InstrumentTable.specials` leave some of the oddities out.
  ///   - previousDay: the trading day whose lines show before 09:00; the weekday before if nil.
  ///   - stamps: of the shares and funds; indexes keep to the grid.
  package init(
    seed: UInt64, day: TradingDay, instruments: Int = instrumentsDefault,
    previousDay: TradingDay? = nil, stamps: Stamps = .own
  ) {
    self.seed = seed
    self.day = day
    self.previousDay = previousDay ?? SimulatedMarket.weekday(before: day)
    let instrumentTable = InstrumentTable(seed: seed, day: day, count: instruments, stamps: stamps)
    listings = instrumentTable.listings
    traits = instrumentTable.traits
    symbols = instrumentTable.listings.map(\.symbol)
    lineage = Lineage(
      behaviours: traits.map(\.behaviour), names: instrumentTable.listings.map(\.name))
    places = Dictionary(
      uniqueKeysWithValues: symbols.enumerated().map { ($1, Int32($0)) })
    states = traits.indices.map { place in
      var state = InstrumentState(random: Randomness(seed: seed, stream: UInt64(place)))
      state.showPreviousSession(instrumentTable.traits[place])
      return state
    }
    due = Array(repeating: SimulatedMarket.never, count: traits.count)
    second = Grid.dayReset - 1
    lineTable = LineTable(
      listings: instrumentTable.listings, day: day, previousDay: self.previousDay)
  }

  /// Another day is about to begin: the rest is up to who makes it.
  package mutating func turn(to next: TradingDay) {
    (previousDay, day) = (day, next)
    second = Grid.dayReset - 1
    due = Array(repeating: SimulatedMarket.never, count: traits.count)
    events = StepEvents()
    oddities = nil
  }

  private static func weekday(before day: TradingDay) -> TradingDay {
    var earlier = day.advanced(by: -1)
    while earlier.isWeekend { earlier = earlier.advanced(by: -1) }
    return earlier
  }

  /// The second the lines show.
  package var now: Timestamp { Timestamp(day: day, secondOfDay: second) }

  /// The second of `moment`, in seconds since this day's midnight; clamped to
  /// the part of the day in which anything changes.
  package func publication(at moment: Timestamp) -> Int {
    let midnight = Timestamp(day: day, secondOfDay: 0)
    let offset = Int(moment.seconds - midnight.seconds)
    return min(max(offset, Grid.dayReset - 1), Grid.dayEnd)
  }

  /// Lets the day happen up to the second of `moment`; an earlier moment changes nothing.
  /// - Parameter stepped: gets the market after each step.
  package mutating func advance(
    to moment: Timestamp, stepped: (SimulatedMarket) -> Void = { _ in }
  ) {
    let target = publication(at: moment)
    while second < target {
      step()
      stepped(self)
    }
  }

  /// Where an instrument stands in `symbols`; nil if there is none such.
  package func place(of symbol: Symbol) -> Int32? { places[symbol] }

  package func listing(of symbol: Symbol) -> Listing? {
    places[symbol].map { listings[Int($0)] }
  }
}

/// What an instrument is in the long run, whatever it does on a day.
package struct Lineage: Sendable {
  /// Trading days this market has lived through before the present one.
  package var daysBefore = 0
  package let behaviours: [Behaviour]
  package let names: [[UInt8]]
}

/// What happened in one second of a market.
package struct StepEvents: Sendable {
  /// Instruments whose line changed, ascending within each kind of event.
  package var changed: [Int32] = []
  /// What traded, in the order of time for each instrument.
  package var trades: [Trade] = []
}

/// What happens to single instruments against all rules: nothing in a demo's market, in a test's
/// whatever it asks for.
package protocol MarketOddities: Sendable {
  /// A step is about to be taken.
  mutating func begin(_ market: inout SimulatedMarket)

  /// It was taken; the lines are not written yet.
  mutating func end(_ market: inout SimulatedMarket)
}

extension SimulatedMarket {
  package mutating func disturb(
    _ change: (inout any MarketOddities, inout SimulatedMarket) -> Void
  ) {
    guard var oddities else { return }
    self.oddities = nil  // or changing them would copy them
    change(&oddities, &self)
    self.oddities = oddities
  }
}

/// The wire.
extension SimulatedMarket {
  /// Appends `var hq_str_<symbol>="…";\n` as it stands now.
  package mutating func appendLine(at place: Int32, to body: inout [UInt8]) {
    lineTable.append(Int(place), states: states, traits: traits, to: &body)
  }

  /// The answer to a request for quotes: a line for each instrument, or for what else quotes are
  /// asked of.
  package mutating func quoteLines(_ symbols: [Symbol]) -> [UInt8] {
    var body: [UInt8] = []
    for symbol in symbols {
      if let place = place(of: symbol) {
        appendLine(at: place, to: &body)
      } else {
        appendOverviewLine(symbol, to: &body)
      }
    }
    return body
  }

  /// The same market without its written lines, for keeping many.
  package func withoutLines() -> SimulatedMarket {
    var copy = self
    copy.lineTable.forget()
    return copy
  }
}
