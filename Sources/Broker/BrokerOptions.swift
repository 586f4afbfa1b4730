/// How a broker is run, and how it does.

import AppStore
import Glibc
import Market

package struct BrokerOptions: Sendable {
  /// A libpq URL or keyword string of a member of `candled_app`.
  package var url: String
  /// Who leads, for people: the machine and the process.
  package var holder: String
  /// Instead of the database server's clock, in tests.
  package var clock: (@Sendable () -> Timestamp)?
  /// Of a simulated market: then the exchange's clock is the daemon's, not the server's.
  package var followsDaemonClock = false
  /// So many inputs of the fill model may be in no checkpoint before the oldest are put into one: a
  /// few sweeps of 1,000 instruments.
  package var uncoveredInputsMax = BrokerOptions.uncoveredInputsMax
  package static let uncoveredInputsMax: Int64 = 4_096

  /// The machine's name and the process.
  package static var thisProcess: String {
    var bytes = [CChar](repeating: 0, count: hostBytesMax)
    let isKnown = gethostname(&bytes, bytes.count - 1) == 0
    let host = bytes.prefix { $0 != 0 }.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    return "\(isKnown ? host : "unknown") \(getpid())"
  }

  private static let hostBytesMax = 256

  package init(url: String, holder: String, clock: (@Sendable () -> Timestamp)? = nil) {
    self.url = url
    self.holder = holder
    self.clock = clock
  }
}

/// How the broker does, for metrics.
package struct BrokerFigures: Sendable, Hashable {
  /// nil while another leads.
  package var term: Int64?
  package var openOrders = 0
  package var steps = 0
  package var commands = 0
  /// Of them.
  package var refused = 0
  package var fills = 0
  /// Of the last step.
  package var stepDuration = Duration.zero
  /// Up to which change of the feed quotes were looked at; nil while none are needed.
  package var quoteSequence: Int64?
  /// By which the daemon's clock is ahead, where it is followed.
  package var clockOffsetMicroseconds: Int64 = 0

  mutating func note(_ step: BrokerStep, openOrders: Int, took duration: Duration) {
    self.openOrders = openOrders
    steps += 1
    commands += step.outcomes.count
    refused += step.outcomes.count { !$0.outcome.isDone }
    fills += step.fills.count
    stepDuration = duration
  }
}
