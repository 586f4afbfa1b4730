import Market

/// Disputes as bytes.

extension InstrumentDay {
  func write(_ gap: Gap?, to writer: inout StateWriter) {
    writer.put(gap != nil)
    if let gap { write(gap, to: &writer) }
  }

  private func write(_ gap: Gap, to writer: inout StateWriter) {
    writer.put(Int64(second(of: gap.from)))
    writer.put(Int64(second(of: gap.to)))
    writer.put(gap.volume)
    writer.put(gap.turnover)
    writer.put(Int64(gap.cause.rawValue))
  }

  func write(_ gaps: GapChanges, to writer: inout StateWriter) {
    write(gaps.opened, to: &writer)
    write(gaps.closed, to: &writer)
  }

  private func write(_ gaps: [Gap], to writer: inout StateWriter) {
    writer.put(Int64(gaps.count))
    for gap in gaps { write(gap, to: &writer) }
  }
}

extension HeldRow {
  func write(to writer: inout StateWriter) {
    writer.put(Int64(quote.secondOfDay))
    writer.put(Int64(watermark))
    writer.put(Int64(provenThrough))
    writer.put(Int64(responses))
    writer.put(Int64(trading.rawValue))
    for field in Self.fields { writer.put(quote[keyPath: field]) }
    writer.put(quote.afterHours != nil)
    if let session = quote.afterHours {
      writer.put(session.volume)
      writer.put(session.turnover)
    }
    writer.put(Int64(quote.rounding.volume))
    writer.put(Int64(quote.rounding.turnover))
  }

  static let fields: [any WritableKeyPath<Quote, ExactDecimal> & Sendable] = [
    \.open, \.previousClose, \.last, \.high, \.low, \.volume, \.turnover,
  ]
}

extension Dispute {
  func write(before day: InstrumentDay, to writer: inout StateWriter) {
    var day = day
    writer.put(Int64(against))
    writer.put(Int64(confirmations))
    writer.put(Int64(confirmationRun))
    writer.put(lastHeldAt.microseconds)
    for rows in [held, otherReading] { Self.write(rows, to: &writer) }
    writer.put(base != nil)
    if var base { day.write(&base.state, gaps: base.gaps, to: &writer) }
    writer.put(replaced != nil)
    guard let replaced else { return }
    var former = replaced.checkpoint
    day.write(&former.state, gaps: former.gaps, to: &writer)
    writer.put(replaced.replacedAt.microseconds)
    writer.put(replaced.volumeThen)
    Self.write(replaced.returned, to: &writer)
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
  private static let roundings = 0...Int(Int32.max)

  mutating func gap(of symbol: Symbol, on day: TradingDay) throws(BookStateError) -> Gap {
    let from = try integer("gap.from", in: Self.secondsOfDay)
    let to = try integer("gap.to", in: Self.secondsOfDay)
    let volume = try decimal("gap.volume")
    let turnover = try decimal("gap.turnover")
    let start = position
    let code = try integer("gap.cause", in: 1...GapCause.allCases.count)
    guard let cause = GapCause(rawValue: Int16(code)) else {
      throw .corrupt(field: "gap.cause", expected: "a cause", at: start)
    }
    return Gap(
      symbol: symbol, tradingDay: day, from: hours.moment(on: day, secondOfDay: from),
      to: hours.moment(on: day, secondOfDay: to), volume: volume, turnover: turnover, cause: cause)
  }

  mutating func gapChanges(
    of state: InstrumentDay
  ) throws(BookStateError) -> GapChanges {
    var changes = GapChanges()
    for list in [\GapChanges.opened, \.closed] {
      for _ in 0..<(try integer("gaps", in: 0...Self.gapsMax)) {
        changes[keyPath: list].append(try gap(of: state.symbol, on: state.day))
      }
    }
    return changes
  }

  /// The days before the last booked rows, the newest first.
  mutating func checkpoints(before day: InstrumentDay) throws(BookStateError) -> [Checkpoint] {
    var checkpoints: [Checkpoint] = []
    for _ in 0..<(try integer("checkpoints", in: 0...DayMemory.countMax)) {
      checkpoints.append(try checkpoint(before: checkpoints.last?.state ?? day))
    }
    return checkpoints
  }

  mutating func dispute(of state: InstrumentDay) throws(BookStateError) -> Dispute? {
    guard try flag("has_dispute") else { return nil }
    let against = try integer("dispute.against", in: 0...Int(Int32.max))
    let confirmations = try integer("dispute.confirmations", in: 0...Int(Int32.max))
    let confirmationRun = try integer("dispute.confirmation_run", in: 0...Int(Int32.max))
    var dispute = Dispute(at: try moment("dispute.last_held_at"))
    dispute.against = against
    dispute.confirmations = confirmations
    dispute.confirmationRun = confirmationRun
    dispute.held = try heldRows(of: state, field: "dispute.held")
    dispute.otherReading = try heldRows(of: state, field: "dispute.other_reading")
    if try flag("has_base") { dispute.base = try checkpoint(before: state) }
    guard try flag("has_former") else { return dispute }
    dispute.replaced = ReplacedReading(
      checkpoint: try checkpoint(before: state), replacedAt: try moment("dispute.replaced_at"),
      volumeThen: try decimal("dispute.volume_then"),
      returned: try heldRows(of: state, field: "dispute.returned"))
    return dispute
  }

  private mutating func heldRows(
    of state: InstrumentDay, field: String
  ) throws(BookStateError) -> [HeldRow] {
    var rows: [HeldRow] = []
    for _ in 0..<(try integer(field, in: 0...Self.rowsMax)) {
      let second = try integer("\(field).second", in: Self.secondsOfDay)
      let watermark = try integer("\(field).watermark", in: Self.secondsOfDay)
      let provenThrough = try integer("\(field).proven_through", in: Self.secondsOfDay)
      let responses = try integer("\(field).answers", in: 0...Int(Int32.max))
      let trading = try trading()
      var quote = Quote(
        symbol: state.symbol, tradingDay: state.day, secondOfDay: Int32(second))
      quote.clock = hours.clock
      for price in HeldRow.fields { quote[keyPath: price] = try decimal(field) }
      if try flag("\(field).has_after_hours") {
        quote.afterHours = AfterHours(
          volume: try decimal("\(field).after_hours.volume"),
          turnover: try decimal("\(field).after_hours.turnover"))
      }
      quote.rounding = Rounding(
        volume: Int32(try integer("\(field).rounding.volume", in: Self.roundings)),
        turnover: Int32(try integer("\(field).rounding.turnover", in: Self.roundings)))
      var row = HeldRow(quote: quote, trading: trading, watermark: watermark, responses: responses)
      row.provenThrough = provenThrough
      rows.append(row)
    }
    return rows
  }
}
