import Market
import PaperTrading

/// Version 1 of the fill model, for one resting order: half of the volume that passed its place.
/// The rules that derive stored fills count it; no order is filled by it any more.
struct FormerModel {
  private let order: RestingOrder
  private let instrument: Instrument
  private let limit: ExactDecimal
  private var before: Snapshot?
  /// nil: its limit is worse than the five levels.
  private var front: Int64?
  private var counted: Int64 = 0

  init(_ order: RestingOrder, instrument: Instrument) {
    self.order = order
    self.instrument = instrument
    limit = order.order.limit ?? .zero
  }

  var certain: Int64 { min(order.quantity.units, counted / 2) }

  /// The first row is the one that the order meets.
  mutating func advance(to row: Snapshot) {
    if let before {
      counted += passed(from: before, to: row, front: front)
      let reaching = passed(from: before, to: row, front: 0)
      let drained = front.map { max($0 - reaching, 0) }
      front = [drained, standing(in: row)].compactMap { $0 }.min()
    } else {
      front = standing(in: row)
    }
    before = row
  }

  private func standing(in row: Snapshot) -> Int64? {
    let isBuy = order.order.side == .buy
    let (levels, others) = isBuy ? (row.bids, row.asks) : (row.asks, row.bids)
    if let best = others.first, isBuy ? best.price <= limit : best.price >= limit { return 0 }
    if let level = levels.first(where: { $0.price == limit }) { return level.volume.units }
    guard levels.count == 5, let worst = levels.last?.price else { return 0 }
    return (isBuy ? limit > worst : limit < worst) ? 0 : nil
  }

  /// Volume beyond the front, exactly: half of it, and half of it and one share more, rounded down.
  private func passed(from before: Snapshot, to row: Snapshot, front: Int64?) -> Int64 {
    [Int64(0), 1].reduce(0) { sum, counted in
      var numbers: [FillEvidence.Name: ExactDecimal] = [
        .limit: limit, .tick: instrument.tickSize, .own: ExactDecimal(1 << 40),
        .counted: ExactDecimal(counted), .high: row.high, .low: row.low,
        .volumeBefore: before.volume, .volumeAfter: row.volume,
        .turnoverBefore: before.turnover, .turnoverAfter: row.turnover,
      ]
      numbers[.front] = front.map { ExactDecimal($0) }
      if instrument.exchange == .shanghai { numbers[.turnoverSlack] = ExactDecimal(1) }
      let evidence = FillEvidence(
        version: 1, basis: .passive, side: order.order.side, before: before.stamp,
        after: row.stamp, numbers: numbers)
      return sum + (FillRules.derive(evidence)?.quantity.units ?? 0)
    }
  }
}
