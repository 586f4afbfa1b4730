import ExchangeSimulator
import Feeds
import Ingest
import Market
import TestExchange
import Transport

/// One exchange, shown by two sources, each with faults of its own.
actor TwoSources: Upstream {
  enum Fault: Sendable, Equatable {
    case banned, silent, still
    /// Volumes are a hundred times what they were.
    case hundredfold
    /// The batches that are answered, by number.
    case partly(Set<UInt16>)
    /// Batches with that symbol are void.
    case poisoned(Symbol)
  }

  struct Outage: Sendable {
    var source: Source
    /// Of the day.
    var seconds: Range<Int>
    var fault: Fault
  }

  struct Request: Sendable {
    var at: Timestamp
    var source: Source
    var group: UInt16
    var symbols: [Symbol]
    var isRefused: Bool
    var isSilent: Bool

    var isProbe: Bool { group == QuotesQuery.probeGroup }
    var second: Int { at.shanghaiSecondOfDay }
  }

  private var markets: [Source: SimulatedMarket] = [:]
  private let market: SimulatedMarket
  private let outages: [Outage]
  /// In the order in which they were sent.
  private(set) var requests: [Request] = []
  /// Once, from that second of the day on.
  private var meanwhile: (second: Int, work: @Sendable () async -> Void)?

  init(_ market: SimulatedMarket, _ outages: [Outage]) {
    self.market = market
    self.outages = outages
  }

  func at(_ second: Int, _ work: @escaping @Sendable () async -> Void) {
    meanwhile = (second, work)
  }

  func response(to request: FeedRequest, key: String?, host: Int) async -> UpstreamResponse {
    guard case .quotes(let query) = request.query else {
      return .failure(TransportError(.timeout, route: request.journalKey))
    }
    let second = query.askedAt.shanghaiSecondOfDay
    let outage = outages.last { $0.source == request.source && $0.seconds.contains(second) }
    let fault = outage?.fault
    record(
      Request(
        at: query.askedAt, source: request.source, group: query.group, symbols: query.symbols,
        isRefused: fault == .banned, isSilent: fault?.isSilent(to: query) ?? false))
    if let due = meanwhile, second >= due.second {
      meanwhile = nil
      await due.work()
    }
    if fault == .banned { return .response(status: 403, body: [], retryAfter: nil) }
    if fault?.isSilent(to: query) ?? false {
      return .failure(TransportError(.timeout, route: "quotes"))
    }
    if case .poisoned(let symbol) = fault, query.symbols.contains(symbol) {
      let body = Array(#"var hq_str_sys_auth="FAILED";"#.utf8)
      return .response(status: 200, body: body, retryAfter: nil)
    }
    var shown = markets[request.source] ?? market
    let frozenAt = outage.map { Timestamp(day: market.day, secondOfDay: $0.seconds.lowerBound) }
    shown.advance(to: fault == .still ? frozenAt ?? query.askedAt : query.askedAt)
    var body = shown.body(for: query.symbols)
    if fault == .hundredfold {
      for symbol in query.symbols { body.editLine(of: symbol) { $0.scale(8, by: "00") } }
    }
    markets[request.source] = shown
    return .response(status: 200, body: body, retryAfter: nil)
  }

  /// Each request is a task of its own, so one of a sweep may come here behind those that an answer
  /// to another of that sweep has led to, even to the other source within the same moment.
  private func record(_ request: Request) {
    let ofSweep = requests.lastIndex {
      $0.at == request.at && $0.source == request.source && $0.isProbe == request.isProbe
    }
    let before = ofSweep ?? requests.lastIndex { $0.at <= request.at }
    requests.insert(request, at: before.map { $0 + 1 } ?? 0)
  }
}

extension TwoSources.Fault {
  fileprivate func isSilent(to query: QuotesQuery) -> Bool {
    switch self {
    case .silent: true
    case .partly(let answered):
      query.group != QuotesQuery.probeGroup && !answered.contains(query.group)
    case .banned, .still, .poisoned, .hundredfold: false
    }
  }
}

/// The two at a host of that name.
struct NamedHost: Upstream {
  let world: TwoSources
  let name: String

  func response(to request: FeedRequest, key: String?, host: Int) async -> UpstreamResponse {
    await world.response(to: request, key: key, host: host)
  }

  func hostName(of feedRequest: FeedRequest, host: Int) -> String? { name }
}
