/// The gateway's metrics, and what they are made from.

import AppStore
import Market
import Operations

/// What the page of metrics is made from.
struct GatewayReport: Sendable {
  let state: MarketState
  let waiting: Int
  let requests: RequestCounters.Figures
  /// nil: a gateway of the market alone.
  let streams: StreamConnections?
  /// That wait to fire.
  let alerts: Int
  /// Requests that wait for the broker.
  let commands: Int
  /// nil: this gateway calls none.
  let webhooks: Webhooks.Figures?
  let connections: ConnectionTable.Figures
  /// nil: this gateway has none.
  let broker: BrokerFigures?
  /// Since when the broker has not looked at the oldest commit that it must look at.
  let behindMicroseconds: Int64?
  /// Since when all updates of orders have been passed on.
  let outboxAge: Duration?
  let process: ProcessReport
  let now: Timestamp
}

extension FeedRing {
  /// How long the first commit behind `seq` is there; 0 where there is none, and of one that is no
  /// longer kept as long as commits are.
  func waitedMicroseconds(after seq: Int64, epoch: Int64, at now: Timestamp) -> Int64? {
    switch updates(after: seq, epoch: epoch) {
    case .updates(let updates):
      updates.first.map { max(now.microseconds(since: $0.committedAt), 0) } ?? 0
    case .pastHorizon: Self.secondsMax * 1_000_000
    case .anotherDatabase: nil
    }
  }
}

enum GatewayMetrics {
  /// Paths of the table, and the statuses that are answered.
  private static let requestSeriesMax = 500
  private static let refusalCodesMax = 20

  static let families = [
    serving, webhooks, broker, MetricFamily<GatewayReport>.ofProcess { $0.process },
  ].flatMap { $0 }

  private static let serving: [MetricFamily<GatewayReport>] = [
    MetricFamily(
      .counter, name: "candled_gateway_requests_total",
      help: "HTTP requests by path of the route and status of the answer.",
      labels: MetricLabels(["path", "status"], atMost: requestSeriesMax)
    ) { report in
      report.requests.requests.map {
        MetricSeries([$0.key.path, String($0.key.status)], value: .integer($0.value))
      }.sorted { $0.labels.lexicographicallyPrecedes($1.labels) }
    },
    MetricFamily(
      .histogram, name: "candled_gateway_request_duration_seconds",
      help: "Time from the head of a request to its answer, by class of the route.",
      labels: MetricLabels("class", values: RequestClass.allCases.map(\.rawValue))
    ) { report in
      RequestClass.allCases.compactMap { one in
        report.requests.durations[one].map {
          MetricSeries([one.rawValue], value: .histogram($0))
        }
      }
    },
    MetricFamily(
      .counter, name: "candled_gateway_refusals_total",
      help: "Requests refused for now, with 429 or 503, by code of the problem.",
      labels: MetricLabels(["code"], atMost: refusalCodesMax)
    ) { report in
      report.requests.refusals.sorted { $0.key < $1.key }.map {
        MetricSeries([$0.key], value: .integer($0.value))
      }
    },
    MetricFamily(
      .gauge, name: "candled_gateway_connections", help: "Connections that are open, streams too."
    ) { .integer(Int64($0.connections.connections)) },
    MetricFamily(
      .gauge, name: "candled_gateway_unsent_bytes",
      help: "What clients have not taken: large answers, before compression, and streams.",
      labels: MetricLabels("of", values: ["answers", "streams"])
    ) { report in
      [
        MetricSeries(["answers"], value: .integer(Int64(report.connections.unsentBytes))),
        MetricSeries(["streams"], value: .integer(Int64(report.streams?.unsentBytes ?? 0))),
      ]
    },
    MetricFamily(
      .counter, name: "candled_gateway_limits_reached_total",
      help: "Connections closed and answers refused, by limit.",
      labels: MetricLabels(["limit"], atMost: ConnectionTable.Limit.allCases.count)
    ) { report in
      ConnectionTable.Limit.allCases.map {
        MetricSeries([$0.rawValue], value: .integer(report.connections.reached[$0] ?? 0))
      }
    },
    MetricFamily(
      .gauge, name: "candled_gateway_streams", help: "WebSockets and event streams that are open."
    ) { .integer(Int64($0.streams?.open ?? 0)) },
    MetricFamily(
      .counter, name: "candled_gateway_streams_closed_total",
      help: "Streams that the gateway closed, by the code that a WebSocket is closed with.",
      labels: MetricLabels("code", values: StreamClose.allCases.map { "\($0.rawValue)" })
    ) { report in
      StreamClose.allCases.map {
        MetricSeries(["\($0.rawValue)"], value: .integer(report.streams?.closed[$0] ?? 0))
      }
    },
    MetricFamily(
      .gauge, name: "candled_gateway_alerts_armed", help: "Alerts of all users that wait to fire."
    ) { .integer(Int64($0.alerts)) },
    MetricFamily(
      .gauge, name: "candled_gateway_feed_seq", help: "Last change of the feed that is served."
    ) { .integer($0.state.seq) },
    MetricFamily(
      .gauge, name: "candled_gateway_feed_age_seconds",
      help: "Age of the last commit that is served."
    ) { report in
      report.state.committedAt.map { .microseconds(max(report.now.microseconds(since: $0), 0)) }
    },
    MetricFamily(
      .gauge, name: "candled_gateway_stale",
      help: "1 while PostgreSQL cannot be reached or no daemon leads."
    ) { .flag($0.state.lostAt != nil) },
    MetricFamily(
      .gauge, name: "candled_gateway_queries_waiting",
      help: "Requests that wait for a connection to PostgreSQL."
    ) { .integer(Int64($0.waiting)) },
    MetricFamily(
      .gauge, name: "candled_gateway_commands_waiting",
      help: "Requests of paper trading that wait for the broker's answer, through this gateway."
    ) { .integer(Int64($0.commands)) },
  ]

  private static let webhooks: [MetricFamily<GatewayReport>] = [
    MetricFamily(
      .counter, name: "candled_gateway_webhook_deliveries_total",
      help: "Notifications that this gateway sent to webhooks, by outcome: delivered, or why not.",
      labels: MetricLabels("outcome", values: Webhooks.Figures.outcomes)
    ) { report in
      guard let webhooks = report.webhooks else { return [] }
      return Webhooks.Figures.outcomes.map {
        MetricSeries([$0], value: .integer(webhooks.attempts[$0] ?? 0))
      }
    },
    MetricFamily(
      .gauge, name: "candled_gateway_webhooks_waiting",
      help: "Of the gateway that calls webhooks: those with a notification that is not taken."
    ) { report in report.webhooks?.waiting.map { .integer($0) } },
    MetricFamily(
      .gauge, name: "candled_gateway_webhook_waiting_seconds",
      help: "Of the gateway that calls webhooks: age of the oldest notification not taken."
    ) { report in report.webhooks?.waitingMicroseconds.map { .microseconds($0) } },
    MetricFamily(
      .gauge, name: "candled_gateway_outbox_age_seconds",
      help: "Time since all updates of orders had been passed on to streams; a minute at rest."
    ) { report in report.outboxAge.map { .microseconds(Int64($0 / .microseconds(1))) } },
  ]

  /// Of a gateway without a broker there are none, and while another one's leads few.
  private static let broker: [MetricFamily<GatewayReport>] = [
    MetricFamily(
      .gauge, name: "candled_gateway_broker_leads",
      help: "1 while this gateway executes paper orders; of all gateways one does."
    ) { $0.broker.map { .flag($0.term != nil) } },
    MetricFamily(
      .gauge, name: "candled_gateway_broker_open_orders", help: "Paper orders that are open."
    ) { report in report.leader.map { .integer(Int64($0.openOrders)) } },
    MetricFamily(
      .histogram, name: "candled_gateway_broker_decision_duration_seconds",
      help: "Time to decide what commands, rows and time bring, since this gateway took the lead."
    ) { report in report.leader.map { .histogram($0.decisions) } },
    MetricFamily(
      .histogram, name: "candled_gateway_broker_step_duration_seconds",
      help: "Time to store a step in the database, since this gateway took the lead."
    ) { report in report.leader.map { .histogram($0.steps) } },
    MetricFamily(
      .gauge, name: "candled_gateway_broker_behind_seconds",
      help: "Age of the oldest commit that the broker has not looked at, though it has orders."
    ) { $0.behindMicroseconds.map { .microseconds($0) } },
  ]
}

extension GatewayReport {
  /// The broker, while it leads.
  fileprivate var leader: BrokerFigures? { broker.flatMap { $0.term == nil ? nil : $0 } }
}
