import Market

/// The book's memory as bytes, for the store to keep beside the rows it explains. Only this module
/// reads them: the layout may change with the version byte, and a reader that meets another
/// version says so instead of guessing.
package enum BookStateError: Error, Equatable, Sendable {
  case unknownVersion(UInt8)
  /// What stands at byte `at` is not the field that is due there.
  case corrupt(field: String, expected: String, at: Int)
}

let layoutVersion: UInt8 = 4

extension CandleBook {
  /// What a restart needs of one instrument, about 250 bytes.
  ///
  /// Mutating, so that days are written from where they stand: what only reads one gets a copy.
  package mutating func instrumentState(at index: Int) -> [UInt8] {
    StateWriter.bytes { writer in
      writer.put(Int64(instruments[index].group))
      writer.put(instruments[index].isInStep)
      writer.put(instruments[index].state != nil)
      guard instruments[index].state?.write(to: &writer) != nil else { return }
      // Safe: `state!` was just written; in place, for a name of its own would be a copy.
      memories[index].write(before: &instruments[index].state!, to: &writer)
      writer.put(hasDispute(index))
      if let day = instruments[index].state { disputes[index]?.write(before: day, to: &writer) }
    }
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
  package mutating func restore(sharedState bytes: [UInt8]) throws(BookStateError) {
    var reader = try StateReader(bytes, hours: rules.hours)
    timersDoneThrough = try reader.moment("timers_done_through")
    let hasDay = try reader.flag("has_day")
    let day = try reader.day("day")
    progress.day = hasDay ? day : nil
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
    try reader.end()
  }

  /// Restores one instrument. Its proof of life is its group's, if it was in step with it: answers
  /// that changed nothing were never stored.
  package mutating func restore(
    instrument symbol: Symbol, state bytes: [UInt8]
  ) throws(BookStateError) {
    var reader = try StateReader(bytes, hours: rules.hours)
    let index = index(of: symbol)
    instruments[index].group = try reader.group()
    instruments[index].isInStep = try reader.flag("is_in_step")
    guard try reader.flag("has_day") else { return try reader.end() }
    var state = try reader.instrumentDay(symbol: symbol)
    memories[index].checkpoints = try reader.checkpoints(before: state)
    disputes[index] = try reader.dispute(of: state)
    try reader.end()
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

extension Int64 {
  /// The sign in the lowest bit.
  @inline(__always)
  var folded: UInt64 { UInt64(bitPattern: (self << 1) ^ (self >> 63)) }

  @inline(__always)
  init(folded: UInt64) { self = Int64(bitPattern: folded >> 1) ^ -Int64(bitPattern: folded & 1) }
}

/// The number as bytes: low seven bits first, and the highest bit says that more follow.
extension UInt64 {
  @inline(__always)
  func encode(_ put: (UInt8) -> Void) {
    var rest = self
    while rest >= 0x80 {
      put(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    put(UInt8(rest))
  }

  /// nil where the bytes end too early, or do not end.
  @inline(__always)
  init?(decoding next: () -> UInt8?) {
    self = 0
    for shift in stride(from: UInt64(0), to: 70, by: 7) {
      guard let byte = next() else { return nil }
      self |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return }
    }
    return nil
  }
}

/// Takes a state number by number.
protocol StateSink {
  mutating func put(number: UInt64)
}

extension StateSink {
  @inline(__always)
  mutating func put(_ value: Int64) { put(number: value.folded) }

  @inline(__always)
  mutating func put(_ value: Bool) { put(number: value ? 1 : 0) }

  @inline(__always)
  mutating func put(_ value: ExactDecimal) {
    put(number: UInt64(value.scale))
    put(value.units)
  }

  /// The units less those of `other`, whatever its scale; `decimal(_:plus:)` reads it.
  @inline(__always)
  mutating func put(_ value: ExactDecimal, less other: ExactDecimal) {
    put(number: UInt64(value.scale))
    put(value.units &- other.units)
  }
}

/// Variable-length integers. Written on the stack first: a sweep writes
/// thousands of states, and their arrays should hold no spare room. A state with many gaps or held
/// rows, which is rare, goes on in the heap.
struct StateWriter: StateSink {
  private var buffer: UnsafeMutableBufferPointer<UInt8>
  private var count = 0
  private var isOnHeap = false

  private static let bytesOnStack = 1_024

  /// What `body` writes after the version.
  static func bytes(body: (inout StateWriter) -> Void) -> [UInt8] {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: bytesOnStack) { buffer in
      var writer = StateWriter(buffer: buffer)
      defer { if writer.isOnHeap { writer.buffer.deallocate() } }
      writer.append(layoutVersion)
      body(&writer)
      return Array(writer.buffer[..<writer.count])
    }
  }

  private init(buffer: UnsafeMutableBufferPointer<UInt8>) { self.buffer = buffer }

  @inline(__always)
  mutating func append(_ byte: UInt8) {
    if count == buffer.count { grow() }
    buffer.initializeElement(at: count, to: byte)
    count += 1
  }

  @inline(never)
  private mutating func grow() {
    let larger = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 2 * buffer.count)
    _ = larger.moveInitialize(fromContentsOf: buffer)
    if isOnHeap { buffer.deallocate() }
    (buffer, isOnHeap) = (larger, true)
  }

  mutating func put(number: UInt64) { number.encode { append($0) } }
}

/// What a day is written for.
enum DayForm {
  case whole
  /// A form to compare number by number: every day has as many. What grows without a booking is
  /// left out: how far it is proven, and its last stamp.
  case difference
}

/// A day is written part by part, in this order.
enum DayPart: CaseIterable {
  case totals, current, previous, lastMoved, rest, lastGap, marks
}

extension FormingCandle {
  /// How many numbers `write` puts of a candle that moved.
  static let numbers: UInt64 = 18

  /// Numbers that follow from the day's are written as the difference, which is mostly zero.
  @inline(__always)
  fileprivate func write(
    less day: MinuteTotals, to writer: inout some StateSink, as form: DayForm
  ) {
    writer.put(Int64(minute))
    writer.put(Int64(flags.rawValue))
    writer.put(moved)
    writer.put(isFinal)
    writer.put(basis)
    guard moved || form == .difference else { return }
    writer.put(open)
    writer.put(high)
    writer.put(low)
    writer.put(close, less: day.last)
    writer.put(volume, less: day.volume)
    writer.put(turnover, less: day.turnover)
  }
}

extension InstrumentDay {
  /// Mutating for `CandleBook.instrumentState`; nothing is changed.
  mutating func write(to writer: inout some StateSink, as form: DayForm = .whole) {
    for part in DayPart.allCases { write(part, to: &writer, as: form) }
  }

  @inline(__always)
  mutating func write(_ part: DayPart, to writer: inout some StateSink, as form: DayForm) {
    switch part {
    case .totals: writeTotals(to: &writer, as: form)
    case .current: current.write(less: minuteTotals, to: &writer, as: form)
    case .previous: write(previous, to: &writer, as: form)
    case .lastMoved: write(lastMoved, to: &writer, as: form)
    case .rest: writeRest(to: &writer, as: form)
    case .lastGap:
      writer.put(lastGap != nil)
      if let lastGap {
        write(lastGap, to: &writer)
      } else {
        skip(Gap.numbers, form: form, of: &writer)
      }
    case .marks:
      writer.put(booked.isCoarse)
      writer.put(limits.areCompared)
    }
  }

  @inline(__always)
  private func write(
    _ minute: FormingCandle?, to writer: inout some StateSink, as form: DayForm
  ) {
    writer.put(minute != nil)
    if let minute {
      minute.write(less: pastTotals(as: form), to: &writer, as: form)
    } else {
      skip(FormingCandle.numbers, form: form, of: &writer)
    }
  }

  @inline(__always)
  private func skip(_ numbers: UInt64, form: DayForm, of writer: inout some StateSink) {
    if form == .difference { for _ in 0..<numbers { writer.put(number: 0) } }
  }

  @inline(__always)
  private func writeRest(to writer: inout some StateSink, as form: DayForm) {
    writer.put(form == .whole ? Int64(coverage.aliveThrough - coverage.knownThrough) : 0)
    writer.put(Int64(coverage.lag))
    writer.put(Int64(coverage.observedSince))
    writer.put(priorClose)
    writer.put(limits.isBandUnknown)
    writer.put(isDisputed)
  }

  @inline(__always)
  private func writeTotals(to writer: inout some StateSink, as form: DayForm) {
    writer.put(Int64(day.daysSince1970))
    writer.put(form == .whole ? Int64(coverage.knownThrough) : 0)
    writer.put(isObserved)
    writer.put(form == .whole ? Int64(booked.stamp) : 0)
    writer.put(booked.volume)
    writer.put(booked.turnover)
    writer.put(booked.open)
    writer.put(booked.high)
    writer.put(booked.low)
    writer.put(booked.last)
    writer.put(booked.previousClose)
    writer.put(booked.afterHours.volume)
    writer.put(booked.afterHours.turnover)
    writer.put(sums.gapVolume)
    writer.put(sums.gapTurnover)
    // Conservation: what is in no gap is in a minute.
    writer.put(sums.minuteVolume, less: booked.volume)
    writer.put(sums.minuteTurnover, less: booked.turnover)
    writer.put(Int64(booked.trading.rawValue))
    writer.put(Int64(sums.minutesTraded))
    writer.put(Int64(sums.minutesUntraded))
    writer.put(Int64(sums.minutesMissing))
    writer.put(isClosed)
  }
}

/// What a minute's close, volume and turnover are written less of.
struct MinuteTotals {
  var last = ExactDecimal.zero
  var volume = ExactDecimal.zero
  var turnover = ExactDecimal.zero
}

extension InstrumentDay {
  @inline(__always)
  var minuteTotals: MinuteTotals {
    MinuteTotals(last: booked.last, volume: sums.minuteVolume, turnover: sums.minuteTurnover)
  }

  /// The totals of a minute before the current one, which in a difference moves with none of them.
  @inline(__always)
  func pastTotals(as form: DayForm) -> MinuteTotals {
    form == .whole ? minuteTotals : MinuteTotals()
  }
}
