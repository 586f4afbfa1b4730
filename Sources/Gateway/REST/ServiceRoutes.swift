/// What operators ask of the gateway itself, and the description of its API.

import AppStore
import HTTPTypes
import Market
import Operations

package struct ServiceRoutes: Sendable {
  let memory: MarketMemory
  let pool: QueryPool
  let ring: FeedRing
  let counters: RequestCounters
  let parts: Gateway.Parts

  private static let health = Schema.object([.init("status", .string)])

  package var all: [Route] {
    [
      Route("/livez", summary: "Whether the process answers.", scope: nil, answer: Self.health) {
        _ in Self.alive
      },
      Route(
        "/readyz", summary: "Whether quotes are loaded.", scope: nil, answer: Self.health,
        problems: [.serviceUnavailable]
      ) { _ in
        Self.status(try memory.loaded().lostAt == nil ? "ready" : "stale")
      },
      Route(
        "/metrics", summary: "Metrics in Prometheus's text format.", scope: nil,
        answer: .string, contentType: "text/plain; version=0.0.4"
      ) { _ in
        Answer(
          json: Array(GatewayMetrics.families.exposition(of: report()).utf8),
          caching: "no-store",
          contentType: "text/plain; version=0.0.4")
      },
    ]
  }

  static let alive = status("alive")

  private static func status(_ text: String) -> Answer {
    Answer(json: Array("{\"status\":\"\(text)\"}".utf8), caching: "no-store")
  }

  private func report() -> GatewayReport {
    let (state, users, broker) = (memory.state, parts.users, parts.broker?())
    return GatewayReport(
      state: state, waiting: pool.waiting, requests: counters.figures,
      streams: users?.streams.services.connections,
      alerts: users?.alerts.armedCount ?? 0, commands: users?.trading.waiting ?? 0,
      webhooks: users?.webhooks.figures, connections: users?.connections.figures ?? .init(),
      broker: broker,
      behindMicroseconds: broker?.quoteSequence.flatMap { seq in
        ring.waitedMicroseconds(after: min(seq, state.seq), epoch: state.epoch, at: .now)
      }, outboxAge: users?.outbox.age, process: ProcessReport(), now: .now)
  }

  /// The document of a table, itself included.
  package static func describing(_ routes: [Route]) -> Route {
    let path = "/v1/openapi.json"
    let summary = "This API as an OpenAPI 3.1 document."
    let placeholder = Route(path, summary: summary, scope: nil, answer: .object([])) { _ in
      throw Problem.notFound
    }
    let document = OpenAPI.document(of: routes + [placeholder], version: "1")
    let answer = Answer(tagging: document, caching: "public, max-age=300").kept()
    return Route(path, summary: summary, scope: nil, answer: .object([])) { _ in answer }
  }
}
