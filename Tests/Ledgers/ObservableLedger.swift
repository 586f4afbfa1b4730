import ExchangeSimulator
import Market
import TestExchange

/// What the answers that were served determine, and nothing more: the candles, gaps and
/// certificates a perfect daemon must have written.
///
/// The rules are those of docs/candle-rules.md, written a second time and the other way round: not
/// row by row as they come, but from the whole day at once, instrument by instrument, on arrays of
/// minutes. It shares no code with the candle book and must never call it.
package struct ObservableLedger: Sendable {
  /// One minute's candle; prices in units of the instrument's scale, money in thousandths.
  struct Row: Sendable {
    var open: Int64
    var high: Int64
    var low: Int64
    var close: Int64
    var volume: Int64
    var turnover: Int64
    var flags: CandleFlags
    /// Something traded in it.
    var hasMoved: Bool
  }

  /// Trading nobody saw, from and to seconds since Shanghai midnight.
  struct Hole: Sendable {
    var from: Int
    var to: Int
    var volume: Int64
    var turnover: Int64
    var cause: GapCause
    var isCoarse = false

    mutating func add(_ volume: Int64, _ turnover: Int64, isCoarse: Bool) {
      self.volume += volume
      self.turnover += turnover
      self.isCoarse = self.isCoarse || isCoarse
    }
  }

  /// One instrument's day.
  struct Page: Sendable {
    /// 240; nil where there is no candle.
    var rows: [Row?] = []
    var holes: [Hole] = []
    /// Minutes without a candle although the instrument could trade.
    var minutesMissing = 0
    /// The last line believed, if the end of the day was seen.
    var isComplete = false
    /// Some of it lies between totals that were rounded.
    var hasCoarse = false
    var day: Row?
    var afterHours = Totals()
  }

  package let day: TradingDay
  package let symbols: [Symbol]
  let scales: [UInt8]
  /// nil for an instrument of which no line of the day was ever seen, or that is not listed.
  let pages: [Page?]
  let tolerances: [Tolerance]
  let places: [Symbol: Int]
  /// In the order they were served, instrument by instrument.
  package let falseRows: [FalseRow]
  /// Instruments whose minutes are not determined: with a false row that no rule can find out, or
  /// with trades taken back, which no line says the minute of.
  package let hidden: Set<Symbol>

  init(tape: DayTape, log: ObservationLog) {
    day = tape.day
    symbols = tape.symbols
    scales = tape.scales
    places = Dictionary(uniqueKeysWithValues: tape.symbols.enumerated().map { ($1, $0) })
    var reader = ObservationReader(log)
    pages = tape.symbols.indices.map { place in
      let observations = reader.observations(of: place, on: tape)
      return DayReading(observations: observations, tape: tape, place: place)?.page()
    }
    let pages = pages
    tolerances = tape.symbols.indices.map { place in
      Tolerance(pages[place], isIndex: tape.traits[place].isIndex)
    }
    falseRows = tape.symbols.indices.flatMap { reader.falseRows(of: $0, on: tape) }
    let taken = tape.symbols.indices.filter { tape.hasTakenBack($0) }.map { tape.symbols[$0] }
    hidden = Set(falseRows.lazy.filter(\.fate.isHidden).map(\.symbol)).union(taken)
  }
}

/// The ledger in the shapes the daemon stores.
extension ObservableLedger {
  /// The minute candles of one instrument, in order.
  package func candles(of symbol: Symbol) -> [Candle] {
    guard let place = places[symbol], let page = pages[place] else { return [] }
    return page.rows.indices.compactMap { minute in
      page.rows[minute].map { candle($0, place: place, minute: minute) }
    }
  }

  package func gaps(of symbol: Symbol) -> [Gap] {
    guard let place = places[symbol], let page = pages[place] else { return [] }
    return page.holes.map { gap($0, place: place) }
  }

  /// nil if no line of the day was ever seen.
  package func certificate(of symbol: Symbol) -> DayCertificate? {
    places[symbol].flatMap { certificate(place: $0) }
  }

  func candle(_ row: Row, place: Int, minute: Int) -> Candle {
    let opening = Grid.opening(ofMinute: minute)
    let scale = scales[place]
    return Candle(
      symbol: symbols[place], timeframe: .minute1, tradingDay: day,
      openedAt: Timestamp(day: day, secondOfDay: opening),
      closedAt: Timestamp(day: day, secondOfDay: opening + 60),
      open: ExactDecimal(units: row.open, scale: scale),
      high: ExactDecimal(units: row.high, scale: scale),
      low: ExactDecimal(units: row.low, scale: scale),
      close: ExactDecimal(units: row.close, scale: scale),
      volume: ExactDecimal(row.volume), turnover: money(row.turnover), flags: row.flags,
      source: .live)
  }

  func gap(_ hole: Hole, place: Int) -> Gap {
    Gap(
      symbol: symbols[place], tradingDay: day, from: Timestamp(day: day, secondOfDay: hole.from),
      to: Timestamp(day: day, secondOfDay: hole.to), volume: ExactDecimal(hole.volume),
      turnover: money(hole.turnover), cause: hole.cause)
  }

  func certificate(place: Int) -> DayCertificate? {
    guard let page = pages[place], let totals = page.day else { return nil }
    let rows = page.rows.compactMap { $0 }
    let untraded = rows.filter { !$0.hasMoved }.count
    return DayCertificate(
      symbol: symbols[place], tradingDay: day,
      exchangeVolume: page.isComplete ? ExactDecimal(totals.volume) : nil,
      exchangeTurnover: page.isComplete ? money(totals.turnover) : nil,
      minuteVolume: ExactDecimal(rows.reduce(0) { $0 + $1.volume }),
      minuteTurnover: money(rows.reduce(0) { $0 + $1.turnover }),
      gapVolume: ExactDecimal(page.holes.reduce(0) { $0 + $1.volume }),
      gapTurnover: money(page.holes.reduce(0) { $0 + $1.turnover }),
      afterHoursVolume: ExactDecimal(page.afterHours.volume),
      afterHoursTurnover: money(page.afterHours.turnover),
      minutesTraded: Int16(rows.count - untraded), minutesUntraded: Int16(untraded),
      minutesMissing: Int16(page.minutesMissing), isCoarse: totals.flags.contains(.coarse))
  }

  func money(_ thousandths: Int64) -> ExactDecimal { ExactDecimal(units: thousandths, scale: 3) }
}
