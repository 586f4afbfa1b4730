import Market

/// The book's memory as bytes, for the store to keep beside the rows it explains. Only this module
/// reads them: the layout may change with the version byte, and a reader that meets another
/// version says so instead of guessing.
public enum BookStateError: Error, Equatable, Sendable {
  case unknownVersion(UInt8)
  /// What stands at byte `at` is not the field that is due there.
  case corrupt(field: String, expected: String, at: Int)
}

/// 2 since disputes are remembered. The shared state is as it was.
private let layoutVersion: UInt8 = 2
private let layoutVersions: ClosedRange<UInt8> = 1...2

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
    var reader = try StateReader(bytes, versions: layoutVersions)
    timersDoneThrough = try reader.moment("timers_done_through")
    let hasDay = try reader.flag("has_day")
    let day = try reader.day("day")
    progress.day = hasDay ? day : nil
    progress.minutesCompleted = try reader.integer("minutes_completed", StateReader.minuteCounts)
    let isStalled = try reader.flag("is_stalled")
    let since = try reader.moment("stalled_since")
    progress.stalledSince = isStalled ? since : nil
    for _ in 0..<(try reader.integer("watermarks", 0...Int(UInt16.max) + 1)) {
      let group = try reader.group()
      watermarks.raise(group, to: try reader.moment("watermark of group \(group)"))
    }
    try reader.end()
  }

  /// Restores one instrument. Its proof of life is its group's, if it was in step with it: answers
  /// that changed nothing were never stored.
  public mutating func restore(
    instrument symbol: Symbol, state bytes: [UInt8]
  ) throws(BookStateError) {
    var reader = try StateReader(bytes, versions: layoutVersions)
    let index = index(of: symbol)
    instruments[index].group = try reader.group()
    instruments[index].isInStep = try reader.flag("is_in_step")
    guard try reader.flag("has_day") else { return try reader.end() }
    var state = try reader.instrumentDay(symbol: symbol)
    if reader.version > 1 {
      instruments[index].checkpoints = try reader.checkpoints(before: state)
      instruments[index].dispute = try reader.dispute(of: state)
    }
    try reader.end()
    if instruments[index].isInStep, !state.isDisputed,
      let watermark = watermarks[instruments[index].group]
    {
      let day = watermark.shanghaiDay
      if day == state.day {
        state.prove(through: watermark.shanghaiSecondOfDay)
      } else if day > state.day {
        state.prove(through: InstrumentDay.lastSecond)
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
  /// 40 integers and flags, and at most 18 decimals of the day and 21 of its three minutes.
  static let dayBytesMax = 40 * integerBytesMax + 39 * (integerBytesMax + 1)
  /// A difference names each number that differs by its place.
  static let differenceBytesMax = 2 * dayBytesMax
  /// Day, moments, two decimals and the cause.
  static let gapBytesMax = 5 * integerBytesMax + 2 * (integerBytesMax + 1)
  /// Two integers and flags, and nine decimals.
  static let rowBytesMax = 5 * integerBytesMax + 9 * (integerBytesMax + 1)

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

  mutating func put(_ bytes: [UInt8]) {
    put(Int64(bytes.count))
    append(bytes[...])
  }

  mutating func append(_ bytes: ArraySlice<UInt8>) {
    precondition(count + bytes.count <= buffer.count, "a state is larger than its bound")
    _ = buffer[count...].initialize(fromContentsOf: bytes)
    count += bytes.count
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

  /// The units less those of `other`, whatever its scale; `decimal(_:plus:)` reads it.
  mutating func put(_ value: ExactDecimal, less other: ExactDecimal) {
    append(value.scale)
    put(value.units &- other.units)
  }
}

extension CandleBook.Entry {
  fileprivate var bytes: [UInt8] {
    StateWriter.bytes(version: layoutVersion, max: bytesMax) { writer in
      writer.put(Int64(group))
      writer.put(isInStep)
      writer.put(state != nil)
      guard let day = state?.bytes else { return }
      writer.append(day.dropFirst())
      writer.put(Int64(checkpoints.count))
      for checkpoint in checkpoints { checkpoint.write(against: day, to: &writer) }
      writer.put(hasDispute)
      if hasDispute { dispute?.write(against: day, to: &writer) }
    }
  }

  private var bytesMax: Int {
    var gaps = checkpoints.reduce(0) { $0 + $1.gaps.count }
    var bytes = 4 * StateWriter.integerBytesMax + StateWriter.dayBytesMax
    bytes += checkpoints.count * StateWriter.differenceBytesMax
    if hasDispute, let dispute {
      let rows = dispute.held.count + dispute.rival.count + (dispute.former?.returned.count ?? 0)
      gaps += (dispute.base?.gaps.count ?? 0) + (dispute.former?.gaps.count ?? 0)
      bytes += 2 * StateWriter.differenceBytesMax + rows * StateWriter.rowBytesMax
      bytes += 16 * StateWriter.integerBytesMax
    }
    return bytes + gaps * StateWriter.gapBytesMax
      + 4 * (checkpoints.count + 2) * StateWriter.integerBytesMax
  }
}

extension FormingCandle {
  /// Numbers that follow from the day's are written as the difference, which is mostly zero.
  @inline(__always)
  fileprivate func write(beside day: InstrumentDay, to writer: inout StateWriter) {
    writer.put(Int64(minute))
    writer.put(Int64(flags.rawValue))
    writer.put(moved)
    writer.put(isFinal)
    writer.put(basis)
    guard moved else { return }
    writer.put(open)
    writer.put(high)
    writer.put(low)
    writer.put(close, less: day.last)
    writer.put(volume, less: day.minuteVolume)
    writer.put(turnover, less: day.minuteTurnover)
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
    current.write(beside: self, to: &writer)
    writer.put(previous != nil)
    previous?.write(beside: self, to: &writer)
    writer.put(lastMoved != nil)
    lastMoved?.write(beside: self, to: &writer)
    writer.put(Int64(aliveThrough - knownThrough))
    writer.put(Int64(lag))
    writer.put(Int64(sightSince))
    writer.put(priorClose)
    writer.put(isBandUnknown)
    writer.put(isDisputed)
    writer.put(lastGap != nil)
    lastGap?.write(to: &writer)
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
    writer.put(gapVolume)
    writer.put(gapTurnover)
    // Conservation: what is in no gap is in a minute.
    writer.put(minuteVolume, less: volume)
    writer.put(minuteTurnover, less: turnover)
  }

  /// The day alone, for a difference.
  var bytes: [UInt8] {
    StateWriter.bytes(version: layoutVersion, max: StateWriter.dayBytesMax) { write(to: &$0) }
  }
}
