import Feeds
import Ingest
import Market
import Transport

/// All upstreams of the ten years, answered from `DecadeMarket`: quotes at the moment of their
/// request, everything else at the engine's.
actor DecadeWorld: Upstream {
  private(set) var market: DecadeMarket
  private(set) var plan: DecadePlan
  let calendar: DecadeCalendar
  private var engine: Engine?
  private(set) var requests: [String: Int] = [:]
  /// Whose quotes were requested on this day.
  private(set) var polled: Set<Symbol> = []
  private let american: DecadeAmerica

  init(market: DecadeMarket, calendar: DecadeCalendar) {
    (self.market, self.calendar) = (market, calendar)
    plan = DecadePlan(market.day)
    american = DecadeAmerica()
  }

  func follow(_ engine: Engine?) { self.engine = engine }

  func begin(_ plan: DecadePlan) {
    self.plan = plan
    (requests, polled) = ([:], [])
    market.begin(plan)
  }

  func response(to feedRequest: FeedRequest, key: String?, host: Int) async -> UpstreamResponse {
    let now = await engine?.steady ?? Timestamp(seconds: 0)
    requests["\(feedRequest.definition.name) \(feedRequest.journalKey)", default: 0] += 1
    guard let body = body(of: feedRequest, at: now) else {
      return .failure(TransportError(.timeout, route: feedRequest.journalKey))
    }
    if body.isEmpty {
      return .response(status: 404, body: Array("Not Found".utf8), retryAfter: nil)
    }
    let date = plan.jumps.isEmpty ? nil : ClockWorld.header(now)
    return .response(status: 200, body: body, retryAfter: nil, date: date)
  }

  private func body(of request: FeedRequest, at now: Timestamp) -> [UInt8]? {
    let second = now.shanghaiSecondOfDay
    if let silent = plan.silent[request.source], silent.contains(second) { return nil }
    switch request.query {
    case .quotes(let query):
      let isTencent = request.source == .decadeTencent
      polled.formUnion(query.symbols)
      return query.symbols.flatMap { symbol in
        isTencent
          ? market.tencentLine(symbol, at: now, plan: plan)
          : market.sinaLine(symbol, at: now, plan: plan)
      }
    case .tradingDays: return Array(calendar.file(on: now.shanghaiDay).utf8)
    case .listCount(let part):
      return Array("\"\(market.listed(Self.node(part), plan.listed).count)\"".utf8)
    case .listPage(let part, let page):
      let symbols = market.listed(Self.node(part), plan.listed)
      return Array(market.page(of: symbols, number: page, rows: 80).utf8)
    case .factors(let symbol, let kind):
      let fault = plan.factorFault.flatMap { $0.symbol == symbol ? $0.fault : nil }
      return Array((market.factorFile(of: symbol, kind, fault: fault) ?? "").utf8)
    case .sessions(let from, let to):
      return Array(american.calendar(from: from, to: to, on: now.newYorkDay).utf8)
    case .bars(let query): return Array(american.bars(query, at: now).utf8)
    case .newestBars: return Array("null".utf8)
    case .list, .names: return nil
    }
  }

  private static func node(_ part: ListPart) -> String {
    String(part.name.split(separator: "/").last ?? "")
  }
}

extension Source {
  static let decadeTencent = SourceRegistry.all.first { $0.name == "tencent" }?.mainSeries ?? .live
}
