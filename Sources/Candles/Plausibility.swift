import Market

/// Whether a well-formed snapshot can follow what is already known of its instrument. A decoder
/// checks a row against itself; this checks it against time. What fails is refused whole: one
/// absurd volume accepted would make every honest row after it look like a step backwards.
struct Plausibility {
  let rules: CandleRules
  let calendar: TradingCalendar

  struct Objection: Sendable, Hashable {
    var reason: RejectionReason
    var detail: String
  }

  /// What speaks against the row by itself; nil if nothing does.
  /// - Parameter known: the day its instrument is in.
  func objection(
    to quote: Quote, on known: TradingDay?, receivedAt: Timestamp
  ) -> Objection? {
    if quote.at > receivedAt.adding(seconds: rules.clockSkewSecondsMax) {
      return Objection(
        reason: .futureStamp, detail: "stamp \(quote.at), received \(receivedAt)")
    }
    if known != quote.tradingDay, calendar.status(of: quote.tradingDay) == .closed {
      return Objection(
        reason: .notATradingDay, detail: "date \(quote.tradingDay), expected a trading day")
    }
    return objectionToPrice(quote)
  }

  private func objectionToPrice(_ quote: Quote) -> Objection? {
    guard quote.last.isPositive, quote.previousClose.isPositive else { return nil }
    let bound = ExactDecimal(rules.priceRatioMax)
    guard let above = try? quote.previousClose * bound, let below = try? quote.last * bound,
      quote.last <= above, quote.previousClose <= below
    else {
      return Objection(
        reason: .implausible,
        detail: "last \(quote.last) against previous close \(quote.previousClose)")
    }
    return nil
  }
}

extension InstrumentDay {
  /// What speaks against the row after what is known; nil if nothing does.
  @inline(__always)
  func objection(to quote: Quote, rules: CandleRules) -> Plausibility.Objection? {
    guard isObserved else { return nil }
    if quote.tradingDay != day {
      if quote.tradingDay > day { return nil }
      return .backward("date \(quote.tradingDay), expected \(day) or later")
    }
    if Int(quote.secondOfDay) < stamp {
      return .backward("stamp \(quote.at) after \(moment(stamp))")
    }
    if quote.volume < volume { return .backward("volume \(quote.volume) after \(volume)") }
    if quote.turnover < turnover {
      return .backward("turnover \(quote.turnover) after \(turnover)")
    }
    // What an exchange does not change once the day trades, and the money per share, which moves
    // slowly.
    if volume.isPositive, !previousClose.isZero, quote.previousClose != previousClose {
      return .implausible("previous close \(quote.previousClose), expected \(previousClose)")
    }
    guard quote.volume != volume, volume.isPositive, turnover.isPositive else { return nil }
    let new = WideProduct(quote.turnover, volume)
    let old = WideProduct(turnover, quote.volume)
    if new.isWithin(rules.averageRatioMax, times: old) { return nil }
    return .implausible(
      "turnover \(quote.turnover) for volume \(quote.volume) after \(turnover) for \(volume)")
  }
}

extension Plausibility.Objection {
  fileprivate static func backward(_ detail: String) -> Self {
    Self(reason: .backwardStamp, detail: detail)
  }

  fileprivate static func implausible(_ detail: String) -> Self {
    Self(reason: .implausible, detail: detail)
  }
}

/// A product of two decimals in 128 bits, for comparing ratios exactly.
struct WideProduct {
  let units: Int128
  let scale: Int

  init(_ left: ExactDecimal, _ right: ExactDecimal) {
    units = Int128(left.units) * Int128(right.units)
    scale = Int(left.scale) + Int(right.scale)
  }

  /// Neither is more than `factor` times the other: ratios compared crosswise, without dividing.
  func isWithin(_ factor: Int64, times other: WideProduct) -> Bool {
    let factor = Int128(factor)
    return isAtMost(factor, times: other) && other.isAtMost(factor, times: self)
  }

  /// A comparison that does not fit 128 bits counts as broken: such numbers are no market's.
  func isAtMost(_ factor: Int128, times other: WideProduct) -> Bool {
    var left = units
    let (grown, overflow) = other.units.multipliedReportingOverflow(by: factor)
    if overflow { return false }
    var right = grown
    for _ in 0..<abs(scale - other.scale) {
      let (next, overflow) =
        scale < other.scale
        ? left.multipliedReportingOverflow(by: 10) : right.multipliedReportingOverflow(by: 10)
      if overflow { return false }
      if scale < other.scale { left = next } else { right = next }
    }
    return left <= right
  }
}
