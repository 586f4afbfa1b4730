import Market
import PaperTrading

/// Version 1 of the fill model, for one resting order: half of the volume that passed its place. No
/// order is filled by it any more.
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

  /// Volume beyond the front; or what traded beyond the limit, where that is more.
  private func passed(from before: Snapshot, to row: Snapshot, front: Int64?) -> Int64 {
    let past = front.map { traded(at: limit, beyond: $0, from: before, to: row) } ?? 0
    let tick = instrument.tickSize
    let next = try? order.order.side == .buy ? limit - tick : limit + tick
    return max(past, next.map { traded(at: $0, beyond: 0, from: before, to: row) } ?? 0)
  }

  /// Shares that certainly traded at a price or beyond it, less so many: all that a queue at the
  /// price limit counts.
  private func traded(
    at price: ExactDecimal, beyond front: Int64, from before: Snapshot, to row: Snapshot
  ) -> Int64 {
    var numbers: [FillEvidence.Name: ExactDecimal] = [
      .limit: price, .tick: instrument.tickSize, .own: ExactDecimal(1 << 40),
      .front: ExactDecimal(front), .high: row.high, .low: row.low,
      .volumeBefore: before.volume, .volumeAfter: row.volume,
      .turnoverBefore: before.turnover, .turnoverAfter: row.turnover,
    ]
    if instrument.exchange == .shanghai { numbers[.turnoverSlack] = ExactDecimal(1) }
    let evidence = FillEvidence(
      basis: .limitQueue, side: order.order.side, before: before.stamp, after: row.stamp,
      numbers: numbers)
    return FillRules.derive(evidence)?.quantity.units ?? 0
  }
}
