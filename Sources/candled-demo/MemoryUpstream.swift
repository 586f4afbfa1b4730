import ExchangeSimulator
import Feeds
import Ingest
import Market
import Postgres

/// The simulated exchange in the place of the sources' hosts: what they would send, byte for byte,
/// without a network between. On a thread of its own, for a day that is simulated for its bars
/// takes seconds.
actor MemoryUpstream: Upstream {
  private let executor = ThreadExecutor(name: "exchange")
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// The day, as far as it has happened.
  private var market: SimulatedMarket
  private var history: SimulatedHistory
  private let stocks = USMarket(seed: 1)
  private let clock: (@Sendable () -> Timestamp)?
  private var now: Timestamp

  /// - Parameters:
  ///   - history: of one day, and those before it.
  ///   - clock: nil: it is as late as the latest request for quotes.
  init(_ history: SimulatedHistory, clock: (@Sendable () -> Timestamp)?) {
    var history = history
    market = history.market(on: history.days[0])
    now = market.now
    self.history = history
    self.clock = clock
  }

  func response(to feedRequest: FeedRequest, key: String?, host: Int) -> UpstreamResponse {
    if case .quotes(let query) = feedRequest.query { now = max(now, query.askedAt) }
    if let clock { now = clock() }
    guard let body = body(feedRequest.query) else {
      return .response(status: 404, body: Array("Not Found".utf8), retryAfter: nil)
    }
    return .response(status: 200, body: body, retryAfter: nil)
  }

  /// nil for what a demo does not ask.
  private func body(_ query: FeedQuery) -> [UInt8]? {
    switch query {
    case .quotes(let query):
      market.advance(to: now)
      return market.quoteLines(query.symbols)
    case .newestBars(let symbol, let timeframe, let count):
      let rows = history.klineRows(of: symbol, timeframe: timeframe, count: count, at: now)
      return Array(KlineRow.script(rows?.map(\.text)).utf8)
    case .factors(let symbol, let kind):
      return history.factors(of: symbol, kind: kind, at: now).map {
        Array(AdjustmentFactor.script($0, of: symbol, kind: kind).utf8)
      }
    case .bars(let query):
      let isDaily = query.timeframe == .day1
      let ends = [query.start, query.end.adding(milliseconds: -1)].map {
        isDaily ? Timestamp(day: $0.newYorkDay, newYorkSecondOfDay: 0) : $0
      }
      return stocks.barsBody(of: query.symbols, isDaily: isDaily, from: ends[0], to: ends[1])
    case .sessions(let first, let last): return stocks.calendarBody(from: first, to: last)
    case .names: return stocks.assetsBody(status: "active", assetClass: "us_equity")
    case .tradingDays: return Array(PackedCalendar.script().utf8)
    case .list, .listCount, .listPage: return nil
    }
  }
}
