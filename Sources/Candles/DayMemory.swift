import Market

/// What an instrument's day may go back to: the days before its last booked rows.
struct DayMemory: Sendable {
  private(set) var count = 0
  private var isEvenNewest = false
  /// Written in turn, each over the older one: a row of every sweep comes here.
  private var even: Checkpoint
  private var odd: Checkpoint

  /// Two false rows may come in a row before an honest one shows it.
  static let countMax = 2

  init(of symbol: Symbol, hours: TradingHours) {
    even = Checkpoint(
      state: InstrumentDay(symbol: symbol, day: TradingDay(daysSince1970: 0), hours: hours))
    odd = even
  }

  /// The day was `day` before a row was booked, which opened and closed `gaps`.
  @inline(__always)
  mutating func remember(_ day: InstrumentDay, gaps: GapChanges?) {
    isEvenNewest.toggle()
    count = min(count + 1, Self.countMax)
    // Where they stand: a checkpoint of its own would be a second copy of the day.
    if isEvenNewest {
      even.state = day
      even.gaps = gaps ?? GapChanges()
    } else {
      odd.state = day
      odd.gaps = gaps ?? GapChanges()
    }
  }

  mutating func forget() { count = 0 }

  /// The newest first.
  var checkpoints: [Checkpoint] {
    get { Array((isEvenNewest ? [even, odd] : [odd, even]).prefix(count)) }
    set {
      count = 0
      for checkpoint in newValue.reversed() { remember(checkpoint.state, gaps: checkpoint.gaps) }
    }
  }

  /// Mutating for `CandleBook.instrumentState`; nothing is changed.
  mutating func write(before day: inout InstrumentDay, to writer: inout StateWriter) {
    writer.put(Int64(count))
    guard count > 0 else { return }
    DifferenceWriter.write(before: &day, to: &writer) { differences, day in
      if isEvenNewest {
        differences.write(&even, before: &day)
        if count > 1 { differences.write(&odd, before: &even.state) }
      } else {
        differences.write(&odd, before: &day)
        if count > 1 { differences.write(&even, before: &odd.state) }
      }
    }
  }
}
