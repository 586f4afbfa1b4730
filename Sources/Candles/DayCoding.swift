import Market

/// A day as bytes: how each field differs from that of another day, which is a bare one or the day
/// after it. What writes and what reads go through one list of fields.
///
/// A group of fields begins with a mask that has a bit of each whole number, and two of each
/// decimal: whether its units differ, and its scale. Only what differs follows.
protocol DifferenceCoder {
  associatedtype Failure: Error

  mutating func begin(_ part: StaticString, maskBytes: Int) throws(Failure)

  func end()

  /// Codes `value - base` after `newer - newerBase`: what grows together does not differ.
  mutating func code(
    _ value: inout Int, less base: Int, after newer: Int, less newerBase: Int,
    in range: FieldRange, named name: StaticString
  ) throws(Failure)

  mutating func code(
    _ value: inout ExactDecimal, less base: ExactDecimal, after newer: ExactDecimal,
    less newerBase: ExactDecimal, named name: StaticString
  ) throws(Failure)
}

/// What a whole number of a day may be.
enum FieldRange {
  case secondOfDay
  /// A minute's number, or a count of minutes.
  case minutes
  case upTo(Int)
}

extension DifferenceCoder {
  @inline(__always)
  mutating func code(
    _ value: inout Int, after newer: Int, in range: FieldRange, named name: StaticString
  ) throws(Failure) {
    try code(&value, less: 0, after: newer, less: 0, in: range, named: name)
  }

  @inline(__always)
  mutating func code(
    _ value: inout ExactDecimal, after newer: ExactDecimal, named name: StaticString
  ) throws(Failure) {
    try code(&value, less: .zero, after: newer, less: .zero, named: name)
  }
}

/// Writes groups of fields where there is room for them. A value of its own, which fits registers.
struct FieldWriter: DifferenceCoder {
  /// Where the next byte goes.
  private(set) var next: UnsafeMutablePointer<UInt8>
  private var mask: UInt64 = 0
  private var maskPlace: UnsafeMutablePointer<UInt8>
  private var maskBytes = 0
  /// That of the next field.
  private var bit: UInt64 = 1

  init(at next: UnsafeMutablePointer<UInt8>) { (self.next, maskPlace) = (next, next) }

  @inline(__always)
  mutating func begin(_ part: StaticString, maskBytes: Int) {
    (maskPlace, self.maskBytes, mask, bit) = (next, maskBytes, 0, 1)
    next += maskBytes
  }

  @inline(__always)
  func end() {
    for place in 0..<maskBytes {
      maskPlace[place] = UInt8(truncatingIfNeeded: mask >> (8 * UInt64(place)))
    }
  }

  @inline(__always)
  private mutating func mark(_ differs: Bool) -> Bool {
    if differs { mask |= bit }
    bit <<= 1
    return differs
  }

  @inline(__always)
  private mutating func put(_ number: UInt64) {
    if number < 0x80 {
      next.pointee = UInt8(number)
      next += 1
    } else {
      next = number.encode(at: next)
    }
  }

  @inline(__always)
  mutating func code(
    _ value: inout Int, less base: Int, after newer: Int, less newerBase: Int,
    in range: FieldRange, named name: StaticString
  ) {
    let difference = Int64((value &- base) &- (newer &- newerBase))
    if mark(difference != 0) { put(difference.folded) }
  }

  @inline(__always)
  mutating func code(
    _ value: inout ExactDecimal, less base: ExactDecimal, after newer: ExactDecimal,
    less newerBase: ExactDecimal, named name: StaticString
  ) {
    let difference = (value.units &- base.units) &- (newer.units &- newerBase.units)
    if mark(difference != 0) { put(difference.folded) }
    if mark(value.scale != newer.scale) { put(UInt64(value.scale)) }
  }
}

extension StateReader: DifferenceCoder {
  mutating func code(
    _ value: inout Int, less base: Int, after newer: Int, less newerBase: Int,
    in range: FieldRange, named name: StaticString
  ) throws(BookStateError) {
    let bounds =
      switch range {
      case .secondOfDay: Self.secondsOfDay
      case .minutes: minuteCounts
      case .upTo(let most): 0...most
      }
    let (start, part) = (position, part)
    let difference = isMarked() ? Int(try integer("\(part).\(name)")) : 0
    let number = difference &+ base &+ (newer &- newerBase)
    guard isOwn || bounds.contains(number) else {
      throw .corrupt(
        field: "\(part).\(name)",
        expected: "a whole number of \(bounds.lowerBound)…\(bounds.upperBound)", at: start)
    }
    value = number
  }

  mutating func code(
    _ value: inout ExactDecimal, less base: ExactDecimal, after newer: ExactDecimal,
    less newerBase: ExactDecimal, named name: StaticString
  ) throws(BookStateError) {
    let part = part
    let difference = isMarked() ? try integer("\(part).\(name)") : 0
    let scale = isMarked() ? try self.scale("\(part).\(name)") : newer.scale
    value = ExactDecimal(
      units: difference &+ base.units &+ (newer.units &- newerBase.units), scale: scale)
  }
}

// MARK: - Fields

extension FormingCandle {
  private var marks: Int {
    @inline(__always) get { Int(flags.rawValue) << 2 | (moved ? 2 : 0) | (isFinal ? 1 : 0) }
    @inline(__always) set {
      flags = CandleFlags(rawValue: Int16(newValue >> 2))
      (moved, isFinal) = (newValue & 2 != 0, newValue & 1 != 0)
    }
  }

  private static let marksMax = Int(Int16.max) << 2 | 3

  /// - Parameters:
  ///   - totals: what the close, the volume and the turnover move with.
  ///   - newer: the candle in the day after this one, with what it moves with.
  @inline(__always)
  fileprivate mutating func code<Coder: DifferenceCoder>(
    as part: StaticString, less totals: MinuteTotals, after newer: FormingCandle,
    less newerTotals: MinuteTotals, with coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.begin(part, maskBytes: 2)
    try coder.code(&minute, after: newer.minute, in: .minutes, named: "minute")
    try coder.code(&marks, after: newer.marks, in: .upTo(Self.marksMax), named: "flags")
    try coder.code(&basis, after: newer.basis, named: "basis")
    try coder.code(&open, after: newer.open, named: "open")
    try coder.code(&high, after: newer.high, named: "high")
    try coder.code(&low, after: newer.low, named: "low")
    try coder.code(
      &close, less: totals.last, after: newer.close, less: newerTotals.last, named: "close")
    try coder.code(
      &volume, less: totals.volume, after: newer.volume, less: newerTotals.volume, named: "volume")
    try coder.code(
      &turnover, less: totals.turnover, after: newer.turnover, less: newerTotals.turnover,
      named: "turnover")
    coder.end()
  }
}

/// What the current minute's close, volume and turnover move with.
private struct MinuteTotals {
  var last = ExactDecimal.zero
  var volume = ExactDecimal.zero
  var turnover = ExactDecimal.zero
}

extension InstrumentDay {
  /// What a whole day is written after.
  static let bare = InstrumentDay(
    symbol: Symbol(low: 0, high: 0), day: TradingDay(daysSince1970: 0), hours: .mainlandChina)

  private var marks: Int {
    @inline(__always) get {
      (isObserved ? 1 : 0) | (isClosed ? 2 : 0) | (isDisputed ? 4 : 0)
        | (isBandUnknown ? 8 : 0) | (booked.isCoarse ? 32 : 0)
    }
    @inline(__always) set {
      isObserved = newValue & 1 != 0
      isClosed = newValue & 2 != 0
      isDisputed = newValue & 4 != 0
      isBandUnknown = newValue & 8 != 0
      booked.isCoarse = newValue & 32 != 0
    }
  }

  private var trading: Int {
    @inline(__always) get { Int(booked.trading.rawValue) }
    @inline(__always) set {
      booked.trading = TradingState(rawValue: UInt8(newValue)) ?? booked.trading
    }
  }

  private static let marksMax = (1 << 6) - 1
  private static let tradingMax = TradingState.allCases.count - 1

  @inline(__always)
  private var minuteTotals: MinuteTotals {
    MinuteTotals(last: booked.last, volume: sums.minuteVolume, turnover: sums.minuteTurnover)
  }

  /// Whether each field that differences are taken of has the same units and the same scale.
  mutating func hasFields(of other: inout InstrumentDay) -> Bool {
    guard hasPast(of: other) else { return false }
    return StateWriter.write { writer in
      writer.putFields { codeTotals(after: &other, with: &$0) }
    } taking: {
      $0.allSatisfy { $0 == 0 }
    }
  }

  /// Mutating, and with `inout`, so that nothing is copied; nothing is changed.
  @inline(never)
  mutating func write(after newer: inout InstrumentDay, to writer: inout StateWriter) {
    writer.putFields { code(after: &newer, with: &$0) }
  }

  /// Writes or reads the account of a day before that of `newer`.
  @inline(__always)
  mutating func code<Coder: DifferenceCoder>(
    after newer: inout InstrumentDay, with coder: inout Coder
  ) throws(Coder.Failure) {
    try codeProof(with: &coder)
    try codeTotals(after: &newer, with: &coder)
  }

  /// How far the day is proven, and what marks it: written whole, for it changes without a booking.
  @inline(__always)
  private mutating func codeProof<Coder: DifferenceCoder>(
    with coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.begin("day", maskBytes: 1)
    try coder.code(&coverage.knownThrough, after: 0, in: .secondOfDay, named: "known_through")
    let known = coverage.knownThrough
    try coder.code(
      &coverage.aliveThrough, less: known, after: 0, less: 0, in: .secondOfDay,
      named: "alive_through")
    try coder.code(
      &booked.stamp, less: known, after: 0, less: 0, in: .secondOfDay, named: "stamp")
    try coder.code(&coverage.lag, after: 0, in: .secondOfDay, named: "lag")
    try coder.code(&coverage.observedSince, after: 0, in: .minutes, named: "observed_since")
    try coder.code(&marks, after: 0, in: .upTo(Self.marksMax), named: "marks")
    try coder.code(&trading, after: 0, in: .upTo(Self.tradingMax), named: "trading")
    coder.end()
  }

  @inline(__always)
  private mutating func codeTotals<Coder: DifferenceCoder>(
    after newer: inout InstrumentDay, with coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.begin("day", maskBytes: 4)
    try codeBooked(after: &newer, with: &coder)
    try codeSums(after: &newer, with: &coder)
    coder.end()
    try current.code(
      as: "current", less: minuteTotals, after: newer.current, less: newer.minuteTotals,
      with: &coder)
  }

  @inline(__always)
  private mutating func codeBooked<Coder: DifferenceCoder>(
    after newer: inout InstrumentDay, with coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.code(&booked.volume, after: newer.booked.volume, named: "volume")
    try coder.code(&booked.turnover, after: newer.booked.turnover, named: "turnover")
    try coder.code(&booked.open, after: newer.booked.open, named: "open")
    try coder.code(&booked.high, after: newer.booked.high, named: "high")
    try coder.code(&booked.low, after: newer.booked.low, named: "low")
    try coder.code(&booked.last, after: newer.booked.last, named: "last")
    try coder.code(
      &booked.previousClose, after: newer.booked.previousClose, named: "previous_close")
    try coder.code(
      &booked.afterHours.volume, after: newer.booked.afterHours.volume,
      named: "after_hours.volume")
    try coder.code(
      &booked.afterHours.turnover, after: newer.booked.afterHours.turnover,
      named: "after_hours.turnover")
  }

  /// Conservation: what is in no gap is in a minute.
  @inline(__always)
  private mutating func codeSums<Coder: DifferenceCoder>(
    after newer: inout InstrumentDay, with coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.code(&sums.gapVolume, after: newer.sums.gapVolume, named: "gap_volume")
    try coder.code(&sums.gapTurnover, after: newer.sums.gapTurnover, named: "gap_turnover")
    try coder.code(
      &sums.minuteVolume, less: booked.volume, after: newer.sums.minuteVolume,
      less: newer.booked.volume, named: "minute_volume")
    try coder.code(
      &sums.minuteTurnover, less: booked.turnover, after: newer.sums.minuteTurnover,
      less: newer.booked.turnover, named: "minute_turnover")
    try coder.code(
      &sums.minutesTraded, after: newer.sums.minutesTraded, in: .minutes, named: "minutes_traded")
    try coder.code(
      &sums.minutesUntraded, after: newer.sums.minutesUntraded, in: .minutes,
      named: "minutes_untraded")
    try coder.code(
      &sums.minutesMissing, after: newer.sums.minutesMissing, in: .minutes,
      named: "minutes_missing")
  }
}

extension FormingCandle {
  @inline(never)
  mutating func write(after newer: FormingCandle?, to writer: inout StateWriter) {
    let newer = newer ?? FormingCandle(minute: 0, basis: .zero)
    writer.putFields { codeAlone(as: "minute", after: newer, with: &$0) }
  }

  /// Writes or reads a minute that the day's totals do not move any more.
  @inline(__always)
  mutating func codeAlone<Coder: DifferenceCoder>(
    as part: StaticString, after newer: FormingCandle, with coder: inout Coder
  ) throws(Coder.Failure) {
    try code(as: part, less: MinuteTotals(), after: newer, less: MinuteTotals(), with: &coder)
  }
}
