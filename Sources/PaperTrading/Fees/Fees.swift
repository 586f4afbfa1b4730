import Market

/// What an account pays for its fills, in the instrument's currency, each to the cent.
package struct Fees: Sendable, Hashable {
  package var commission: ExactDecimal
  package var stampDuty: ExactDecimal
  package var transferFee: ExactDecimal

  package static let none = Fees(commission: .zero, stampDuty: .zero, transferFee: .zero)

  package init(
    commission: ExactDecimal, stampDuty: ExactDecimal, transferFee: ExactDecimal
  ) {
    self.commission = commission
    self.stampDuty = stampDuty
    self.transferFee = transferFee
  }

  /// - Throws: `overflow`.
  package func total() throws(ExactDecimalError) -> ExactDecimal {
    try commission + stampDuty + transferFee
  }

  /// - Throws: `overflow`.
  package static func - (left: Fees, right: Fees) throws(ExactDecimalError) -> Fees {
    Fees(
      commission: try left.commission - right.commission,
      stampDuty: try left.stampDuty - right.stampDuty,
      transferFee: try left.transferFee - right.transferFee)
  }
}

/// What decides the rates: an order's side, its instrument and the day it is traded on.
package struct FeeTerms: Sendable, Hashable {
  package let instrument: Instrument
  package let side: Side
  package let day: TradingDay

  package init(instrument: Instrument, side: Side, day: TradingDay) {
    self.instrument = instrument
    self.side = side
    self.day = day
  }
}

/// The fees of an order are a function of the money it has moved on its day, so that they do not
/// depend on how many fills it took; each fill books the difference. The minimum commission is thus
/// paid once an order and day. An order that lives for days is a new one to the exchange each day.
/// Shares alone pay what is not the broker's: funds and bonds do not. The exchanges' handling fee
/// (0.00341 % in Shanghai and Shenzhen, 0.0125 % in Beijing) is part of the commission and not
/// charged beside it.
package struct FeeSchedule: Sendable, Hashable {
  /// The broker's, in one of these: 0.00025 is 0.025 %.
  package let commissionRate: ExactDecimal
  /// An order, in the currency; not charged where nothing was filled.
  package let commissionMin: ExactDecimal

  /// 0.025 %, at least 5.00.
  package static let standard = FeeSchedule(
    commissionRate: ExactDecimal(units: 25, scale: 5),
    commissionMin: ExactDecimal(units: 500, scale: 2))

  package init(commissionRate: ExactDecimal, commissionMin: ExactDecimal) {
    self.commissionRate = commissionRate
    self.commissionMin = commissionMin
  }

  /// All fees of an order that has moved `amount` on its day.
  /// - Throws: `overflow`.
  package func cumulative(
    of amount: ExactDecimal, terms: FeeTerms
  ) throws(ExactDecimalError) -> Fees {
    guard amount.isPositive else { return .none }
    func part(_ rate: ExactDecimal) throws(ExactDecimalError) -> ExactDecimal {
      try (amount * rate).rounded(places: 2)
    }
    var fees = Fees.none
    fees.commission = max(try part(commissionRate), commissionMin)
    let rules = RuleBook.current
    fees.transferFee = try part(rules.transferFee(of: terms.instrument, on: terms.day))
    if terms.side == .sell {
      fees.stampDuty = try part(rules.stampDuty(of: terms.instrument, on: terms.day))
    }
    return fees
  }
}
