import Market

/// Another past of an instrument's day, once it is decided which rows were true.
extension CandleBook {
  /// Lets the day go on from `base` with these rows, as if what was booked since had never been:
  /// minutes already handed out become revisions, gaps that stand no more are closed.
  /// - Parameter endsObservation: nothing is known from `base` on.
  mutating func replace(
    _ index: Int, by base: Checkpoint, booking rows: [HeldRow], endsObservation: Bool = false
  ) -> Verdict {
    guard let old = instruments[index].state else { return .accepted(stateChanged: false) }
    var new = base.state
    var made = CandleOutput()
    do throws(ExactDecimalError) {
      for row in rows {
        try new.observe(
          new.bounded(row.quote, of: instruments[index].instrument?.kind), trading: row.trading,
          watermark: row.watermark, rules: rules, into: &made)
        new.prove(through: row.provenThrough)
      }
    } catch {
      return .rejected(.implausible, detail: "the day's totals overflow")
    }
    let through = old.isClosed ? rules.hours.minutesPerDay - 1 : old.handedOutThrough
    // A minute that was given up is not proven by rows that end before it does.
    let isGivenUp =
      endsObservation
      || new.current.minute <= through
        && !new.isAlive(throughMinute: through, in: rules.hours)
    if isGivenUp {
      new.endObservation(rules: rules, into: &made)
    } else if new.current.minute <= through + 1 {
      new.finish(throughMinute: through, rules: rules, into: &made)
    }
    if old.isTradable {
      new.emptyMinutes(
        from: base, through: through, areUnseen: isGivenUp, rules: rules, into: &made)
    }
    if isGivenUp { new.skip(to: through + 1) }
    base.state.restate(unless: old, rules: rules, into: &output)
    handOut(made, revisingThrough: through)
    output.closedGaps += base.gaps.opened
    output.gaps += base.gaps.closed
    new.isClosed = old.isClosed
    instruments[index].state = new
    let gaps = GapChanges(made, openedAfter: 0, closedAfter: 0)
    memories[index].set(
      rows.isEmpty ? [] : [Checkpoint(state: base.state, gaps: gaps)], before: new)
    output.touched.append(index)
    if old.isClosed { recertify(index, after: old, because: .correction) }
    return .accepted(stateChanged: true)
  }

  private mutating func handOut(_ made: CandleOutput, revisingThrough last: Int) {
    for candle in made.candles {
      if rules.hours.minute(of: candle) > last {
        output.candles.append(candle)
      } else {
        output.revisions.append(Revision(candle: candle, cause: .correction))
      }
    }
    output.revisions += made.revisions.map { Revision(candle: $0.candle, cause: .correction) }
    output.gaps += made.gaps
    output.closedGaps += made.closedGaps
  }
}

extension TradingHours {
  func minute(of candle: Candle) -> Int {
    minute(of: clock.second(of: candle.closedAt, on: candle.tradingDay))
  }
}

extension Gap {
  /// Whether no row was requested, or none that came was credible.
  var isUnseen: Bool { cause != .latePrint && cause != .correction }

  /// The minutes that had no candle because nobody saw them.
  fileprivate func missingMinutes(in hours: TradingHours) -> Range<Int> {
    guard isUnseen else { return 0..<0 }
    let span = hours.tradingSeconds(of: self)
    let known = span.lowerBound
    // An auction's print makes a candle of a minute of which nothing else was seen.
    let mayHoldAuction = known % 60 == 0 && (known == 0 || hours.endsSession(known / 60 - 1))
    let first = mayHoldAuction ? known / 60 + 1 : (known + 59) / 60
    return first..<max(first, span.upperBound / 60)
  }
}

extension InstrumentDay {
  /// Minutes that were final here and may have been revised since.
  fileprivate func restate(
    unless later: InstrumentDay, rules: CandleRules, into output: inout CandleOutput
  ) {
    if let previous, previous.isFinal, !previous.isPassedOver {
      revise(previous, because: .correction, rules: rules, into: &output)
    }
    guard lastMoved != later.lastMoved else { return }
    if let lastMoved {
      revise(lastMoved, because: .correction, rules: rules, into: &output)
    }
    let first = lastMoved.map { $0.minute + 1 } ?? rules.hours.minute(of: booked.stamp)
    let end = previous?.minute ?? current.minute
    for minute in max(first, coverage.observedSince)..<max(first, coverage.observedSince, end) {
      revise(
        FormingCandle(minute: minute, basis: price), because: .correction, rules: rules,
        into: &output)
    }
  }

  /// Minutes before were handed out already: what turns out to belong to them is a gap.
  fileprivate mutating func skip(to minute: Int) {
    guard current.minute < minute else { return }
    sums.minutesMissing += minute - current.minute
    current = FormingCandle(minute: minute, basis: price)
    previous = nil
    lastMoved = nil
    coverage.observedSince = minute
  }

  /// Minutes that were handed out since `base`, and of which nothing is known now: their volume is
  /// elsewhere, and a candle once handed out stays, empty.
  fileprivate mutating func emptyMinutes(
    from base: Checkpoint, through last: Int, areUnseen: Bool, rules: CandleRules,
    into output: inout CandleOutput
  ) {
    let first = base.state.handedOutThrough + 1
    guard first <= last else { return }
    let made = Set(output.candles.map { rules.hours.minute(of: $0) })
    let missed = base.gaps.opened.map { $0.missingMinutes(in: rules.hours) }
    for minute in first...last
    where !made.contains(minute) && !missed.contains(where: { $0.contains(minute) }) {
      var empty = FormingCandle(minute: minute, basis: base.state.price)
      if areUnseen || minute < coverage.observedSince { empty.flags = .partial }
      if minute < coverage.observedSince, sums.minutesMissing > 0 {
        sums.minutesMissing -= 1
        sums.minutesUntraded += 1
      }
      output.candles.append(empty.candle(of: symbol, on: day, rules: rules))
    }
  }
}

extension InstrumentDay {
  func isContinued(by quote: Quote, rules: CandleRules) -> Bool {
    quote.tradingDay == day && (!isObserved || totals.isContinued(by: quote, rules: rules))
  }

  /// The day's range is smaller than it was: an extreme beyond it was false.
  mutating func narrow(
    to quote: Quote, rules: CandleRules, into output: inout CandleOutput
  ) {
    current.narrow(to: quote)
    guard var minute = previous else { return }
    minute.narrow(to: quote)
    if minute.isFinal, minute != previous {
      revise(minute, because: .correction, rules: rules, into: &output)
    }
    previous = minute
  }
}

extension FormingCandle {
  fileprivate mutating func narrow(to quote: Quote) {
    guard moved, quote.low.isPositive, quote.low <= quote.high else { return }
    let range = quote.low...quote.high
    for price in [\FormingCandle.open, \.high, \.low, \.close] {
      self[keyPath: price] = min(max(self[keyPath: price], range.lowerBound), range.upperBound)
    }
  }
}
