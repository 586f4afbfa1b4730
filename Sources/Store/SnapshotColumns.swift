import Market
import Postgres

/// A row of `quote` as the exchange told it: all that followers and a restart both read back.
enum SnapshotColumns {
  static let list = """
    q.status, q.open, q.previous_close, q.last, q.high, q.low, q.bid, q.ask, q.volume, q.turnover,
    q.after_hours_volume, q.after_hours_turnover, q.bids, q.asks
    """
}

extension PostgresRow {
  /// The columns of `SnapshotColumns`, in order.
  mutating func readSnapshot(into quote: inout Quote) throws(StoreError) {
    quote.status = QuoteStatus(rawValue: UInt8(clamping: try int16())) ?? .unknown
    quote.open = try numeric()
    quote.previousClose = try numeric()
    quote.last = try numeric()
    quote.high = try numeric()
    quote.low = try numeric()
    quote.bid = try numeric()
    quote.ask = try numeric()
    quote.volume = try numeric()
    quote.turnover = try numeric()
    let afterHoursVolume = try optionalNumeric()
    let afterHoursTurnover = try optionalNumeric()
    if let afterHoursVolume, let afterHoursTurnover {
      quote.afterHours = AfterHours(volume: afterHoursVolume, turnover: afterHoursTurnover)
    }
    quote.bids = try book()
    quote.asks = try book()
  }
}
