import Commits
import Market
import Synchronization
import TestSupport
import Testing

@testable import Postgres
@testable import Store

/// A clock that moves when somebody pauses, or when a connect takes its time.
private final class SteppedClock: Sendable {
  private let time = Atomic<Int64>(5_000_000_000)
  var now: Int64 { time.load(ordering: .relaxed) }
  func pass(_ microseconds: Int64) { time.wrappingAdd(microseconds, ordering: .relaxed) }
}

@Suite struct ConnectGateTests {
  private let clock: SteppedClock
  private let gate: ConnectGate

  init() {
    let clock = SteppedClock()
    self.clock = clock
    gate = ConnectGate(now: { clock.now }, pause: { clock.pass($0) })
  }

  private static let second: Int64 = 1_000_000

  /// - Returns: when the attempt was made.
  private func attempt(_ session: ConnectGate.Session, lasts: Int64 = 0) throws -> Int64 {
    try gate.pass(session) { () throws(StoreError) in
      defer { clock.pass(lasts) }
      return clock.now
    }
  }

  @Test func `sessions that lost their connection at once are back at once`() throws {
    let start = clock.now
    #expect(try attempt(.lease) == start)
    #expect(try attempt(.writer) == start)
  }

  @Test func `an attempt is made a second after the last one's end, not its beginning`() throws {
    let start = clock.now
    #expect(try attempt(.writer, lasts: 5 * Self.second) == start)
    #expect(try attempt(.writer) == start + 6 * Self.second)
  }

  @Test func `who has not tried for a second is not kept waiting by the other`() throws {
    _ = try attempt(.lease)
    clock.pass(Self.second / 2)
    _ = try attempt(.lease)
    let now = clock.now
    #expect(try attempt(.writer) == now)
  }

  @Test func `an attempt that failed counts`() throws {
    let start = clock.now
    let away = StoreError(.connectionLost, message: "away", context: "test")
    #expect(throws: away) {
      try gate.pass(.writer) { () throws(StoreError) -> Int in throw away }
    }
    #expect(try attempt(.writer) == start + Self.second)
  }

  @Test func `two of a kind share one turn`() throws {
    let inner = try gate.pass(.writer) { () throws(StoreError) in
      let begun = clock.now
      return (begun, try gate.pass(.writer) { () throws(StoreError) in clock.now })
    }
    #expect(inner.1 == inner.0 + Self.second)
  }

  @Test func `no second sees more than two attempts, and nobody waits longer than one`() throws {
    let seed = UInt64.random(in: .min ... .max)
    var random = SplitMix(seed: seed)
    var attempts: [Int64] = []
    for _ in 0..<20_000 {
      let session: ConnectGate.Session = Bool.random(using: &random) ? .writer : .lease
      // Bursts, with a silence now and then.
      if Int.random(in: 0..<8, using: &random) == 0 {
        clock.pass(.random(in: 0...3 * Self.second, using: &random))
      }
      let asked = clock.now
      let lasts = Int64.random(in: 0...Self.second / 4, using: &random)
      let made = try attempt(session, lasts: lasts)
      #expect(made - asked <= Self.second, "seed \(seed)")
      attempts.append(made)
    }
    for (third, first) in zip(attempts.dropFirst(2), attempts) {
      #expect(third - first >= Self.second, "seed \(seed)")
    }
  }

  @Test func `every session has its share of two connects a second`() {
    #expect(ConnectGate.turnMicroseconds == Self.second)
    #expect(ConnectGate.Session.allCases.count == ConnectGate.attemptsPerSecondMax)
  }

  @Test func `the writer's and the lease's connections pass it`() async throws {
    let database = try StoreDatabase()
    let start = clock.now
    let lease = LeaseConnection(
      url: database.url, holder: "a", host: "here", milliseconds: 60_000, gate: gate)
    _ = try lease.take()
    lease.disconnect()
    _ = try lease.take()
    #expect(clock.now == start + Self.second)
    let writer = StoreWriter(url: database.url, gate: gate)
    try await writer.connect()
    try await writer.connect()
    #expect(clock.now == start + 2 * Self.second)
  }

  @Test func `a load that was cut short can be made again over the same connection`() async throws {
    let database = try StoreDatabase()
    let session = try WriterSession(url: database.url)
    try database.execute("alter table candled.quote rename to quote_away")
    #expect(throws: StoreError.self) { try session.load() }
    try database.execute("alter table candled.quote_away rename to quote")
    #expect(try session.load().quotes.isEmpty)
  }
}
