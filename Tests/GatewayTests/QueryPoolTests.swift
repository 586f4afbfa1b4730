import AppStore
import Dispatch
import Market
import Platform
import TestSupport
import Testing

@testable import Gateway

@Suite struct QueryPoolTests {
  @Test("one client takes half of the places that wait for a connection, not all")
  func fairness() async throws {
    let pool = QueryPool(url: try StoreDatabase().url, connections: 1, waitingMax: 4, log: quietLog)
    let (hasBegun, go) = (Locked(false), DispatchSemaphore(value: 0))
    let (greedy, other) = (AccessKey.user(1), AccessKey.address([192, 0, 2, 1]))
    try await withThrowingTaskGroup(of: Void.self) { group in
      func ask(as client: AccessKey) {
        group.addTask {
          try await AccessKey.$current.withValue(client) { try await pool.run { _ in } }
        }
      }
      group.addTask {
        try await pool.run { _ in
          hasBegun.withLock { $0 = true }
          go.wait()
        }
      }
      while !hasBegun.withLock({ $0 }) { await Task.yield() }
      for count in 1...2 {
        ask(as: greedy)
        while pool.waiting < count { await Task.yield() }
      }
      await #expect(throws: StoreError.self) {
        try await AccessKey.$current.withValue(greedy) { try await pool.run { _ in } }
      }
      for count in 3...4 {
        ask(as: other)
        while pool.waiting < count { await Task.yield() }
      }
      await #expect(throws: StoreError.self) { try await pool.run { _ in } }
      go.signal()
      try await group.waitForAll()
    }
  }
}
