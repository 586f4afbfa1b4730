import Market

/// Days with totals that a source rounded, as far as bars can settle them.
///
/// What was booked of such totals is the least that they may be. A day that ends on one is settled
/// by whole minute bars, which say what it was and replace the day's minutes.
///
/// The money of bars is less exact than to the yuan: where it does not lie within the rounding, the
/// booked money stays the day's, up to two yuan below the truth.
extension Reconciliation {
  /// How far rounded totals may lie above what is booked of them.
  static let roundingSpan = Totals(
    volume: ExactDecimal(2 * Int64(Rounding.coarsest.volume)),
    turnover: ExactDecimal(2 * Int64(Rounding.coarsest.turnover)))

  /// The book had rounded totals of the day.
  var isRounded: Bool {
    certificate?.isCoarse == true || stored.contains { $0?.flags.contains(.coarse) == true }
  }

  /// The exchange's totals as whole bars give them, where the last ones were rounded.
  func totalsOfBars(beyond known: Totals) throws(ExactDecimalError) -> Totals? {
    guard certificate?.isCoarse == true, bars.isComplete, bars.hasTurnover(in: bars.wholeDay)
    else { return nil }
    var totals = try Totals.of(bars.minutes)
    let span = Self.roundingSpan
    let volumes = known.volume...(try known.volume + span.volume)
    let turnovers = known.turnover...(try known.turnover + span.turnover)
    guard volumes.contains(totals.volume) else { return nil }
    if !turnovers.contains(totals.turnover) { totals.turnover = known.turnover }
    return totals
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
