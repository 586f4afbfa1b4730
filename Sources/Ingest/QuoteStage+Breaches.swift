import Candles
import Commits
import Feeds
import Journal
import Market

/// Rows that count and do not fit a rule: a sign that it has changed.
extension QuoteStage {
  /// A row that counts may still show that a rule has changed. Mutating, so that it gets no copy.
  mutating func noteBreaches(
    _ quotes: UnsafeBufferPointer<BatchQuote>, _ place: Int, index: Int,
    in response: borrowing Response, into rows: inout PendingRows
  ) {
    guard isMainland else { return }
    guard let tick = book.tick(at: index) else {
      if book.isOfNoKind(index), isNew(index) {
        rows.counters.ruleBreaches[.unknownPrefix, default: 0] += 1
      }
      return
    }
    // Field by field: a quote is half a kilobyte.
    let (last, volume, day, second) = (
      quotes[place].quote.last, quotes[place].quote.volume, quotes[place].quote.tradingDay,
      Int(quotes[place].quote.secondOfDay)
    )
    if !last.isMultiple(of: tick) {
      note(.offTick, "last \(last) is no multiple of the tick \(tick)", place, in: response, &rows)
    }
    // A stamp of when the line was written is not one of a trade.
    guard !response.hasRefreshStamps, book.rules.hours.isClosed(second) else { return }
    let known = latest.withUnsafeBufferPointer {
      $0[index].flatMap { $0.quote.tradingDay == day ? $0.quote.volume : nil }
    }
    guard let known, volume > known else { return }
    note(
      .outsideHours, "volume grew from \(known) to \(volume) at \(ClockText.second(second))", place,
      in: response, &rows)
  }

  /// Keeps the row as evidence, beside those that are refused; it counts all the same.
  private func note(
    _ breach: RuleBreach, _ detail: String, _ place: Int, in response: borrowing Response,
    _ rows: inout PendingRows
  ) {
    rows.counters.ruleBreaches[breach, default: 0] += 1
    let row = quoteBatch.quotes[place].refused(.implausible, detail: "kept: " + detail)
    rows.keep(
      Rejection(
        source: response.entry.source, receivedAt: response.entry.receivedAt, symbol: row.symbol,
        reason: row.reason, detail: row.detail, payload: Array(response.body[row.line])),
      isBooked: true)
  }
}
