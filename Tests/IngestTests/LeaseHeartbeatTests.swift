import Commits
import Logging
import Operations
import Platform
import TestSupport
import TestTraits
import Testing

@testable import Ingest
@testable import Postgres
@testable import Store

@Suite(.ownThread) struct LeaseHeartbeatTests {
  @Test func `a lease that waits for its database counts as alive, and beats when it has it`()
    async throws
  {
    let database = try StoreDatabase()
    let steady = Locked<Int64>(0)
    let heartbeats = Heartbeats { steady.withLock { $0 } }
    let loop = heartbeats.begin("lease", ageSecondsMax: 30)
    // The turn that was had just now makes the lease wait, in the midst of asking.
    let gateClock = Locked<Int64>(0)
    let found = Locked<[[String]]>([])
    let gate = ConnectGate(
      now: { gateClock.withLock { $0 } },
      pause: { microseconds in
        steady.withLock { $0 += 100_000_000_000 }
        found.withLock { $0.append(heartbeats.stale()) }
        gateClock.withLock { $0 += microseconds }
      })
    try gate.pass(.lease) {}
    let leadership = Leadership(
      url: database.url, holder: "a", lease: .seconds(60), gate: gate,
      log: Logger(label: "lease", factory: { _ in SwiftLogNoOpLogHandler() }))
    let term = try await leadership.lead(loop, waiting: { _ in }, away: { _ in })
    #expect(term?.0.term == 1)
    let stale = found.withLock { $0 }
    #expect(!stale.isEmpty && stale.allSatisfy(\.isEmpty), "\(stale)")
    steady.withLock { $0 += 31_000_000_000 }
    #expect(heartbeats.stale() == ["lease"])
  }
}
