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
    all(of: instrument, on: moment.day).first {
      $0.takesOrders && moment.secondOfDay < $0.closes
    }.map { max($0.opens, moment.secondOfDay) }
  }

  /// When the last phase ends in which an order can be filled.
  package static func close(of instrument: Instrument, on day: TradingDay) -> Int? {
    all(of: instrument, on: day).last { $0.takesOrders }?.closes
  }

  /// No instrument's last session of the day ends before it.
  package static func firstCloseSecond(on day: TradingDay) -> Int {
    RuleBook.current.mainlandChina(on: day).sessions.last?.closes ?? 0
  }

  /// The phase of that moment; nil between phases.
  package static func current(of instrument: Instrument, at moment: TradingMoment) -> TradingPhase?
  {
    all(of: instrument, on: moment.day).first { $0.contains(moment.secondOfDay) }
  }

  /// The second at which a cancellation takes effect; nil where the order expires first.
  /// - Parameter entered: when the exchange took the order.
  package static func cancellation(
    of instrument: Instrument, entered: Int, at moment: TradingMoment
  ) -> Int? {
    if moment.secondOfDay < entered { return moment.secondOfDay }
    return all(of: instrument, on: moment.day).first {
      $0.takesCancellations && $0.name != .afterHours && moment.secondOfDay < $0.closes
    }.map { max($0.opens, moment.secondOfDay) }
  }
}

extension TradingPhase {
  /// The phases of a day of `instrument`, in order. Between the opening auction and the first
  /// session the house keeps what comes; a closing auction takes no cancellation.
  /// - Parameter day: whose rules; nil: today's.
  package static func all(of instrument: Instrument, on day: TradingDay? = nil) -> [TradingPhase] {
    let rules = RuleBook.current.phases(of: instrument, on: day)
    var phases: [TradingPhase] = []
    if let auction = rules.openingAuction {
      phases += [
        TradingPhase(name: .openingAuction, opens: auction.opens, closes: auction.freezes),
        TradingPhase(
          name: .openingAuction, opens: auction.freezes, closes: auction.matches,
          takesCancellations: false),
      ]
    }
    for (place, session) in rules.sessions.enumerated() {
      if place > 0, rules.takesOrdersAtNoon {
        phases.append(
          TradingPhase(
            name: .lunch, opens: rules.sessions[place - 1].closes, closes: session.opens))
      }
      let isLast = place == rules.sessions.count - 1
      let auction = isLast ? rules.closingAuction : nil
      phases.append(
        TradingPhase(
          name: .continuous, opens: session.opens, closes: auction?.opens ?? session.closes))
      if let auction {
        phases.append(
          TradingPhase(
            name: .closingAuction, opens: auction.opens, closes: auction.closes,
            takesCancellations: false))
      }
    }
    if let fixed = rules.afterHours {
      phases.append(
        TradingPhase(
          name: .afterHours, opens: fixed.opens, closes: fixed.closes, takesOrders: false))
    }
    return phases
  }
}
