import Market

/// The book's memory as bytes, for the store to keep beside the rows it explains. Only this module
/// reads them: the layout may change with the version byte, and a reader that meets another
/// version says so instead of guessing.
public enum BookStateError: Error, Equatable, Sendable {
  case unknownVersion(UInt8)
  case corrupt
}

private let layoutVersion: UInt8 = 1

extension CandleBook {
  /// What a restart needs of one instrument, about 150 bytes.
  public func instrumentState(at index: Int) -> [UInt8] {
    instruments[index].bytes
  }

  /// What a restart needs of the book as a whole.
  public var sharedState: [UInt8] {
    let watermarks = watermarks.all
    let bytesMax = StateWriter.integerBytesMax * (8 + 2 * watermarks.count)
    return StateWriter.bytes(version: layoutVersion, max: bytesMax) { writer in
      writer.put(timersDoneThrough.microseconds)
      writer.put(progress.day != nil)
      writer.put(Int64(progress.day?.daysSince1970 ?? 0))
      writer.put(Int64(progress.minutesCompleted))
      writer.put(progress.stalledSince != nil)
      writer.put(progress.stalledSince?.microseconds ?? 0)
      writer.put(Int64(watermarks.count))
      for (group, stamp) in watermarks {
        writer.put(Int64(group))
        writer.put(stamp.microseconds)
      }
    }
  }

  /// Restores the book as a whole; call it before the instruments.
  public mutating func restore(sharedState bytes: [UInt8]) throws(BookStateError) {
    var reader = try StateReader(bytes, version: layoutVersion)
    timersDoneThrough = Timestamp(microseconds: try reader.integer())
    let hasDay = try reader.flag()
    let day = TradingDay(daysSince1970: try reader.small())
    progress.day = hasDay ? day : nil
    progress.minutesCompleted = try reader.small()
    let isStalled = try reader.flag()
    let since = Timestamp(microseconds: try reader.integer())
    progress.stalledSince = isStalled ? since : nil
    let count: Int = try reader.small()
    for _ in 0..<max(count, 0) {
      let group: UInt16 = try reader.small()
      watermarks.raise(group, to: Timestamp(microseconds: try reader.integer()))
    }
  }

  /// Restores one instrument. Its proof of life is its group's, if it was in step with it: answers
  /// that changed nothing were never stored.
  public mutating func restore(
    instrument symbol: Symbol, state bytes: [UInt8]
  ) throws(BookStateError) {
    var reader = try StateReader(bytes, version: layoutVersion)
    let index = index(of: symbol)
    instruments[index].group = try reader.small()
    instruments[index].isInStep = try reader.flag()
    guard try reader.flag() else { return }
    var state = try reader.instrumentDay(symbol: symbol)
    if instruments[index].isInStep, let watermark = watermarks[instruments[index].group] {
      let day = watermark.shanghaiDay
      if day == state.day {
        state.knownThrough = max(state.knownThrough, watermark.shanghaiSecondOfDay)
      } else if day > state.day {
        state.knownThrough = Int(Shanghai.secondsPerDay) - 1
      }
    }
    instruments[index].state = state
  }
}

/// Variable-length integers, low seven bits first; signs folded into the lowest bit. Written on the
/// stack first: a sweep writes thousands of states, and their arrays should hold no spare room.
struct StateWriter {
  private let buffer: UnsafeMutableBufferPointer<UInt8>
  private var count = 0

  static let integerBytesMax = 10
  /// 20 integers and flags, and at most 15 decimals of the day and 12 of its two minutes.
  static let instrumentBytesMax = 20 * integerBytesMax + 27 * (integerBytesMax + 1)

  /// What `body` writes, at most `max` bytes after the version.
  static func bytes(
    version: UInt8, max: Int, _ body: (inout StateWriter) -> Void
  ) -> [UInt8] {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: max + 1) { buffer in
      var writer = StateWriter(buffer: buffer)
      writer.append(version)
      body(&writer)
      return Array(buffer[..<writer.count])
    }
  }

  private init(buffer: UnsafeMutableBufferPointer<UInt8>) { self.buffer = buffer }

  private mutating func append(_ byte: UInt8) {
    precondition(count < buffer.count, "a state is larger than its bound")
    buffer.initializeElement(at: count, to: byte)
    count += 1
  }

  mutating func put(_ value: Int64) {
    var rest = UInt64(bitPattern: (value << 1) ^ (value >> 63))
    while rest >= 0x80 {
      append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    append(UInt8(rest))
  }

  mutating func put(_ value: Bool) { append(value ? 1 : 0) }

  mutating func put(_ value: ExactDecimal) {
    append(value.scale)
    put(value.units)
  }
}

extension CandleBook.Entry {
  fileprivate var bytes: [UInt8] {
    StateWriter.bytes(version: layoutVersion, max: StateWriter.instrumentBytesMax) { writer in
      writer.put(Int64(group))
      writer.put(isInStep)
      writer.put(state != nil)
      state?.write(to: &writer)
    }
  }
}

extension FormingCandle {
  @inline(__always)
  fileprivate func write(to writer: inout StateWriter) {
    writer.put(Int64(minute))
    writer.put(Int64(flags.rawValue))
    writer.put(moved)
    writer.put(isFinal)
    writer.put(basis)
    guard moved else { return }
    writer.put(open)
    writer.put(high)
    writer.put(low)
    writer.put(close)
    writer.put(volume)
    writer.put(turnover)
  }
}

extension InstrumentDay {
  @inline(__always)
  fileprivate func write(to writer: inout StateWriter) {
    writer.put(Int64(day.daysSince1970))
    writer.put(Int64(knownThrough))
    writer.put(isObserved)
    writer.put(Int64(stamp))
    writeTotals(to: &writer)
    writer.put(Int64(trading.rawValue))
    writer.put(Int64(minutesTraded))
    writer.put(Int64(minutesUntraded))
    writer.put(Int64(minutesMissing))
    writer.put(isClosed)
    current.write(to: &writer)
    writer.put(previous != nil)
    previous?.write(to: &writer)
  }

  @inline(__always)
  private func writeTotals(to writer: inout StateWriter) {
    writer.put(volume)
    writer.put(turnover)
    writer.put(open)
    writer.put(high)
    writer.put(low)
    writer.put(last)
    writer.put(previousClose)
    writer.put(afterHours.volume)
    writer.put(afterHours.turnover)
    writer.put(minuteVolume)
    writer.put(minuteTurnover)
    writer.put(gapVolume)
    writer.put(gapTurnover)
  }
}

struct StateReader {
  private let bytes: [UInt8]
  private var index = 1

  init(_ bytes: [UInt8], version: UInt8) throws(BookStateError) {
    guard let first = bytes.first else { throw .corrupt }
    guard first == version else { throw .unknownVersion(first) }
    self.bytes = bytes
  }

  private mutating func byte() throws(BookStateError) -> UInt8 {
    guard index < bytes.count else { throw .corrupt }
    defer { index += 1 }
    return bytes[index]
  }

  mutating func integer() throws(BookStateError) -> Int64 {
    var folded: UInt64 = 0
    for shift in stride(from: 0, to: 70, by: 7) {
      let next = try byte()
      folded |= UInt64(next & 0x7F) << UInt64(shift)
      if next < 0x80 {
        return Int64(bitPattern: folded >> 1) ^ -Int64(bitPattern: folded & 1)
      }
    }
    throw .corrupt
  }

  mutating func small<Value: FixedWidthInteger>() throws(BookStateError) -> Value {
    guard let value = Value(exactly: try integer()) else { throw .corrupt }
    return value
  }

  mutating func flag() throws(BookStateError) -> Bool {
    switch try byte() {
    case 0: return false
    case 1: return true
    default: throw .corrupt
    }
  }

  mutating func decimal() throws(BookStateError) -> ExactDecimal {
    let scale = try byte()
    guard scale <= ExactDecimal.scaleMax else { throw .corrupt }
    return ExactDecimal(units: try integer(), scale: scale)
  }

  mutating func formingCandle() throws(BookStateError) -> FormingCandle {
    let minute: Int = try small()
    let flags = CandleFlags(rawValue: try small())
    let moved = try flag()
    let isFinal = try flag()
    guard (0...Session.minutesPerDay).contains(minute) else { throw .corrupt }
    var candle = FormingCandle(minute: minute, basis: try decimal())
    candle.flags = flags
    candle.moved = moved
    candle.isFinal = isFinal
    guard moved else { return candle }
    candle.open = try decimal()
    candle.high = try decimal()
    candle.low = try decimal()
    candle.close = try decimal()
    candle.volume = try decimal()
    candle.turnover = try decimal()
    return candle
  }

  mutating func instrumentDay(symbol: Symbol) throws(BookStateError) -> InstrumentDay {
    var state = InstrumentDay(symbol: symbol, day: TradingDay(daysSince1970: try small()))
    state.knownThrough = try small()
    state.isObserved = try flag()
    state.stamp = try small()
    state.volume = try decimal()
    state.turnover = try decimal()
    state.open = try decimal()
    state.high = try decimal()
    state.low = try decimal()
    state.last = try decimal()
    state.previousClose = try decimal()
    state.afterHours = AfterHours(volume: try decimal(), turnover: try decimal())
    state.minuteVolume = try decimal()
    state.minuteTurnover = try decimal()
    state.gapVolume = try decimal()
    state.gapTurnover = try decimal()
    guard let trading = TradingState(rawValue: try small()) else { throw .corrupt }
    state.trading = trading
    state.minutesTraded = try small()
    state.minutesUntraded = try small()
    state.minutesMissing = try small()
    state.isClosed = try flag()
    state.current = try formingCandle()
    if try flag() { state.previous = try formingCandle() }
    return state
  }
}
