import AppStore
import Dispatch
import Market
import Platform
import Postgres
import TestSupport
import Testing

@testable import Gateway
@testable import Reader

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

  @Test("a query takes one core, and the coverage of a day is planned for that day")
  func plans() async throws {
    let fixture = try await ServedFixture()
    let reader = try StoreReader(
      url: fixture.database.url, application: "test", statementSecondsMax: 10)
    // From the sixth time on PostgreSQL takes a plan for all days.
    for _ in 1...8 { #expect(try reader.coverage(day: StoreSamples.day).rows.count == 3) }
    let plans = try reader.connection.execute(
      """
      select custom_plans, generic_plans, current_setting('max_parallel_workers_per_gather')
      from pg_prepared_statements
      where name = 'query_coverage'
      """, context: "test"
    ).textRows
    #expect(plans == [["8", "0", "0"]])
  }

  @Test("a client's parallel queries never keep another's waiting", arguments: [16, 40])
  func dearest(parallel: Int) async throws {
    let pool = QueryPool(url: try StoreDatabase().url, log: quietLog)
    let (running, go) = (Locked(0), DispatchSemaphore(value: 0))
    let served = Locked(0)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<parallel {
        group.addTask {
          await AccessKey.$current.withValue(.user(1)) {
            // Those that find 32 waiting are refused.
            try? await pool.run { _ in
              running.withLock { $0 += 1 }
              go.wait()
            }
          }
        }
      }
      while running.withLock({ $0 }) < 2 { await Task.yield() }
      for client in [AccessKey.user(2), .address([192, 0, 2, 1])] {
        try await AccessKey.$current.withValue(client) {
          try await pool.run { _ in served.withLock { $0 += 1 } }
        }
      }
      #expect(running.withLock { $0 } == 2 && served.withLock { $0 } == 2)
      for _ in 0..<parallel { go.signal() }
      try await group.waitForAll()
    }
  }
}

@Suite struct TurnQueueTests {
  private typealias Queue = TurnQueue<String, Int>

  private func enter(_ names: [String], of client: AccessKey?, to queue: inout Queue) -> Int {
    names.count { queue.enter($0, of: client) }
  }

  private func start(_ queue: inout Queue) -> [String] {
    var started: [String] = []
    while let next = queue.next() { started.append(next.request) }
    return started
  }

  @Test func `a client has half of the resources at most`() {
    var queue = Queue([1, 2, 3, 4], waitingMax: 64)
    #expect(enter(["a", "b", "c"], of: .user(1), to: &queue) == 3)
    #expect(start(&queue) == ["a", "b"] && queue.waiting == 1)
    #expect(enter(["x"], of: .user(2), to: &queue) == 1)
    #expect(start(&queue) == ["x"])
    queue.leave(1, of: .user(1))
    #expect(start(&queue) == ["c"])
  }

  @Test func `what many wait for alike begins one after the other`() {
    var queue = Queue([1, 2, 3, 4], waitingMax: 64)
    #expect(enter(["a", "b", "c"], of: .everybody, to: &queue) == 3)
    #expect(start(&queue) == ["a"])
    #expect(enter(["x"], of: .user(1), to: &queue) == 1)
    #expect(start(&queue) == ["x"])
    queue.leave(4, of: .everybody)
    #expect(start(&queue) == ["b"])
  }

  @Test func `clients take turns, however many each has waiting`() {
    var queue = Queue([1], waitingMax: 64)
    for client in 1...3 {
      let names = (1...4).map { "\(client).\($0)" }
      #expect(enter(names, of: .user(Int64(client)), to: &queue) == 4)
    }
    var order = start(&queue)
    #expect(order == ["1.1"])
    #expect(enter(["new"], of: .address([1]), to: &queue) == 1)
    while let last = order.last, queue.waiting > 0 {
      queue.leave(1, of: last == "new" ? .address([1]) : Int64(last.prefix(1)).map(AccessKey.user))
      order += start(&queue)
    }
    // Who came last waits for one of each.
    #expect(
      order.prefix(8) == ["1.1", "2.1", "3.1", "1.2", "new", "2.2", "3.2", "1.3"])
    #expect(order.count == 13)
  }

  @Test func `a resource that broke is taken when no other is idle`() {
    var queue = Queue([1, 2, 3], waitingMax: 4)
    func take(_ name: String) -> Int? {
      guard queue.enter(name, of: nil) else { return nil }
      return queue.next()?.resource
    }
    #expect(take("a") == 3)
    queue.leave(3, of: nil, isBroken: true)
    #expect(["b", "c", "d"].map(take) == [2, 1, 3])
    queue.leave(3, of: nil)
    #expect(take("e") == 3)
  }

  @Test func `what waits is bounded, and what can begin at once needs no place`() {
    var queue = Queue([1, 2], waitingMax: 2)
    #expect(enter(["a", "b", "c"], of: .user(1), to: &queue) == 1)
    #expect(start(&queue) == ["a"])
    #expect(enter(["b", "c"], of: .user(1), to: &queue) == 1)
    #expect(enter(["x", "y"], of: .user(2), to: &queue) == 1)
    #expect(start(&queue) == ["x"])
    #expect(enter(["y"], of: .user(2), to: &queue) == 1)
    #expect(enter(["z"], of: nil, to: &queue) == 0)
    queue.leave(1, of: .user(1))
    #expect(start(&queue) == ["b"])
  }
}
