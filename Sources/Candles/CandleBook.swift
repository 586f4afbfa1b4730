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
  struct Entry: Sendable {
    var symbol: Symbol
    let instrument: Instrument?
    var state: InstrumentDay?
    /// The day before each of the last rows that were booked, the newest last.
    var checkpoints: [Checkpoint] = []
    /// None or one, apart: a dispute is rare, and several days large.
    private var disputes: [Dispute] = []
    var band: DayBand?
    var group: UInt16 = 0
    /// Seen with the group's last answer, so that the group's watermark is its own.
    var isInStep = false

    /// Two false rows may come in a row before an honest one shows it.
    static let checkpointsMax = 2

    init(symbol: Symbol) {
      self.symbol = symbol
      instrument = Instrument.classify(symbol)
    }

    @inline(__always)
    var hasDispute: Bool { !disputes.isEmpty }

    var dispute: Dispute? {
      get { disputes.first }
      set { disputes = newValue.map { [$0] } ?? [] }
    }

    mutating func remember(_ checkpoint: Checkpoint) {
      if checkpoints.count == Entry.checkpointsMax {
        checkpoints[0] = checkpoints[1]
        checkpoints[1] = checkpoint
      } else {
        checkpoints.append(checkpoint)
      }
    }

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
    /// Not booked yet: it contradicts what is known, and may be right.
    case held(RejectionReason, detail: String)
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
  /// A state is most of a kilobyte and this runs for every row of every sweep, so the states are
  /// read and changed where they stand: a `let` of one would copy it.
  /// - Parameter isUnlimited: whether the instrument's name says that no price limit applies today.
  public mutating func observe(
    _ quote: Quote, at index: Int, group: UInt16, watermark: Timestamp,
    receivedAt: Timestamp, isUnlimited: Bool = false
  ) -> Verdict {
    let day = quote.tradingDay
    let known = instruments[index].state?.day
    if let objection = plausibility.objection(to: quote, on: known, receivedAt: receivedAt) {
      return .rejected(objection.reason, detail: objection.detail)
    }
    let trading = quote.trading
    let isListed = trading != .delisted && trading != .notListed
    if isListed, known ?? TradingDay(daysSince1970: .min) < day {
      roll(index, to: quote, receivedAt: receivedAt)
    }
    let second =
      watermark.shanghaiDay == day ? watermark.shanghaiSecondOfDay : InstrumentDay.lastSecond
    let isDisputed = instruments[index].state?.isDisputed == true && known == day
    let objection =
      isDisputed
      ? nil
      : instruments[index].state?.objection(to: quote, seenAt: second, rules: rules)
        ?? bandObjection(to: quote, at: index, isUnlimited: isUnlimited)
    if let objection {
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
      let row = HeldRow(quote: quote, trading: trading, watermark: second)
      return observeDisputed(row, at: index, receivedAt: receivedAt)
    }
    if instruments[index].state?.isUnchanged(by: quote, until: second, rules: rules) == true {
      instruments[index].state?.prove(through: second)
      let isCounted = instruments[index].hasDispute
      if isCounted {
        expireDispute(of: index, at: receivedAt)
        let row = HeldRow(quote: quote, trading: trading, watermark: second)
        favourStanding(row, at: index, gaps: GapChanges())
      }
      return .accepted(stateChanged: closeIfOver(index, receivedAt) || joined || isCounted)
    }
    return book(quote, trading, at: index, watermark: second, receivedAt: receivedAt)
  }

  /// The row continues what is known of its day.
  private mutating func book(
    _ quote: Quote, _ trading: TradingState, at index: Int, watermark: Int,
    receivedAt: Timestamp
  ) -> Verdict {
    guard let before = instruments[index].state else { return .accepted(stateChanged: false) }
    let gapsBefore = (opened: output.gaps.count, closed: output.closedGaps.count)
    do throws(ExactDecimalError) {
      try instruments[index].state?.observe(
        quote, trading: trading, watermark: watermark, rules: rules, into: &output)
    } catch {
      return .rejected(.implausible, detail: "the day's totals overflow")
    }
    let gaps = GapChanges(
      output, openedAfter: gapsBefore.opened, closedAfter: gapsBefore.closed)
    if before.isMoved(by: quote) || !gaps.isEmpty {
      instruments[index].remember(Checkpoint(state: before, gaps: gaps))
    }
    if instruments[index].hasDispute {
      let row = HeldRow(quote: quote, trading: trading, watermark: watermark)
      expireDispute(of: index, at: receivedAt)
      favourStanding(row, at: index, gaps: gaps)
      noteReturn(row, at: index, standing: before, receivedAt: receivedAt)
    }
    if before.isClosed {
      recertify(index, after: before, because: .latePrint)
    } else {
      _ = closeIfOver(index, receivedAt)
    }
    return .accepted(stateChanged: true)
  }

  /// No price of a day lies beyond its legal band, unless no limit applies or trading showed that
  /// this one's band is another.
  @inline(__always)
  private mutating func bandObjection(
    to quote: Quote, at index: Int, isUnlimited: Bool
  ) -> Objection? {
    if instruments[index].band?.isOf(quote) != true {
      instruments[index].band = DayBand(instruments[index].instrument, quote)
    }
    guard let objection = instruments[index].band?.objection(to: quote),
      instruments[index].state?.isBandUnknown != true, !isUnlimited
    else { return nil }
    return objection
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
    var state = InstrumentDay(
      symbol: instruments[index].symbol, day: quote.tradingDay, basis: quote.previousClose)
    if let last = instruments[index].state {
      missDays(of: index, after: last.day, before: quote.tradingDay)
      if last.isSettled(rules), !last.isDisputed,
        calendar.previous(before: quote.tradingDay) == last.day
      {
        state.priorClose = last.price
      }
    }
    instruments[index].state = state
    instruments[index].checkpoints = []
    if instruments[index].hasDispute { instruments[index].dispute = nil }
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
