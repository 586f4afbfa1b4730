import Market

/// Everything the rules remember of one instrument and one day. A value: what it does next depends
/// on nothing else, so it can be stored, restored and replayed.
///
/// It is half a kilobyte, and a call of a method that does not change it passes a copy. What every
/// row of a sweep asks is therefore inlined, and reads it where it stands.
struct InstrumentDay: Sendable, Hashable {
  let symbol: Symbol
  let day: TradingDay

  /// What is proven by an answer of a later day.
  static let lastSecond = Int(Shanghai.secondsPerDay) - 1

  /// Proven state as of this second of the day; the morning's open when nothing was seen yet.
  var knownThrough = Session.morningOpen
  /// A snapshot of this day was accepted.
  var isObserved = false
  var stamp = 0
  var volume = ExactDecimal.zero
  var turnover = ExactDecimal.zero
  var open = ExactDecimal.zero
  var high = ExactDecimal.zero
  var low = ExactDecimal.zero
  var last = ExactDecimal.zero
  var previousClose = ExactDecimal.zero
  var afterHours = AfterHours(volume: .zero, turnover: .zero)
  var trading = TradingState.preOpen

  /// The minute that takes shape, and the one before it, kept while prints may still change it.
  var current: FormingCandle
  var previous: FormingCandle?

  var minuteVolume = ExactDecimal.zero
  var minuteTurnover = ExactDecimal.zero
  var gapVolume = ExactDecimal.zero
  var gapTurnover = ExactDecimal.zero
  var minutesTraded = 0
  var minutesUntraded = 0
  var minutesMissing = 0
  /// The certificate has been written.
  var isClosed = false

  init(symbol: Symbol, day: TradingDay, basis: ExactDecimal = .zero) {
    self.symbol = symbol
    self.day = day
    current = FormingCandle(minute: 0, basis: basis)
  }

  /// Trading time on which the state is proven, 0…14400 s.
  @inline(__always)
  var knownTradingSeconds: Int { Session.tradingSeconds(before: knownThrough) }

  /// What a minute without trades is flat at: the last price, before the first trade the
  /// previous close.
  var price: ExactDecimal { last.isZero ? previousClose : last }

  /// Minutes without trades make candles only where one could have traded.
  @inline(__always)
  var isTradable: Bool {
    switch trading {
    case .normal, .auction, .preOpen: true
    case .halted: !last.isZero
    case .delisted, .notListed: false
    }
  }

  /// Whether the state is proven to the end of `minute`.
  func isKnown(throughMinute minute: Int) -> Bool {
    knownTradingSeconds >= (minute + 1) * 60
  }

  func moment(_ secondOfDay: Int) -> Timestamp {
    Timestamp(day: day, secondOfDay: secondOfDay)
  }
}

// MARK: - Minutes, one after the other

extension InstrumentDay {
  /// Lets `minute` be the one that takes shape. Those it passes are complete: each is handed out
  /// as soon as the next but one begins, the last of them waits for its grace period.
  mutating func begin(minute: Int, into output: inout CandleOutput) {
    while current.minute < minute {
      finishPrevious(into: &output)
      previous = current
      current = FormingCandle(minute: current.minute + 1, basis: price)
    }
  }

  /// Hands out every minute up to and including `minute`.
  mutating func finish(throughMinute minute: Int, into output: inout CandleOutput) {
    begin(minute: min(minute + 1, Session.minutesPerDay), into: &output)
    finishPrevious(into: &output)
  }

  mutating func finishPrevious(into output: inout CandleOutput) {
    guard let minute = previous, !minute.isFinal else { return }
    previous?.isFinal = true
    guard minute.moved || isTradable else {
      previous?.isPassedOver = true
      return
    }
    if minute.moved { minutesTraded += 1 } else { minutesUntraded += 1 }
    output.candles.append(minute.candle(symbol: symbol, day: day))
  }

  /// The feed is silent: what was seen of the current minute is all there will be.
  mutating func giveUpCurrent(into output: inout CandleOutput) {
    current.flags.insert(.partial)
    finish(throughMinute: current.minute, into: &output)
  }
}
