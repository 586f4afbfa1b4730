import Market

/// How a row becomes minute volume, a gap or a revision: rules 1 to 5 of docs/candle-rules.md.
/// Every change of the day's volume goes to exactly one of the three, which is why the certificate
/// can be zero.
extension InstrumentDay {
  /// Takes in a plausible snapshot that was true at `watermark` (second of the day). Rounded totals
  /// are `bounded` before.
  /// - Throws: `overflow`, and then nothing has changed.
  mutating func observe(
    _ quote: Quote, trading: TradingState, watermark: Int, rules: CandleRules,
    into output: inout CandleOutput
  ) throws(ExactDecimalError) {
    let delta = Delta(
      volume: try quote.volume - booked.volume, turnover: try quote.turnover - booked.turnover)
    let watermark = max(watermark, coverage.aliveThrough)
    if !isObserved { current.basis = quote.previousClose }
    if isBreak(until: watermark, rules: rules) {
      try open(gapUntil: watermark, delta: delta, quote: quote, rules: rules, into: &output)
    } else if isMovement(quote, delta: delta) {
      let stamp = Int(quote.secondOfDay)
      let isLate = rules.hours.minute(of: stamp) < current.minute
      let place = isLate ? place(ofStamp: stamp, in: rules.hours) : stamp
      // What an exact total adds to a rounded one says nothing of how late its rows come.
      let isRemainder = booked.isCoarse && quote.rounding == .exact
      let isInPlace = stamp == place && stamp >= booked.stamp && !isRemainder
      try record(
        move(quote, delta: delta, in: rules.hours.minute(of: place), rules.hours),
        stampedAt: place, rules: rules, into: &output)
      if isInPlace { learnLag(of: stamp, seenAt: watermark, rules: rules) }
    }
    remember(quote, trading: trading, watermark: watermark, in: rules.hours)
  }

  /// Nothing the rules care for has moved; the common case, so it is decided first. An outage is
  /// no less one for having changed nothing.
  @inline(__always)
  func isUnchanged(by quote: Quote, until second: Int, rules: CandleRules) -> Bool {
    guard isObserved, quote.tradingDay == day else { return false }
    return Int(quote.secondOfDay) == booked.stamp && quote.volume == booked.volume
      && quote.turnover == booked.turnover && quote.last == booked.last
      && hasAfterHours(of: quote) && (quote.rounding != .exact) == booked.isCoarse
      && !isBreak(until: second, rules: rules)
  }

  /// Every number that a row is compared with is the standing one's.
  @inline(__always)
  func isRepeated(by quote: Quote) -> Bool {
    isObserved && quote.tradingDay == day && Int(quote.secondOfDay) == booked.stamp
      && !isMoved(by: quote)
  }

  /// Whether booking the row changes more than its stamp.
  @inline(__always)
  func isMoved(by quote: Quote) -> Bool {
    quote.volume != booked.volume || quote.turnover != booked.turnover || quote.last != booked.last
      || quote.high != booked.high || quote.low != booked.low || quote.open != booked.open
      || quote.previousClose != booked.previousClose || !hasAfterHours(of: quote)
  }

  @inline(__always)
  private func hasAfterHours(of quote: Quote) -> Bool {
    guard let session = quote.afterHours else { return true }
    return session == booked.afterHours
  }

  /// The row repeats the standing one of a day that goes on, exactly, and nothing passed unseen.
  @inline(__always)
  func isPlainlyRepeated(
    by quote: Quote, until second: Int, at now: Timestamp, rules: CandleRules
  ) -> Bool {
    isRepeated(by: quote) && !isDisputed && !booked.isCoarse && quote.rounding == .exact
      && !isBreak(until: second, rules: rules)
      && (isClosed || now < moment(rules.dayEndSecondOfDay))
  }

  @inline(__always)
  mutating func prove(through second: Int) {
    coverage.aliveThrough = max(coverage.aliveThrough, second)
    coverage.knownThrough = max(coverage.knownThrough, second - coverage.lag)
  }

  struct Delta {
    var volume: ExactDecimal
    var turnover: ExactDecimal
  }

  /// Whether more than the longest silence passed unseen and a minute ended meanwhile.
  @inline(__always)
  func isBreak(until watermark: Int, rules: CandleRules) -> Bool {
    let known = rules.hours.tradingSeconds(before: coverage.aliveThrough)
    let seen = rules.hours.tradingSeconds(before: watermark)
    let minuteSeen = (seen + 59) / 60 - 1
    return seen - known > rules.silenceSecondsMax && minuteSeen > known / 60
  }

  /// Before the first trade prices are indicative and make no candle.
  @inline(__always)
  private func isMovement(_ quote: Quote, delta: Delta) -> Bool {
    if quote.volume.isZero { return false }
    return !delta.volume.isZero || !delta.turnover.isZero || !quote.last.isSame(as: booked.last)
  }

  @inline(__always)
  private func move(
    _ quote: Quote, delta: Delta, in minute: Int, _ hours: TradingHours
  ) -> Move {
    let rose = quote.high > booked.high && !quote.high.isSame(as: booked.high)
    let fell =
      booked.low.isZero || quote.low < booked.low && !quote.low.isSame(as: booked.low)
    return Move(
      last: quote.last,
      open: minute == 0 && !quote.open.isZero ? quote.open : nil,
      high: rose ? max(quote.high, quote.last) : quote.last,
      low: fell ? min(quote.low, quote.last) : quote.last,
      volume: delta.volume, turnover: delta.turnover,
      // Only the instrument's own stamps prove its rows: others' lie elsewhere in the second.
      isAmbiguous: minute > 0 && (rose || fell)
        && hours.tradingSeconds(before: booked.stamp) < minute * 60,
      isCoarse: booked.isCoarse || quote.rounding != .exact)
  }

  /// Puts a movement where its stamp says, however late it comes.
  private mutating func record(
    _ move: Move, stampedAt stamp: Int, rules: CandleRules, into output: inout CandleOutput
  ) throws(ExactDecimalError) {
    let minute = rules.hours.minute(of: stamp)
    let minuteSum = Delta(
      volume: try sums.minuteVolume + move.volume, turnover: try sums.minuteTurnover + move.turnover
    )
    begin(minute: minute, rules: rules, into: &output)
    if minute == current.minute {
      try current.take(move)
    } else if var late = previous, late.minute == minute {
      try late.take(move)
      replacePrevious(by: late, rules: rules, into: &output)
    } else {
      return try recordLatePrint(move, stampedAt: stamp, rules: rules, into: &output)
    }
    sums.minuteVolume = minuteSum.volume
    sums.minuteTurnover = minuteSum.turnover
  }

  private mutating func replacePrevious(
    by late: FormingCandle, rules: CandleRules, into output: inout CandleOutput
  ) {
    // It began at the price this print has moved since.
    if !current.moved { current.basis = late.close }
    if previous?.isPassedOver == true {
      var first = late
      first.isPassedOver = false
      first.isFinal = false
      previous = first
      return finishPrevious(rules: rules, into: &output)
    }
    if late.isFinal {
      if previous?.moved == false {
        sums.minutesTraded += 1
        sums.minutesUntraded -= 1
      }
      revise(late, rules: rules, into: &output)
    }
    previous = late
  }
}

// MARK: - Gaps

extension InstrumentDay {
  /// Nobody looked from `knownThrough` to `watermark`: the volume of that time is known, its
  /// minutes are not.
  private mutating func open(
    gapUntil watermark: Int, delta: Delta, quote: Quote, rules: CandleRules,
    into output: inout CandleOutput
  ) throws(ExactDecimalError) {
    let cause = isDisputed ? GapCause.dispute : isObserved ? .outage : .lateStart
    // A row of yesterday in an answer of today is true to its day's end, but shows no trade after
    // its own stamp.
    let isWholeDay = watermark == rules.hours.lastSecond
    let end = isWholeDay ? max(Int(quote.secondOfDay), rules.hours.closes) : watermark
    try recordGap(
      from: moment(coverage.knownThrough), to: moment(end), delta: delta, cause: cause,
      into: &output)
    endObservation(rules: rules, into: &output)
    resume(
      at: watermark, price: quote.last.isZero ? quote.previousClose : quote.last,
      in: rules.hours)
  }

  /// Hands out what was seen before sight was lost. The opening auction trades before the first
  /// minute has a second: where nothing else of that minute was seen, it is the auction alone.
  mutating func endObservation(rules: CandleRules, into output: inout CandleOutput) {
    let known = knownTradingSeconds(in: rules.hours)
    if known / 60 > 0 { finish(throughMinute: known / 60 - 1, rules: rules, into: &output) }
    guard current.minute == known / 60 else { return }
    if known % 60 > 0 || current.moved { discardCurrent(rules: rules, into: &output) }
  }

  /// Minutes between are missing; the one sight returns in starts at the price found.
  private mutating func resume(at watermark: Int, price: ExactDecimal, in hours: TradingHours) {
    let seen = hours.tradingSeconds(before: watermark)
    // Minutes that were emptied in a dispute are not begun again.
    let resumed = max(seen / 60, current.minute)
    sums.minutesMissing += resumed - current.minute
    coverage.observedSince = resumed
    coverage.lag = 0
    lastMoved = nil
    previous = nil
    current =
      seen % 60 > 0 || resumed > seen / 60
      ? .resumed(minute: resumed, at: price) : FormingCandle(minute: resumed, basis: price)
  }

  /// Gaps of one cause whose spans adjoin are one row.
  mutating func recordGap(
    from: Timestamp, to: Timestamp, delta: Delta, cause: GapCause,
    into output: inout CandleOutput
  ) throws(ExactDecimalError) {
    let volumeSum = try sums.gapVolume + delta.volume
    let turnoverSum = try sums.gapTurnover + delta.turnover
    var gap = Gap(
      symbol: symbol, tradingDay: day, from: from, to: to, volume: delta.volume,
      turnover: delta.turnover, cause: cause)
    if let last = lastGap, last.cause == cause, last.from <= to, from <= last.to {
      gap.from = min(from, last.from)
      gap.to = max(to, last.to)
      gap.volume = try last.volume + delta.volume
      gap.turnover = try last.turnover + delta.turnover
      output.closedGaps.append(last)
    }
    sums.gapVolume = volumeSum
    sums.gapTurnover = turnoverSum
    lastGap = gap
    output.gaps.append(gap)
  }

  mutating func remember(
    _ quote: Quote, trading: TradingState, watermark: Int, in hours: TradingHours
  ) {
    // Until something trades the previous close may still be put right, and the minute with it.
    if !current.moved, quote.volume.isZero, current.basis == booked.previousClose {
      current.basis = quote.previousClose
    }
    prove(through: watermark)
    isObserved = true
    booked.stamp = Int(quote.secondOfDay)
    booked.isCoarse = quote.rounding != .exact
    // What an exact total adds to a rounded one may be as old as the print before it.
    if !booked.isCoarse, let minute = lastMoved?.minute, hours.minute(of: booked.stamp) > minute {
      lastMoved = nil
    }
    booked.volume = quote.volume
    booked.turnover = quote.turnover
    booked.open = quote.open
    booked.high = quote.high
    booked.low = quote.low
    booked.last = quote.last
    booked.previousClose = quote.previousClose
    booked.trading = trading
    if let session = quote.afterHours { booked.afterHours = session }
    if !current.moved, current.basis.isZero { current.basis = price }
  }
}
