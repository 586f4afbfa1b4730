import Market

/// Rows that contradict what is remembered: held, counted, and booked or dropped.
extension CandleBook {
  /// The row cannot follow what is known of its day.
  mutating func hold(
    _ quote: Quote, at index: Int, watermark: Int, receivedAt: Timestamp,
    because objection: Objection
  ) -> Verdict {
    guard instruments[index].state != nil else { return .accepted(stateChanged: false) }
    let row = HeldRow(quote: quote, trading: quote.trading, watermark: watermark)
    var dispute = disputes[index] ?? Dispute(at: receivedAt)
    if isStale(dispute, at: receivedAt) {
      dispute.held = []
      dispute.against = 0
      dispute.confirmations = 0
      dispute.base = nil
    }
    dispute.lastHeldAt = receivedAt
    dispute.replaced?.returned = []
    dispute.against += 1
    dispute.confirmationRun = 0
    let mustGrow = objection.reason == .outsideBand
    let isFirst = dispute.held.isEmpty
    add(row, to: &dispute.held, mustGrow: mustGrow)
    if dispute.held.count == 1, !isFirst, dispute.held[0].responses == 1 {
      // Another reading than those before: nothing they counted counts for it.
      (dispute.against, dispute.confirmations) = (1, 0)
      dispute.base = nil
    }
    if dispute.base == nil { dispute.base = checkpoint(of: index, continuedBy: dispute.held[0]) }
    disputes[index] = dispute
    if isContested(dispute) {
      suspend(index, at: quote.at)
    } else if isDecided(dispute, mustGrow: mustGrow) {
      defer { _ = closeIfOver(index, at: receivedAt) }
      return settle(index, receivedAt: receivedAt, isBandUnknown: mustGrow)
    }
    return .held(objection.reason, detail: objection.detail)
  }

  /// Rows of the chain that contradict the newest one were false themselves.
  private func add(_ row: HeldRow, to chain: inout [HeldRow], mustGrow: Bool) {
    // Otherwise each answer is a row of its own: it says that the feed was alive then.
    if mustGrow, let last = chain.last, last.isServedAgain(by: row.quote) {
      chain[chain.count - 1].responses += 1
      chain[chain.count - 1].provenThrough = row.watermark
      return
    }
    while let last = chain.last, !last.totals.isContinued(by: row.quote, rules: rules) {
      chain.removeLast()
    }
    // Of rows that do not grow the first and the newest are kept.
    if mustGrow, let last = chain.last, let first = chain.dropLast().last,
      first.quote.volume == row.quote.volume
    {
      chain[chain.count - 2].provenThrough = last.provenThrough
      chain[chain.count - 1] = row
      chain[chain.count - 1].responses = last.responses + 1
      return
    }
    if chain.count > rules.agreeingResponsesMin { chain.removeFirst() }
    chain.append(row)
  }

  /// Three answers outweigh what is remembered. A band is shown wrong by trading beyond it, or by a
  /// minute of answers that say nothing else.
  private func isDecided(_ dispute: Dispute, mustGrow: Bool) -> Bool {
    let responses = Dispute.responses(in: dispute.held)
    guard mustGrow else { return responses >= rules.agreeingResponsesMin }
    return responses >= rules.standingAnswersMin
      || Set(dispute.rows.map(\.quote.volume)).count >= rules.agreeingResponsesMin
  }

  private func isContested(_ dispute: Dispute) -> Bool {
    min(dispute.against, dispute.confirmations) >= rules.agreeingResponsesMin
  }

  /// The newest state that the row continues: of the last ones, or of when the dispute began.
  private func base(of dispute: Dispute, at index: Int, for row: HeldRow) -> Checkpoint? {
    if let newest = checkpoint(of: index, continuedBy: row) { return newest }
    return dispute.base.flatMap {
      $0.state.isContinued(by: row.quote, rules: rules) ? $0 : nil
    }
  }

  /// The newest state before the standing one that the row continues.
  private func checkpoint(of index: Int, continuedBy row: HeldRow) -> Checkpoint? {
    checkpoints(of: index).first { $0.state.isContinued(by: row.quote, rules: rules) }
  }

  /// A row was booked on the standing totals while others contradict them.
  private mutating func confirmStanding(_ row: HeldRow, at index: Int, gaps: GapChanges) {
    guard var dispute = disputes[index] else { return }
    dispute.base?.gaps.append(gaps)
    dispute.replaced?.checkpoint.gaps.append(gaps)
    if let last = dispute.held.last, row.quote.secondOfDay >= last.quote.secondOfDay {
      dispute.held = [last.uncounted]
      dispute.confirmations += 1
      dispute.confirmationRun += 1
      // Rows against it, each alone, are no reading that is served as well.
      if dispute.confirmationRun >= rules.agreeingResponsesMin { dispute.against = 0 }
    }
    disputes[index] = dispute
    if isContested(dispute) { suspend(index, at: row.quote.at) }
  }

  /// A row was booked while others contradict what stands. Here, and called with the bare quote, so
  /// that rows nothing contradicts are not copied.
  @inline(never)
  mutating func noteBooked(
    _ quote: Quote, at index: Int, watermark: Int, after standing: InstrumentDay,
    gaps: GapChanges?, receivedAt: Timestamp
  ) {
    let row = HeldRow(quote: quote, trading: quote.trading, watermark: watermark)
    expireDispute(of: index, at: receivedAt)
    confirmStanding(row, at: index, gaps: gaps ?? GapChanges())
    recordReturn(row, at: index, standing: standing, receivedAt: receivedAt)
  }

  /// A row that changes nothing came while others contradict what stands.
  @inline(never)
  mutating func noteRepeated(
    _ quote: Quote, at index: Int, watermark: Int, receivedAt: Timestamp
  ) {
    let row = HeldRow(quote: quote, trading: quote.trading, watermark: watermark)
    expireDispute(of: index, at: receivedAt)
    confirmStanding(row, at: index, gaps: GapChanges())
  }

  /// Nobody is asked over lunch, and what was held before it counts after it.
  private func isStale(_ dispute: Dispute, at now: Timestamp) -> Bool {
    let lunch = rules.hours.breakSeconds(from: dispute.lastHeldAt, until: now)
    return now > dispute.lastHeldAt.adding(seconds: rules.disputeSecondsMax + lunch)
  }

  /// Forgets a dispute that nothing keeps alive.
  private mutating func expireDispute(of index: Int, at now: Timestamp) {
    guard var dispute = disputes[index],
      instruments[index].state?.isDisputed != true
    else { return }
    if let replaced = dispute.replaced,
      now > replaced.replacedAt.adding(seconds: rules.undoSecondsMax)
    {
      dispute.replaced = nil
    }
    let isOver = isStale(dispute, at: now)
    disputes[index] = isOver && dispute.replaced == nil ? nil : dispute
  }
}

// MARK: - The held rows are right

extension CandleBook {
  /// The held rows outweigh what is remembered.
  private mutating func settle(
    _ index: Int, receivedAt: Timestamp, isBandUnknown: Bool
  ) -> Verdict {
    guard let dispute = disputes[index], var standing = instruments[index].state else {
      return .accepted(stateChanged: false)
    }
    let rows = dispute.rows
    disputes[index] = nil
    if isBandUnknown {
      standing.isBandUnknown = true
      notify(.bandUnknown, of: standing, at: rows[rows.count - 1].quote.at)
    }
    if standing.isContinued(by: rows[0].quote, rules: rules) {
      // Nothing booked was wrong: prices beyond the band, or a reference price that was adjusted.
      return replace(index, by: Checkpoint(state: standing), booking: rows)
    }
    notify(.corrected, of: standing, at: rows[rows.count - 1].quote.at)
    guard var base = base(of: dispute, at: index, for: rows[0]) else {
      return takeBack(index, rows: rows)
    }
    // The exchange took volume back.
    if base.isOld(before: standing, rules: rules) { return takeBack(index, rows: rows) }
    base.state.isBandUnknown = standing.isBandUnknown
    let before = (opened: output.gaps.count, closed: output.closedGaps.count)
    let verdict = replace(index, by: base, booking: rows)
    var next = Dispute(at: receivedAt)
    next.replaced = ReplacedReading(
      checkpoint: Checkpoint(
        state: standing,
        gaps: GapChanges(output, openedAfter: before.opened, closedAfter: before.closed)),
      replacedAt: receivedAt, volumeThen: rows[rows.count - 1].quote.volume)
    disputes[index] = next
    return verdict
  }

  /// No state still in memory explains the held rows: what is too much leaves the account as a gap
  /// below zero, for the exchange's own minute bars to place.
  private mutating func takeBack(_ index: Int, rows: [HeldRow]) -> Verdict {
    guard var state = instruments[index].state else { return .accepted(stateChanged: false) }
    let first = rows[0]
    // Of rounded totals the least that they may be, as of all that are booked.
    let totals = first.totals
    var quote = first.quote
    (quote.volume, quote.turnover) = (totals.volume, totals.turnover)
    do throws(ExactDecimalError) {
      try state.recordGap(
        from: state.moment(min(state.booked.stamp, Int(first.quote.secondOfDay))),
        to: first.quote.at,
        delta: InstrumentDay.Delta(
          volume: try totals.volume - state.booked.volume,
          turnover: try totals.turnover - state.booked.turnover),
        cause: .correction, into: &output)
    } catch {
      return .rejected(.implausible, detail: "the day's totals overflow")
    }
    state.narrow(to: first.quote, rules: rules, into: &output)
    state.remember(
      quote, trading: first.trading, watermark: first.watermark, in: rules.hours)
    return replace(index, by: Checkpoint(state: state), booking: Array(rows.dropFirst()))
  }

  /// The readings that a correction had replaced are served again, three times in a row.
  private mutating func recordReturn(
    _ row: HeldRow, at index: Int, standing: InstrumentDay, receivedAt: Timestamp
  ) {
    guard let replaced = disputes[index]?.replaced else { return }
    if replaced.returned.isEmpty,
      !replaced.explains(row.quote, over: standing, rules: rules)
    {
      return
    }
    let rows = replaced.returned + [row]
    disputes[index]?.replaced?.returned = rows
    guard rows.count >= rules.agreeingResponsesMin else { return }
    disputes[index] = nil
    notify(.undone, of: replaced.checkpoint.state, at: row.quote.at)
    _ = replace(index, by: replaced.checkpoint, booking: rows)
  }

  mutating func notify(_ kind: DisputeEvent.Kind, of state: InstrumentDay, at stamp: Timestamp) {
    output.events.append(
      .dispute(
        DisputeEvent(kind: kind, symbol: state.symbol, tradingDay: state.day, at: stamp)))
  }
}

// MARK: - Both readings are served

extension CandleBook {
  /// Neither reading is booked from here on. What was booked since they parted is taken out, as far
  /// back as memory goes.
  private mutating func suspend(_ index: Int, at stamp: Timestamp) {
    guard var dispute = disputes[index], let standing = instruments[index].state else {
      return
    }
    if let row = dispute.held.last, var base = base(of: dispute, at: index, for: row),
      !base.isOld(before: standing, rules: rules)
    {
      base.state.isDisputed = true
      _ = replace(index, by: base, booking: [], endsObservation: true)
    } else {
      instruments[index].state?.isDisputed = true
      if standing.isClosed { recertify(index, after: standing, because: .correction) }
    }
    memories[index].forget()
    dispute.otherReading = [HeldRow(standing, clock: rules.hours.clock)]
    dispute.held = dispute.held.last.map { [$0.uncounted] } ?? []
    dispute.base = nil
    dispute.replaced = nil
    disputes[index] = dispute
    output.touched.append(index)
    notify(.disputed, of: standing, at: stamp)
  }

  /// A row of an instrument whose readings are disputed: three answers of one reading, with none of
  /// the other in between, end it.
  @inline(never)
  mutating func observeDisputed(
    _ quote: Quote, at index: Int, watermark: Int, receivedAt: Timestamp
  ) -> Verdict {
    let row = HeldRow(quote: quote, trading: quote.trading, watermark: watermark)
    guard var dispute = disputes[index] else { return .accepted(stateChanged: false) }
    let toOther = dispute.otherReading.last?.totals.objection(to: row.quote, rules: rules)
    let toHeld = dispute.held.last?.totals.objection(to: row.quote, rules: rules)
    let chain: [HeldRow]
    if toOther == nil, !dispute.otherReading.isEmpty {
      add(row, to: &dispute.otherReading, mustGrow: false)
      dispute.held = dispute.held.last.map { [$0.uncounted] } ?? []
      chain = dispute.otherReading
    } else if toHeld == nil || toOther?.weight != .lagging || toHeld?.weight != .lagging {
      if toHeld == nil {
        add(row, to: &dispute.held, mustGrow: false)
      } else if toHeld?.weight == .lagging {
        return .rejected(.lagging, detail: toHeld?.detail ?? "")
      } else {
        dispute.held = [row]
      }
      dispute.otherReading = dispute.otherReading.last.map { [$0.uncounted] } ?? []
      chain = dispute.held
    } else {
      return .rejected(.lagging, detail: toHeld?.detail ?? "")
    }
    dispute.lastHeldAt = receivedAt
    disputes[index] = dispute
    guard Dispute.responses(in: chain) >= rules.agreeingResponsesMin else {
      return .held(.backwardStamp, detail: "the source sends two contradicting readings in turn")
    }
    defer { _ = closeIfOver(index, at: receivedAt) }
    return endDispute(of: index, with: chain.filter { $0.responses > 0 })
  }

  private mutating func endDispute(of index: Int, with rows: [HeldRow]) -> Verdict {
    guard let state = instruments[index].state else { return .accepted(stateChanged: false) }
    disputes[index] = nil
    notify(.settled, of: state, at: rows[rows.count - 1].quote.at)
    let verdict =
      state.isContinued(by: rows[0].quote, rules: rules)
      ? replace(index, by: Checkpoint(state: state), booking: rows) : takeBack(index, rows: rows)
    resolve(index)
    return verdict
  }
}

extension CandleBook {
  /// Neither the day nor what it may go back to is disputed any more.
  private mutating func resolve(_ index: Int) {
    guard var state = instruments[index].state else { return }
    var checkpoints = memories[index].checkpoints(before: state, hours: rules.hours)
    for place in checkpoints.indices { checkpoints[place].state.isDisputed = false }
    state.isDisputed = false
    instruments[index].state = state
    memories[index].set(checkpoints, before: state)
  }
}

extension HeldRow {
  /// The row as one that only the next row is compared with: no response counts for it yet.
  var uncounted: HeldRow {
    var row = self
    row.responses = 0
    return row
  }

  /// The totals that stand, as a row.
  fileprivate init(_ state: InstrumentDay, clock: LocalClock) {
    var quote = Quote(
      symbol: state.symbol, tradingDay: state.day, secondOfDay: Int32(state.booked.stamp))
    quote.clock = clock
    quote.previousClose = state.booked.previousClose
    quote.open = state.booked.open
    quote.high = state.booked.high
    quote.low = state.booked.low
    quote.last = state.booked.last
    quote.volume = state.booked.volume
    quote.turnover = state.booked.turnover
    self.init(
      quote: quote, trading: state.booked.trading, watermark: state.coverage.aliveThrough,
      responses: 0)
  }
}

extension TradingHours {
  /// How much of the time until a later moment of the day is the lunch break.
  fileprivate func breakSeconds(from moment: Timestamp, until later: Timestamp) -> Int64 {
    guard clock.day(at: later) == clock.day(at: moment) else { return 0 }
    let from = max(clock.secondOfDay(at: moment), breakSeconds.lowerBound)
    return Int64(max(min(clock.secondOfDay(at: later), breakSeconds.upperBound) - from, 0))
  }

  /// The trading seconds of a gap's span, from the day's first second of trading.
  func tradingSeconds(of gap: Gap) -> Range<Int> {
    let (from, to) = (gap.from, gap.to)
    let first = tradingSeconds(before: clock.second(of: from, on: gap.tradingDay))
    return first..<max(first, tradingSeconds(before: clock.second(of: to, on: gap.tradingDay)))
  }
}
