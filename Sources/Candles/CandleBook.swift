import Market

/// The heart of candled: snapshots in, candles, gaps and certificates out.
///
/// A value without clock, task or file: what comes out is a function of what went in, in order.
/// That makes replay exact, and lets a test run a market day in seconds. Time reaches it twice:
/// as the exchange's stamps, which decide what belongs where, and through `advance(to:)`, which
/// decides when waiting ends.
package struct CandleBook: Sendable {
  /// With the hours of the day that is booked.
  package private(set) var rules: CandleRules
  /// The name of the source whose quotes are booked, for events.
  package var sourceName: String
  /// What is known of a day may change until rows of it are booked.
  package var calendar: TradingCalendar {
    didSet { plausibility = Plausibility(rules: rules, calendar: calendar) }
  }
  private var plausibility: Plausibility
  private(set) var timers: [Timer]
  var instruments: [Entry] = []
  /// What each instrument remembers, by the same indexes. Apart, for most rows need no more than
  /// their entry.
  var memories: [DayMemory] = []
  /// The disputes of the few instruments that have one, by the same indexes.
  var disputes: [Int: Dispute] = [:]
  /// What days are written after. At hand, for a global one is copied with each state.
  var bareDay = InstrumentDay.bare
  private var indexes: [Symbol: Int] = [:]
  var watermarks = GroupWatermarks()
  /// Timers up to and including this moment have been carried out.
  var timersDoneThrough = Timestamp(microseconds: 0)
  var progress = DayProgress()
  /// Receive time of the first answer of the source that serves, after another one did.
  var changedSourceAt: Timestamp?
  package internal(set) var output = CandleOutput()

  /// One instrument: its day, and how its proof of life is kept.
  ///
  /// What every row of a sweep asks is mutating, even if it changes nothing: of what only reads an
  /// entry the compiler makes a copy, a kilobyte.
  struct Entry: Sendable {
    var symbol: Symbol
    var group: UInt32 = 0
    /// Seen with the group's last answer, so that the group's watermark is its own.
    var isInStep = false
    var state: InstrumentDay?
    var band: DayBand?
    var instrument: Instrument?

    init(symbol: Symbol) {
      self.symbol = symbol
      instrument = Instrument.classify(symbol)
    }

    var day: TradingDay? { mutating get { state?.day } }

    var isDisputed: Bool { mutating get { state?.isDisputed == true } }

    var aliveThrough: Int? { mutating get { state?.coverage.aliveThrough } }

    @inline(__always)
    mutating func isRepeated(by quote: Quote) -> Bool { state?.isRepeated(by: quote) == true }

    @inline(__always)
    mutating func isOver(at now: Timestamp, rules: CandleRules) -> Bool {
      state?.isOver(at: now, rules: rules) == true
    }

    /// What speaks against the row after what is known of its day, and by the day's legal band: no
    /// price lies beyond it, unless no limit applies or trading showed that the band is another.
    @inline(__always)
    mutating func objection(
      to quote: Quote, seenAt second: Int, receivedAt: Timestamp, changedSourceAt: Timestamp?,
      rules: CandleRules, isUnlimited: () -> Bool
    ) -> Objection? {
      if let objection = state?.objection(
        to: quote, seenAt: second, receivedAt: receivedAt, changedSourceAt: changedSourceAt,
        rules: rules)
      {
        return objection
      }
      if band?.isOf(quote) != true { band = DayBand(instrument, quote: quote) }
      guard let objection = band?.objection(to: quote), state?.isBandUnknown != true,
        !isUnlimited()
      else { return nil }
      return objection
    }

    /// Decided first, for most rows of a sweep say what the last one said. That is noted.
    /// - Returns: whether the group's watermark counts for the instrument only from now on; nil for
    ///   a row of which more is to be asked.
    @inline(__always)
    mutating func proveRepeated(
      by quote: Quote, in group: UInt32, until second: Int, at now: Timestamp, rules: CandleRules
    ) -> Bool? {
      guard state?.isPlainlyRepeated(by: quote, until: second, at: now, rules: rules) == true
      else { return nil }
      state?.prove(through: second)
      return join(group)
    }

    /// Whether nothing has moved until `second`, which is noted then.
    @inline(__always)
    mutating func proveUnchanged(by quote: Quote, until second: Int, rules: CandleRules) -> Bool {
      guard state?.isUnchanged(by: quote, until: second, rules: rules) == true else {
        return false
      }
      state?.prove(through: second)
      return true
    }

    /// Lets the group's watermark count for the instrument; true if it did not before.
    mutating func join(_ group: UInt32) -> Bool {
      if isInStep, self.group == group { return false }
      isInStep = true
      self.group = group
      return true
    }
  }

  /// What was made of one row.
  package enum Verdict: Sendable, Hashable {
    /// Taken; `stateChanged` if a restart would need to know.
    case accepted(stateChanged: Bool)
    case rejected(RejectionReason, detail: String)
    /// The row is not booked yet: it contradicts what is known, and may be right.
    case held(RejectionReason, detail: String)
  }

  /// - Parameters:
  ///   - hours: of the market whose quotes are booked.
  ///   - source: whose candles they become.
  ///   - sourceName: of the source whose quotes are booked, for events. It is not among the rules:
  ///     they are copied often, and a string is counted with each copy.
  package init(
    rules: CandleRules = CandleRules(), hours: TradingHours = .mainlandChina,
    source: Source = .live, calendar: TradingCalendar = .shanghai, sourceName: String = "live"
  ) {
    var rules = rules
    rules.hours = hours
    rules.source = source
    self.rules = rules
    self.sourceName = sourceName
    self.calendar = calendar
    plausibility = Plausibility(rules: rules, calendar: calendar)
    timers = rules.timers
  }

  /// Before the first row of a day whose hours are others: what is left of earlier days ends by
  /// theirs, and a row of them that stands on has nothing to add by the new ones.
  package mutating func begin(_ day: TradingDay, hours: TradingHours) {
    guard hours != rules.hours else { return }
    abandonDays(before: day)
    timersDoneThrough = max(timersDoneThrough, hours.moment(on: day, secondOfDay: 0))
    for index in instruments.indices where instruments[index].day ?? day < day {
      guard instruments[index].state?.isSettled(rules) == true else { continue }
      instruments[index].state?.prove(through: rules.hours.lastSecond)
      output.touched.append(index)
    }
    rules.hours = hours
    plausibility = Plausibility(rules: rules, calendar: calendar)
    timers = rules.timers
  }

  /// The dense index of an instrument, given to new ones on first sight.
  package mutating func index(of symbol: Symbol) -> Int {
    if let known = indexes[symbol] { return known }
    indexes[symbol] = instruments.count
    instruments.append(Entry(symbol: symbol))
    memories.append(DayMemory())
    return instruments.count - 1
  }

  /// The code is another instrument's from now on, of which nothing is known.
  package mutating func forget(_ index: Int) {
    instruments[index] = Entry(symbol: instruments[index].symbol)
    memories[index].forget()
    disputes[index] = nil
  }

  /// The index of an instrument the book has seen.
  package func knownIndex(of symbol: Symbol) -> Int? { indexes[symbol] }

  package var count: Int { instruments.count }

  package func symbol(at index: Int) -> Symbol { instruments[index].symbol }

  @inline(__always)
  func hasDispute(_ index: Int) -> Bool {
    !disputes.isEmpty && disputes.index(forKey: index) != nil
  }

  /// Hands over what was decided since the last time.
  package mutating func takeOutput() -> CandleOutput {
    defer { output = CandleOutput() }
    return output
  }

  /// The minute that takes shape, as it stands; nil before the open, after the close, and for what
  /// does not trade.
  package func formingCandle(at index: Int) -> Candle? {
    instruments[index].state?.formingCandle(rules)
  }
}

extension InstrumentDay {
  @inline(__always)
  fileprivate func formingCandle(_ rules: CandleRules) -> Candle? {
    guard isObserved, !isClosed, current.minute < rules.hours.minutesPerDay,
      current.moved
        || (isTradable && knownTradingSeconds(in: rules.hours) > current.minute * 60)
    else { return nil }
    return current.candle(of: symbol, on: day, rules: rules)
  }
}

// MARK: - Snapshots

extension CandleBook {
  /// Takes in one row of an answer whose newest valid stamp is `watermark`.
  ///
  /// A state is more than half a kilobyte and this runs for every row of every sweep, so the
  /// states are read and changed where they stand: a `let` of one would copy it.
  /// - Parameters:
  ///   - hasRefreshStamp: whether its stamp is when the row was written, which alone is no change.
  ///   - isUnlimited: whether the instrument's name says that no price limit applies today.
  package mutating func observe(
    _ quote: Quote, at index: Int, group: UInt32, watermark: Timestamp,
    receivedAt: Timestamp, hasRefreshStamp: Bool = false,
    isUnlimited: @autoclosure () -> Bool = false
  ) -> Verdict {
    let day = quote.tradingDay
    let trading = quote.trading
    let isListed = trading != .delisted && trading != .notListed
    let elapsed = rules.hours.clock.second(of: watermark, on: day)
    let isToday = (0..<LocalClock.secondsPerDay).contains(elapsed)
    let second = isToday ? elapsed : rules.hours.lastSecond
    if isListed, !hasRefreshStamp, !hasDispute(index),
      let joined = instruments[index].proveRepeated(
        by: quote, in: group, until: second, at: receivedAt, rules: rules)
    {
      watermarks.raise(group, to: watermark)
      return .accepted(stateChanged: joined)
    }
    let known = instruments[index].day
    // Nothing spoke against it when it was booked.
    let isRepeated = instruments[index].isRepeated(by: quote)
    if !isRepeated,
      let objection = plausibility.objection(to: quote, on: known, receivedAt: receivedAt)
    {
      return .rejected(objection.reason, detail: objection.detail)
    }
    if isListed, known ?? TradingDay(daysSince1970: .min) < day {
      roll(index, to: quote, watermark: second, receivedAt: receivedAt)
    }
    let isDisputed = instruments[index].isDisputed && known == day
    if !isDisputed, !isRepeated,
      let objection = instruments[index].objection(
        to: quote, seenAt: second, receivedAt: receivedAt, changedSourceAt: changedSourceAt,
        rules: rules, isUnlimited: isUnlimited)
    {
      if objection.weight == .lagging {
        return .rejected(objection.reason, detail: objection.detail)
      }
      return hold(
        quote, at: index, watermark: second, receivedAt: receivedAt, because: objection)
    }
    watermarks.raise(group, to: watermark)
    let joined = instruments[index].join(group)
    if !isListed { return .accepted(stateChanged: joined) }
    if isDisputed {
      return observeDisputed(quote, at: index, watermark: second, receivedAt: receivedAt)
    }
    if quote.rounding != .exact || hasRefreshStamp {
      return takeInexact(
        quote, hasRefreshStamp: hasRefreshStamp, trading: trading, at: index, watermark: second,
        receivedAt: receivedAt, joined: joined)
    }
    return take(
      quote, asServed: quote, trading: trading, at: index, watermark: second,
      receivedAt: receivedAt, joined: joined)
  }

  /// Kept out of line: most rows are exact, and must pay for no copy.
  @inline(never)
  private mutating func takeInexact(
    _ quote: Quote, hasRefreshStamp: Bool, trading: TradingState, at index: Int, watermark: Int,
    receivedAt: Timestamp, joined: Bool
  ) -> Verdict {
    let kind = instruments[index].instrument?.kind
    var row = instruments[index].state?.bounded(quote, of: kind) ?? quote
    var isNewState = false
    if hasRefreshStamp {
      row = instruments[index].state?.withKnownStamp(row) ?? row
      // What the stamp no longer shows.
      isNewState = instruments[index].state?.booked.trading != trading
    }
    return take(
      row, asServed: quote, trading: trading, at: index, watermark: watermark,
      receivedAt: receivedAt, joined: joined, isNewState: isNewState)
  }

  /// The row continues what is known of its day.
  @inline(__always)
  private mutating func take(
    _ quote: Quote, asServed served: Quote, trading: TradingState, at index: Int, watermark: Int,
    receivedAt: Timestamp, joined: Bool, isNewState: Bool = false
  ) -> Verdict {
    if !isNewState,
      instruments[index].proveUnchanged(by: quote, until: watermark, rules: rules)
    {
      let isCounted = hasDispute(index)
      if isCounted {
        noteRepeated(served, at: index, watermark: watermark, receivedAt: receivedAt)
      }
      return .accepted(stateChanged: closeIfOver(index, at: receivedAt) || joined || isCounted)
    }
    return book(
      quote, asServed: served, trading: trading, at: index, watermark: watermark,
      receivedAt: receivedAt)
  }

  private mutating func book(
    _ quote: Quote, asServed served: Quote, trading: TradingState, at index: Int, watermark: Int,
    receivedAt: Timestamp
  ) -> Verdict {
    guard var before = instruments[index].state else { return .accepted(stateChanged: false) }
    let gapsBefore = (opened: output.gaps.count, closed: output.closedGaps.count)
    do throws(ExactDecimalError) {
      try instruments[index].state?.observe(
        quote, trading: trading, watermark: watermark, rules: rules, into: &output)
    } catch {
      return .rejected(.implausible, detail: "the day's totals overflow")
    }
    var gaps: GapChanges?
    if output.gaps.count > gapsBefore.opened || output.closedGaps.count > gapsBefore.closed {
      gaps = GapChanges(
        output, openedAfter: gapsBefore.opened, closedAfter: gapsBefore.closed)
    }
    let isRemembered = gaps != nil || before.isMoved(by: quote)
    instruments[index].state?.isBooked(
      after: &before, isRemembered: isRemembered, gaps: gaps, in: &memories[index],
      hours: rules.hours)
    if hasDispute(index) {
      noteBooked(
        served, at: index, watermark: watermark, after: before, gaps: gaps,
        receivedAt: receivedAt)
    }
    if before.isClosed {
      recertify(index, after: before, because: .latePrint)
    } else {
      _ = closeIfOver(index, at: receivedAt)
    }
    return .accepted(stateChanged: true)
  }

  /// The instrument was asked for and its row was absent or refused: the group's watermark no
  /// longer counts for it. Returns whether a restart would need to know.
  package mutating func missed(_ index: Int) -> Bool {
    defer { instruments[index].isInStep = false }
    return instruments[index].isInStep
  }

  /// The instruments for which the group's watermark speaks, without some.
  package func indexesInStep(with group: UInt32, except members: Set<Int>) -> [Int] {
    instruments.indices.filter { index in
      instruments[index].isInStep && instruments[index].group == group
        && !members.contains(index)
    }
  }

  /// A new day of an instrument: the old one is closed as far as it was seen.
  private mutating func roll(
    _ index: Int, to quote: Quote, watermark: Int, receivedAt: Timestamp
  ) {
    let sawClose = instruments[index].state?.isSettled(rules) == true
    proveOverMidnight(index, to: quote.tradingDay, second: watermark)
    if instruments[index].state?.isClosed == false {
      abandon(index)
      countEarly(index, at: receivedAt)
    }
    var state = InstrumentDay(
      symbol: instruments[index].symbol, day: quote.tradingDay, basis: quote.previousClose,
      hours: rules.hours)
    if let last = instruments[index].state {
      missDays(of: index, after: last.day, before: quote.tradingDay)
      if sawClose,
        calendar.previous(before: quote.tradingDay) == last.day
      {
        state.priorClose = last.price
      }
    }
    instruments[index].state = state
    memories[index].forget()
    disputes[index] = nil
    startDay(quote.tradingDay, at: receivedAt)
  }
}
