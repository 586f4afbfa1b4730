import Market

/// What a user waits for, and how each condition differs from the others: evaluation, storage and
/// API follow from that. Raw values are those of the API and of the database.
package enum AlertCondition: String, Sendable, CaseIterable, Codable {
  case above, below
  case changePercentAbove, changePercentBelow
  case volumeAbove
  case limitUpTouched, limitUpOpened
  case gap
  case sourceStale

  package enum Threshold: Sendable {
    /// A price, or a number of shares: above 0.
    case amount
    case percent
  }

  package var threshold: Threshold? {
    switch self {
    case .above, .below, .volumeAbove: .amount
    case .changePercentAbove, .changePercentBelow: .percent
    case .limitUpTouched, .limitUpOpened, .gap, .sourceStale: nil
    }
  }

  var rule: AlertRule {
    switch self {
    case .above: .price(isUpward: true, AlertTarget.threshold)
    case .below: .price(isUpward: false, AlertTarget.threshold)
    case .changePercentAbove: .price(isUpward: true, AlertTarget.percentage)
    case .changePercentBelow: .price(isUpward: false, AlertTarget.percentage)
    case .volumeAbove: .volume
    case .limitUpTouched: .price(isUpward: true, AlertTarget.limitUp)
    case .limitUpOpened: .opening
    case .gap, .sourceStale: .event
    }
  }
}

enum AlertRule: Sendable {
  /// nil where the reading lacks what it needs.
  typealias Target = @Sendable (Alert, DayReading) -> AlertTarget?

  /// A price gets to its target or beyond it.
  case price(isUpward: Bool, Target)
  case volume
  /// The price was at limit-up, and is below it.
  case opening
  /// No reading shows it.
  case event
}

/// Where a price must get to, both times 100 × the previous close where the threshold is a
/// percentage: nothing is divided, so nothing is rounded.
struct AlertTarget: Sendable {
  var price: ExactDecimal
  /// nil: the price itself is compared.
  var previousClose: ExactDecimal?

  static let threshold: AlertRule.Target = { alert, _ in
    alert.threshold.map { AlertTarget(price: $0) }
  }

  static let percentage: AlertRule.Target = { alert, day in
    guard let threshold = alert.threshold, let close = day.previousClose, close.isPositive,
      let product = try? threshold * close
    else { return nil }
    return AlertTarget(price: product, previousClose: close)
  }

  static let limitUp: AlertRule.Target = { _, day in day.limitUp.map { AlertTarget(price: $0) } }
}
