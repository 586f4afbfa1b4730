import ExchangeSimulator
import Feeds
import Ledgers
import Market
import TestExchange
import TestSupport
import Testing

/// The simulated upstreams through the daemon's own requests and decoders: what is asked for is
/// understood, and what is read is the truth.
@Suite struct SimulatedFeedsTests {
  private static let licence = FeedCredentials(words: ["AF98235C 1"])
  private static let keys = FeedCredentials(words: ["PKTEST", "secret"])

  private func exchange() throws -> (MemoryExchange, SimulatedHistory, Timestamp) {
    let last = try #require(TradingDay("2026-07-10"))
    let history = SimulatedHistory(
      seed: 41, instruments: 60, through: last, days: 3, earlierDays: 250)
    let exchange = MemoryExchange(
      history: history, mairui: MairuiOptions(licences: ["AF98235C 1": .valid(requestsPerDay: 9)]),
      alpaca: AlpacaOptions(keys: ["PKTEST": "secret"]))
    return (exchange, history, Timestamp(day: last, secondOfDay: 57_000))
  }

  private func ask(
    _ exchange: inout MemoryExchange, _ request: FeedRequest, at moment: Timestamp,
    _ credentials: FeedCredentials? = nil
  ) throws -> FeedResponse {
    let endpoint = request.endpoint(credentials: credentials)
    let headers = endpoint.headers.map { ($0.name.lowercased(), $0.value) }
    let given = exchange.response(
      endpoint.path, headers: Dictionary(uniqueKeysWithValues: headers), at: moment)
    let response = try #require(given)
    return response.body.withUnsafeBytes {
      FeedResponse.decode(request, status: response.status, body: $0)
    }
  }

  private func candles(_ response: FeedResponse) throws -> CandlePage {
    guard case .candles(let page) = response else { throw Unexpected(response: response) }
    #expect(page.refused == [])
    return page
  }

  private struct Unexpected: Error { let response: FeedResponse }

  @Test(arguments: SinaKline.timeframes.filter { ![.week1, .month1].contains($0) })
  func `a K-line decodes to the truth`(_ timeframe: Timeframe) throws {
    var (exchange, history, moment) = try exchange()
    for moment in [moment, moment.adding(seconds: -20_000)] {
      for symbol in history.symbols {
        let truth = history.candles(of: symbol, timeframe, at: moment, count: 500)
        let response = try ask(
          &exchange, .sinaKline(symbol, timeframe, bars: 500), at: moment)
        if case .refused(let refusal) = response {
          #expect(truth.isEmpty, "\(symbol): \(refusal)")
          continue
        }
        let page = try candles(response)
        // The K-line shows three decimals of an index.
        let shown = truth.map(Self.rounded)
        #expect(page.candles.map(Self.rounded) == shown, "\(symbol)")
      }
    }
  }

  private static func rounded(_ candle: Candle) -> Candle {
    var candle = candle
    candle.open = candle.open.rounded(places: 3)
    candle.high = candle.high.rounded(places: 3)
    candle.low = candle.low.rounded(places: 3)
    candle.close = candle.close.rounded(places: 3)
    return candle
  }

  @Test func `factors and the calendar decode to the truth`() throws {
    var (exchange, history, moment) = try exchange()
    for symbol in history.symbols {
      for kind in AdjustmentFactor.Kind.allCases {
        let known = history.factors(of: symbol, kind: kind, at: moment)
        let truth = try #require(known)
        let response = try ask(&exchange, .sinaFactors(symbol, kind), at: moment)
        #expect(response == .factors(truth.reversed()), "\(symbol)")
      }
    }
    guard case .calendar(let days) = try ask(&exchange, .sinaCalendar, at: moment) else {
      Issue.record("no calendar")
      return
    }
    #expect(days.first == TradingCalendar.shanghai.firstDay)
    #expect(days.last == TradingCalendar.shanghai.lastDay)
    #expect(days.allSatisfy { TradingCalendar.shanghai.isTradingDay($0) == true })
  }

  @Test(arguments: SinaNode.allCases)
  func `the pages of a node decode to as many rows as it counts`(_ node: SinaNode) throws {
    var (exchange, _, moment) = try exchange()
    guard case .listCount(let count) = try ask(&exchange, .sinaNodeCount(node), at: moment),
      case .list(let list) = try ask(&exchange, .sinaNodePage(node, page: 1), at: moment)
    else {
      Issue.record("no count or page")
      return
    }
    #expect(list.rows.count == count && count > 0 && list.refused.isEmpty)
  }

  @Test(arguments: MairuiBoard.allCases)
  func `both shapes of a Mairui list say the same`(_ board: MairuiBoard) throws {
    let (_, history, moment) = try exchange()
    var hashes: Set<UInt64> = []
    for shape in [MairuiOptions.Shape.bare, .suffixed] {
      var options = MairuiOptions(licences: ["AF98235C 1": .valid(requestsPerDay: 9)])
      options.shape = shape
      var exchange = MemoryExchange(history: history, mairui: options)
      let response = try ask(&exchange, .mairuiList(board), at: moment, Self.licence)
      guard case .list(let list) = response else { throw Unexpected(response: response) }
      #expect(list.refused.isEmpty)
      #expect(list.rows.count == (board == .hslt ? 4_800 : 270))
      hashes.insert(list.contentHash)
      #expect(exchange.mairuiLedger.requests("AF98235C 1", on: moment.shanghaiDay) == 1)
    }
    #expect(hashes.count == 1)
  }

  @Test(arguments: [
    (Timeframe.minute1, 3), (.minute5, 5), (.minute30, 5), (.hour1, 5), (.day1, 300),
  ])
  func `Alpaca's bars decode to the truth, page after page`(
    _ timeframe: Timeframe, _ days: Int
  ) throws {
    var (exchange, _, moment) = try exchange()
    let ledger = USLedger(seed: 1)
    let end = moment.adding(seconds: -3600)
    let start = end.adding(seconds: -86_400 * Int64(days))
    var found: [Candle] = []
    var token: String?
    var pages = 0
    repeat {
      let query = BarsQuery(
        symbols: ledger.symbols, timeframe: timeframe, start: start, end: end, pageToken: token)
      let page = try candles(
        try ask(&exchange, .alpacaBars(query, from: .alpacaSIP), at: moment, Self.keys))
      found += page.candles
      token = page.nextPageToken
      pages += 1
    } while token != nil && pages < 20
    let truth = ledger.differences(
      candles: found, of: ledger.symbols, timeframe, .alpacaSIP, from: start,
      to: end.adding(milliseconds: -1), at: moment)
    #expect(truth == [] && !found.isEmpty)
    if timeframe == .minute1 { #expect(pages > 1) }
    #expect(exchange.alpacaRequests.total("PKTEST") == pages)
  }

  @Test func `Alpaca's calendar and assets decode`() throws {
    var (exchange, _, moment) = try exchange()
    let from = try #require(TradingDay("2026-11-23"))
    let response = try ask(
      &exchange, .alpacaCalendar(from: from, to: from.advanced(by: 6)), at: moment, Self.keys)
    guard case .sessions(let sessions) = response else { throw Unexpected(response: response) }
    let days = Set(sessions.map(\.day.description))
    #expect(days == ["2026-11-23", "2026-11-24", "2026-11-25", "2026-11-27"])
    let half = try #require(sessions.last)
    #expect(half.closes == Timestamp(day: half.day, newYorkSecondOfDay: 13 * 3600))
    let assets = try ask(&exchange, .alpacaAssets, at: moment, Self.keys)
    guard case .list(let list) = assets else { throw Unexpected(response: assets) }
    #expect(Set(USLedger(seed: 1).symbols).isSubset(of: Set(list.rows.map(\.symbol))))
  }
}
