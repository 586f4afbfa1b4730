import Market

/// Reads what `StateWriter` wrote, and checks all of it: bytes that were damaged in the database
/// are refused with the name of the field they stood in, for whoever has to mend them.
struct StateReader {
  private let bytes: [UInt8]
  private var index = 1
  private(set) var isOwn = false
  /// Of the fields of the group that is read, which differ, and what the group is called.
  private var mask: UInt64 = 0
  private(set) var part: StaticString = ""
  /// The hours of the market whose days these are.
  var hours: TradingHours

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

  /// A part of a state, which was written here and is not checked.
  init(part bytes: [UInt8], hours: TradingHours) {
    (self.bytes, self.hours, index, isOwn) = (bytes, hours, 0, true)
  }

  var isAtEnd: Bool { index == bytes.count }

  /// Nothing may follow.
  func expectEnd() throws(BookStateError) {
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

  mutating func integer(_ field: @autoclosure () -> String) throws(BookStateError) -> Int64 {
    let start = index
    guard let value = integer() else {
      throw .corrupt(field: field(), expected: "a whole number", at: start)
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

  mutating func decimal(
    _ field: @autoclosure () -> String
  ) throws(BookStateError) -> ExactDecimal {
    let scale = try scale(field())
    return ExactDecimal(units: try integer(field()), scale: scale)
  }

  mutating func scale(_ field: @autoclosure () -> String) throws(BookStateError) -> UInt8 {
    let start = index
    guard let scale = byte(), scale <= ExactDecimal.scaleMax else {
      throw .corrupt(field: field(), expected: "0…\(ExactDecimal.scaleMax) places", at: start)
    }
    return scale
  }

  mutating func begin(_ part: StaticString, maskBytes: Int) throws(BookStateError) {
    self.part = part
    mask = 0
    for place in 0..<maskBytes {
      guard let byte = byte() else {
        throw .corrupt(field: "\(part)", expected: "a mask of \(maskBytes) bytes", at: index)
      }
      mask |= UInt64(byte) << (8 * UInt64(place))
    }
  }

  func end() {}

  /// Whether the next field of the group differs.
  mutating func isMarked() -> Bool {
    defer { mask >>= 1 }
    return mask & 1 != 0
  }

  mutating func instrumentDay(
    symbol: Symbol, hours ofDay: (TradingDay) -> TradingHours?
  ) throws(BookStateError) -> InstrumentDay {
    let day = try day("day")
    hours = ofDay(day) ?? hours
    var state = InstrumentDay(symbol: symbol, day: day, hours: hours)
    state.priorClose = try decimal("prior_close")
    var bare = InstrumentDay.bare
    try state.code(after: &bare, with: &self)
    try readPast(of: &state, after: bare)
    return state
  }

  private mutating func readPast(
    of state: inout InstrumentDay, after newer: InstrumentDay
  ) throws(BookStateError) {
    state.previous = try minute("previous", after: newer.previous)
    state.lastMoved = try minute("last_moved", after: newer.lastMoved)
    state.lastGap = try flag("has_last_gap") ? try gap(of: state.symbol, on: state.day) : nil
  }

  private mutating func minute(
    _ part: StaticString, after newer: FormingCandle?
  ) throws(BookStateError) -> FormingCandle? {
    guard try flag("has_\(part)") else { return nil }
    let newer = newer ?? FormingCandle(minute: 0, basis: .zero)
    var minute = newer
    try minute.codeAlone(as: part, after: newer, with: &self)
    return minute
  }

  mutating func checkpoint(before day: InstrumentDay) throws(BookStateError) -> Checkpoint {
    var (state, newer) = (day, day)
    try state.code(after: &newer, with: &self)
    guard try flag("has_past") else { return Checkpoint(state: state) }
    try readPast(of: &state, after: day)
    return Checkpoint(state: state, gaps: try gapChanges(of: state))
  }

  mutating func trading() throws(BookStateError) -> TradingState {
    let start = index
    guard let value = integer(), let raw = TradingState.RawValue(exactly: value),
      let trading = TradingState(rawValue: raw)
    else { throw .corrupt(field: "trading", expected: "a trading state", at: start) }
    return trading
  }
}
