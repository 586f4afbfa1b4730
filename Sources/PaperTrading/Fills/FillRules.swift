import Market

/// The certain-fill model as functions of evidence: what every flow of orders consistent with the
/// snapshots gives to an order that moved no other.
///
/// Fills keep the version that made them. Half of the volume that passed a queue is no bound: a
/// buyer who finds the offer gone that the order has taken may bid above it, and take the next one
/// for ever (`FillsTrial`).
package enum FillRules {
  /// Quantity and price of a fill; nil where the evidence proves none, or is of another version.
  package static func derive(
    _ evidence: FillEvidence
  ) -> (quantity: ExactDecimal, price: ExactDecimal)? {
    guard evidence.version == FillModel.version else { return nil }
    let quantity = ExactDecimal(quantity(from: evidence))
    guard quantity.isPositive else { return nil }
    let price = evidence.numbers[.price] ?? evidence[.limit]
    return (quantity, price)
  }

  /// An order of at most 1/100 of an auction is assumed to pass in it.
  static let smallOrderDivisor: Int64 = 100
  /// Volumes of a coarse source are rounded to lots: so many shares may be missing from a queue, or
  /// not be there to be met.
  package static let levelSlack: Int64 = 99

  private static func quantity(from evidence: FillEvidence) -> Int64 {
    switch evidence.basis {
    case .limitQueue:
      guard let interval = Interval(evidence) else { return 0 }
      let queue = Queue(evidence)
      return due(of: queue, counted: count(in: interval, of: queue, side: evidence.side))
    case .passive, .auction: return offered(to: evidence)
    case .book:
      let left = shares(evidence, .own) - shares(evidence, .filled)
      let offered = shares(evidence, .offered) - shares(evidence, .volumeSlack)
      return min(left, max(offered - shares(evidence, .taken), 0))
    case .smallOrder:
      let total = shares(evidence, .offered) / smallOrderDivisor - shares(evidence, .ownSharesAhead)
      return max(min(shares(evidence, .own), total) - shares(evidence, .filled), 0)
    }
  }

  /// Of a resting order: offers that an exact book shows at its limit or better.
  ///
  /// Give the exchange one share more to buy, and at any moment its books differ from the public
  /// ones by one share: a purchase more, or an offer less. While the order is open no offer rests
  /// at its limit, so that each of those that the public book shows there is one that it got. It
  /// holds at each moment alone: the largest sum of them counts, never what they come to one after
  /// the other.
  private static func offered(to evidence: FillEvidence) -> Int64 {
    let total =
      shares(evidence, .offered) - shares(evidence, .volumeSlack)
      - shares(evidence, .ownSharesAhead)
    let certain = min(shares(evidence, .own), total) - shares(evidence, .filled)
    // What its account has taken elsewhere is not there twice.
    return max(min(certain, total - shares(evidence, .taken)), 0)
  }

  private static func shares(_ evidence: FillEvidence, _ name: FillEvidence.Name) -> Int64 {
    evidence[name].wholeShares
  }

  /// Shares of a queue at the price limit that are certain and not filled, once so many have come
  /// to its place.
  static func due(of queue: Queue, counted: Int64) -> Int64 {
    max(min(queue.own, counted - queue.ownSharesAhead) - queue.filled, 0)
  }

  /// Volume that has certainly come to a queue's place since it entered, an interval included. At
  /// the limit price no order can stand before it at a better one, so that each share beyond the
  /// front is its own.
  static func count(in interval: Interval, of queue: Queue, side: Side) -> Int64 {
    let reaching = interval.certain(at: queue.limit, side: side)
    return queue.counted + (queue.front.map { max(reaching - $0, 0) } ?? 0)
  }
}

extension Queue {
  /// The queue as it was before the interval of the evidence.
  fileprivate init(_ evidence: FillEvidence) {
    self.init(
      limit: evidence[.limit], isAtLimit: true,
      own: evidence[.own].wholeShares, filled: evidence[.filled].wholeShares,
      front: evidence.numbers[.front]?.wholeShares, counted: evidence[.counted].wholeShares,
      ownSharesAhead: evidence[.ownSharesAhead].wholeShares)
  }
}
