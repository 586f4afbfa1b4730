import AppStore
import Market
import PaperTrading

/// How much may stand before an order in the queue of its price.
///
/// The public book has every order but ours, so what it shows at our price is a bound from above
/// for those before us, whatever came and went; once an order was reached in its queue none is.
struct QueuePlace: Sendable {
  /// nil where the order does not rest, or rests outside of the levels that are published.
  let aheadMax: ExactDecimal?

  private static let levelsMax = 5

  init(_ record: OrderRecord, stock: PublishedStock?) {
    let evidence = record.execution.flatMap { FillEvidence(text: $0.evidence) }
    let isResting = [.accepted, .partiallyFilled, .pendingCancel].contains(record.state)
    guard isResting, let limit = record.order.limit else {
      aheadMax = nil
      return
    }
    if let basis = evidence?.basis, [.passive, .limitQueue].contains(basis) {
      aheadMax = .zero
      return
    }
    let isBuy = record.order.side == .buy
    // Who came between an older book and the order is not in it.
    guard let stock, !stock.stale, let seen = stock.quotedAt?.value, seen >= record.acceptedAt,
      let levels = isBuy ? stock.bids : stock.asks
    else {
      aheadMax = nil
      return
    }
    aheadMax = Self.volume(at: limit, in: levels, isBuy: isBuy)
  }

  /// What waits at limit-up now, for one that would join it; nil where the price is not there.
  init(joiningLimitUpOf stock: PublishedStock?) {
    guard stock?.stale == false, let limitUp = stock?.limitUp?.value, let best = stock?.bids?.first,
      best.price.value == limitUp
    else {
      aheadMax = nil
      return
    }
    aheadMax = best.volume.value
  }

  private static func volume(
    at limit: ExactDecimal, in levels: [PublishedStock.Level], isBuy: Bool
  ) -> ExactDecimal? {
    if let level = levels.first(where: { $0.price.value == limit }) { return level.volume.value }
    let isBeyond =
      levels.count >= levelsMax
      && (levels.last.map { isBuy ? limit < $0.price.value : limit > $0.price.value } ?? false)
    return isBeyond ? nil : .zero
  }
}
