import Market

/// Whether a well-formed row can be true by itself: its stamp, its date and its prices, held
/// against nothing that is remembered. What fails is refused whole.
struct Plausibility {
  private let clockSkewSecondsMax: Int64
  private let priceRatioMax: ExactDecimal
  private let calendar: TradingCalendar

  init(rules: CandleRules, calendar: TradingCalendar) {
    clockSkewSecondsMax = rules.clockSkewSecondsMax
    priceRatioMax = ExactDecimal(rules.priceRatioMax)
    self.calendar = calendar
  }

  /// - Parameter known: the day its instrument is in.
  func objection(
    to quote: Quote, on known: TradingDay?, receivedAt: Timestamp
  ) -> Objection? {
    if quote.at > receivedAt.adding(seconds: clockSkewSecondsMax) {
      return .final(.futureStamp, detail: "stamp \(quote.at), received \(receivedAt)")
    }
    if known != quote.tradingDay, calendar.status(of: quote.tradingDay) == .closed {
      return .final(.notATradingDay, detail: "date \(quote.tradingDay), expected a trading day")
    }
    return objectionToPrice(quote)
  }

  private func objectionToPrice(_ quote: Quote) -> Objection? {
    guard quote.last.isPositive, quote.previousClose.isPositive else { return nil }
    guard let above = try? quote.previousClose * priceRatioMax,
      let below = try? quote.last * priceRatioMax, quote.last <= above, quote.previousClose <= below
    else {
      return .final(
        .implausible, detail: "last \(quote.last) against previous close \(quote.previousClose)")
    }
    return nil
  }
}

extension InstrumentDay {
  /// What speaks against the row after what is known of its day; nil if nothing does. The day's
  /// first row is compared with yesterday's close.
  @inline(__always)
  func objection(
    to quote: Quote, seenAt watermark: Int, receivedAt: Timestamp, changedSourceAt: Timestamp?,
    rules: CandleRules
  ) -> Objection? {
    if quote.tradingDay < day {
      return .lagging("date \(quote.tradingDay), expected \(day) or later")
    }
    if quote.tradingDay > day { return nil }
    if isObserved {
      guard var objection = totals.objection(to: quote, rules: rules) else { return nil }
      if let changedSourceAt {
        let left = reconsidered(
          objection, to: quote, receivedAt: receivedAt, changedSourceAt: changedSourceAt,
          rules: rules)
        guard let left, left == objection else { return left }
      }
      if isUnobserved(by: watermark, rules: rules) { objection.weight = .contradiction }
      return objection
    }
    if priorClose.isPositive, quote.previousClose.isPositive, quote.previousClose != priorClose {
      return .contradiction(
        .implausible,
        detail: "previous close \(quote.previousClose), yesterday's close is \(priorClose)")
    }
    return nil
  }

  /// Answers have come for long, and none had what stands here: its stamp may be the false one.
  private func isUnobserved(by watermark: Int, rules: CandleRules) -> Bool {
    let traded =
      rules.hours.tradingSeconds(before: watermark)
      - rules.hours.tradingSeconds(before: coverage.aliveThrough)
    let sinceClose = watermark - max(coverage.aliveThrough, rules.hours.closes)
    return max(traded, sinceClose) > rules.unobservedSecondsMin
  }

  @inline(__always)
  var totals: RunningTotals {
    RunningTotals(
      second: booked.stamp, volume: booked.volume, turnover: booked.turnover, high: booked.high,
      low: booked.low,
      previousClose: booked.previousClose)
  }
}

/// A product of two decimals in 128 bits, for comparing ratios exactly.
struct WideProduct {
  let units: Int128
  let scale: Int

  init(_ left: ExactDecimal, times right: ExactDecimal) {
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
