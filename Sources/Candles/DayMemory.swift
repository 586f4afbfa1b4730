/// What an instrument's day may go back to, and when that is written.
import Market

extension InstrumentDay {
  /// Mutating, so that it is no copy that the memory is given.
  @inline(__always)
  mutating func isBooked(
    after before: inout InstrumentDay, isRemembered: Bool, gaps: GapChanges?,
    in memory: inout DayMemory, hours: TradingHours
  ) {
    if isRemembered {
      memory.remember(&before, before: &self, gaps: gaps)
    } else {
      memory.follow(&before, to: &self, hours: hours)
    }
  }

  @inline(__always)
  func hasPast(of other: InstrumentDay) -> Bool {
    previous == other.previous && lastMoved == other.lastMoved && lastGap == other.lastGap
  }
}

/// What an instrument's day may go back to: the days before its last booked rows.
///
/// Each is kept as the bytes that are stored of it: how it differs from the day after it. A row of
/// every sweep comes here, and finds both days at hand; the store is given what was written then.
struct DayMemory: Sendable {
  private(set) var count = 0
  private var newest = DayRecord()
  private var older = DayRecord()

  /// Two false rows may come in a row before an honest one shows it.
  static let countMax = 2

  /// The day was `day` before a row was booked, which opened and closed `gaps`.
  mutating func remember(
    _ day: inout InstrumentDay, before now: inout InstrumentDay, gaps: GapChanges?
  ) {
    count = min(count + 1, Self.countMax)
    older = newest
    newest.take(&day, before: &now, gaps: gaps)
  }

  /// The day was `day` before something else than a remembered row changed it.
  mutating func follow(
    _ day: inout InstrumentDay, to now: inout InstrumentDay, hours: TradingHours
  ) {
    if count > 0, !now.hasFields(of: &day) { change(from: day, to: &now, hours: hours) }
  }

  /// Something else than a row changed the day, and at least one field that days are written after.
  mutating func change(
    from day: InstrumentDay, to now: inout InstrumentDay, hours: TradingHours
  ) {
    if count == 0 { return }
    var known = newest.checkpoint(before: day, hours: hours)
    newest.take(&known.state, before: &now, gaps: known.gaps.isEmpty ? nil : known.gaps)
  }

  mutating func forget(butNewest kept: Int = 0) { count = min(count, kept) }

  /// The newest first.
  func checkpoints(before day: InstrumentDay, hours: TradingHours) -> [Checkpoint] {
    var checkpoints: [Checkpoint] = []
    for record in [newest, older].prefix(count) {
      checkpoints.append(
        record.checkpoint(before: checkpoints.last?.state ?? day, hours: hours))
    }
    return checkpoints
  }

  /// - Parameter checkpoints: the newest first.
  mutating func set(_ checkpoints: [Checkpoint], before day: InstrumentDay) {
    forget()
    for (place, checkpoint) in checkpoints.enumerated().reversed() {
      var (before, now) = (checkpoint.state, place == 0 ? day : checkpoints[place - 1].state)
      remember(
        &before, before: &now, gaps: checkpoint.gaps.isEmpty ? nil : checkpoint.gaps)
    }
  }

  /// When the instrument's rows were there before its oldest remembered row.
  @inline(__always)
  var aliveThrough: Int32? {
    mutating get { count == 0 ? nil : count == 1 ? newest.aliveThrough : older.aliveThrough }
  }

  mutating func write(to writer: inout StateWriter) {
    writer.put(Int64(count))
    if count > 0 { newest.write(to: &writer) }
    if count > 1 { older.write(to: &writer) }
  }
}

/// The bytes of one day; those of one with gaps, which are many, in the heap.
private struct DayRecord: Sendable {
  private(set) var aliveThrough: Int32 = 0
  private var count = 0
  private var bytes = InlineArray<96, UInt8>(repeating: 0)
  private var longBytes: [UInt8] = []

  mutating func take(
    _ day: inout InstrumentDay, before now: inout InstrumentDay, gaps: GapChanges?
  ) {
    aliveThrough = Int32(day.coverage.aliveThrough)
    StateWriter.write { writer in
      now.write(&day, gaps: gaps, to: &writer)
    } taking: { written in
      count = written.count
      if count <= bytes.count {
        var span = bytes.mutableSpan
        span.withUnsafeMutableBufferPointer { _ = $0.update(fromContentsOf: written) }
      } else {
        longBytes = Array(written)
      }
    }
  }

  @inline(__always)
  mutating func write(to writer: inout StateWriter) {
    if count > bytes.count { return longBytes.withUnsafeBufferPointer { writer.append($0) } }
    bytes.span.withUnsafeBufferPointer { all in
      writer.append(UnsafeBufferPointer(rebasing: all[..<count]))
    }
  }

  func checkpoint(before day: InstrumentDay, hours: TradingHours) -> Checkpoint {
    let all =
      count > bytes.count
      ? longBytes : bytes.span.withUnsafeBufferPointer { Array($0[..<count]) }
    do throws(BookStateError) {
      var reader = StateReader(part: all, hours: hours)
      return try reader.checkpoint(before: day)
    } catch {
      preconditionFailure("a day that was written cannot be read: \(error)")
    }
  }
}

extension CandleBook {
  /// What the day may go back to, the newest first, each with the gaps since then. What stood
  /// longer than a dispute lasts was no false row.
  func checkpoints(of index: Int) -> [Checkpoint] {
    guard let day = instruments[index].state else { return [] }
    var gaps = GapChanges()
    let days = memories[index].checkpoints(before: day, hours: rules.hours)
    let checkpoints = days.map { checkpoint in
      var since = checkpoint.gaps
      since.append(gaps)
      gaps = since
      return Checkpoint(state: checkpoint.state, gaps: since)
    }
    return Array(checkpoints.prefix { !$0.isOld(before: day, rules: rules) })
  }

  /// Forgets what the day cannot go back to any more.
  @inline(__always)
  mutating func forgetOldMemory(of index: Int) {
    guard let oldest = memories[index].aliveThrough,
      let known = instruments[index].aliveThrough,
      known - Int(oldest) > Int(rules.disputeSecondsMax)
    else { return }
    memories[index].forget(butNewest: checkpoints(of: index).count)
  }
}

extension Checkpoint {
  func isOld(before day: InstrumentDay, rules: CandleRules) -> Bool {
    secondsSeen(through: day.coverage.aliveThrough, in: rules.hours)
      > Int(rules.disputeSecondsMax)
  }

  /// The trading time since then in which the instrument was watched.
  private func secondsSeen(through last: Int, in hours: TradingHours) -> Int {
    let first = hours.tradingSeconds(before: state.coverage.aliveThrough)
    let unseen = gaps.opened.lazy.filter(\.isUnseen).map { gap in
      let span = hours.tradingSeconds(of: gap)
      return max(span.upperBound - max(span.lowerBound, first), 0)
    }
    return hours.tradingSeconds(before: last) - first - unseen.reduce(0, +)
  }
}
