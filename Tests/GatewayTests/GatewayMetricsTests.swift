import AppStore
import Market
import Operations
import TestSupport
import Testing

@testable import Gateway

@Suite struct GatewayMetricsTests {
  private let files: OperatorFiles

  init() throws { files = try OperatorFiles(of: "candled-gateway") }

  @Test func `the page of metrics has the generated reference`() throws {
    let table = GatewayMetrics.families.reference()
    let text = try OperatorFiles.text("docs/reference/metrics.md")
    #expect(text.contains("\n## candled-gateway\n\n\(table)\n"), "\(table)")
  }

  /// Of a gateway whose broker leads and that calls webhooks: everything has happened once.
  private static func page() throws -> PrometheusPage {
    var broker = BrokerFigures()
    broker.term = 1
    let route = Route("/v1/stocks", summary: "", answer: nil) { _ in .done }
    let counters = RequestCounters()
    counters.count(.done, to: route, after: .milliseconds(2))
    counters.count(Answer(.storeAway, through: nil), to: nil, after: .seconds(20))
    counters.count(Answer(.internalError, through: nil), to: route, after: .zero)
    let streams = StreamConnections()
    streams.unsentChanged(by: 7)
    streams.closed(by: .tooSlow)
    var state = MarketState()
    state.committedAt = Timestamp(seconds: 1_783_303_200)
    return try PrometheusPage(
      GatewayMetrics.families.exposition(
        of: GatewayReport(
          state: state, waiting: 0, requests: counters.figures, streams: streams, alerts: 0,
          commands: 0,
          webhooks: Webhooks.Figures(
            attempts: ["timeout": 3], waiting: 2, waitingMicroseconds: 1_500_000),
          connections: ConnectionTable.Figures(), broker: broker, behindMicroseconds: 0,
          outboxAge: .seconds(5), process: .none, now: Timestamp(seconds: 1_783_303_212))))
  }

  @Test func `a report of everything leaves no family out`() throws {
    let page = try Self.page()
    for family in GatewayMetrics.families {
      #expect(page.types[family.name] == family.kind.rawValue, "\(family.name)")
    }
  }

  @Test func `each figure is under its own label`() throws {
    let page = try Self.page()
    #expect(page["candled_gateway_feed_age_seconds"] == 12)
    #expect(page["candled_gateway_unsent_bytes", ["of": "streams"]] == 7)
    #expect(page["candled_gateway_unsent_bytes", ["of": "answers"]] == 0)
    #expect(page["candled_gateway_streams_closed_total", ["code": "4408"]] == 1)
    #expect(page["candled_gateway_refusals_total", ["code": "store_away"]] == 1)
    #expect(page["candled_gateway_webhook_deliveries_total", ["outcome": "timeout"]] == 3)
    #expect(page["candled_gateway_webhook_deliveries_total", ["outcome": "delivered"]] == 0)
    #expect(page["candled_gateway_webhooks_waiting"] == 2)
    #expect(page["candled_gateway_outbox_age_seconds"] == 5)
    let none = ["path": "none", "status": "503"]
    #expect(page["candled_gateway_requests_total", none] == 1)
  }

  @Test func `durations are counted by class of the route, below each bound that holds`() throws {
    let page = try Self.page()
    let name = "candled_gateway_request_duration_seconds"
    #expect(page["\(name)_bucket", ["class": "market", "le": "0.001"]] == 1)
    #expect(page["\(name)_bucket", ["class": "market", "le": "0.0025"]] == 2)
    #expect(page["\(name)_sum", ["class": "market"]] == 0.002)
    #expect(page["\(name)_bucket", ["class": "none", "le": "10"]] == 0)
    #expect(page["\(name)_count", ["class": "none"]] == 1)
  }

  @Test func `a route is of the class of its work`() {
    func requestClass(_ scope: TokenScope?, cost: Int = 1) -> RequestClass {
      Route("/a", summary: "", scope: scope, answer: nil) { _ in .done }.costing(cost).requestClass
    }
    #expect(requestClass(.market) == .market && requestClass(.market, cost: 2) == .history)
    #expect(requestClass(.account) == .account && requestClass(.trade, cost: 5) == .trade)
    #expect(requestClass(nil) == .service && requestClass(.admin) == .admin)
  }

  @Test func `rules and panels ask for metrics and labels that exist and are served`() throws {
    #expect(files.rules.count >= 5 && files.targets.count > 20)
    for (text, labels) in files.expressions {
      #expect(
        Expression(text).faults(among: GatewayMetrics.families, labelsUsed: labels)
          == [], "\(text)")
    }
    #expect(files.missing(from: try Self.page()) == [])
  }

  @Test func `every metric is in a rule or a panel`() {
    #expect(files.unused(of: GatewayMetrics.families) == [])
  }
}
