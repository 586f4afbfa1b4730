import Market
import Transport

/// What an engine has done and how it stands: the counts behind the metrics, `/status`, the STATUS
/// line and the terminal view. Each account is filled by one part of the engine.
package struct EngineStatus: Sendable {
  package var quotes = QuotesAccount()
  package var commits = CommitAccount()
  package var store = StoreAccount()
  package var journal = JournalAccount()
  package var clock = ClockAccount()
}

/// Live quotes: what was requested, and what came back.
package struct QuotesAccount: Sendable {
  package var sweeps = 0
  package var lastSweepAt: Timestamp?
  /// Simulated seconds of the last sweeps, newest last.
  private var sweepMoments: [Timestamp] = []
  /// Real time of the last answer.
  package var lastResponseAt: Timestamp?
  /// Changes of the source that serves, by the one that serves since.
  package var failovers: [Source: Int] = [:]
  package var transportFaults: [TransportError.Code: Int] = [:]

  /// Sweeps completed in the minute before `now`.
  package func sweepsInLastMinute(at now: Timestamp) -> Int {
    sweepMoments.count { $0 > now.adding(seconds: -60) }
  }

  mutating func sweepCompleted(at now: Timestamp) {
    sweeps += 1
    lastSweepAt = now
    sweepMoments.append(now)
    if sweepMoments.count > QuotesAccount.sweepMomentsMax { sweepMoments.removeFirst() }
  }

  /// A minute of sweeps at the shortest cadence a source publishes in.
  private static let sweepMomentsMax = 64

  mutating func failed(_ code: TransportError.Code) {
    transportFaults[code, default: 0] += 1
  }
}
