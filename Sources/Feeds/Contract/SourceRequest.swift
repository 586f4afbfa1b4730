/// The requests that sources answer, a protocol for each kind: a source has those of its kinds, and
/// no function for a request that it does not know.

import Market

/// A request as its source spells it: where it goes, and how the response is read.
package struct SourceRequest: Sendable {
  /// The setting with the hosts that answer it.
  package let hosts: HostSetting
  /// The name of its journal series, at most 64 bytes: `bars/1m`.
  package let journalKey: String
  /// The line that the journal keeps. The spelling is on disk: a word may be added, none may change
  /// its meaning.
  package let text: @Sendable () -> String
  /// A page of 10,000 bars is 1.1 MB, almost everything else is less.
  package var bodyBytesMax = 4 << 20
  package let endpoint: @Sendable (FeedCredentials?) -> Endpoint
  /// Of a body as received, content encoding undone; of the HTTP status, where the body has the
  /// last word if it says anything; of the calendar as far as it is known: a bar of a day beyond it
  /// is refused.
  package let decode:
    @Sendable (UnsafeRawBufferPointer, Int, TradingCalendar) throws(FeedRefusal) -> FeedResponse
}

/// It has bars of many symbols in a stretch of time, page by page.
package protocol BarSource: SourceDefinition {
  func barsRequest(_ query: BarsQuery, from source: Source) -> SourceRequest
}

/// It has the newest bars of a symbol, and factors.
package protocol NewestBarSource: SourceDefinition {
  func newestBarsRequest(of symbol: Symbol, timeframe: Timeframe, count: Int) -> SourceRequest
  func factorsRequest(of symbol: Symbol, kind: AdjustmentFactor.Kind) -> SourceRequest
}

/// It has lists of instruments, each in one response.
package protocol ListSource: SourceDefinition {
  func listRequest(of part: ListPart) -> SourceRequest
}

/// It has lists of instruments that come in pages, counted from 1.
package protocol PagedListSource: SourceDefinition {
  func listCountRequest(of part: ListPart) -> SourceRequest
  func listPageRequest(of part: ListPart, page: Int) -> SourceRequest
}

/// It has the trading days of its market.
package protocol CalendarSource: SourceDefinition {
  var tradingDaysRequest: SourceRequest { get }
}

/// It has the sessions of its market, by their hours.
package protocol SessionSource: SourceDefinition {
  func sessionsRequest(from first: TradingDay, to last: TradingDay) -> SourceRequest
}

/// It has the names of all instruments it has bars of.
package protocol NameSource: SourceDefinition {
  var namesRequest: SourceRequest { get }
}

extension SourceDefinition {
  package var hasTradingDays: Bool { self is any CalendarSource }
  package var hasNames: Bool { self is any NameSource }

  /// nil for a query of a kind that the source does not have, and for live quotes, which it
  /// declares.
  package func request(for query: FeedQuery, from source: Source) -> SourceRequest? {
    switch query {
    case .quotes: nil
    case .list(let part): (self as? any ListSource)?.listRequest(of: part)
    case .listCount(let part): (self as? any PagedListSource)?.listCountRequest(of: part)
    case .listPage(let part, let page):
      (self as? any PagedListSource)?.listPageRequest(of: part, page: page)
    case .names: (self as? any NameSource)?.namesRequest
    case .bars(let bars): (self as? any BarSource)?.barsRequest(bars, from: source)
    case .newestBars(let symbol, let timeframe, let count):
      (self as? any NewestBarSource)?.newestBarsRequest(
        of: symbol, timeframe: timeframe, count: count)
    case .factors(let symbol, let kind):
      (self as? any NewestBarSource)?.factorsRequest(of: symbol, kind: kind)
    case .tradingDays: (self as? any CalendarSource)?.tradingDaysRequest
    case .sessions(let first, let last):
      (self as? any SessionSource)?.sessionsRequest(from: first, to: last)
    }
  }
}
