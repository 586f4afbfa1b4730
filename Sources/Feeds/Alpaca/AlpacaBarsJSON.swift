/// What `candled decode alpaca-bars` prints: one JSON object a bar in the order of the body, and
/// one with the token of the next page.
///
/// The keys and words are a contract; the golden files of the tests hold them.

import Market

package enum AlpacaBarsJSON {
  /// The lines to print for one answer, and whether it was refused as a whole.
  /// - Parameters:
  ///   - timeframe: nil guesses, since the answer does not say: days where every bar starts at a
  ///     New York midnight, minutes otherwise.
  ///   - symbol: whose bars they are where the answer does not say that either.
  package static func write(
    body: UnsafeRawBufferPointer, status: Int, timeframe: Timeframe?, symbol: Symbol?
  ) -> (lines: [String], isRefused: Bool) {
    do throws(FeedRefusal) {
      let page = try decode(body, status: status, timeframe: timeframe, symbol: symbol)
      let bars = page.candles.map { $0.json(at: \.utcText) }
      let dropped = page.dropped.map(\.json)
      return (bars.merged(with: page.refused) + dropped + [lastLine(of: page)], false)
    } catch {
      return ([error.json], true)
    }
  }

  private static func decode(
    _ body: UnsafeRawBufferPointer, status: Int, timeframe: Timeframe?, symbol: Symbol?
  ) throws(FeedRefusal) -> CandlePage {
    let decode = { (timeframe: Timeframe) throws(FeedRefusal) in
      // The feed is not told either, and not printed.
      try AlpacaBars.decode(
        body, status: status, source: Alpaca.iex, timeframe: timeframe, requested: nil,
        only: symbol)
    }
    if let timeframe { return try decode(timeframe) }
    let minutes = try decode(.minute1)
    let areDays =
      !minutes.candles.isEmpty
      && minutes.candles.allSatisfy { $0.openedAt.newYorkSecondOfDay == 0 }
    return areDays ? try decode(.day1) : minutes
  }

  private static func lastLine(of page: CandlePage) -> String {
    var json = JSONLine()
    json.add("next_page_token", value: page.nextPageToken)
    return json.finished
  }
}
