import Market

/// Checkpoints as bytes: the numbers that differ from those of the day after it, each as how many
/// equal ones come before it and how far it moved.
///
/// How far the day is proven and its last stamp are written whole: they grow with every answer.
struct DifferenceWriter: StateSink {
  private var writer: StateWriter
  /// The numbers of the day that was written last.
  private let numbers: UnsafeMutableBufferPointer<UInt64>
  private var place = 0
  private var equal: UInt64 = 0

  /// Lets `body` write the checkpoints before `day`, the newest first.
  @inline(__always)
  static func write(
    before day: inout InstrumentDay, to writer: inout StateWriter,
    body: (inout DifferenceWriter, inout InstrumentDay) -> Void
  ) {
    DayNumbers.with { numbers in
      day.write(to: &numbers, as: .difference)
      var differences = DifferenceWriter(writer: writer, numbers: numbers.numbers)
      body(&differences, &day)
      writer = differences.writer
    }
  }

  /// - Parameter day: the one that was written last.
  mutating func write(_ checkpoint: inout Checkpoint, before day: inout InstrumentDay) {
    writer.put(Int64(checkpoint.state.coverage.knownThrough))
    writer.put(Int64(checkpoint.state.coverage.aliveThrough))
    writer.put(Int64(checkpoint.state.booked.stamp))
    (place, equal) = (0, 0)
    for part in DayPart.allCases {
      if let numbers = checkpoint.state.numbersIfSame(part, in: &day) {
        place += Int(numbers)
        equal += numbers
      } else {
        checkpoint.state.write(part, to: &self, as: .difference)
      }
    }
    writer.put(number: equal)
    checkpoint.writeGaps(to: &writer)
  }

  @inline(__always)
  mutating func put(number: UInt64) {
    let known = numbers[place]
    if number == known {
      equal += 1
    } else {
      writer.put(number: equal)
      writer.put(Int64(bitPattern: number &- known))
      numbers[place] = number
      equal = 0
    }
    place += 1
  }
}

extension InstrumentDay {
  /// How many numbers of the part are the same in `other`, where that is quickly known.
  @inline(__always)
  fileprivate mutating func numbersIfSame(
    _ part: DayPart, in other: inout InstrumentDay
  ) -> UInt64? {
    switch part {
    case .previous: previous == other.previous ? 1 + FormingCandle.numbers : nil
    case .lastMoved: lastMoved == other.lastMoved ? 1 + FormingCandle.numbers : nil
    case .lastGap: lastGap == other.lastGap ? 1 + Gap.numbers : nil
    case .totals, .current, .rest, .marks: nil
    }
  }
}

extension StateReader {
  mutating func checkpoint(before day: InstrumentDay) throws(BookStateError) -> Checkpoint {
    let known = try integer("checkpoint.known_through", in: Self.secondsOfDay)
    let alive = try integer("checkpoint.alive_through", in: Self.secondsOfDay)
    let stamp = try integer("checkpoint.stamp", in: Self.secondsOfDay)
    var numbers = day.numbers
    var place = try equalNumbers(upTo: numbers.count)
    while place < numbers.count {
      numbers[place] &+= UInt64(bitPattern: try integer("checkpoint.change"))
      place += 1
      place += try equalNumbers(upTo: numbers.count - place)
    }
    var state = try self.day(of: day.symbol, in: numbers)
    state.coverage.knownThrough = known
    state.coverage.aliveThrough = alive
    state.booked.stamp = stamp
    return Checkpoint(state: state, gaps: try gapChanges(of: state))
  }

  private mutating func equalNumbers(upTo count: Int) throws(BookStateError) -> Int {
    let start = position
    guard let equal = number(), equal <= count else {
      throw .corrupt(field: "checkpoint.equal", expected: "0…\(count)", at: start)
    }
    return Int(equal)
  }

  /// What a day's numbers say, as `InstrumentDay` writes them.
  private func day(
    of symbol: Symbol, in numbers: [UInt64]
  ) throws(BookStateError) -> InstrumentDay {
    let bytes = StateWriter.bytes { writer in
      for number in numbers { writer.put(number: number) }
    }
    var reader = try StateReader(bytes, hours: hours)
    let day = try reader.instrumentDay(symbol: symbol, as: .difference)
    try reader.end()
    return day
  }
}

extension InstrumentDay {
  fileprivate var numbers: [UInt64] {
    var day = self
    return DayNumbers.with { numbers in
      day.write(to: &numbers, as: .difference)
      return numbers.all
    }
  }
}

/// Numbers of a day, on the stack.
private struct DayNumbers: StateSink {
  let numbers: UnsafeMutableBufferPointer<UInt64>
  private var count = 0

  /// 34 integers and flags, and 37 decimals of two numbers.
  private static let countMax = 34 + 2 * 37

  @inline(__always)
  static func with<Value>(_ body: (inout DayNumbers) -> Value) -> Value {
    withUnsafeTemporaryAllocation(of: UInt64.self, capacity: countMax) { buffer in
      var numbers = DayNumbers(numbers: buffer)
      return body(&numbers)
    }
  }

  private init(numbers: UnsafeMutableBufferPointer<UInt64>) { self.numbers = numbers }

  @inline(__always)
  mutating func put(number: UInt64) {
    precondition(count < numbers.count, "a day has more numbers than its bound")
    numbers.initializeElement(at: count, to: number)
    count += 1
  }

  var all: [UInt64] { Array(numbers[..<count]) }
}
