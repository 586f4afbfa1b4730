/// The gateway's metrics, and what they are made from.

import AppStore
import Market
import Operations

/// What the page of metrics is made from.
struct GatewayReport: Sendable {
  let state: MarketState
  let waiting: Int
  let requests: [RequestCounters.Key: Int64]
  let streams: Int
  let streamBytes: Int
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

  static let families = serving + webhooks + broker

  private static let serving: [MetricFamily<GatewayReport>] = [
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
      .gauge, name: "candled_gateway_connections", help: "Connections that are open, streams too."
    ) { .integer(Int64($0.connections.connections)) },
    MetricFamily(
      .gauge, name: "candled_gateway_unsent_bytes",
      help: "Large answers that clients have not taken, before compression; with those of streams."
    ) { .integer(Int64($0.connections.unsentBytes + $0.streamBytes)) },
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
    ) { .integer(Int64($0.streams)) },
    MetricFamily(
      .gauge, name: "candled_gateway_alerts_armed", help: "Alerts of all users that wait to fire."
    ) { .integer(Int64($0.alerts)) },
    MetricFamily(
      .gauge, name: "candled_gateway_feed_seq", help: "Last change of the feed that is served."
    ) { .integer($0.state.seq) },
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
      help: "Notifications that this gateway sent to webhooks, by outcome.",
      labels: MetricLabels(["outcome"], atMost: 2)
    ) { report in
      guard let webhooks = report.webhooks else { return [] }
      return [
        MetricSeries(["delivered"], value: .integer(webhooks.delivered)),
        MetricSeries(["failed"], value: .integer(webhooks.failed)),
      ]
    },
    MetricFamily(
      .gauge, name: "candled_gateway_webhook_waiting_seconds",
      help: "Of the gateway that calls webhooks: age of the oldest notification not taken."
    ) { report in report.webhooks?.waitingMicroseconds.map { .microseconds($0) } },
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
      .gauge, name: "candled_gateway_broker_step_seconds",
      help: "Duration of the last step in the database."
    ) { report in
      report.leader.map { .microseconds(Int64($0.stepDuration / .microseconds(1))) }
    },
    MetricFamily(
      .gauge, name: "candled_gateway_broker_behind_seconds",
      help: "Age of the oldest commit that the broker has not looked at, though it has orders."
    ) { $0.behindMicroseconds.map { .microseconds($0) } },
    MetricFamily(
      .counter, name: "candled_gateway_broker_steps_total",
      help: "Steps that were stored since this gateway took the lead."
    ) { report in report.leader.map { .integer(Int64($0.steps)) } },
  ]
}

extension GatewayReport {
  /// The broker, while it leads.
  fileprivate var leader: BrokerFigures? { broker.flatMap { $0.term == nil ? nil : $0 } }
}
