/// One look at the whole daemon: `/status`, `/metrics`, `/readyz` and the STATUS line are pure
/// functions of it. To show something new, put it here, or into `EngineStatus` if the engine knows.

import Journal
import Market
import Operations

package struct DaemonReport: Sendable {
  /// Real time.
  package var at: Timestamp
  package var startedAt: Timestamp
  package var role: DaemonRole
  /// nil while no engine runs.
  package var engine: EngineReport?
  package var loops: [Loop] = []
  /// nil before the first.
  package var reload: ReloadOutcome?
  /// nil until the journal is open.
  package var journal: DiskUsage?
  package var process = ProcessReport.none
  package var storeConnects = 0
  /// The moment since which the database cannot be asked for the lease, to take it or to renew it;
  /// nil while it answers.
  package var storeAwaySince: Timestamp?
  /// nil where another server is configured.
  package var privateServer: PrivateServer?
  /// Empty until they were looked at.
  package var disks: [DiskForecast] = []
  /// When the authorities' certificates end by which the hosts of sources are verified.
  package var authorityEnds: [String: Timestamp] = [:]
  /// The last day of a source's key, by the source's name, as configured.
  package var keyEnds: [String: TradingDay] = [:]

  package var staleLoops: [String] { loops.filter(\.isStale).map(\.name) }

  /// A loop that must turn.
  package struct Loop: Sendable, Hashable {
    package var name: String
    package var ageMicroseconds: Int64
    package var isStale: Bool
  }
}
