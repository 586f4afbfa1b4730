import Market

/// Reads what `StateWriter` wrote, and checks all of it: bytes that were damaged in the database
/// are refused with the name of the field they stood in, for whoever has to mend them.
struct StateReader {
  private let bytes: [UInt8]
  private var index = 1
  /// The hours of the market whose days these are.
  let hours: TradingHours

  /// The byte to be read next.
  var position: Int { index }

  /// How many minutes of a day are this or that.
  var minuteCounts: ClosedRange<Int> { 0...hours.minutesPerDay }
  static let secondsOfDay = 0...LocalClock.secondsPerDay
  /// The days to the year 2243: a day further on is no day, and its arithmetic would overflow.
  private static let daysMax = 100_000
  private static let microsecondsMax = Int64(daysMax) * 86_400 * 1_000_000

  init(_ bytes: [UInt8], hours: TradingHours) throws(BookStateError) {
    self.hours = hours
    guard let first = bytes.first else {
      throw .corrupt(field: "version", expected: "\(layoutVersion)", at: 0)
    }
    guard first == layoutVersion else { throw .unknownVersion(first) }
    self.bytes = bytes
  }

  var isAtEnd: Bool { index == bytes.count }

  /// Nothing may follow.
  func end() throws(BookStateError) {
    guard isAtEnd else {
      throw .corrupt(field: "end", expected: "nothing more", at: index)
    }
  }

  private mutating func byte() -> UInt8? {
    guard index < bytes.count else { return nil }
    defer { index += 1 }
    return bytes[index]
  }

  mutating func number() -> UInt64? { UInt64(decoding: { byte() }) }

  private mutating func integer() -> Int64? { number().map { Int64(folded: $0) } }

  mutating func integer(_ field: String) throws(BookStateError) -> Int64 {
    let start = index
    guard let value = integer() else {
      throw .corrupt(field: field, expected: "a whole number", at: start)
    }
    return value
  }

  /// A whole number of `range`.
  mutating func integer(
    _ field: @autoclosure () -> String, in range: ClosedRange<Int>
  ) throws(BookStateError) -> Int {
    let start = index
    guard let value = integer(), let number = Int(exactly: value), range.contains(number) else {
      throw .corrupt(
        field: field(), expected: "a whole number of \(range.lowerBound)…\(range.upperBound)",
        at: start)
    }
    return number
  }

  mutating func flag(_ field: @autoclosure () -> String) throws(BookStateError) -> Bool {
    let start = index
    switch byte() {
    case 0: return false
    case 1: return true
    default: throw .corrupt(field: field(), expected: "0 or 1", at: start)
    }
  }

  mutating func group() throws(BookStateError) -> UInt32 {
    UInt32(try integer("group", in: 0...Self.groupMax))
  }

  /// Sixteen bits of a source's own number, eight of its rank.
  private static let groupMax = 0xFF_FFFF

  mutating func day(_ field: @autoclosure () -> String) throws(BookStateError) -> TradingDay {
    TradingDay(daysSince1970: Int32(try integer(field(), in: 0...Self.daysMax)))
  }

  mutating func moment(_ field: @autoclosure () -> String) throws(BookStateError) -> Timestamp {
    let start = index
    guard let value = integer(), (0...Self.microsecondsMax).contains(value) else {
      throw .corrupt(field: field(), expected: "microseconds since 1970", at: start)
    }
    return Timestamp(microseconds: value)
  }

  private mutating func skip(_ numbers: UInt64) { for _ in 0..<numbers { _ = number() } }

  /// Written as a difference.
  private mutating func decimal(
    _ field: @autoclosure () -> String, plus other: ExactDecimal
  ) throws(BookStateError) -> ExactDecimal {
    let difference = try decimal(field())
    return ExactDecimal(units: difference.units &+ other.units, scale: difference.scale)
  }

  mutating func decimal(
    _ field: @autoclosure () -> String
  ) throws(BookStateError) -> ExactDecimal {
    let start = index
    guard let scale = byte(), scale <= ExactDecimal.scaleMax, let units = integer() else {
      throw .corrupt(
        field: field(), expected: "a decimal of 0…\(ExactDecimal.scaleMax) places", at: start)
    }
    return ExactDecimal(units: units, scale: scale)
  }

  private mutating func formingCandle(
    _ name: String, plus day: MinuteTotals, as form: DayForm
  ) throws(BookStateError) -> FormingCandle {
    let minute = try integer("\(name).minute", in: minuteCounts)
    let flags = CandleFlags(rawValue: Int16(try integer("\(name).flags", in: 0...Int(Int16.max))))
    let moved = try flag("\(name).moved")
    let isFinal = try flag("\(name).is_final")
    var candle = FormingCandle(minute: minute, basis: try decimal("\(name).basis"))
    candle.flags = flags
    candle.moved = moved
    candle.isFinal = isFinal
    guard moved || form == .difference else { return candle }
    candle.open = try decimal("\(name).open")
    candle.high = try decimal("\(name).high")
    candle.low = try decimal("\(name).low")
    candle.close = try decimal("\(name).close", plus: day.last)
    candle.volume = try decimal("\(name).volume", plus: day.volume)
    candle.turnover = try decimal("\(name).turnover", plus: day.turnover)
    return candle
  }

  private mutating func formingCandleIfAny(
    _ name: String, of day: InstrumentDay, as form: DayForm
  ) throws(BookStateError) -> FormingCandle? {
    if try flag("has_\(name)") {
      return try formingCandle(name, plus: day.pastTotals(as: form), as: form)
    }
    if form == .difference { skip(FormingCandle.numbers) }
    return nil
  }

  mutating func instrumentDay(
    symbol: Symbol, as form: DayForm = .whole
  ) throws(BookStateError) -> InstrumentDay {
    var state = InstrumentDay(symbol: symbol, day: try day("day"), hours: hours)
    state.coverage.knownThrough = try integer("known_through", in: Self.secondsOfDay)
    state.isObserved = try flag("is_observed")
    state.booked.stamp = try integer("stamp", in: Self.secondsOfDay)
    try totals(of: &state)
    state.booked.trading = try trading()
    state.sums.minutesTraded = try integer("minutes_traded", in: minuteCounts)
    state.sums.minutesUntraded = try integer("minutes_untraded", in: minuteCounts)
    state.sums.minutesMissing = try integer("minutes_missing", in: minuteCounts)
    state.isClosed = try flag("is_closed")
    state.current = try formingCandle("current", plus: state.minuteTotals, as: form)
    state.previous = try formingCandleIfAny("previous", of: state, as: form)
    state.coverage.aliveThrough = state.coverage.knownThrough
    try rest(of: &state, as: form)
    state.booked.isCoarse = try flag("is_coarse")
    state.limits.areCompared = try flag("are_limits_compared")
    return state
  }

  private mutating func rest(
    of state: inout InstrumentDay, as form: DayForm
  ) throws(BookStateError) {
    state.lastMoved = try formingCandleIfAny("last_moved", of: state, as: form)
    let lead = try integer("alive_through", in: Self.secondsOfDay)
    state.coverage.aliveThrough += lead
    state.coverage.lag = try integer("lag", in: Self.secondsOfDay)
    state.coverage.observedSince = try integer("observed_since", in: minuteCounts)
    state.priorClose = try decimal("prior_close")
    state.limits.isBandUnknown = try flag("is_band_unknown")
    state.isDisputed = try flag("is_disputed")
    if try flag("has_last_gap") {
      state.lastGap = try gap(of: state.symbol, on: state.day)
    } else if form == .difference {
      skip(Gap.numbers)
    }
  }

  mutating func trading() throws(BookStateError) -> TradingState {
    let start = index
    guard let value = integer(), let raw = TradingState.RawValue(exactly: value),
      let trading = TradingState(rawValue: raw)
    else { throw .corrupt(field: "trading", expected: "a trading state", at: start) }
    return trading
  }

  private mutating func totals(of state: inout InstrumentDay) throws(BookStateError) {
    state.booked.volume = try decimal("volume")
    state.booked.turnover = try decimal("turnover")
    state.booked.open = try decimal("open")
    state.booked.high = try decimal("high")
    state.booked.low = try decimal("low")
    state.booked.last = try decimal("last")
    state.booked.previousClose = try decimal("previous_close")
    state.booked.afterHours = AfterHours(
      volume: try decimal("after_hours.volume"), turnover: try decimal("after_hours.turnover"))
    state.sums.gapVolume = try decimal("gap_volume")
    state.sums.gapTurnover = try decimal("gap_turnover")
    state.sums.minuteVolume = try decimal("minute_volume", plus: state.booked.volume)
    state.sums.minuteTurnover = try decimal("minute_turnover", plus: state.booked.turnover)
  }
}
