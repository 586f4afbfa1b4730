/// How a broker is run.

import Market
import PaperTrading

package struct BrokerOptions: Sendable {
  /// A libpq URL or keyword string of a member of `candled_app`.
  package var url: String
  /// Who leads, for people: the machine and the process.
  package var holder: String
  /// Instead of the database server's clock, in tests.
  package var clock: (@Sendable () -> Timestamp)?
  /// Instead of the machine's steady one, in microseconds; nil: of `clock`, if there is one.
  package var counter: (@Sendable () -> Int64)?
  /// Of a simulated market: then the exchange's clock is the daemon's, not the server's.
  package var followsDaemonClock = false
  /// The commission of orders that are accepted from now on.
  package var schedule = FeeSchedule.standard
  /// So many inputs of the fill model may be in no checkpoint before the oldest are put into one: a
  /// few sweeps of 1,000 instruments.
  package var uncoveredInputsMax = BrokerOptions.uncoveredInputsMax
  package static let uncoveredInputsMax: Int64 = 4_096

  package init(url: String, holder: String, clock: (@Sendable () -> Timestamp)? = nil) {
    self.url = url
    self.holder = holder
    self.clock = clock
  }
}
