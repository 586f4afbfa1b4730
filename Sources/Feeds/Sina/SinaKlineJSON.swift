/// What `candled decode sina-kline` prints: one JSON object a bar, in the order of the body.
///
/// The keys and words are a contract; the golden files of the tests hold them.

import Market

package enum SinaKlineJSON {
  /// A database may know the days behind the table; who only reads an answer has none.
  private static let calendar = TradingCalendar.shanghai.supposingWeekdays(
    through: TradingDay.first(of: 2100))

  /// The lines to print for one answer, and whether it was refused as a whole.
  /// - Precondition: `SinaHistory.isRequestable(symbol)`, one of `SinaKline.timeframes`.
  package static func write(
    body: UnsafeRawBufferPointer, status: Int, symbol: Symbol, timeframe: Timeframe
  ) -> (lines: [String], isRefused: Bool) {
    do throws(FeedRefusal) {
      let page = try SinaKline.decode(
        body, status: status, symbol: symbol, timeframe: timeframe, calendar: calendar)
      let bars = page.candles.map { $0.json(at: \.description) }
      return (bars.merged(with: page.refused) + page.dropped.map(\.json), false)
    } catch {
      return ([error.json], true)
    }
  }
}
