import Market

/// The heart of candled: snapshots in, candles, gaps and certificates out.
///
/// A value without clock, task or file: what comes out is a function of what went in, in order.
/// That makes replay exact, and lets a test run a market day in seconds. Time reaches it twice:
/// as the exchange's stamps, which decide what belongs where, and through `advance(to:)`, which
/// decides when waiting ends.
public struct CandleBook: Sendable {
  public let rules: CandleRules
  /// May reach further than at the beginning, never say otherwise of a day.
  public var calendar: TradingCalendar {
    didSet { plausibility = Plausibility(rules: rules, calendar: calendar) }
  }
  private var plausibility: Plausibility
  let timers: [Timer]
  var instruments: [Entry] = []
  private var indexes: [Symbol: Int] = [:]
  var watermarks = GroupWatermarks()
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

    /// Lets the group's watermark speak for the instrument; true if it did not before.
    mutating func join(_ group: UInt16) -> Bool {
      if isInStep, self.group == group { return false }
      isInStep = true
      self.group = group
      return true
    }
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
    instruments[index].state?.formingCandle
  }
}

extension InstrumentDay {
  @inline(__always)
  fileprivate var formingCandle: Candle? {
    guard isObserved, !isClosed, current.minute < Session.minutesPerDay,
      current.moved || (isTradable && knownTradingSeconds > current.minute * 60)
    else { return nil }
    return current.candle(symbol: symbol, day: day)
  }
}

// MARK: - Snapshots

extension CandleBook {
  /// Takes in one row of an answer whose newest valid stamp is `watermark`.
  ///
  /// A state is half a kilobyte and this runs for every row of every sweep, so the states are read
  /// and changed where they stand: a `let` of one would copy it.
  public mutating func observe(
    _ quote: Quote, at index: Int, group: UInt16, watermark: Timestamp,
    receivedAt: Timestamp
  ) -> Verdict {
    if let objection = objection(to: quote, at: index, receivedAt: receivedAt) {
      return .rejected(objection.reason, detail: objection.detail)
    }
    watermarks.raise(group, to: watermark)
    let joined = instruments[index].join(group)
    let trading = quote.trading
    if trading == .delisted || trading == .notListed { return .accepted(stateChanged: joined) }
    let day = quote.tradingDay
    let second =
      watermark.shanghaiDay == day ? watermark.shanghaiSecondOfDay : InstrumentDay.lastSecond
    if instruments[index].state?.isUnchanged(by: quote, until: second, rules: rules) == true {
      instruments[index].state?.prove(through: second)
      return .accepted(stateChanged: closeIfOver(index, receivedAt) || joined)
    }
    if instruments[index].state?.day != day { roll(index, to: quote, receivedAt: receivedAt) }
    if instruments[index].state?.isClosed == true { return amend(index, by: quote, second) }
    do {
      try instruments[index].state?.observe(
        quote, trading: trading, watermark: second, rules: rules, into: &output)
    } catch {
      return .rejected(.implausible, detail: "the day's totals overflow")
    }
    _ = closeIfOver(index, receivedAt)
    return .accepted(stateChanged: true)
  }

  /// The row belongs to a day that is certified already. Apart, so that the copy it takes of the
  /// state costs the others nothing.
  @inline(never)
  private mutating func amend(_ index: Int, by quote: Quote, _ watermark: Int) -> Verdict {
    guard let certified = instruments[index].state else { return .accepted(stateChanged: false) }
    do {
      try instruments[index].state?.observe(
        quote, trading: quote.trading, watermark: watermark, rules: rules, into: &output)
    } catch {
      return .rejected(.implausible, detail: "the day's totals overflow")
    }
    recertify(index, after: certified)
    return .accepted(stateChanged: true)
  }

  private func objection(
    to quote: Quote, at index: Int, receivedAt: Timestamp
  ) -> Plausibility.Objection? {
    let day = instruments[index].state?.day
    if let objection = plausibility.objection(to: quote, on: day, receivedAt: receivedAt) {
      return objection
    }
    return instruments[index].state?.objection(to: quote, rules: rules)
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

  /// A new day of an instrument: the old one is closed as far as it was seen.
  private mutating func roll(
    _ index: Int, to quote: Quote, receivedAt: Timestamp
  ) {
    if instruments[index].state?.isClosed == false { abandon(index) }
    if let last = instruments[index].state?.day {
      missDays(of: index, after: last, before: quote.tradingDay)
    }
    instruments[index].state = InstrumentDay(
      symbol: instruments[index].symbol, day: quote.tradingDay, basis: quote.previousClose)
    startDay(quote.tradingDay, at: receivedAt)
  }
}

/// The newest stamp each request group has shown. Groups are few and numbered from 0.
struct GroupWatermarks: Sendable, Hashable {
  private var stamps: [Timestamp?] = []

  subscript(group: UInt16) -> Timestamp? {
    Int(group) < stamps.count ? stamps[Int(group)] : nil
  }

  mutating func raise(_ group: UInt16, to stamp: Timestamp) {
    while stamps.count <= Int(group) { stamps.append(nil) }
    if let known = stamps[Int(group)], known >= stamp { return }
    stamps[Int(group)] = stamp
  }

  var newest: Timestamp? { stamps.compactMap(\.self).max() }

  /// Those that have one, in order.
  var all: [(group: UInt16, stamp: Timestamp)] {
    stamps.enumerated().compactMap { group, stamp in stamp.map { (UInt16(group), $0) } }
  }
}
