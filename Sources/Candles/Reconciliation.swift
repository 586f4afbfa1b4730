import Market

/// The repair of one instrument's A-share day: the minutes built from snapshots, compared with the
/// day's ready-made minute bars. Pure: rows in, rows out; the store reads and writes them in one
/// transaction.
///
/// Nothing is taken that does not add up. Bars that make up the exchange's day replace the day's
/// minutes; else each gap is compared with the bars of its own span; else nothing changes and the
/// difference is a `Disagreement`. Σ minutes + Σ open gaps stays what it was, to the last digit.
///
/// Totals that a source rounded are lower bounds, and bars say what they were: see
/// `Reconciliation+Rounding`.
///
/// No bars at all are the whole of a day on which the exchange counted nothing.
///
/// Money. Sina sends a bar's turnover in single precision (docs/sources/sina.md#k-lines:
/// 476800.9888), so bars whose volumes are exact may miss the money by a millionth. Then minutes of
/// which we saw all volume keep our money, and what is still missing goes to the taken minute with
/// the most. Bars without money heal gaps only: minutes of other volume than ours get no turnover,
/// and a gap of no volume keeps the span's money in the account, marked as permanent.
///
/// It must never invent a trade, and never touch the fixed-price session after the close.
package struct Reconciliation: Sendable {
  package let symbol: Symbol
  package let day: TradingDay
  let hours: TradingHours
  let source: Source
  /// The stored candles by minute.
  let stored: [Candle?]
  let gaps: [OpenGap]
  let certificate: DayCertificate?
  let dayCandle: Candle?
  let bars: BarDay

  /// A gap that is open, by the store's number.
  package struct OpenGap: Sendable, Hashable {
    package var id: Int64
    package var gap: Gap

    package init(id: Int64, gap: Gap) {
      self.id = id
      self.gap = gap
    }
  }

  /// A gap that stays, once more looked for.
  package struct GapCheck: Sendable, Hashable {
    package enum Reason: String, Sendable, CaseIterable {
      case notInBars = "the bars do not reach it"
      case barsDiffer = "the bars do not add up to it"
    }

    package var gap: Int64
    package var reason: Reason
  }

  package struct Outcome: Sendable, Equatable {
    package var revisions: [Revision] = []
    /// Minutes that were missing, and the day if it was.
    package var candles: [Candle] = []
    package var closedGaps: [Int64] = []
    /// Gaps of money whose volume was found; no source will ever have it.
    package var remainders: [Gap] = []
    package var gapChecks: [GapCheck] = []
    /// The certificate as it is now; nil where the bars settled nothing.
    package var certificate: DayCertificate?
    package var disagreements: [Disagreement] = []
    /// The bars told the whole day, so these are all there are: an earlier one of this day that is
    /// not among them is resolved.
    package var isDayVerified = false

    package init() {}
  }

  /// - Parameters:
  ///   - minutes: the day's stored minute candles, in any order.
  ///   - bars: delivered minute bars; those of other days and after the close are left out.
  ///   - source: whose minutes they are.
  package init(
    symbol: Symbol, day: TradingDay, minutes: [Candle], gaps: [OpenGap],
    certificate: DayCertificate?, dayCandle: Candle?, bars: [Candle],
    hours: TradingHours = .mainlandChina, source: Source = .live
  ) {
    self.hours = hours
    self.source = source
    self.symbol = symbol
    self.day = day
    var stored = [Candle?](repeating: nil, count: hours.minutesPerDay)
    for candle in minutes { stored[hours.minute(of: candle)] = candle }
    self.stored = stored
    self.gaps = gaps
    self.certificate = certificate
    self.dayCandle = dayCandle
    self.bars = BarDay(bars.filter { $0.tradingDay == day }, hours: hours)
  }

  /// What to do. Totals too large to add up count as bars that differ.
  package func outcome() -> Outcome {
    do throws(ExactDecimalError) {
      return try weighed()
    } catch {
      return left(gaps, because: .barsDiffer)
    }
  }

  func weighed() throws(ExactDecimalError) -> Outcome {
    let known = exchangeTotals
    if bars.isEmpty, known == Totals() { return try settled(by: Filling(), totals: Totals()) }
    let totals: Totals?
    if let known {
      totals = try totalsOfBars(beyond: known) ?? known
    } else {
      totals = try totalsOfBars()
    }
    if let totals, bars.hasTurnover(in: bars.wholeDay),
      let filling = try filling(of: bars.wholeDay, target: totals)
    {
      return try settled(by: filling, totals: totals)
    }
    guard certificate != nil, !bars.isEmpty else { return left(gaps, because: .notInBars) }
    return try mended(known)
  }

  func left(_ gaps: [OpenGap], because reason: GapCheck.Reason) -> Outcome {
    var outcome = Outcome()
    outcome.gapChecks = gaps.map { GapCheck(gap: $0.id, reason: reason) }
    return outcome
  }

  var exchangeTotals: Totals? {
    guard let volume = certificate?.exchangeVolume, let turnover = certificate?.exchangeTurnover
    else {
      return nil
    }
    return Totals(volume: volume, turnover: turnover)
  }
}

/// Shares and money together.
struct Totals: Sendable, Equatable {
  var volume = ExactDecimal.zero
  var turnover = ExactDecimal.zero

  mutating func add(
    _ volume: ExactDecimal, turnover: ExactDecimal?
  ) throws(ExactDecimalError) {
    self.volume = try self.volume + volume
    if let turnover { self.turnover = try self.turnover + turnover }
  }

  static func of(_ candles: some Sequence<Candle?>) throws(ExactDecimalError) -> Totals {
    var totals = Totals()
    for candle in candles {
      if let candle { try totals.add(candle.volume, turnover: candle.turnover) }
    }
    return totals
  }

  mutating func add(_ gaps: some Sequence<Gap>) throws(ExactDecimalError) {
    for gap in gaps { try add(gap.volume, turnover: gap.turnover) }
  }
}

// MARK: - The whole day

extension Reconciliation {
  private func settled(
    by filling: Filling, totals: Totals
  ) throws(ExactDecimalError) -> Outcome {
    var outcome = Outcome()
    var minutes = stored
    apply(filling, to: &minutes, outcome: &outcome)
    outcome.closedGaps = gaps.map(\.id)
    if dayCandle == nil, let candle = try wholeDayCandle(of: minutes) {
      outcome.candles.append(candle)
    }
    outcome.revisions += dayRevision(to: totals)
    outcome.certificate = try makeCertificate(minutes, openGaps: [], totals: totals)
    outcome.isDayVerified = true
    return outcome
  }

  /// Takes over minutes whose values or doubts change; equal ones stay untouched.
  func apply(_ filling: Filling, to minutes: inout [Candle?], outcome: inout Outcome) {
    for (minute, candle) in filling.candles {
      guard let old = minutes[minute] else {
        minutes[minute] = candle
        outcome.candles.append(candle)
        continue
      }
      if old.hasSameValues(as: candle), old.flags.isDisjoint(with: CandleFlags.doubts) { continue }
      minutes[minute] = candle
      outcome.revisions.append(Revision(candle: candle, cause: .kline))
    }
  }

  func makeCertificate(
    _ minutes: [Candle?], openGaps: [Gap], totals: Totals?, isCoarse: Bool = false
  ) throws(ExactDecimalError) -> DayCertificate {
    let sum = try Totals.of(minutes)
    var unseen = Totals()
    try unseen.add(openGaps)
    let traded = minutes.count { $0?.volume.isPositive == true }
    let count = minutes.count { $0 != nil }
    let missing = hours.minutesPerDay - count
    return DayCertificate(
      symbol: symbol, tradingDay: day, exchangeVolume: totals?.volume,
      exchangeTurnover: totals?.turnover, minuteVolume: sum.volume, minuteTurnover: sum.turnover,
      gapVolume: unseen.volume, gapTurnover: unseen.turnover,
      afterHoursVolume: certificate?.afterHoursVolume ?? .zero,
      afterHoursTurnover: certificate?.afterHoursTurnover ?? .zero, minutesTraded: Int16(traded),
      minutesUntraded: Int16(count - traded),
      // What was never tradable was never missing.
      minutesMissing: min(certificate?.minutesMissing ?? Int16(missing), Int16(missing)),
      isCoarse: isCoarse)
  }

  /// The exchange's day as its minutes have it.
  private func wholeDayCandle(of minutes: [Candle?]) throws(ExactDecimalError) -> Candle? {
    let traded = minutes.compactMap(\.self).filter(\.volume.isPositive)
    guard let first = traded.first, let last = traded.last else { return nil }
    let totals = try Totals.of(traded)
    return Candle(
      symbol: symbol, timeframe: .day1, tradingDay: day,
      openedAt: hours.moment(on: day, secondOfDay: hours.opens),
      closedAt: hours.moment(on: day, secondOfDay: hours.closes), open: first.open,
      high: traded.map(\.high).max() ?? first.high, low: traded.map(\.low).min() ?? first.low,
      close: last.close, volume: totals.volume, turnover: totals.turnover, flags: [],
      source: source)
  }
}

extension CandleFlags {
  /// What a whole reading settles.
  static let doubts: CandleFlags = [.partial, .extremeAmbiguous, .coarse]
}

extension Candle {
  func hasSameValues(as other: Candle) -> Bool {
    open == other.open && high == other.high && low == other.low && close == other.close
      && volume == other.volume && turnover == other.turnover
  }
}
