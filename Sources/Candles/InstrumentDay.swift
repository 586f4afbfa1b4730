import Market

/// Everything the rules remember of one instrument and one day. A value: what it does next depends
/// on nothing else, so it can be stored, restored and replayed.
///
/// It is more than half a kilobyte, and a call of a method that does not change it passes a
/// copy. What every row of a sweep asks is therefore inlined, and reads it where it stands.
struct InstrumentDay: Sendable, Hashable {
  let symbol: Symbol
  let day: TradingDay
  /// How far the clock of its market is ahead of UTC. Fits beside the day.
  private let offsetSeconds: Int32

  var coverage: Coverage
  /// A snapshot of this day was accepted.
  var isObserved = false
  /// The certificate has been written.
  var isClosed = false
  /// Two readings are served in turn: nothing is booked.
  var isDisputed = false
  /// Prices beyond the legal band were confirmed: it does not hold today.
  var isBandUnknown = false
  var booked = BookedRow()
  /// The minute that takes shape.
  var current: FormingCandle
  var sums = DaySums()
  /// The minute before the current one, kept while prints may still change it.
  var previous: FormingCandle?
  /// The minute of the last print, where that is none of these two: a late one may still change it.
  /// All minutes between it and them are flat.
  var lastMoved: FormingCandle?
  /// The gap opened last: one that adjoins it makes one row with it.
  var lastGap: Gap?
  /// Yesterday's close, where it was seen.
  var priorClose = ExactDecimal.zero

  /// How far the day is proven.
  struct Coverage: Sendable, Hashable {
    /// Proven state as of this second of the day; the open when nothing was seen yet.
    var knownThrough: Int
    /// The instrument's rows were there as of this second. The same, but for a late publisher,
    /// whose rows prove what they say only to `lag` seconds before.
    var aliveThrough: Int
    /// How old the rows of a late publisher are when they come, in seconds; 0 for all others.
    var lag = 0
    /// The first minute since which nothing passed unseen.
    var observedSince = 0

    init(from second: Int) { (knownThrough, aliveThrough) = (second, second) }
  }

  /// What the last booked row says, which the next one is compared with.
  struct BookedRow: Sendable, Hashable {
    var stamp = 0
    var volume = ExactDecimal.zero
    var turnover = ExactDecimal.zero
    var open = ExactDecimal.zero
    var high = ExactDecimal.zero
    var low = ExactDecimal.zero
    var last = ExactDecimal.zero
    var previousClose = ExactDecimal.zero
    var trading = TradingState.preOpen
    /// The totals are lower bounds: the source rounds them.
    var isCoarse = false
    var afterHours = AfterHours(volume: .zero, turnover: .zero)
  }

  /// Where the day's volume and minutes went.
  struct DaySums: Sendable, Hashable {
    var minuteVolume = ExactDecimal.zero
    var minuteTurnover = ExactDecimal.zero
    var gapVolume = ExactDecimal.zero
    var gapTurnover = ExactDecimal.zero
    var minutesTraded = 0
    var minutesUntraded = 0
    var minutesMissing = 0
  }

  init(symbol: Symbol, day: TradingDay, basis: ExactDecimal = .zero, hours: TradingHours) {
    self.symbol = symbol
    self.day = day
    offsetSeconds = hours.clock.offsetSeconds
    coverage = Coverage(from: hours.opens)
    current = FormingCandle(minute: 0, basis: basis)
  }

  /// Trading time on which the state is proven.
  @inline(__always)
  func knownTradingSeconds(in hours: TradingHours) -> Int {
    hours.tradingSeconds(before: coverage.knownThrough)
  }

  /// What a minute without trades is flat at: the last price, before the first trade the
  /// previous close.
  var price: ExactDecimal { booked.last.isZero ? booked.previousClose : booked.last }

  /// Minutes without trades make candles only where one could have traded.
  @inline(__always)
  var isTradable: Bool {
    switch booked.trading {
    case .normal, .auction, .preOpen: true
    case .halted: !booked.last.isZero
    case .delisted, .notListed: false
    }
  }

  /// Whether the state is proven to the end of `minute`.
  @inline(__always)
  func isKnown(throughMinute minute: Int, in hours: TradingHours) -> Bool {
    knownTradingSeconds(in: hours) >= (minute + 1) * 60
  }

  /// Whether its rows were there to the end of `minute`, however old they were.
  @inline(__always)
  func isAlive(throughMinute minute: Int, in hours: TradingHours) -> Bool {
    hours.tradingSeconds(before: coverage.aliveThrough) >= (minute + 1) * 60
  }

  /// The last minute that was handed out, or passed over; -1 before the first.
  var handedOutThrough: Int {
    guard let previous else { return current.minute - 1 }
    return previous.isFinal ? previous.minute : previous.minute - 1
  }

  @inline(__always)
  func moment(_ secondOfDay: Int) -> Timestamp {
    Timestamp(
      seconds: Int64(day.daysSince1970) * 86_400 + Int64(secondOfDay) - Int64(offsetSeconds))
  }

  /// The second of the day that `moment` is.
  func second(of moment: Timestamp) -> Int { Int(moment.seconds - self.moment(0).seconds) }
}

// MARK: - Minutes, one after the other

extension InstrumentDay {
  /// Lets `minute` be the one that takes shape. Those it passes are complete: each is handed out
  /// as soon as the next but one begins, the last of them waits for its grace period.
  mutating func begin(minute: Int, rules: CandleRules, into output: inout CandleOutput) {
    while current.minute < minute {
      finishPrevious(rules: rules, into: &output)
      if let passed = previous, passed.moved || passed.flags.contains(.partial) {
        lastMoved = passed
      }
      previous = current
      current = FormingCandle(minute: current.minute + 1, basis: price)
    }
  }

  /// Hands out every minute up to and including `minute`.
  mutating func finish(
    throughMinute minute: Int, rules: CandleRules, into output: inout CandleOutput
  ) {
    begin(minute: min(minute + 1, rules.hours.minutesPerDay), rules: rules, into: &output)
    finishPrevious(rules: rules, into: &output)
  }

  /// Hands out what is proven of a late publisher, whose minutes end that much later.
  mutating func finishLate(rules: CandleRules, into output: inout CandleOutput) {
    let minute = (knownTradingSeconds(in: rules.hours) - rules.graceSeconds) / 60 - 1
    if minute >= 0, current.minute <= minute + 1 {
      finish(throughMinute: minute, rules: rules, into: &output)
    }
  }

  mutating func finishPrevious(rules: CandleRules, into output: inout CandleOutput) {
    guard let minute = previous, !minute.isFinal else { return }
    previous?.isFinal = true
    guard minute.moved || isTradable else {
      previous?.isPassedOver = true
      return
    }
    if minute.moved { sums.minutesTraded += 1 } else { sums.minutesUntraded += 1 }
    output.candles.append(minute.candle(of: symbol, on: day, rules: rules))
  }

  /// The feed is silent: what was seen of the current minute is all there will be.
  mutating func discardCurrent(rules: CandleRules, into output: inout CandleOutput) {
    current.flags.insert(.partial)
    finish(throughMinute: current.minute, rules: rules, into: &output)
  }
}
