import Market

/// Totals that a source rounds. The truth lies within the rounding, so what is booked of them is a
/// lower bound: a source that serves them exactly never takes volume back, and what it adds is
/// booked like any other movement. Minutes that have a movement to or from such totals are
/// `coarse`, also one from the day's beginning.
///
/// A gap carries no mark. What it holds is off by what the totals at its ends are off, no day's sum
/// is, and the bars that heal it are exact.
extension InstrumentDay {
  /// The row as it is booked after what is known. What has no more money in it is no trade,
  /// whatever its price: before the open a source may show the price at which the auction would
  /// match. The price of an index moves by itself.
  func bounded(_ quote: Quote, of kind: InstrumentKind?) -> Quote {
    guard quote.rounding != .exact else { return quote }
    var row = quote.bounded(after: totals)
    if row.last.isSame(as: booked.last) { row.last = booked.last }
    if let session = quote.afterHours {
      let known = booked.afterHours
      row.afterHours = AfterHours(
        volume: session.volume.bounded(after: known.volume, within: quote.rounding.volume),
        turnover: session.turnover.bounded(after: known.turnover, within: quote.rounding.turnover))
    }
    if kind != .index, row.volume == booked.volume, row.turnover == booked.turnover {
      row.last = booked.last
      row.high = booked.high
      row.low = booked.low
      row.open = booked.open
    }
    return row
  }

  /// The row as it is booked where stamps say when rows were written: one that moves nothing is as
  /// old as the row that is known.
  func withKnownStamp(_ quote: Quote) -> Quote {
    guard isObserved, !isMoved(by: quote) else { return quote }
    var row = quote
    row.secondOfDay = Int32(booked.stamp)
    return row
  }

  /// Where a movement stands that is stamped into a minute before the current one. A print is never
  /// older than the print before it, and their stamps may say so after a change of source: one may
  /// stamp its rows when it refreshes them.
  func place(ofStamp stamp: Int, in hours: TradingHours) -> Int {
    let known = [current, previous, lastMoved].lazy.compactMap(\.self).first(where: \.moved)?.minute
    guard let least = known, least < hours.minutesPerDay, hours.minute(of: stamp) < least else {
      return stamp
    }
    return hours.opening(ofMinute: least) + 1
  }
}

extension Quote {
  /// The row with totals that are no less than the known ones, if they may be as much, and else as
  /// much as they may be. Where nothing traded nothing was rounded.
  func bounded(after known: RunningTotals) -> Quote {
    var row = self
    if volume.isZero, turnover.isZero {
      row.rounding = .exact
      return row
    }
    row.volume = volume.bounded(after: known.volume, within: rounding.volume)
    row.turnover =
      row.volume.isZero
      ? .zero : turnover.bounded(after: known.turnover, within: rounding.turnover)
    // A known price with fewer decimals is the known price: an index may have four, or two.
    if high.isSame(as: known.high) { row.high = max(known.high, last) }
    if low.isSame(as: known.low) { row.low = min(known.low, last) }
    if previousClose.isSame(as: known.previousClose) { row.previousClose = known.previousClose }
    return row
  }
}

extension ExactDecimal {
  /// Equal, or one of the two is the other with fewer decimals.
  func isSame(as other: ExactDecimal) -> Bool {
    self == other
      || (scale > other.scale
        ? rounded(places: other.scale) == other : other.rounded(places: scale) == self)
  }
}

extension ExactDecimal {
  /// Totals beyond 64 bits are compared as they are.
  fileprivate func bounded(after known: ExactDecimal, within rounding: Int32) -> ExactDecimal {
    let spread = ExactDecimal(Int64(rounding))
    guard let least = try? self - spread, let most = try? self + spread else { return self }
    return min(max(known, least, .zero), most)
  }
}
