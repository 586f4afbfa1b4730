import Market

/// The running totals and extremes of one row, which the next row of its day is compared with.
struct RunningTotals: Sendable, Hashable {
  /// The row's own stamp, second of the day.
  var second: Int
  var volume: ExactDecimal
  var turnover: ExactDecimal
  var high: ExactDecimal
  var low: ExactDecimal
  var previousClose: ExactDecimal
}

extension RunningTotals {
  /// The totals of a row; where they are rounded, the least that they may be.
  init(_ quote: Quote) {
    self.init(
      second: Int(quote.secondOfDay), volume: .zero, turnover: .zero, high: quote.high,
      low: quote.low, previousClose: quote.previousClose)
    let row = quote.rounding == .exact ? quote : quote.bounded(after: self)
    (volume, turnover) = (row.volume, row.turnover)
  }

  func isContinued(by quote: Quote, rules: CandleRules) -> Bool {
    objection(to: quote, rules: rules) == nil
  }

  /// Why the row cannot follow; nil if it can. In 73,292 recorded rows of the exchanges no newer
  /// row had less volume, less turnover, a lower high or a higher low; 116 had the stamp of the row
  /// before and more volume, which is a continuation.
  @inline(__always)
  func objection(to quote: Quote, rules: CandleRules) -> Objection? {
    if quote.rounding != .exact { return objection(toRounded: quote, rules: rules) }
    if Int(quote.secondOfDay) < second {
      let known = rules.hours.moment(on: quote.tradingDay, secondOfDay: second)
      return .lagging("stamp \(quote.at), expected \(known) or later")
    }
    if quote.volume < volume {
      return behind(quote, detail: "volume \(quote.volume) after \(volume)", rules: rules)
    }
    if quote.turnover < turnover {
      return behind(
        quote, detail: "turnover \(quote.turnover) after \(turnover)", rules: rules)
    }
    if !previousClose.isZero, !quote.previousClose.isSame(as: previousClose) {
      return .contradiction(
        .implausible, detail: "previous close \(quote.previousClose), expected \(previousClose)")
    }
    guard volume.isPositive else { return nil }
    if quote.high < high, !quote.high.isSame(as: high) {
      return behind(quote, detail: "high \(quote.high) after \(high)", rules: rules)
    }
    if quote.low > low, low.isPositive, !quote.low.isSame(as: low) {
      return behind(quote, detail: "low \(quote.low) after \(low)", rules: rules)
    }
    guard quote.volume != volume, turnover.isPositive else { return nil }
    // The money per share of a day moves slowly.
    let new = WideProduct(quote.turnover, times: volume)
    let old = WideProduct(turnover, times: quote.volume)
    if new.isWithin(rules.averageRatioMax, times: old) { return nil }
    return .contradiction(
      .implausible,
      detail:
        "turnover \(quote.turnover) for volume \(quote.volume) after \(turnover) for \(volume)")
  }

  /// Kept out of line: most rows are exact.
  @inline(never)
  private func objection(toRounded quote: Quote, rules: CandleRules) -> Objection? {
    var row = quote.bounded(after: self)
    row.rounding = .exact
    return objection(to: row, rules: rules)
  }

  /// Of two rows of one second in session the lesser is the older one. After the close the stamp
  /// may stand still while the exchange corrects.
  private func behind(_ quote: Quote, detail: String, rules: CandleRules) -> Objection {
    let isSameSecond = Int(quote.secondOfDay) == second && second < rules.hours.closes
    return isSameSecond ? .lagging(detail) : .contradiction(.backwardStamp, detail: detail)
  }
}

/// Why a row does not count, or not yet.
struct Objection: Sendable, Hashable {
  enum Weight: Sendable, Hashable {
    /// The row is bad by itself.
    case final
    /// The row is older than what is known: no evidence of anything.
    case lagging
    /// The row contradicts what is remembered: decided by how many rows agree with it.
    case contradiction
  }

  var weight: Weight
  var reason: RejectionReason
  var detail: String

  static func final(_ reason: RejectionReason, detail: String) -> Self {
    Self(weight: .final, reason: reason, detail: detail)
  }

  static func lagging(_ detail: String) -> Self {
    Self(weight: .lagging, reason: .lagging, detail: detail)
  }

  static func contradiction(_ reason: RejectionReason, detail: String) -> Self {
    Self(weight: .contradiction, reason: reason, detail: detail)
  }
}
