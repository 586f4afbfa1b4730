/// How the broker does, for metrics.
package struct BrokerFigures: Sendable, Hashable {
  /// nil while another leads.
  package var term: Int64?
  package var openOrders = 0
  package var steps = 0
  /// How long the last step took.
  package var stepDuration = Duration.zero
  /// Up to which change of the feed quotes were looked at; nil while none are needed.
  package var quoteSequence: Int64?
  /// How far the daemon's clock is ahead, where it is followed.
  package var clockOffsetMicroseconds: Int64 = 0

  package init() {}

  package mutating func note(_ step: BrokerStep, openOrders: Int, took duration: Duration) {
    self.openOrders = openOrders
    steps += 1
    stepDuration = duration
  }
}
