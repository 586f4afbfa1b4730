import Market

/// How the broker does, for metrics.
package struct BrokerFigures: Sendable, Hashable {
  /// nil while another leads.
  package var term: Int64?
  package var openOrders = 0
  /// How long it took to decide what a step does.
  package var decisions = MetricHistogram()
  /// How long it took to store a step.
  package var steps = MetricHistogram()
  /// Up to which change of the feed quotes were looked at; nil while none are needed.
  package var quoteSequence: Int64?
  /// How far the daemon's clock is ahead, where it is followed.
  package var clockOffsetMicroseconds: Int64 = 0

  package init() {}
}
