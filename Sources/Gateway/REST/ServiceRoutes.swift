/// What operators ask of the gateway itself, and the description of its API.

import Hummingbird
import Market
import Operations
import Reader

package struct ServiceRoutes: Sendable {
  let memory: MarketMemory
  let pool: QueryPool
  let ring: FeedRing
  let counters: RequestCounters
  let streams: StreamHub?
  let alerts: AlertWatch?

  package init(
    memory: MarketMemory, pool: QueryPool, ring: FeedRing, counters: RequestCounters,
    streams: StreamHub?, alerts: AlertWatch? = nil
  ) {
    self.memory = memory
    self.pool = pool
    self.ring = ring
    self.counters = counters
    self.streams = streams
    self.alerts = alerts
  }

  private static let health = Schema.object([.init("status", .string)])

  package var all: [Route] {
    [
      Route("/livez", summary: "Whether the process answers.", scope: .open, answer: Self.health) {
        _, _, _ in Self.status("alive")
      },
      Route(
        "/readyz", summary: "Whether quotes are loaded.", scope: .open, answer: Self.health,
        problems: [.serviceUnavailable]
      ) { _, _, _ in
        let state = memory.state
        if !state.isLoaded { throw Problem.storeAway }
        return Self.status(state.lostAt == nil ? "ready" : "stale")
      },
      Route(
        "/metrics", summary: "Metrics in Prometheus's text format.", scope: .open,
        answer: .string, contentType: "text/plain; version=0.0.4"
      ) { _, _, _ in
        Answer(
          json: Array(GatewayMetrics.families.exposition(of: report()).utf8),
          caching: "no-store",
          contentType: "text/plain; version=0.0.4")
      },
    ]
  }

  private static func status(_ text: String) -> Answer {
    Answer(json: Array("{\"status\":\"\(text)\"}".utf8), caching: "no-store")
  }

  private func report() -> GatewayReport {
    GatewayReport(
      state: memory.state, ring: ring.size, waiting: pool.waiting, requests: counters.all,
      streams: streams?.connections.open ?? 0, alerts: alerts?.armedCount ?? 0,
      notices: alerts?.writtenCount ?? 0)
  }

  /// The document of a table, itself included.
  package static func describing(_ routes: [Route]) -> Route {
    let path = "/v1/openapi.json"
    let summary = "This API as an OpenAPI 3.1 document."
    let placeholder = Route(path, summary: summary, scope: .open, answer: .object([])) { _, _, _ in
      throw Problem.notFound
    }
    let document = OpenAPI.document(of: routes + [placeholder], version: "1")
    let answer = Answer(tagging: document, caching: "public, max-age=300")
    return Route(path, summary: summary, scope: .open, answer: .object([])) { _, _, _ in answer }
  }
}

/// What the page of metrics is made from.
struct GatewayReport: Sendable {
  let state: MarketState
  let ring: (bytes: Int, updates: Int)
  let waiting: Int
  let requests: [RequestCounters.Key: Int64]
  let streams: Int
  /// That wait to fire.
  let alerts: Int
  /// That this gateway wrote.
  let notices: Int64
}

enum GatewayMetrics {
  /// Paths of the table, and the statuses that are answered.
  private static let requestSeriesMax = 500

  static let families: [MetricFamily<GatewayReport>] = [
    MetricFamily(
      .counter, name: "candled_gateway_requests_total",
      help: "HTTP requests by path of the route and status of the answer.",
      labels: MetricLabels(["path", "status"], atMost: requestSeriesMax)
    ) { report in
      report.requests.map {
        MetricSeries([$0.key.path, String($0.key.status)], value: .integer($0.value))
      }.sorted { $0.labels.lexicographicallyPrecedes($1.labels) }
    },
    MetricFamily(
      .gauge, name: "candled_gateway_streams", help: "WebSockets and event streams that are open."
    ) { .integer(Int64($0.streams)) },
    MetricFamily(
      .gauge, name: "candled_gateway_alerts_armed", help: "Alerts of all users that wait to fire."
    ) { .integer(Int64($0.alerts)) },
    MetricFamily(
      .counter, name: "candled_gateway_notifications_total",
      help: "Notifications that this gateway wrote: what alerts fired, or withdrew."
    ) { .integer($0.notices) },
    MetricFamily(
      .gauge, name: "candled_gateway_feed_seq", help: "Last change of the feed that is served."
    ) { .integer($0.state.seq) },
    MetricFamily(
      .gauge, name: "candled_gateway_stale",
      help: "1 while PostgreSQL cannot be reached or no daemon leads."
    ) { .flag($0.state.lostAt != nil) },
    MetricFamily(
      .gauge, name: "candled_gateway_stocks", help: "Series with a quote in memory."
    ) { .integer(Int64($0.state.stocks.count { $0 != nil })) },
    MetricFamily(
      .gauge, name: "candled_gateway_ring_bytes", help: "Memory of the messages of the feed."
    ) { .integer(Int64($0.ring.bytes)) },
    MetricFamily(
      .gauge, name: "candled_gateway_queries_waiting",
      help: "Requests that wait for a connection to PostgreSQL."
    ) { .integer(Int64($0.waiting)) },
  ]
}
