import AppStore
import Market
import PaperTrading

/// Where an order stands in the queue of its price, as far as that is known.
///
/// The public book has every order but ours, so what it shows at our price is a bound from above
/// for those before us, whatever came and went. In the queue at the price limit the broker knows a
/// closer one: none comes before us there, and what trades goes from the front. Once an order was
/// reached in its queue none is before it.
struct QueuePlace: Sendable {
  /// nil where the order does not rest, or rests outside of the levels that are published.
  private(set) var aheadMax: ExactDecimal?
  /// What the book shows beyond those; nil where it does not show the price.
  private(set) var behindMin: ExactDecimal?

  private static let levelsMax = 5

  init(_ record: OrderRecord, stock: PublishedStock?) {
    let evidence = record.execution.flatMap { FillEvidence(text: $0.evidence) }
    let isResting = [.accepted, .partiallyFilled, .pendingCancel].contains(record.state)
    guard isResting, let limit = record.order.limit else { return }
    let isBuy = record.order.side == .buy
    // Who came between an older book and the order is not in it.
    var visible: ExactDecimal?
    if let stock, !stock.stale, let seen = stock.quotedAt?.value, seen >= record.acceptedAt,
      let levels = isBuy ? stock.bids : stock.asks
    {
      visible = Self.volume(at: limit, in: levels, isBuy: isBuy)
    }
    let isReached = evidence.map { [.passive, .limitQueue].contains($0.basis) } ?? false
    aheadMax =
      isReached
      ? .zero : [visible, record.ahead.map { ExactDecimal($0) }].compactMap { $0 }.min()
    behindMin = visible.flatMap { visible in aheadMax.flatMap { try? visible - $0 } }
  }

  /// What waits at limit-up now, for one that would join it; nil where the price is not there.
  init(joiningLimitUpOf stock: PublishedStock?) {
    guard stock?.stale == false, let limitUp = stock?.limitUp?.value, let best = stock?.bids?.first,
      best.price.value == limitUp
    else { return }
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
