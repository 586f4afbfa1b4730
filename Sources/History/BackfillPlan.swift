import Market

/// What somebody wants filled.
package struct BackfillOrder: Sendable, Hashable {
  package var source: Source
  /// It goes into the names of chunks, which are stored.
  package let sourceName: String
  package let form: BarsForm
  /// Ascending, each once.
  package let symbols: [Symbol]
  package var timeframe: Timeframe
  /// Both included, in the exchange's dates.
  package var from: TradingDay
  package var to: TradingDay

  /// - Precondition: at least one symbol, `from` not after `to`.
  package init(
    source: Source, name sourceName: String, form: BarsForm, symbols: [Symbol],
    timeframe: Timeframe, from: TradingDay, to: TradingDay
  ) {
    precondition(!symbols.isEmpty && from <= to)
    self.source = source
    self.sourceName = sourceName
    self.form = form
    self.symbols = Set(symbols).sorted()
    self.timeframe = timeframe
    self.from = from
    self.to = to
  }

  /// Such as `sina-1d-2021-01-01-sh600519`. Orders that differ in their last day alone have one
  /// name: the later one goes on with what the earlier one stored.
  package var name: String { name(of: symbols, from: from) }

  func name(of symbols: [Symbol], from: TradingDay) -> String {
    let names = symbols.map(\.description).joined(separator: ",")
    let who = symbols.count == 1 ? names : String(StableHash(of: names).value, radix: 16)
    return "\(sourceName)-\(timeframe.name)-\(from)-\(who)"
  }
}

/// The chunks of an order, in the order they are done.
///
/// A chunk is what is remembered as done: small enough that a crash costs little, large enough that
/// a whole market's history has thousands of them and not millions. Its name says what it requests,
/// whatever order it stands in, and it is stored with the last day that it covers. So an
/// interrupted order goes on with what was never stored, on another day and with more instruments
/// too.
package struct BackfillPlan: Sendable {
  package struct Chunk: Sendable, Hashable {
    /// Says what it holds, but for the last day.
    package let name: String
    package let symbols: [Symbol]
    package let from: TradingDay
    package let to: TradingDay
    /// Bars to request where a source has its newest only; 0 elsewhere.
    package let newestBars: Int
    /// As far as can be told before.
    package let requests: Int
  }

  package let order: BackfillOrder
  package let chunks: [Chunk]
  /// The first day the source has bars of; nil if it reaches to `order.from`.
  package let reachesOnlyTo: TradingDay?
  /// The last day whose bars the source has all, and the last trading day of which it has some.
  private let lastWhole: TradingDay
  private let lastAvailable: TradingDay

  /// Symbols in one request.
  package static let symbolsPerRequestMax = 200
  /// A chunk of bars in pages has about so many.
  static let pagesPerChunk = 20

  /// - Parameters:
  ///   - lastOver: the last day that is over, and whose bars the source has all.
  ///   - isTradingDay: of the exchange; nil where nobody knows.
  package init(
    _ order: BackfillOrder, today: TradingDay, lastOver: TradingDay,
    isTradingDay: (TradingDay) -> Bool?
  ) {
    self.order = order
    let lastWhole = order.timeframe.lastWhole(lastOver, today: today)
    // A request for each instrument: a day that goes on is not worth so many.
    let isOneByOne = if case .newest = order.form { true } else { false }
    let includesToday = !isOneByOne && order.timeframe.rawValue < Timeframe.day1.rawValue
    var lastAvailable = includesToday ? today : lastWhole
    func trades(_ day: TradingDay) -> Bool { isTradingDay(day) ?? !day.isWeekend }
    while !trades(lastAvailable) { lastAvailable = lastAvailable.advanced(by: -1) }
    (self.lastWhole, self.lastAvailable) = (lastWhole, lastAvailable)
    switch order.form {
    case .newest(let barsMax):
      let reach = NewestBars(order, barsMax: barsMax, today: today, trades: trades)
      reachesOnlyTo = reach.firstDay > order.from ? reach.firstDay : nil
      let from = max(order.from, reach.firstDay)
      chunks =
        from > order.to
        ? []
        : order.symbols.map { symbol in
          // The reach moves from day to day; the name must not.
          Chunk(
            name: order.name(of: [symbol], from: order.from), symbols: [symbol], from: from,
            to: order.to, newestBars: reach.bars, requests: 1)
        }
    case .window(let symbolsMax, let pageBarsMax):
      reachesOnlyTo = nil
      chunks = BackfillPlan.walks(
        order, symbolsMax: min(symbolsMax, Self.symbolsPerRequestMax), pageBarsMax: pageBarsMax)
    }
  }

  /// How many of the newest bars reach back to the first day wanted.
  private struct NewestBars {
    var bars = 0
    var firstDay: TradingDay

    init(
      _ order: BackfillOrder, barsMax: Int, today: TradingDay, trades: (TradingDay) -> Bool
    ) {
      firstDay = today.advanced(by: 1)
      var days = 0
      while firstDay > order.from {
        let earlier = firstDay.advanced(by: -1)
        let isTraded = trades(earlier)
        let needed = NewestBars.count(days + (isTraded ? 1 : 0), timeframe: order.timeframe)
        if needed > barsMax { break }
        firstDay = earlier
        days += isTraded ? 1 : 0
        bars = needed
      }
    }

    /// One bar more than the days have: a holiday may cut a week or a month in two.
    private static func count(_ days: Int, timeframe: Timeframe) -> Int {
      switch timeframe {
      case .week1: days / 4 + 1
      case .month1: days / 15 + 1
      case .day1, .afterHours: days
      case .minute1, .minute5, .minute15, .minute30, .hour1:
        days * (Session.minutesPerDay / Int(timeframe.rawValue))
      }
    }
  }

  private static func walks(
    _ order: BackfillOrder, symbolsMax: Int, pageBarsMax: Int
  ) -> [Chunk] {
    var chunks: [Chunk] = []
    for start in stride(from: 0, to: order.symbols.count, by: symbolsMax) {
      let end = min(start + symbolsMax, order.symbols.count)
      let symbols = Array(order.symbols[start..<end])
      let days = daysPerChunk(
        symbols.count, timeframe: order.timeframe, pageBarsMax: pageBarsMax)
      var from = order.from
      while from <= order.to {
        let to = min(from.advanced(by: days - 1), order.to)
        chunks.append(
          Chunk(
            name: order.name(of: symbols, from: from), symbols: symbols, from: from, to: to,
            newestBars: 0,
            requests: pages(
              symbols.count, days: from.distance(to: to) + 1,
              timeframe: order.timeframe,
              pageBarsMax: pageBarsMax)))
        from = to.advanced(by: 1)
      }
    }
    return chunks
  }

  private static func daysPerChunk(
    _ symbols: Int, timeframe: Timeframe, pageBarsMax: Int
  ) -> Int {
    max(pagesPerChunk * pageBarsMax * 7 / (symbols * barsPerWeek(timeframe)), 1)
  }

  private static func pages(
    _ symbols: Int, days: Int, timeframe: Timeframe, pageBarsMax: Int
  ) -> Int {
    let bars = (symbols * days * barsPerWeek(timeframe) + 6) / 7
    return max((bars + pageBarsMax - 1) / pageBarsMax, 1)
  }

  /// Of a symbol that trades every minute from 04:00 to 20:00 New York.
  private static func barsPerWeek(_ timeframe: Timeframe) -> Int {
    switch timeframe {
    case .minute1, .minute5, .minute15, .minute30, .hour1: 5 * 960 / Int(timeframe.rawValue)
    case .day1, .afterHours: 5
    case .week1, .month1: 1
    }
  }
}

// MARK: - What is left

extension BackfillPlan {
  /// The chunks that are left, in two rounds.
  package struct Rounds: Sendable, Hashable {
    /// Of these nothing is stored.
    package var first: [Chunk]
    /// There may be new days since these were stored. They come last, and only when nothing of the
    /// first is left: or one chunk that fails again and again would have all others requested again
    /// day after day.
    package var second: [Chunk]
  }

  /// - Parameter done: how far chunks are stored, by name.
  package func rounds(leavingOut done: [String: TradingDay]) -> Rounds {
    let available = chunks.filter { $0.from <= lastAvailable }
    return Rounds(
      first: available.filter { done[$0.name] == nil },
      second: available.filter { chunk in
        done[chunk.name].map { $0 < min(chunk.to, lastAvailable) } ?? false
      })
  }

  /// How far a chunk is stored once its answers are.
  package func through(_ chunk: Chunk) -> TradingDay { min(chunk.to, lastWhole) }
}

extension Timeframe {
  /// A bar of a week or a month is whole when the next has begun.
  fileprivate func lastWhole(_ lastOver: TradingDay, today: TradingDay) -> TradingDay {
    var day = lastOver
    switch self {
    case .minute1, .minute5, .minute15, .minute30, .hour1, .day1, .afterHours: break
    case .week1:
      day = min(day, today.advanced(by: -1))
      day = day.advanced(by: -(day.weekday % 7))
    case .month1:
      day = min(day, today.advanced(by: -1))
      if day.advanced(by: 1).civil.day != 1 { day = day.advanced(by: -day.civil.day) }
    }
    return day
  }
}
