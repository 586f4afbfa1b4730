import Market

/// Checkpoints and disputes as bytes. A checkpoint differs from the day that follows it in few
/// numbers, so only these are written.

extension Gap {
  /// As many as `write` puts.
  static let numbers = 7

  func write(to writer: inout some StateSink) {
    writer.put(Int64(from.shanghaiSecondOfDay))
    writer.put(Int64(to.shanghaiSecondOfDay))
    writer.put(volume)
    writer.put(turnover)
    writer.put(Int64(cause.rawValue))
  }
}

extension GapChanges {
  func write(to writer: inout StateWriter) {
    Self.write(opened, to: &writer)
    Self.write(closed, to: &writer)
  }

  @inline(__always)
  private static func write(_ gaps: [Gap], to writer: inout StateWriter) {
    writer.put(Int64(gaps.count))
    for gap in gaps { gap.write(to: &writer) }
  }
}

extension HeldRow {
  func write(to writer: inout StateWriter) {
    writer.put(Int64(quote.secondOfDay))
    writer.put(Int64(watermark))
    writer.put(Int64(provenThrough))
    writer.put(Int64(answers))
    writer.put(Int64(trading.rawValue))
    for field in Self.fields { writer.put(quote[keyPath: field]) }
    writer.put(quote.afterHours != nil)
    if let session = quote.afterHours {
      writer.put(session.volume)
      writer.put(session.turnover)
    }
  }

  static let fields: [any WritableKeyPath<Quote, ExactDecimal> & Sendable] = [
    \.open, \.previousClose, \.last, \.high, \.low, \.volume, \.turnover,
  ]
}

extension Dispute {
  func write(before day: InstrumentDay, to writer: inout StateWriter) {
    writer.put(Int64(against))
    writer.put(Int64(inFavour))
    writer.put(Int64(inFavourRun))
    writer.put(lastHeldAt.microseconds)
    for rows in [held, rival] { Self.write(rows, to: &writer) }
    Self.write(base.flatMap { DayStep(back: $0.state, from: day) }, base?.gaps, to: &writer)
    let step = former.flatMap { DayStep(back: $0.state, from: day) }
    Self.write(step, former?.gaps, to: &writer)
    guard let former, step != nil else { return }
    writer.put(former.replacedAt.microseconds)
    writer.put(former.volumeThen)
    Self.write(former.returned, to: &writer)
  }

  private static func write(
    _ step: DayStep?, _ gaps: GapChanges?, to writer: inout StateWriter
  ) {
    writer.put(step != nil)
    guard var step else { return }
    step.write(to: &writer)
    (gaps ?? GapChanges()).write(to: &writer)
  }

  private static func write(_ rows: [HeldRow], to writer: inout StateWriter) {
    writer.put(Int64(rows.count))
    for row in rows { row.write(to: &writer) }
  }
}

// MARK: - Reading

extension StateReader {
  private static let rowsMax = 16
  private static let gapsMax = 10_000

  mutating func gap(of symbol: Symbol, on day: TradingDay) throws(BookStateError) -> Gap {
    let from = try integer("gap.from", Self.secondsOfDay)
    let to = try integer("gap.to", Self.secondsOfDay)
    let volume = try decimal("gap.volume")
    let turnover = try decimal("gap.turnover")
    let start = position
    let code = try integer("gap.cause", 1...GapCause.allCases.count)
    guard let cause = GapCause(rawValue: Int16(code)) else {
      throw .corrupt(field: "gap.cause", expected: "a cause", at: start)
    }
    return Gap(
      symbol: symbol, tradingDay: day, from: Timestamp(day: day, secondOfDay: from),
      to: Timestamp(day: day, secondOfDay: to), volume: volume, turnover: turnover, cause: cause)
  }

  private mutating func gapChanges(
    of state: InstrumentDay
  ) throws(BookStateError) -> GapChanges {
    var changes = GapChanges()
    for list in [\GapChanges.opened, \.closed] {
      for _ in 0..<(try integer("gaps", 0...Self.gapsMax)) {
        changes[keyPath: list].append(try gap(of: state.symbol, on: state.day))
      }
    }
    return changes
  }

  /// What a day's numbers say, as `InstrumentDay` writes them.
  static func day(
    of symbol: Symbol, in numbers: [UInt64]
  ) throws(BookStateError) -> InstrumentDay {
    let bytes = StateWriter.bytes(version: layoutVersion) { writer in
      for number in numbers { writer.put(number: number) }
    }
    var reader = try StateReader(bytes, versions: layoutVersion...layoutVersion)
    let day = try reader.instrumentDay(symbol: symbol, as: .difference)
    try reader.end()
    return day
  }

  private mutating func checkpoint(
    before state: InstrumentDay, _ field: String
  ) throws(BookStateError) -> Checkpoint {
    let start = position
    guard let day = try DayStep(reading: &self).taken(from: state) else {
      throw .corrupt(field: field, expected: "a difference to the day", at: start)
    }
    return Checkpoint(state: day, gaps: try gapChanges(of: day))
  }

  mutating func memory(before state: InstrumentDay) throws(BookStateError) -> DayMemory {
    var steps: [DayMemory.Step] = []
    for _ in 0..<(try integer("steps", 0...Int(DayMemory.stepsMax))) {
      steps.append((try DayStep(reading: &self), GapChanges()))
    }
    if try flag("have_gaps") {
      for place in steps.indices { steps[place].gaps = try gapChanges(of: state) }
    }
    var memory = DayMemory()
    memory.steps = steps
    guard memory.checkpoints(before: state) != nil else {
      throw .corrupt(field: "steps", expected: "differences to the day", at: position)
    }
    memory.dispute = try dispute(of: state)
    return memory
  }

  private mutating func dispute(of state: InstrumentDay) throws(BookStateError) -> Dispute? {
    guard try flag("has_dispute") else { return nil }
    let against = try integer("dispute.against", 0...Int(Int32.max))
    let inFavour = try integer("dispute.in_favour", 0...Int(Int32.max))
    let inFavourRun = try integer("dispute.in_favour_run", 0...Int(Int32.max))
    var dispute = Dispute(at: try moment("dispute.last_held_at"))
    dispute.against = against
    dispute.inFavour = inFavour
    dispute.inFavourRun = inFavourRun
    dispute.held = try heldRows(of: state, "dispute.held")
    dispute.rival = try heldRows(of: state, "dispute.rival")
    if try flag("has_base") { dispute.base = try checkpoint(before: state, "dispute.base") }
    guard try flag("has_former") else { return dispute }
    let former = try checkpoint(before: state, "dispute.former")
    dispute.former = Former(
      state: former.state, gaps: former.gaps, replacedAt: try moment("dispute.replaced_at"),
      volumeThen: try decimal("dispute.volume_then"),
      returned: try heldRows(of: state, "dispute.returned"))
    return dispute
  }

  private mutating func heldRows(
    of state: InstrumentDay, _ field: String
  ) throws(BookStateError) -> [HeldRow] {
    var rows: [HeldRow] = []
    for _ in 0..<(try integer(field, 0...Self.rowsMax)) {
      let second = try integer("\(field).second", Self.secondsOfDay)
      let watermark = try integer("\(field).watermark", Self.secondsOfDay)
      let provenThrough = try integer("\(field).proven_through", Self.secondsOfDay)
      let answers = try integer("\(field).answers", 0...Int(Int32.max))
      let trading = try trading()
      var quote = Quote(
        symbol: state.symbol, tradingDay: state.day, secondOfDay: Int32(second))
      for price in HeldRow.fields { quote[keyPath: price] = try decimal(field) }
      if try flag("\(field).has_after_hours") {
        quote.afterHours = AfterHours(
          volume: try decimal("\(field).after_hours.volume"),
          turnover: try decimal("\(field).after_hours.turnover"))
      }
      var row = HeldRow(quote: quote, trading: trading, watermark: watermark, answers: answers)
      row.provenThrough = provenThrough
      rows.append(row)
    }
    return rows
  }
}
