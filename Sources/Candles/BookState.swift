import Market

/// The book's memory as bytes, for the store to keep beside the rows it explains. Only this module
/// reads them: the layout may change with the version byte, and a reader that meets another
/// version says so instead of guessing.
package enum BookStateError: Error, Equatable, Sendable {
  case unknownVersion(UInt8)
  /// What stands at byte `at` is not the field that is due there.
  case corrupt(field: String, expected: String, at: Int)
}

let layoutVersion: UInt8 = 5

extension CandleBook {
  /// What a restart needs of one instrument, about 150 bytes.
  ///
  /// Mutating, so that days are written from where they stand: what only reads one gets a copy.
  package mutating func instrumentState(at index: Int) -> [UInt8] {
    forgetOldMemory(of: index)
    return StateWriter.bytes { writer in
      guard instruments[index].write(after: &bareDay, to: &writer) else { return }
      memories[index].write(to: &writer)
      writer.put(hasDispute(index))
      if hasDispute(index) { writeDispute(of: index, to: &writer) }
    }
  }

  @inline(never)
  private func writeDispute(of index: Int, to writer: inout StateWriter) {
    if let day = instruments[index].state { disputes[index]?.write(before: day, to: &writer) }
  }

  /// What a restart needs of the book as a whole.
  package var sharedState: [UInt8] {
    let watermarks = watermarks.all
    return StateWriter.bytes { writer in
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
      writer.put(changedSourceAt != nil)
      writer.put(changedSourceAt?.microseconds ?? 0)
      if progress.early != EarlyClosings() { progress.early.write(to: &writer) }
    }
  }

  /// The groups of a few sources, each with as many as it can number.
  private static let watermarksMax = 4 * (Int(UInt16.max) + 1)

  /// Restores the book as a whole; call it before the instruments.
  /// - Parameter hours: of a day, where they are others than those the book was made with.
  package mutating func restore(
    sharedState bytes: [UInt8], hours: (TradingDay) -> TradingHours? = { _ in nil }
  ) throws(BookStateError) {
    var reader = try StateReader(bytes, hours: rules.hours)
    timersDoneThrough = try reader.moment("timers_done_through")
    let hasDay = try reader.flag("has_day")
    let day = try reader.day("day")
    progress.day = hasDay ? day : nil
    if hasDay, let hours = hours(day) {
      begin(day, hours: hours)
      reader.hours = hours
    }
    progress.minutesCompleted = try reader.integer("minutes_completed", in: reader.minuteCounts)
    let isStalled = try reader.flag("is_stalled")
    let since = try reader.moment("stalled_since")
    progress.stalledSince = isStalled ? since : nil
    for _ in 0..<(try reader.integer("watermarks", in: 0...Self.watermarksMax)) {
      let group = try reader.group()
      watermarks.raise(group, to: try reader.moment("watermark of group \(group)"))
    }
    let hasChanged = try reader.flag("has_changed_source")
    let moment = try reader.moment("changed_source_at")
    changedSourceAt = hasChanged ? moment : nil
    if !reader.isAtEnd { progress.early = try EarlyClosings(&reader) }
    try reader.expectEnd()
  }

  /// Restores one instrument. Its proof of life is its group's, if it was in step with it: answers
  /// that changed nothing were never stored.
  /// - Parameter hours: of its day, where they are others than the book's.
  package mutating func restore(
    instrument symbol: Symbol, state bytes: [UInt8],
    hours: (TradingDay) -> TradingHours? = { _ in nil }
  ) throws(BookStateError) {
    var reader = try StateReader(bytes, hours: rules.hours)
    let index = index(of: symbol)
    instruments[index].group = try reader.group()
    instruments[index].isInStep = try reader.flag("is_in_step")
    guard try reader.flag("has_day") else { return try reader.expectEnd() }
    var state = try reader.instrumentDay(symbol: symbol, hours: hours)
    memories[index].set(try reader.checkpoints(before: state), before: state)
    disputes[index] = try reader.dispute(of: state)
    try reader.expectEnd()
    if instruments[index].isInStep, !state.isDisputed,
      let watermark = watermarks[instruments[index].group]
    {
      let day = rules.hours.clock.day(at: watermark)
      if day == state.day {
        state.prove(through: state.second(of: watermark))
      } else if day > state.day {
        state.prove(through: rules.hours.lastSecond)
      }
    }
    instruments[index].state = state
  }
}

extension EarlyClosings {
  private static let numbers: [any WritableKeyPath<EarlyClosings, Int> & Sendable] = [
    \.tally.traded, \.tally.untraded, \.tally.missing, \.closed, \.residuals,
  ]

  fileprivate func write(to writer: inout StateWriter) {
    for number in Self.numbers { writer.put(Int64(self[keyPath: number])) }
  }

  fileprivate init(_ reader: inout StateReader) throws(BookStateError) {
    for number in Self.numbers {
      self[keyPath: number] = try reader.integer("early_closings", in: 0...Int(Int32.max))
    }
  }
}

/// Variable-length integers. Written on the stack first: a sweep writes
/// thousands of states, and their arrays should hold no spare room. A state with many gaps or held
/// rows, which is rare, goes on in the heap.
struct StateWriter {
  private var buffer: UnsafeMutableBufferPointer<UInt8>
  private var count = 0
  private var isOnHeap = false

  /// The most that the runtime puts on the stack.
  private static let bytesOnStack = 1_024
  /// Seven bits a byte.
  private static let numberBytesMax = 10
  /// Those of a day's account: 12 whole numbers, and 20 decimals of two numbers, with their masks.
  private static let fieldBytesMax = (12 + 2 * 20) * numberBytesMax + 8

  /// What `body` writes after the version.
  static func bytes(body: (inout StateWriter) -> Void) -> [UInt8] {
    write { writer in
      writer.append(layoutVersion)
      body(&writer)
    } taking: {
      Array(UnsafeBufferPointer(rebasing: $0))
    }
  }

  /// What `body` writes, as long as `take` runs.
  @inline(__always)
  static func write<Value>(
    body: (inout StateWriter) -> Void,
    taking take: (Slice<UnsafeMutableBufferPointer<UInt8>>) -> Value
  ) -> Value {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: bytesOnStack) { buffer in
      var writer = StateWriter(buffer: buffer)
      defer { if writer.isOnHeap { writer.buffer.deallocate() } }
      body(&writer)
      return take(writer.buffer[..<writer.count])
    }
  }

  private init(buffer: UnsafeMutableBufferPointer<UInt8>) { self.buffer = buffer }

  @inline(__always)
  mutating func append(_ byte: UInt8) {
    if count == buffer.count { grow() }
    buffer.initializeElement(at: count, to: byte)
    count += 1
  }

  @inline(__always)
  mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
    guard let start = bytes.baseAddress else { return }
    putBytes(max: bytes.count) { place in
      place.update(from: start, count: bytes.count)
      return place + bytes.count
    }
  }

  @inline(never)
  private mutating func grow() {
    let larger = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 2 * buffer.count)
    _ = larger.moveInitialize(fromContentsOf: buffer)
    if isOnHeap { buffer.deallocate() }
    (buffer, isOnHeap) = (larger, true)
  }

  @inline(__always)
  mutating func put(number: UInt64) {
    if number < 0x80 { append(UInt8(number)) } else { putLong(number) }
  }

  @inline(never)
  private mutating func putLong(_ number: UInt64) {
    putBytes(max: Self.numberBytesMax) { number.encode(at: $0) }
  }

  /// - Parameter write: gets where the next byte goes, and returns where the one after its last
  ///   does.
  @inline(__always)
  private mutating func putBytes(
    max most: Int, write: (UnsafeMutablePointer<UInt8>) -> UnsafeMutablePointer<UInt8>
  ) {
    while buffer.count - count < most { grow() }
    guard let start = buffer.baseAddress else { return }
    count = start.distance(to: write(start + count))
  }

  /// Lets `body` write the fields of a day's account, or of less.
  @inline(__always)
  mutating func putFields(body: (inout FieldWriter) -> Void) {
    putBytes(max: Self.fieldBytesMax) { place in
      var fields = FieldWriter(at: place)
      body(&fields)
      return fields.next
    }
  }

  @inline(__always)
  mutating func put(_ value: Int64) { put(number: value.folded) }

  @inline(__always)
  mutating func put(_ value: Bool) { append(value ? 1 : 0) }

  @inline(__always)
  mutating func put(_ value: ExactDecimal) {
    append(value.scale)
    put(value.units)
  }
}

extension CandleBook.Entry {
  /// Mutating for `CandleBook.instrumentState`; nothing is changed.
  /// - Returns: whether there is a day.
  fileprivate mutating func write(
    after bare: inout InstrumentDay, to writer: inout StateWriter
  ) -> Bool {
    writer.put(Int64(group))
    writer.put(isInStep)
    writer.put(state != nil)
    return state?.writeWhole(after: &bare, to: &writer) != nil
  }
}

extension InstrumentDay {
  /// Mutating for `CandleBook.instrumentState`; nothing is changed.
  mutating func writeWhole(after bare: inout InstrumentDay, to writer: inout StateWriter) {
    writer.put(Int64(day.daysSince1970))
    writer.put(priorClose)
    write(after: &bare, to: &writer)
    writePast(after: &bare, to: &writer)
  }

  /// A day before this one, with the gaps that were opened and closed since.
  mutating func write(
    _ other: inout InstrumentDay, gaps: GapChanges?, to writer: inout StateWriter
  ) {
    other.write(after: &self, to: &writer)
    let isPastWritten = gaps != nil || !hasPast(of: other)
    writer.put(isPastWritten)
    guard isPastWritten else { return }
    other.writePast(after: &self, to: &writer)
    write(gaps ?? GapChanges(), to: &writer)
  }

  /// What changes with a minute, a gap or a late print; kept out of line, for it is seldom written.
  @inline(never)
  private mutating func writePast(
    after newer: inout InstrumentDay, to writer: inout StateWriter
  ) {
    writer.put(previous != nil)
    previous?.write(after: newer.previous, to: &writer)
    writer.put(lastMoved != nil)
    lastMoved?.write(after: newer.lastMoved, to: &writer)
    write(lastGap, to: &writer)
  }
}
