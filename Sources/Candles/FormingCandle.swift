import Market

/// One minute of one instrument while it takes shape.
struct FormingCandle: Sendable, Hashable {
  /// The minute's number, as `TradingHours` counts them.
  var minute: Int
  /// The price that stood when the minute began: what a minute without trades is flat at.
  var basis: ExactDecimal
  var open = ExactDecimal.zero
  var high = ExactDecimal.zero
  var low = ExactDecimal.zero
  var close = ExactDecimal.zero
  var volume = ExactDecimal.zero
  var turnover = ExactDecimal.zero
  var flags: CandleFlags = []
  /// Something traded in it.
  var moved = false
  /// It has been handed out, or passed over; what comes to one handed out is a revision.
  var isFinal = false
  /// It is over and was not handed out, for nothing could trade in it: a late print makes its first
  /// candle. Kept as the flag that only a handed-out minute has, for a restart must know it too.
  var isPassedOver: Bool {
    get { flags.contains(.noTrade) }
    set {
      if newValue { flags.insert(.noTrade) } else { flags.remove(.noTrade) }
    }
  }

  init(minute: Int, basis: ExactDecimal) {
    self.minute = minute
    self.basis = basis
  }

  /// A minute whose beginning was not seen: it starts at the price of the first row.
  static func resumed(minute: Int, at price: ExactDecimal) -> FormingCandle {
    var candle = FormingCandle(minute: minute, basis: price)
    candle.flags = .partial
    return candle
  }

  /// Takes in one movement: the price it ended at and the range it is known to have covered.
  mutating func take(_ move: Move) throws(ExactDecimalError) {
    let grownVolume = try volume + move.volume
    let grownTurnover = try turnover + move.turnover
    if !moved {
      // The first row of a resumed minute is its open, whether or not it traded then.
      open = flags.contains(.partial) ? basis : move.open ?? move.last
      high = max(open, move.last)
      low = min(open, move.last)
      moved = true
    }
    high = max(high, move.high)
    low = min(low, move.low)
    close = move.last
    volume = grownVolume
    turnover = grownTurnover
    if move.isAmbiguous { flags.insert(.extremeAmbiguous) }
    if move.isCoarse { flags.insert(.coarse) }
  }

  /// The candle as it stands; flat where nothing moved.
  func candle(of symbol: Symbol, on day: TradingDay, rules: CandleRules) -> Candle {
    let openedAt = rules.hours.moment(
      on: day, secondOfDay: rules.hours.opening(ofMinute: minute))
    var flags = flags
    if !moved, !flags.contains(.partial) { flags.insert(.noTrade) }
    return Candle(
      symbol: symbol, timeframe: .minute1, tradingDay: day, openedAt: openedAt,
      closedAt: openedAt.adding(seconds: 60), open: moved ? open : basis,
      high: moved ? high : basis, low: moved ? low : basis, close: moved ? close : basis,
      volume: volume, turnover: turnover, flags: flags, source: rules.source)
  }
}

/// What happened between two rows of an instrument.
struct Move {
  var last: ExactDecimal
  /// The day's open, on the first movement of the day's first minute only.
  var open: ExactDecimal?
  /// The last price, or the day's extreme if it moved with this row.
  var high: ExactDecimal
  var low: ExactDecimal
  var volume: ExactDecimal
  var turnover: ExactDecimal
  /// An extreme moved between rows on either side of the minute's start.
  var isAmbiguous: Bool
  /// The totals of one of the two rows, or of both, were rounded.
  var isCoarse: Bool
}
