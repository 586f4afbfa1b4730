import Market

/// The heart of candled: snapshots in, candles, gaps and certificates out.
///
/// A value without clock, task or file: what comes out is a function of what went in, in order.
/// That makes replay exact, and lets a test run a market day in seconds. Time reaches it twice:
/// as the exchange's stamps, which decide what belongs where, and through `advance(to:)`, which
/// decides when waiting ends.
public struct CandleBook: Sendable {
  public let rules: CandleRules
  let calendar: TradingCalendar
  private let plausibility: Plausibility
  let timers: [Timer]
  var instruments: [Entry] = []
  private var indexes: [Symbol: Int] = [:]
  /// The newest stamp each request group has shown.
  var watermarks: [UInt16: Timestamp] = [:]
  /// Timers up to and including this moment have been carried out.
  var timersDoneThrough = Timestamp(microseconds: 0)
  var progress = DayProgress()
  public internal(set) var output = CandleOutput()

  /// One instrument: its day, and how its proof of life is kept.
  struct Entry: Sendable, Hashable {
    var symbol: Symbol
    var state: InstrumentDay?
    var group: UInt16 = 0
    /// Seen with the group's last answer, so that the group's watermark is its own.
    var isInStep = false
  }

  /// What was made of one row.
  public enum Verdict: Sendable, Hashable {
    /// Taken; `stateChanged` if a restart would need to know.
    case accepted(stateChanged: Bool)
    case rejected(RejectionReason, detail: String)
  }

  public init(rules: CandleRules = CandleRules(), calendar: TradingCalendar = .shanghai) {
    self.rules = rules
    self.calendar = calendar
    plausibility = Plausibility(rules: rules, calendar: calendar)
    timers = rules.timers
  }

  /// The dense index of an instrument, given to new ones on first sight.
  public mutating func index(of symbol: Symbol) -> Int {
    if let known = indexes[symbol] { return known }
    indexes[symbol] = instruments.count
    instruments.append(Entry(symbol: symbol))
    return instruments.count - 1
  }

  /// The index of an instrument the book has seen.
  public func knownIndex(of symbol: Symbol) -> Int? { indexes[symbol] }

  public var count: Int { instruments.count }

  public func symbol(at index: Int) -> Symbol { instruments[index].symbol }

  /// Hands over what was decided since the last time.
  public mutating func takeOutput() -> CandleOutput {
    defer { output = CandleOutput() }
    return output
  }

  /// The minute that takes shape, as it stands; nil before the open, after the close, and for what
  /// does not trade.
  public func formingCandle(at index: Int) -> Candle? {
    guard let state = instruments[index].state, state.isObserved, !state.isClosed,
      state.current.minute < Session.minutesPerDay,
      state.current.moved || (state.isTradable && state.knownTradingSeconds > 0)
    else { return nil }
    return state.current.candle(symbol: state.symbol, day: state.day)
  }
}

// MARK: - Snapshots

extension CandleBook {
  /// Takes in one row of an answer whose newest valid stamp is `watermark`.
  public mutating func observe(
    _ quote: Quote, at index: Int, group: UInt16, watermark: Timestamp,
    receivedAt: Timestamp
  ) -> Verdict {
    let known = instruments[index].state
    if let objection = plausibility.objection(to: quote, after: known, receivedAt: receivedAt) {
      return .rejected(objection.reason, detail: objection.detail)
    }
    watermarks[group] = max(watermarks[group] ?? watermark, watermark)
    let joined = !instruments[index].isInStep || instruments[index].group != group
    instruments[index].isInStep = true
    instruments[index].group = group
    let day = quote.tradingDay
    let second = watermark.shanghaiDay == day ? watermark.shanghaiSecondOfDay : lastSecond
    if quote.trading == .delisted || quote.trading == .notListed {
      return .accepted(stateChanged: joined)
    }
    if isUnchanged(quote, known, until: second) {
      instruments[index].state?.knownThrough = max(second, known?.knownThrough ?? 0)
      return .accepted(stateChanged: closeIfOver(index, receivedAt) || joined)
    }
    if known?.day != day { roll(index, to: quote, receivedAt: receivedAt) }
    do {
      try instruments[index].state?.observe(
        quote, watermark: second, rules: rules, into: &output)
    } catch {
      return .rejected(.implausible, detail: "the day's totals overflow")
    }
    if let known, known.day == day, known.isClosed {
      recertify(index, after: known)
    } else {
      _ = closeIfOver(index, receivedAt)
    }
    return .accepted(stateChanged: true)
  }

  /// The instrument was asked for and its row was absent or refused: the group's watermark no
  /// longer speaks for it. Returns whether a restart would need to know.
  public mutating func missed(_ index: Int) -> Bool {
    defer { instruments[index].isInStep = false }
    return instruments[index].isInStep
  }

  /// The instruments for which the group's watermark speaks, without some.
  public func indexesInStep(with group: UInt16, except members: Set<Int>) -> [Int] {
    instruments.indices.filter { index in
      instruments[index].isInStep && instruments[index].group == group
        && !members.contains(index)
    }
  }

  private var lastSecond: Int { Int(Shanghai.secondsPerDay) - 1 }

  /// Nothing the rules care for has moved; the common case, so it is decided first. An outage is
  /// no less one for having changed nothing.
  private func isUnchanged(
    _ quote: Quote, _ known: InstrumentDay?, until second: Int
  ) -> Bool {
    guard let known, known.isObserved, quote.tradingDay == known.day else { return false }
    return Int(quote.secondOfDay) == known.stamp && quote.volume == known.volume
      && quote.turnover == known.turnover && quote.last == known.last
      && quote.afterHours ?? known.afterHours == known.afterHours
      && !known.isBreak(until: second, rules: rules)
  }

  /// A new day of an instrument: the old one is closed as far as it was seen.
  private mutating func roll(
    _ index: Int, to quote: Quote, receivedAt: Timestamp
  ) {
    if instruments[index].state?.isClosed == false { abandon(index) }
    instruments[index].state = InstrumentDay(
      symbol: instruments[index].symbol, day: quote.tradingDay, basis: quote.previousClose)
    startDay(quote.tradingDay, at: receivedAt)
  }
}
