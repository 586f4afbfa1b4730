import Market

/// Prints that come long after their stamp. A print is never older than the print before it, so all
/// that it can change is the minute of that one and the flat minutes since: they are revised.
extension InstrumentDay {
  /// A print stamped into a minute that is neither the current one nor the one before.
  /// - Throws: `overflow`, and then nothing has changed.
  mutating func recordLatePrint(
    _ move: Move, stampedAt stamp: Int, rules: CandleRules, into output: inout CandleOutput
  ) throws(ExactDecimalError) {
    let minute = rules.hours.minute(of: stamp)
    guard minute >= coverage.observedSince else {
      // Nobody saw that minute: its volume belongs to what passed unseen. The row before may be
      // older than that, and the print itself, too, where another source stamped the rows before.
      let unseen = lastGap.map { second(of: $0.from) } ?? 0
      let known = max(booked.stamp, unseen)
      let printed = max(stamp, unseen)
      try recordGap(
        from: moment(min(known, printed)), to: moment(printed),
        delta: Delta(volume: move.volume, turnover: move.turnover),
        cause: isDisputed ? .dispute : isClosed ? .latePrint : lastGap?.cause ?? .latePrint,
        into: &output)
      return flattenMinutes(
        after: coverage.observedSince - 1, at: move.last, rules: rules, into: &output)
    }
    let volumeSum = try sums.minuteVolume + move.volume
    let turnoverSum = try sums.minuteTurnover + move.turnover
    let held = lastMoved.flatMap { $0.minute == minute ? $0 : nil }
    var late = held ?? FormingCandle(minute: minute, basis: price)
    let wasFlat = !late.moved
    try late.take(move)
    late.isFinal = true
    if wasFlat {
      sums.minutesTraded += 1
      if isTradable, sums.minutesUntraded > 0 { sums.minutesUntraded -= 1 }
    }
    lastMoved = late
    sums.minuteVolume = volumeSum
    sums.minuteTurnover = turnoverSum
    revise(late, rules: rules, into: &output)
    flattenMinutes(after: minute, at: move.last, rules: rules, into: &output)
  }

  /// Minutes without trades stand at the price of the last print before them.
  private mutating func flattenMinutes(
    after minute: Int, at price: ExactDecimal, rules: CandleRules,
    into output: inout CandleOutput
  ) {
    guard isTradable else {
      if !current.moved { current.basis = price }
      return
    }
    for place in minute + 1..<max(previous?.minute ?? current.minute, minute + 1) {
      var flat = FormingCandle(minute: place, basis: price)
      // One whose beginning was not seen stays so.
      if let held = lastMoved, held.minute == place {
        flat.flags = held.flags
        lastMoved = flat
      }
      revise(flat, rules: rules, into: &output)
    }
    if previous?.moved == false, previous?.isPassedOver == false {
      previous?.basis = price
      if let previous, previous.isFinal { revise(previous, rules: rules, into: &output) }
    }
    if !current.moved { current.basis = price }
  }

  func revise(
    _ minute: FormingCandle, because cause: RevisionCause = .latePrint, rules: CandleRules,
    into output: inout CandleOutput
  ) {
    output.revisions.append(
      Revision(candle: minute.candle(of: symbol, on: day, rules: rules), cause: cause))
  }

  /// A print stamped well before a time that counted as proven shows how late its instrument's rows
  /// come. From then on they prove only what is as old as that, and its minutes wait.
  mutating func learnLag(of stamp: Int, seenAt watermark: Int, rules: CandleRules) {
    let printed = rules.hours.tradingSeconds(before: stamp)
    let late = rules.hours.tradingSeconds(before: watermark) - printed
    let isLate = late > rules.silenceSecondsMax
    if coverage.lag > 0 {
      coverage.lag = isLate ? late : 0
    } else if isLate, knownTradingSeconds(in: rules.hours) - printed > rules.silenceSecondsMax {
      coverage.lag = late
    }
  }
}
