import Market

/// The certain-fill model as functions of evidence: what every flow of orders consistent with the
/// snapshots gives to an order that moved no other.
package enum FillRules {
  /// Quantity and price of a fill; nil where the evidence proves none, or is of another version.
  package static func derive(
    _ evidence: FillEvidence
  ) -> (quantity: ExactDecimal, price: ExactDecimal)? {
    guard evidence.version == FillModel.version else { return nil }
    let quantity = quantity(from: evidence)
    guard quantity.isPositive else { return nil }
    let price = evidence.numbers[.price] ?? evidence[.limit]
    return (quantity, price)
  }

  /// The small order that is assumed to have passed in an auction or a bar: one in so many shares.
  static let shareOfVolume: Int64 = 100
  /// Volumes of a coarse source are rounded to lots: so many shares may be missing from a queue, or
  /// not be there to be met.
  package static let levelSlack: Int64 = 99

  private static func quantity(from evidence: FillEvidence) -> ExactDecimal {
    let left = (try? evidence[.own] - evidence[.filled]) ?? .zero
    switch evidence.basis {
    case .passive, .limitQueue:
      guard let interval = Interval(evidence) else { return .zero }
      let queue = Queue(evidence)
      return ExactDecimal(
        due(of: queue, counted: count(in: interval, of: queue, side: evidence.side)))
    case .book:
      let offered = shares(evidence, .offered) - shares(evidence, .volumeSlack)
      return min(left, ExactDecimal(max(offered - shares(evidence, .taken), 0)))
    case .auction:
      let offered = shares(evidence, .offered) - shares(evidence, .volumeSlack)
      return due(offered - shares(evidence, .taken) - shares(evidence, .yields), evidence)
    case .smallOrder:
      return due(
        shares(evidence, .offered) / shareOfVolume - shares(evidence, .yields), evidence)
    }
  }

  /// What is still to be filled where `total` is certain since the order entered.
  private static func due(_ total: Int64, _ evidence: FillEvidence) -> ExactDecimal {
    let certain = min(shares(evidence, .own), total)
    return ExactDecimal(max(certain - shares(evidence, .filled), 0))
  }

  private static func shares(_ evidence: FillEvidence, _ name: FillEvidence.Name) -> Int64 {
    evidence[name].wholeShares
  }

  /// Shares of a queue that are certain and not filled, once so many have come to its place.
  static func due(of queue: Queue, counted: Int64) -> Int64 {
    let total = queue.isAtLimit ? counted : counted / 2
    return max(min(queue.own, total - queue.yields) - queue.filled, 0)
  }

  /// Volume that has certainly come to a queue's place since it entered, an interval included.
  ///
  /// At the limit price no order can stand before it at a better one, so that each share beyond the
  /// front is its own. Elsewhere a share can be counted twice: an ask that the order would have
  /// taken rests in the public book and is lifted by a buyer, who otherwise would have stood before
  /// it and taken the next sale. Hence the half of it there.
  static func count(in interval: Interval, of queue: Queue, side: Side) -> Int64 {
    let reaching = interval.certain(at: queue.limit, side: side)
    // Without a front it is worse than the five levels: only what traded beyond it counts.
    let past = queue.front.map { max(reaching - $0, 0) } ?? 0
    let beyond =
      queue.isAtLimit ? 0 : interval.certain(at: queue.limit, side: side, ticksBeyond: 1)
    return queue.counted + max(past, beyond)
  }
}

extension Queue {
  /// As it was before the interval of its evidence.
  fileprivate init(_ evidence: FillEvidence) {
    self.init(
      limit: evidence[.limit], isAtLimit: evidence.basis == .limitQueue,
      own: evidence[.own].wholeShares, filled: evidence[.filled].wholeShares,
      front: evidence.numbers[.front]?.wholeShares, counted: evidence[.counted].wholeShares,
      yields: evidence[.yields].wholeShares)
  }
}
