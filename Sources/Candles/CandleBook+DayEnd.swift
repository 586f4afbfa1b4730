import Market

/// The end of a day: the exchange's own day candle, the after-hours session, and the certificate
/// that minutes and gaps add up to its totals (docs/candle-rules.md, rules 3, 8 and 9).
extension CandleBook {
  mutating func endDay(_ day: TradingDay) {
    var (closed, residuals) = (progress.early.closed, progress.early.residuals)
    abandonDays(before: day)
    for index in instruments.indices {
      guard let state = instruments[index].state, state.day == day, !state.isClosed,
        state.isSettled(rules), !isDoubted(index)
      else { continue }
      close(index)
      output.touched.append(index)
      closed += 1
      if let certificate = output.certificates.last, !certificate.isBalanced { residuals += 1 }
    }
    if closed > 0 {
      output.events.append(.dayComplete(day: day, instruments: closed, residuals: residuals))
    }
  }

  /// An instrument that was not seen all day is not requested any more, or has no rows: its day is
  /// over, and no row of its own will say so.
  mutating func abandonDays(before day: TradingDay) {
    for index in instruments.indices {
      guard let state = instruments[index].state, state.day < day, !state.isClosed else {
        continue
      }
      abandon(index)
      output.touched.append(index)
    }
  }

  /// An instrument first seen again after the day's end is closed on sight.
  mutating func closeIfOver(_ index: Int, at now: Timestamp) -> Bool {
    guard instruments[index].isOver(at: now, rules: rules), !isDoubted(index) else {
      return false
    }
    close(index)
    return true
  }

  /// Rows are held that contradict what the day has booked: nobody can certify it yet.
  private func isDoubted(_ index: Int) -> Bool {
    disputes[index]?.rows.isEmpty == false
  }

  private mutating func close(_ index: Int) {
    guard var old = instruments[index].state else { return }
    var state = old
    state.finish(throughMinute: rules.hours.minutesPerDay - 1, rules: rules, into: &output)
    state.isClosed = true
    memories[index].follow(&old, to: &state, hours: rules.hours)
    instruments[index].state = state
    if let candle = state.dayCandle(rules) { output.candles.append(candle) }
    if let candle = state.afterHoursCandle(rules) { output.candles.append(candle) }
    output.certificates.append(state.certificate(isEndKnown: true))
  }

  /// The exchange corrected a day that was already certified: the certificate is written anew and
  /// what changed is a revision.
  mutating func recertify(_ index: Int, after old: InstrumentDay, because cause: RevisionCause) {
    guard let state = instruments[index].state else { return }
    amend(from: old.dayCandle(rules), to: state.dayCandle(rules), because: cause)
    amend(
      from: old.afterHoursCandle(rules), to: state.afterHoursCandle(rules), because: cause)
    if state.certificate(isEndKnown: true) != old.certificate(isEndKnown: true) {
      output.certificates.append(state.certificate(isEndKnown: true))
    }
  }

  private mutating func amend(
    from old: Candle?, to new: Candle?, because cause: RevisionCause
  ) {
    guard let new, new != old else { return }
    if old == nil {
      output.candles.append(new)
    } else {
      output.revisions.append(Revision(candle: new, cause: cause))
    }
  }

  /// A day whose end nobody saw: no certificate can be given, and that is what is written.
  mutating func abandon(_ index: Int) {
    guard var old = instruments[index].state else { return }
    var state = old
    if state.isSettled(rules), !isDoubted(index) { return close(index) }
    let hours = rules.hours
    state.endObservation(rules: rules, into: &output)
    state.sums.minutesMissing += hours.minutesPerDay - state.current.minute
    state.recordUnseenClose(rules: rules, into: &output)
    // Told once: a row of that day that comes all the same finds nothing left to hand out.
    state.current = FormingCandle(minute: hours.minutesPerDay, basis: state.price)
    state.previous = nil
    state.lastMoved = nil
    state.coverage.observedSince = hours.minutesPerDay
    state.isClosed = true
    memories[index].follow(&old, to: &state, hours: rules.hours)
    instruments[index].state = state
  }

  /// Further back than this no source has minutes; a month is an absence, not an outage.
  private static let missedDaysMax = 30

  /// Trading days that passed wholly unseen get their place in the ledger, so that something looks
  /// for them.
  mutating func missDays(of index: Int, after last: TradingDay, before today: TradingDay) {
    var day = max(last, today.advanced(by: -Self.missedDaysMax))
    while let missed = calendar.next(after: day), missed < today {
      day = missed
      var state = InstrumentDay(
        symbol: instruments[index].symbol, day: missed, hours: rules.hours)
      state.sums.minutesMissing = rules.hours.minutesPerDay
      state.recordUnseenClose(rules: rules, into: &output)
    }
  }
}

// MARK: - Over midnight

extension CandleBook {
  /// Where trading goes on over midnight no row may come between a day's last and the next day's
  /// first: if they follow each other without a break, the totals last seen are the day's.
  mutating func proveOverMidnight(_ index: Int, to day: TradingDay, second: Int) {
    let hours = rules.hours
    guard hours.isUnbroken, let last = instruments[index].state,
      last.day.advanced(by: 1) == day,
      hours.closes - last.coverage.aliveThrough + second <= rules.silenceSecondsMax
    else { return }
    instruments[index].state?.prove(through: hours.lastSecond)
  }
}

extension InstrumentDay {
  /// Proven to its end.
  @inline(__always)
  func isSettled(_ rules: CandleRules) -> Bool {
    !isDisputed && coverage.knownThrough >= rules.settledSecond
  }

  /// Settled, and its certificate is due and not written.
  @inline(__always)
  func isOver(at now: Timestamp, rules: CandleRules) -> Bool {
    !isClosed && now >= moment(rules.dayEndSecondOfDay) && isSettled(rules)
  }

  fileprivate func recordUnseenClose(rules: CandleRules, into output: inout CandleOutput) {
    let known = coverage.knownThrough
    output.gaps.append(
      Gap(
        symbol: symbol, tradingDay: day, from: moment(known),
        to: moment(max(rules.hours.closes, known)), volume: .zero, turnover: .zero,
        cause: .unseenClose))
    output.certificates.append(certificate(isEndKnown: false))
  }

  /// The exchange's own account of the day; nil where nothing traded.
  func dayCandle(_ rules: CandleRules) -> Candle? {
    guard booked.volume.isPositive else { return nil }
    return Candle(
      symbol: symbol, timeframe: .day1, tradingDay: day,
      openedAt: moment(rules.hours.opens), closedAt: moment(rules.hours.closes),
      open: booked.open, high: booked.high, low: booked.low, close: booked.last,
      volume: booked.volume, turnover: booked.turnover, flags: totalsFlags,
      source: rules.source)
  }

  /// The fixed-price session; its price is the close.
  func afterHoursCandle(_ rules: CandleRules) -> Candle? {
    guard booked.afterHours.volume.isPositive, let session = rules.hours.afterHours else {
      return nil
    }
    return Candle(
      symbol: symbol, timeframe: .afterHours, tradingDay: day,
      openedAt: moment(session.opens), closedAt: moment(session.closes),
      open: booked.last, high: booked.last, low: booked.last, close: booked.last,
      volume: booked.afterHours.volume, turnover: booked.afterHours.turnover, flags: totalsFlags,
      source: rules.source)
  }

  private var totalsFlags: CandleFlags { booked.isCoarse ? .coarse : [] }

  func certificate(isEndKnown: Bool) -> DayCertificate {
    let isEndKnown = isEndKnown && !isDisputed
    return DayCertificate(
      symbol: symbol, tradingDay: day, exchangeVolume: isEndKnown ? booked.volume : nil,
      exchangeTurnover: isEndKnown ? booked.turnover : nil, minuteVolume: sums.minuteVolume,
      minuteTurnover: sums.minuteTurnover, gapVolume: sums.gapVolume, gapTurnover: sums.gapTurnover,
      afterHoursVolume: booked.afterHours.volume, afterHoursTurnover: booked.afterHours.turnover,
      minutesTraded: Int16(sums.minutesTraded), minutesUntraded: Int16(sums.minutesUntraded),
      minutesMissing: Int16(sums.minutesMissing), isCoarse: booked.isCoarse)
  }
}
