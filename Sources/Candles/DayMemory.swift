import Market

/// What an instrument's day may go back to, and whether anything contradicts it.
///
/// A day is half a kilobyte and changes with every row that moves. So the days before the last rows
/// are kept as what each row changed: of two days that stand in the processor's cache that is
/// quickly known, and it is stored as it is, a tenth as long as a day.
struct DayMemory: Sendable {
  /// None or one, apart: what few instruments have, and what is large.
  private var extras: [Extra] = []
  private var count: UInt8 = 0
  private var isEvenNewest = false
  /// From the day as it stands, and from the day before that, back over one booked row: written in
  /// turn, each over the older one.
  private var even = DayStep()
  private var odd = DayStep()

  private struct Extra {
    var newestGaps = GapChanges()
    var olderGaps = GapChanges()
    var dispute: Dispute?

    var isEmpty: Bool { newestGaps.isEmpty && olderGaps.isEmpty && dispute == nil }
  }

  /// Two false rows may come in a row before an honest one shows it.
  static let stepsMax: UInt8 = 2

  @inline(__always)
  var hasDispute: Bool { !extras.isEmpty && extras[0].dispute != nil }

  var dispute: Dispute? {
    get { extras.first?.dispute }
    set { changeExtra { $0.dispute = newValue } }
  }

  private mutating func changeExtra(_ change: (inout Extra) -> Void) {
    if extras.isEmpty { extras = [Extra()] }
    change(&extras[0])
    if extras[0].isEmpty { extras = [] }
  }

  /// The day went from `before` to `after` by a booked row.
  @inline(__always)
  mutating func remember(
    _ before: inout InstrumentDay, _ after: inout InstrumentDay, _ gaps: GapChanges?
  ) {
    isEvenNewest.toggle()
    let isKept =
      isEvenNewest
      ? even.set(from: &before, to: &after) : odd.set(from: &before, to: &after)
    count = isKept ? min(count + 1, Self.stepsMax) : 0
    if gaps != nil || !extras.isEmpty {
      changeExtra { extra in
        extra.olderGaps = extra.newestGaps
        extra.newestGaps = gaps ?? GapChanges()
      }
    }
  }

  /// The day went from `before` to `after` by other means: what was remembered stays as it was.
  mutating func carry(_ before: inout InstrumentDay, _ after: inout InstrumentDay) {
    guard count > 0 else { return }
    let isKept =
      isEvenNewest ? even.carry(&before, over: &after) : odd.carry(&before, over: &after)
    if !isKept { count = 0 }
  }

  mutating func forget() { (count, extras) = (0, []) }
}

// MARK: - Checkpoints

extension DayMemory {
  /// The days before the last booked rows, the newest first; nil for steps that never led to `day`.
  func checkpoints(before day: InstrumentDay) -> [Checkpoint]? {
    var checkpoints: [Checkpoint] = []
    for (step, gaps) in steps {
      guard let state = step.taken(from: checkpoints.last?.state ?? day) else { return nil }
      checkpoints.append(Checkpoint(state: state, gaps: gaps))
    }
    return checkpoints
  }

  /// Forgets the steps that led to the day, and takes those that lead to `day` from `checkpoints`,
  /// the newest first.
  mutating func remember(_ checkpoints: [Checkpoint], before day: InstrumentDay) {
    var (after, led): (InstrumentDay, [Step]) = (day, [])
    for checkpoint in checkpoints {
      guard let step = DayStep(back: checkpoint.state, from: after) else { break }
      led.append((step, checkpoint.gaps))
      after = checkpoint.state
    }
    steps = led
  }

  typealias Step = (step: DayStep, gaps: GapChanges)

  /// The newest first.
  var steps: [Step] {
    get {
      let extra = extras.first ?? Extra()
      let (newest, older) = isEvenNewest ? (even, odd) : (odd, even)
      return Array([(newest, extra.newestGaps), (older, extra.olderGaps)].prefix(Int(count)))
    }
    set {
      count = UInt8(newValue.count)
      isEvenNewest = true
      even = newValue.first?.step ?? DayStep()
      odd = newValue.dropFirst().first?.step ?? DayStep()
      changeExtra { extra in
        extra.newestGaps = newValue.first?.gaps ?? GapChanges()
        extra.olderGaps = newValue.dropFirst().first?.gaps ?? GapChanges()
      }
    }
  }

  /// Mutating for `CandleBook.instrumentState`; nothing is changed.
  mutating func write(to writer: inout StateWriter) {
    writer.put(Int64(count))
    if extras.isEmpty {
      if isEvenNewest {
        if count > 0 { even.write(to: &writer) }
        if count > 1 { odd.write(to: &writer) }
      } else {
        if count > 0 { odd.write(to: &writer) }
        if count > 1 { even.write(to: &writer) }
      }
      writer.put(false)
    } else {
      for (var step, _) in steps { step.write(to: &writer) }
      writer.put(true)
      for (_, gaps) in steps { gaps.write(to: &writer) }
    }
  }
}
