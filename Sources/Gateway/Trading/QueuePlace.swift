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

  init(_ record: OrderRecord, stock: EncodedStock?) {
    let evidence = record.execution.flatMap { FillEvidence(text: $0.evidence) }
    let isResting = [.accepted, .partiallyFilled, .pendingCancel].contains(record.state)
    guard isResting, let limit = record.order.limit else { return }
    let isBuy = record.order.side == .buy
    // Who came between an older book and the order is not in it.
    var visible: ExactDecimal?
    if let stock, !stock.isStale, stock.quote.at >= record.acceptedAt {
      visible = Self.volume(
        at: limit, in: isBuy ? stock.quote.bids : stock.quote.asks, isBuy: isBuy)
    }
    let isReached = evidence.map { [.passive, .limitQueue].contains($0.basis) } ?? false
    aheadMax =
      isReached
      ? .zero : [visible, record.ahead.map { ExactDecimal($0) }].compactMap { $0 }.min()
    behindMin = visible.flatMap { visible in aheadMax.flatMap { try? visible - $0 } }
  }

  /// What waits at limit-up now, for one that would join it; nil where the price is not there.
  init(joiningLimitUpOf stock: EncodedStock?) {
    guard let stock, !stock.isStale, let limitUp = stock.limitUp else { return }
    let best = stock.quote.bids[0]
    if best.price == limitUp { aheadMax = best.volume }
  }

  private static func volume(
    at limit: ExactDecimal, in book: Quote.Book, isBuy: Bool
  ) -> ExactDecimal? {
    let levels = (0..<Quote.depth(of: book)).map { book[$0] }
    if let level = levels.first(where: { $0.price == limit }) { return level.volume }
    let isBeyond =
      levels.count == book.count
      && (levels.last.map { isBuy ? limit < $0.price : limit > $0.price } ?? false)
    return isBeyond ? nil : .zero
  }
}
