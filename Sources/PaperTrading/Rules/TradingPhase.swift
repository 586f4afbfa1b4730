import Market

/// What the exchange does at a time of the day. Between phases it takes nothing: the house keeps an
/// order until the next one begins.
package struct TradingPhase: Sendable, Hashable {
  package enum Name: String, Sendable {
    case openingAuction = "opening auction"
    case continuous = "continuous trading"
    case lunch = "lunch break"
    case closingAuction = "closing auction"
    /// Known, so that an order can be refused by name: no quote shows its queue, so that nothing
    /// in it is certain.
    case afterHours = "fixed-price session"
  }

  package let name: Name
  let opens: Int
  let closes: Int
  var takesOrders = true
  package var takesCancellations = true

  /// The phases of a day of `instrument`, in order.
  package static func all(of instrument: Instrument) -> [TradingPhase] {
    [opening, morning, lunch, afternoon, close, afterHours].flatMap { rows in
      rows.value(for: instrument) ?? []
    }
  }

  /// Whether orders meet in it.
  var isMatching: Bool { name != .lunch && name != .afterHours }

  /// Whether they meet at its end alone.
  var isAuction: Bool { isMatching && name != .continuous }

  package func contains(_ second: Int) -> Bool { opens <= second && second < closes }

  /// Whether it has matched, by `second`, orders that came after `entered`. At noon Shenzhen takes
  /// orders and matches none, and no exchange matches between the opening auction and 09:30.
  func hasMatched(by second: Int, since entered: Int) -> Bool {
    switch name {
    case .continuous: opens < second && entered < closes
    case .openingAuction, .closingAuction: hasEnded(by: second, since: entered)
    case .lunch, .afterHours: false
    }
  }

  /// Whether it ends behind `first`, and by `second`.
  func hasEnded(by second: Int, since first: Int) -> Bool { first < closes && closes <= second }

  /// The second at which the exchange takes an order that is placed at `moment`: then or later on
  /// that day; nil when its last phase has ended.
  package static func entry(of instrument: Instrument, at moment: TradingMoment) -> Int? {
    all(of: instrument).first {
      $0.takesOrders && moment.secondOfDay < $0.closes
    }.map { max($0.opens, moment.secondOfDay) }
  }

  /// When the last phase ends in which an order can be filled.
  package static func close(of instrument: Instrument) -> Int? {
    all(of: instrument).last { $0.takesOrders }?.closes
  }

  /// No day of any instrument closes before it.
  package static let firstCloseSecond: Int =
    (afternoon + close + afterHours)
    .compactMap { $0.value.last { $0.takesOrders }?.closes }.min() ?? 0

  /// The phase of that moment; nil between phases.
  package static func current(of instrument: Instrument, at moment: TradingMoment) -> TradingPhase?
  {
    all(of: instrument).first { $0.contains(moment.secondOfDay) }
  }

  /// The second at which a cancellation takes effect; nil where the order expires first.
  /// - Parameter entered: when the exchange took the order.
  package static func cancellation(
    of instrument: Instrument, entered: Int, at moment: TradingMoment
  ) -> Int? {
    if moment.secondOfDay < entered { return moment.secondOfDay }
    return all(of: instrument).first {
      $0.takesCancellations && $0.name != .afterHours && moment.secondOfDay < $0.closes
    }.map { max($0.opens, moment.secondOfDay) }
  }
}

extension TradingPhase {
  private static func time(_ hour: Int, _ minute: Int) -> Int { hour * 3600 + minute * 60 }

  /// [RULE] Orders from 09:15, no cancellation from 09:20, the price at 09:25. Between 09:25 and
  /// 09:30 the house keeps what comes.
  private static let opening: [RuleRow<[TradingPhase]>] = [
    RuleRow(value: [
      TradingPhase(name: .openingAuction, opens: time(9, 15), closes: time(9, 20)),
      TradingPhase(
        name: .openingAuction, opens: time(9, 20), closes: time(9, 25), takesCancellations: false),
    ])
  ]

  private static let morning: [RuleRow<[TradingPhase]>] = [
    RuleRow(value: [TradingPhase(name: .continuous, opens: time(9, 30), closes: time(11, 30))])
  ]

  /// [RULE] Shenzhen takes orders and cancellations at noon, the others do not.
  private static let lunch: [RuleRow<[TradingPhase]>] = [
    RuleRow(
      exchange: .shenzhen,
      value: [TradingPhase(name: .lunch, opens: time(11, 30), closes: time(13, 0))])
  ]

  private static let afternoon: [RuleRow<[TradingPhase]>] = [
    RuleRow(value: [TradingPhase(name: .continuous, opens: time(13, 0), closes: time(14, 57))])
  ]

  /// [RULE] No cancellation from 14:57; one price at 15:00. [PAGE] At Beijing, too, as a course of
  /// 2026-08 quotes its rules of 2026-07-06.
  private static let auctionAtClose = [
    TradingPhase(
      name: .closingAuction, opens: time(14, 57), closes: time(15, 0), takesCancellations: false)
  ]

  private static let close: [RuleRow<[TradingPhase]>] = [
    // [GK] Shanghai's convertible bonds have none.
    RuleRow(
      exchange: .shanghai, kind: .convertibleBond,
      value: [TradingPhase(name: .continuous, opens: time(14, 57), closes: time(15, 0))]),
    RuleRow(value: auctionAtClose),
  ]

  private static let fixedPrice = [
    TradingPhase(name: .afterHours, opens: time(15, 5), closes: time(15, 30), takesOrders: false)
  ]

  private static let afterHours: [RuleRow<[TradingPhase]>] = [
    // [RULE] Beijing's §3.7 is deferred.
    RuleRow(exchange: .beijing, value: []),
    RuleRow(kind: .stock, value: fixedPrice),
    RuleRow(kind: .fund, value: fixedPrice),
  ]
}
