import Market

/// Rows of one instrument that contradict what its day has booked, until it is decided which are
/// right (docs/candle-rules.md, rule 2a). No refusal that rests on memory may last: what is
/// remembered may be a false row.
///
/// Rows are held, not booked. Three responses in a row that agree with each other outweigh the
/// memory, unless rows that continue the memory come between. Where both readings are served
/// again and again, neither is booked until one of them ends.
struct Dispute: Sendable {
  /// The held rows, each continuing the one before. The first may be one of no responses: what was
  /// held before a row that continued the memory, for the next one to be compared with.
  var held: [HeldRow] = []
  /// How many responses contradicted the memory since the dispute began, and how many confirmed it.
  var against = 0
  var confirmations = 0
  /// How many confirmed it since the last one that did not.
  var confirmationRun = 0
  /// Receive time of the last row that was held.
  var lastHeldAt: Timestamp
  /// The state the first held row continues, where it is not the standing one.
  var base: Checkpoint?
  /// While both readings are served in turn: the reading that was booked before.
  var otherReading: [HeldRow] = []
  /// What a correction replaced.
  var replaced: ReplacedReading?

  init(at moment: Timestamp) { lastHeldAt = moment }

  /// The rows to book if they are right.
  var rows: [HeldRow] { held.filter { $0.responses > 0 } }

  /// How many responses had the rows of `chain`.
  static func responses(in chain: [HeldRow]) -> Int { chain.reduce(0) { $0 + $1.responses } }
}

/// A row that was not booked yet.
struct HeldRow: Sendable {
  /// The row as it came; without its book of orders after a restart.
  var quote: Quote
  var trading: TradingState
  /// When it was true, second of the day.
  var watermark: Int
  /// When it was still true, by later responses that had it.
  var provenThrough: Int
  /// How many responses had it.
  var responses: Int

  init(quote: Quote, trading: TradingState, watermark: Int, responses: Int = 1) {
    self.quote = quote
    self.trading = trading
    self.watermark = watermark
    self.responses = responses
    provenThrough = watermark
  }

  var totals: RunningTotals { RunningTotals(quote) }

  func isServedAgain(by other: Quote) -> Bool {
    quote.secondOfDay == other.secondOfDay && quote.volume == other.volume
      && quote.turnover == other.turnover && quote.last == other.last
      && quote.high == other.high && quote.low == other.low
      && quote.previousClose == other.previousClose
  }
}

/// A day as it was before a row was booked, with the gaps that were opened and closed since.
struct Checkpoint: Sendable {
  var state: InstrumentDay
  var gaps = GapChanges()
}

struct GapChanges: Sendable, Hashable {
  var opened: [Gap] = []
  var closed: [Gap] = []

  init() {}

  /// What `output` has beyond these counts.
  init(_ output: CandleOutput, openedAfter opened: Int, closedAfter closed: Int) {
    self.opened = Array(output.gaps[opened...])
    self.closed = Array(output.closedGaps[closed...])
  }

  var isEmpty: Bool { opened.isEmpty && closed.isEmpty }

  /// Later changes; a gap opened and closed in between leaves nothing.
  mutating func append(_ later: GapChanges) {
    opened += later.opened
    closed += opened.removeThose(in: later.closed)
  }
}

extension [Gap] {
  /// Takes out each of `closed` once, in one pass: an outage opens one an instrument.
  /// - Returns: those that are not among these, in their order.
  package mutating func removeThose(in closed: [Gap]) -> [Gap] {
    if closed.isEmpty || isEmpty { return closed }
    var left = Dictionary(closed.map { ($0, 1) }, uniquingKeysWith: +)
    let take = { (gap: Gap) in
      guard let count = left[gap], count > 0 else { return false }
      left[gap] = count - 1
      return true
    }
    removeAll(where: take)
    return closed.filter(take)
  }
}

/// The readings a correction replaced, for as long as they may come back.
struct ReplacedReading: Sendable {
  /// The day they had made, with the gaps opened and closed since the correction.
  var checkpoint: Checkpoint
  var replacedAt: Timestamp
  /// The day's volume when it was replaced.
  var volumeThen: ExactDecimal
  /// Rows that continue it, booked as rows of the new readings meanwhile.
  var returned: [HeldRow] = []

  /// Whether the row is one of these readings: nearer to them than they are to the others, which
  /// have not come near them by growing.
  func explains(_ quote: Quote, over standing: InstrumentDay, rules: CandleRules) -> Bool {
    let state = checkpoint.state
    guard state.booked.volume > standing.booked.volume,
      state.totals.isContinued(by: quote, rules: rules),
      let nearer = try? quote.volume - state.booked.volume,
      let further = try? state.booked.volume - standing.booked.volume,
      let grown = try? standing.booked.volume - volumeThen
    else { return false }
    return nearer <= further && grown < further
  }
}

/// The legal prices of one instrument and day: as the exchange states them, else by our own table.
struct DayBand: Sendable {
  let day: TradingDay
  let previousClose: ExactDecimal
  private let limits: StatedLimits
  /// nil where no limit applies.
  let band: PriceBand?
  /// nil where prices have none: those of indexes are calculated.
  let tick: ExactDecimal?

  init(_ instrument: Instrument?, quote: Quote) {
    day = quote.tradingDay
    previousClose = quote.previousClose
    limits = quote.limits
    let isTraded = instrument.map { $0.kind != .index && $0.kind != .repo } ?? false
    tick = isTraded ? instrument?.tickSize(on: quote.tradingDay) : nil
    band =
      switch quote.limits {
      case .unstated: instrument.flatMap { Self.table(for: $0, quote: quote) }
      case .none: nil
      case .band(let stated): stated
      }
  }

  /// A band is known by code alone: ST moves as far as any other since 2026-07-06, and before that
  /// the wider one errs on the safe side. So does the widest of a fund, whose own is not known.
  static func table(for instrument: Instrument, quote: Quote) -> PriceBand? {
    PriceLimit.band(
      for: instrument, previousClose: quote.previousClose, on: quote.tradingDay,
      specialTreatment: false, tradingDaysSinceListing: nil)
      ?? PriceLimit.widest(
        for: instrument, previousClose: quote.previousClose, on: quote.tradingDay)
  }

  @inline(__always)
  func isOf(_ quote: Quote) -> Bool {
    day == quote.tradingDay && previousClose == quote.previousClose && hasLimits(of: quote)
  }

  @inline(__always)
  private func hasLimits(of quote: Quote) -> Bool {
    if case .unstated = limits, case .unstated = quote.limits { return true }
    return limits == quote.limits
  }

  /// Quotes and held rows may have no open, high or low yet.
  @inline(__always)
  func objection(to quote: Quote) -> Objection? {
    // Before the first trade prices are indicative.
    guard let band, quote.volume.isPositive else { return nil }
    if holds(quote.last, in: band), holds(quote.high, in: band), holds(quote.low, in: band),
      holds(quote.open, in: band)
    {
      return nil
    }
    return .contradiction(
      .outsideBand,
      detail:
        "open \(quote.open), high \(quote.high), low \(quote.low), last \(quote.last), expected "
        + "\(band.lower)…\(band.upper)")
  }

  @inline(__always)
  private func holds(_ price: ExactDecimal, in band: PriceBand) -> Bool {
    price.isZero || band.contains(price)
  }
}

extension CandleBook {
  /// The tick of the day that its last row was of; nil where prices have none, as of indexes.
  package func tick(at index: Int) -> ExactDecimal? { instruments[index].band?.tick }

  /// Whether its code is of no kind.
  package func isOfNoKind(_ index: Int) -> Bool { instruments[index].instrument == nil }

  /// Reads the codes by the rules that are in force.
  /// - Returns: those that are of another kind or board now.
  package mutating func classify(
    by rules: (Symbol) -> Instrument? = Instrument.classify
  ) -> [Int] {
    instruments.indices.filter { index in
      let instrument = rules(instruments[index].symbol)
      if instrument == instruments[index].instrument { return false }
      (instruments[index].instrument, instruments[index].band) = (instrument, nil)
      return true
    }
  }
}
