import Market

/// The way back from a day to what it was before one booked row: the numbers that differ, each as
/// how many equal ones come before it and how far it moved.
///
/// How far the day is proven and its last stamp are none of the difference: they grow without
/// anything being booked.
struct DayStep: Sendable {
  private var knownThrough: Int32 = 0
  private var aliveThrough: Int32 = 0
  private var stamp: Int32 = 0
  /// Variable-length integers.
  private var count: UInt16 = 0
  private var bytes = InlineArray<498, UInt8>(repeating: 0)

  /// Room for two numbers more, whatever they are.
  private static let countMax = 498 - 20

  init() {}

  /// nil where the difference has no room.
  init?(back before: InstrumentDay, from after: InstrumentDay) {
    var (before, after) = (before, after)
    guard set(from: &before, to: &after) else { return nil }
  }

  /// False where the difference has no room. That takes sixty numbers of eight bytes, which no
  /// market has: nothing is remembered then.
  @inline(__always)
  mutating func set(from before: inout InstrumentDay, to after: inout InstrumentDay) -> Bool {
    knownThrough = Int32(before.knownThrough)
    aliveThrough = Int32(before.aliveThrough)
    stamp = Int32(before.stamp)
    return DayNumbers.with { base in
      after.write(to: &base, as: .difference)
      return DayNumbers.with { own in
        before.write(to: &own, as: .difference)
        return put(own, against: base)
      }
    }
  }

  /// The way back leads from `after` now, to where it led from `before`.
  mutating func carry(_ before: inout InstrumentDay, over after: inout InstrumentDay) -> Bool {
    DayNumbers.with { own in
      before.write(to: &own, as: .difference)
      guard apply(to: &own) else { return false }
      return DayNumbers.with { base in
        after.write(to: &base, as: .difference)
        return put(own, against: base)
      }
    }
  }

  /// The day before the step; nil if it never led to `day`.
  func taken(from day: InstrumentDay) -> InstrumentDay? {
    var day = day
    return DayNumbers.with { numbers in
      day.write(to: &numbers, as: .difference)
      guard apply(to: &numbers), var before = try? StateReader.day(of: day.symbol, in: numbers.all)
      else { return nil }
      before.knownThrough = Int(knownThrough)
      before.aliveThrough = Int(aliveThrough)
      before.stamp = Int(stamp)
      return before
    }
  }
}

// MARK: - The difference

extension DayStep {
  @inline(__always)
  private mutating func put(
    _ own: borrowing DayNumbers, against base: borrowing DayNumbers
  ) -> Bool {
    var end = 0
    var equal: UInt64 = 0
    for place in 0..<own.count {
      let (number, known) = (own[place], base[place])
      if number == known {
        equal += 1
        continue
      }
      equal.encode { (bytes[end], end) = ($0, end + 1) }
      Int64(bitPattern: number &- known).folded.encode { (bytes[end], end) = ($0, end + 1) }
      equal = 0
      if end > Self.countMax { return false }
    }
    count = UInt16(end)
    return true
  }

  /// False for a difference to other numbers.
  private func apply(to numbers: inout DayNumbers) -> Bool {
    var (index, place) = (0, 0)
    while index < Int(count) {
      guard let equal = number(at: &index), equal < UInt64(numbers.count - place),
        let change = number(at: &index)
      else { return false }
      place += Int(equal)
      numbers[place] &+= UInt64(bitPattern: Int64(folded: change))
      place += 1
    }
    return true
  }

  private func number(at index: inout Int) -> UInt64? {
    UInt64(decoding: {
      guard index < Int(count) else { return nil }
      defer { index += 1 }
      return bytes[index]
    })
  }
}

// MARK: - Stored

extension DayStep {
  /// Mutating for `CandleBook.instrumentState`; nothing is changed.
  mutating func write(to writer: inout StateWriter) {
    writer.put(Int64(knownThrough))
    writer.put(Int64(aliveThrough))
    writer.put(Int64(stamp))
    writer.put(Int64(count))
    withUnsafeBytes(of: &bytes) { writer.append($0.prefix(Int(count))) }
  }

  init(reading reader: inout StateReader) throws(BookStateError) {
    knownThrough = Int32(try reader.integer("step.known_through", StateReader.secondsOfDay))
    aliveThrough = Int32(try reader.integer("step.alive_through", StateReader.secondsOfDay))
    stamp = Int32(try reader.integer("step.stamp", StateReader.secondsOfDay))
    for byte in try reader.bytes("step", countMax: Self.countMax) {
      bytes[Int(count)] = byte
      count += 1
    }
  }
}

/// A day's numbers, on the stack.
struct DayNumbers: StateSink {
  private let numbers: UnsafeMutableBufferPointer<UInt64>
  private(set) var count = 0

  /// 32 integers and flags, and 37 decimals of two numbers.
  private static let countMax = 32 + 2 * 37

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

  @inline(__always)
  subscript(place: Int) -> UInt64 {
    get { numbers[place] }
    nonmutating set { numbers[place] = newValue }
  }

  var all: [UInt64] { Array(numbers[..<count]) }
}
