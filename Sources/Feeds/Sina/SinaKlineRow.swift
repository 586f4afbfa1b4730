/// One row of a K-line answer, and whether it can be a bar.
///
///     {"day":"2026-02-25 14:57:00","open":"4.210","high":"4.220",…,"amount":"1545926.9902"}
///
/// Numbers are strings or bare. Averages (`ma_price5` and the like) are Sina's own reckoning and
/// are not read. Before November 2023 `amount` was sent as zero, so beside a volume a zero means
/// that nobody knows.

import Market

struct SinaKlineRow {
  private var day: JSONValue?
  private var open: JSONValue?
  private var high: JSONValue?
  private var low: JSONValue?
  private var close: JSONValue?
  private var volume: JSONValue?
  private var amount: JSONValue?
  /// What stood beside the bar and could not be read.
  private(set) var dropped: [DroppedMember] = []

  /// Reads the next value of `reader` whole, whatever it is.
  init(_ reader: inout JSONReader) throws(JSONFault) {
    guard try reader.peek() == .object else {
      try reader.skip()
      return
    }
    try reader.openObject()
    while let key = try reader.nextKey() {
      let value = try reader.readValue()
      switch key {
      case "day": day = value
      case "open": open = value
      case "high": high = value
      case "low": low = value
      case "close": close = value
      case "volume": volume = value
      case "amount": amount = value
      default: break
      }
    }
  }

  /// The bar, each of its fields checked.
  mutating func candle(
    of symbol: Symbol, timeframe: Timeframe, calendar: TradingCalendar
  ) throws(RowFault) -> Candle {
    let interval = try interval(timeframe, in: calendar)
    let row = self
    let volume = try decimal(self.volume, named: "volume")
    let turnover = dropped.value(of: .turnover, in: symbol) { () throws(RowFault) in
      try row.turnover(beside: volume)
    }
    let candle = Candle(
      symbol: symbol, timeframe: timeframe, tradingDay: interval.tradingDay,
      openedAt: interval.openedAt, closedAt: interval.closedAt,
      open: try price(open, named: "open"),
      high: try price(high, named: "high"), low: try price(low, named: "low"),
      close: try price(close, named: "close"),
      volume: volume, turnover: turnover ?? nil, flags: [], source: Sina.source)
    return try SinaKlineRow.checked(candle)
  }

  private static func checked(_ candle: Candle) throws(RowFault) -> Candle {
    guard candle.low <= min(candle.open, candle.close),
      candle.high >= max(candle.open, candle.close)
    else {
      throw RowFault(.inconsistent, detail: "open or close outside [low, high]")
    }
    let isBond = Instrument.classify(candle.symbol)?.kind == .convertibleBond
    let candle = isBond ? try inPieces(candle) : candle
    guard candle.volume.isZero, candle.low == candle.high else { return candle }
    var untraded = candle
    untraded.flags = .noTrade
    return untraded
  }

  private static func inPieces(_ candle: Candle) throws(RowFault) -> Candle {
    let multiplier = BondVolume.multiplier(
      volume: candle.volume, turnover: candle.turnover ?? .zero, low: candle.low,
      high: candle.high)
    guard let multiplier, let pieces = try? candle.volume * ExactDecimal(multiplier) else {
      throw RowFault(
        .inconsistent, detail: "volume: amount ÷ volume is no price of the bar, nor is it in lots")
    }
    var candle = candle
    candle.volume = pieces
    return candle
  }

  private func interval(
    _ timeframe: Timeframe, in calendar: TradingCalendar
  ) throws(RowFault) -> SinaKlineInterval {
    guard let stamp = day?.string?.bytes, stamp.count >= SinaDateCache.dateBytes,
      let date = TradingDay(ascii: stamp.slice(0, to: SinaDateCache.dateBytes))
    else { throw .malformed("day: YYYY-MM-DD, with or without HH:MM:SS, expected") }
    let interval = try SinaKlineInterval(
      timeframe: timeframe, day: date, secondOfDay: try SinaKlineRow.time(behindDateIn: stamp))
    switch calendar.status(of: date) {
    case .trading: return interval
    case .closed:
      throw RowFault(.notATradingDay, detail: "day: the exchange was closed")
    case .unknown:
      throw RowFault(.notATradingDay, detail: "day: after the last known day of the calendar")
    }
  }

  /// Seconds since midnight; nil where the stamp is a date alone.
  private static func time(
    behindDateIn stamp: UnsafeRawBufferPointer
  ) throws(RowFault) -> Int? {
    let rest = stamp.dropping(SinaDateCache.dateBytes)
    if rest.isEmpty { return nil }
    guard rest.first == UInt8(ascii: " "), rest.count == SinaClock.timeBytes + 1,
      let second = SinaClock.secondOfDay(rest.dropping(1))
    else { throw .malformed("day: HH:MM:SS expected after the date") }
    return Int(second)
  }

  private func turnover(beside volume: ExactDecimal) throws(RowFault) -> ExactDecimal? {
    switch amount {
    case nil, .null: return nil
    case let value?:
      let turnover = try decimal(value, named: "amount")
      return turnover.isZero && !volume.isZero ? nil : turnover
    }
  }

  /// Nothing trades for nothing: a zero stands where no price was known.
  private func price(_ value: JSONValue?, named field: String) throws(RowFault) -> ExactDecimal {
    let price = try decimal(value, named: field)
    guard price.isPositive else {
      throw RowFault(.inconsistent, detail: "\(field): a price of zero")
    }
    return price
  }

  /// A number that is not negative.
  private func decimal(_ value: JSONValue?, named field: String) throws(RowFault) -> ExactDecimal {
    guard let value else { throw .malformed("\(field): missing") }
    guard let number = SinaKlineRow.number(value) else {
      throw RowFault(.notANumber, detail: "\(field): a number expected")
    }
    guard !number.isNegative else {
      throw RowFault(.negative, detail: "\(field): \(number)")
    }
    return number
  }

  private static func number(_ value: JSONValue) -> ExactDecimal? {
    if let number = value.number { return try? number.decimal() }
    return value.string.flatMap { try? ExactDecimal(parsing: $0.bytes) }
  }
}
