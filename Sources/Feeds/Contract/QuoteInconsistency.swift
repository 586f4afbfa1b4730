/// Numbers of one line that cannot be true together.
///
/// A digit lost or changed on the way still parses. What catches it is that an exchange's line says
/// several things twice: last and open lie within low and high, the best prices head the book, and
/// the day's money divided by the day's shares is a price of the day. Every rule here holds on all
/// payloads collected; a rule that a real line breaks would cost more than the damage it finds.

import Market

enum QuoteInconsistency: UInt8 {
  case highBelowLow
  case lowMissing
  case lastOutside
  case openOutside
  case bidNotInBook
  case askNotInBook
  case volumeWithoutPrice
  case turnoverTooSmall
  case turnoverTooLarge

  /// The first rule that `quote` breaks, if any. It changes nothing: `inout` because a
  /// quote lent by value is copied first, half a kilobyte for every line.
  static func first(in quote: inout Quote, of security: QuotedSecurity) -> QuoteInconsistency? {
    let extremes = Extremes(high: quote.high, low: quote.low)
    if let found = extremes.fault(last: quote.last, open: quote.open, of: security) {
      return found
    }
    if isTorn(best: quote.bid, from: quote.bids[0]) { return .bidNotInBook }
    if isTorn(best: quote.ask, from: quote.asks[0]) { return .askNotInBook }
    let isPriced =
      security.contains(.tradesAtPrices)
      || security.contains(.convertible) && !quote.turnover.isZero
    return isPriced
      ? extremes.fault(
        volume: quote.volume, turnover: quote.turnover, rounding: quote.rounding.volume) : nil
  }

  /// Fields 6 and 7 repeat the prices that head the book, in an auction too. A first level
  /// without price and volume is a book that was not sent.
  @inline(__always)
  private static func isTorn(best: ExactDecimal, from level: BookLevel) -> Bool {
    if best == level.price { return false }
    return !level.price.isZero || !level.volume.isZero
  }
}

/// The day's high and low, between which everything else of the day lies.
private struct Extremes {
  let high: ExactDecimal
  let low: ExactDecimal

  /// Before the first trade of a day all four prices may be zero, or `last` the previous close. The
  /// open may come later than the other prices: an index's by minutes, a stock's by one row, the
  /// first after the auction (33 of 34 recorded instrument-days of Shanghai), which has one price.
  @inline(__always)
  func fault(
    last: ExactDecimal, open: ExactDecimal, of security: QuotedSecurity
  ) -> QuoteInconsistency? {
    if high < low { return .highBelowLow }
    if high.isZero { return nil }
    if low.isZero { return .lowMissing }
    if last < low || high < last { return .lastOutside }
    if open.isZero, high == low || security.contains(.index) { return nil }
    return open < low || high < open ? .openOutside : nil
  }

  /// Whether the money lies within low × volume and high × volume, give or take the one unit of
  /// currency to which Shanghai rounds it, and what a source rounds of the volume.
  @inline(__always)
  func fault(
    volume: ExactDecimal, turnover: ExactDecimal, rounding: Int32
  ) -> QuoteInconsistency? {
    if volume.isZero, turnover.isZero { return nil }
    if high.isZero { return .volumeWithoutPrice }
    let scale = turnover.scale
    guard low.scale == scale, high.scale == scale, volume.scale == 0, scale <= 4 else {
      return faultOfAnyScale(volume: volume, turnover: turnover, rounding: rounding)
    }
    let one = Extremes.unit(scale: scale)
    let money = Int128(turnover.units)
    let (shares, slack) = (Int128(volume.units), Int128(rounding))
    if money < Int128(low.units) * (shares - slack) - one { return .turnoverTooSmall }
    return money > Int128(high.units) * (shares + slack) + one ? .turnoverTooLarge : nil
  }

  @inline(__always)
  private static func unit(scale: UInt8) -> Int128 {
    switch scale {
    case 0: 1
    case 1: 10
    case 2: 100
    case 3: 1_000
    default: 10_000
    }
  }

  /// The same test with the general decimals; a product too large for them is no amount of money.
  @inline(never)
  private func faultOfAnyScale(
    volume: ExactDecimal, turnover: ExactDecimal, rounding: Int32
  ) -> QuoteInconsistency? {
    let (one, slack) = (ExactDecimal(1), ExactDecimal(Int64(rounding)))
    guard let least = try? low * (volume - slack) - one,
      let most = try? high * (volume + slack) + one
    else {
      return .turnoverTooSmall
    }
    if turnover < least { return .turnoverTooSmall }
    return turnover > most ? .turnoverTooLarge : nil
  }
}

extension QuoteInconsistency {
  /// Whether the money is explained once the volume is taken 10 to 10,000 times as large, or as
  /// small: a source that changed its unit, and no damaged digit. Where the price is not near the
  /// previous close either, it is the prices that are wrong.
  func isOfOtherUnit(_ quote: Quote) -> Bool {
    let (last, close) = (quote.last, quote.previousClose)
    if close.isPositive {
      guard let most = try? close * Self.priceStep, let raised = try? last * Self.priceStep,
        last <= most, close <= raised
      else { return false }
    }
    let isTooSmall: Bool
    switch self {
    case .turnoverTooSmall: isTooSmall = true
    case .turnoverTooLarge: isTooSmall = false
    default: return false
    }
    return [10, 100, 1_000, 10_000].contains { (factor: Int64) in
      let factor = ExactDecimal(factor)
      guard let money = try? isTooSmall ? quote.turnover * factor : quote.turnover,
        let volume = try? isTooSmall ? quote.volume : quote.volume * factor,
        let least = try? quote.low * volume, let most = try? quote.high * volume
      else { return false }
      return least <= money && money <= most
    }
  }

  /// No price of a day is so many times another's, and no unit is a smaller step.
  private static let priceStep = ExactDecimal(5)

  /// The broken rule with its numbers, for people.
  func sentence(about quote: Quote) -> String {
    let (high, low) = (quote.high, quote.low)
    return switch self {
    case .highBelowLow: "high \(high) is below low \(low)"
    case .lowMissing: "low is 0 though high is \(high)"
    case .lastOutside: "last \(quote.last) is outside \(low) to \(high)"
    case .openOutside: "open \(quote.open) is outside \(low) to \(high)"
    case .bidNotInBook: "bid \(quote.bid) is not the book's first bid \(quote.bids[0].price)"
    case .askNotInBook: "ask \(quote.ask) is not the book's first ask \(quote.asks[0].price)"
    case .volumeWithoutPrice:
      "volume \(quote.volume) and turnover \(quote.turnover) though high is 0"
    case .turnoverTooSmall:
      "turnover \(quote.turnover) is less than volume \(quote.volume) at the low \(low)"
    case .turnoverTooLarge:
      "turnover \(quote.turnover) is more than volume \(quote.volume) at the high \(high)"
    }
  }
}
