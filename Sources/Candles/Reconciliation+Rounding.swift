import Market

/// Days with totals that a source rounded, as far as bars can settle them.
///
/// What was booked of such totals is the least that they may be. A day that ends on one is settled
/// by the first reading that says what it was: whole minute bars, which replace the day's minutes,
/// or else the day bar alone. What that one has more was traded by the time of the last rounded
/// total, so it goes to the last coarse minute, as a revision: nothing passed unseen, and a gap row
/// would have something look for trades that were seen.
///
/// The money of bars is less exact than to the yuan, and the day bar has none: where they do not
/// lie within the rounding, the booked money stays the day's, up to two yuan below the truth.
extension Reconciliation {
  /// How far rounded totals may lie above what is booked of them.
  static let roundingSpan = Totals(
    volume: ExactDecimal(2 * Int64(Rounding.coarsest.volume)),
    turnover: ExactDecimal(2 * Int64(Rounding.coarsest.turnover)))

  /// The book had rounded totals of the day.
  var isRounded: Bool {
    certificate?.isCoarse == true || stored.contains { $0?.flags.contains(.coarse) == true }
  }

  private func isRemainder(
    _ totals: Totals, beyond known: Totals
  ) throws(ExactDecimalError) -> (volume: Bool, turnover: Bool) {
    let span = Self.roundingSpan
    let volumes = known.volume...(try known.volume + span.volume)
    let turnovers = known.turnover...(try known.turnover + span.turnover)
    return (volumes.contains(totals.volume), turnovers.contains(totals.turnover))
  }

  /// The exchange's totals as whole bars give them, where the last ones were rounded.
  func totalsOfBars(beyond known: Totals) throws(ExactDecimalError) -> Totals? {
    guard certificate?.isCoarse == true, bars.isComplete, bars.hasTurnover(in: bars.wholeDay)
    else { return nil }
    var totals = try Totals.of(bars.minutes)
    if let bar = bars.dayBar, try !agrees(bar, with: totals.volume) { return nil }
    let isRemainder = try isRemainder(totals, beyond: known)
    guard isRemainder.volume else { return nil }
    if !isRemainder.turnover { totals.turnover = known.turnover }
    return totals
  }

  /// Bars that do not make up the day, with a day bar that settles its volume.
  func settledByDayBar() throws(ExactDecimalError) -> Outcome? {
    guard let certificate, certificate.isCoarse, let known = exchangeTotals,
      let volume = try volumeOfDayBar(beyond: known),
      let place = stored.lastIndex(where: { $0?.flags.contains(.coarse) == true }),
      var minute = stored[place]
    else { return nil }
    let remainder = try volume - known.volume
    let totals = Totals(volume: volume, turnover: known.turnover)
    var day = self
    var revisions = dayRevision(to: totals)
    if remainder.isPositive {
      minute.volume = try minute.volume + remainder
      day.stored[place] = minute
      revisions.append(Revision(candle: minute, cause: .kline))
    }
    day.dayCandle = revisions.first { $0.candle.timeframe == .day1 }?.candle ?? dayCandle
    day.certificate?.exchangeVolume = volume
    day.certificate?.minuteVolume = try certificate.minuteVolume + remainder
    day.certificate?.isCoarse = false
    var outcome = try day.weighed()
    // Each candle once: what the rest makes of it is the later word.
    let revised = Set(outcome.revisions.map(\.candle.openedAt))
    outcome.revisions.insert(
      contentsOf: revisions.filter {
        $0.candle.timeframe == .day1 || !revised.contains($0.candle.openedAt)
      }, at: 0)
    outcome.certificate = outcome.certificate ?? day.certificate
    return outcome
  }

  /// The volume of the day's bar, with the fixed-price session or without, if only one of the two
  /// can be the day's.
  private func volumeOfDayBar(beyond known: Totals) throws(ExactDecimalError) -> ExactDecimal? {
    guard let bar = bars.dayBar else { return nil }
    var volumes: Set<ExactDecimal> = []
    for session in [ExactDecimal.zero, certificate?.afterHoursVolume ?? .zero] {
      let volume = try bar.volume - session
      if try isRemainder(Totals(volume: volume), beyond: known).volume { volumes.insert(volume) }
    }
    return volumes.count == 1 ? volumes.first : nil
  }

  /// The day's candle, where it has rounded totals.
  func dayRevision(to totals: Totals) -> [Revision] {
    guard var candle = dayCandle, candle.flags.contains(.coarse) else { return [] }
    candle.volume = totals.volume
    candle.turnover = totals.turnover
    candle.flags.remove(.coarse)
    return [Revision(candle: candle, cause: .kline)]
  }

  /// Whether two accounts of a day with rounded totals differ by no more than the rounding at both
  /// ends: that is no disagreement.
  func isWithinRounding(_ ours: Totals, _ theirs: Totals, hasTurnover: Bool) -> Bool {
    guard isRounded else { return false }
    let span = Self.roundingSpan
    func isNear(_ ours: ExactDecimal, _ theirs: ExactDecimal, _ span: ExactDecimal) -> Bool {
      guard let difference = try? ours - theirs, let least = try? ExactDecimal.zero - span else {
        return false
      }
      return (least...span).contains(difference)
    }
    return isNear(ours.volume, theirs.volume, span.volume)
      && (!hasTurnover || isNear(ours.turnover, theirs.turnover, span.turnover))
  }
}
