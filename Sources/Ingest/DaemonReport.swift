/// One look at the whole daemon: `/status`, `/metrics`, `/readyz` and the STATUS line are pure
/// functions of it. To show something new, put it here, or into `EngineStatus` if the engine knows.

import Journal
import Market
import Operations

public struct DaemonReport: Sendable {
  /// Real time.
  public var at: Timestamp
  public var startedAt: Timestamp
  public var role: DaemonRole
  /// nil while no engine runs.
  public var engine: EngineReport?
  public var loops: [Loop] = []
  /// nil before the first.
  public var reload: ReloadOutcome?
  /// nil until the journal is open.
  public var journal: DiskUsage?
  public var process = ProcessReport.none
  public var storeConnects = 0
  public var takeovers = 0
  /// Since when the database cannot be asked for the lease, to take it or to renew it; nil while
  /// it answers.
  public var storeAwaySince: Timestamp?

  /// A loop that must turn.
  public struct Loop: Sendable, Hashable {
    public var name: String
    public var ageMicroseconds: Int64
    public var isStale: Bool

    public init(name: String, ageMicroseconds: Int64, isStale: Bool) {
      self.name = name
      self.ageMicroseconds = ageMicroseconds
      self.isStale = isStale
    }
  }

  public init(
    at: Timestamp, startedAt: Timestamp, role: DaemonRole, engine: EngineReport? = nil
  ) {
    self.at = at
    self.startedAt = startedAt
    self.role = role
    self.engine = engine
  }
}
