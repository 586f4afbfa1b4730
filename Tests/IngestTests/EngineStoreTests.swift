import Commits
import Ingest
import Market
import Operations
import Postgres
import Store
import Testing

/// What the engine makes of a store's answers beside taken and lost.
@Suite struct EngineStoreTests {
  /// A store that says of each commit what it is told to, and notes when it was asked.
  private actor ScriptedSink: CommitSink {
    private let response: @Sendable (Int) -> Result<CommitReceipt, StoreError>
    private(set) var moments: [ContinuousClock.Instant] = []

    init(_ response: @escaping @Sendable (Int) -> Result<CommitReceipt, StoreError>) {
      self.response = response
    }

    func commit(_ commit: Commit) throws(StoreError) -> CommitReceipt {
      moments.append(.now)
      return try response(moments.count).get()
    }

    func load() throws(StoreError) -> StoredState {
      throw StoreError(.connectionLost, message: "on order", context: "load")
    }

    func repairCandidates(from day: TradingDay) -> [RepairCandidate] { [] }
  }

  @Test func `rows the store refused and hints it could not give are counted`() async throws {
    let sink = ScriptedSink { attempt in
      var receipt = CommitReceipt(seq: Int64(attempt))
      receipt.refusals.rows = attempt <= 2 ? 3 : 0
      if attempt <= 4 {
        receipt.notifyFault = StoreError(
          .transient, message: "too many notifications", sqlState: "54000", context: "commit end")
      }
      return .success(receipt)
    }
    let run = try EngineRun()
    let engine = try run.engine(sink)
    _ = try await engine.run()
    // Its journal's folder goes with it.
    withExtendedLifetime(run) {}
    let status = await engine.status
    #expect(status.commits.rows.refused == 6)
    #expect(status.commits.notifyFailures == 4)
    #expect(status.commits.notifyFault == nil)
  }

  @Test func `what commits measure is the way of answers, not the time since the last one`()
    async throws
  {
    var run = try EngineRun()
    // From there on minutes are given up by the clock alone.
    run.outages = [(run.start + 120)..<run.end]
    let engine = try run.engine(MemorySink())
    _ = try await engine.run()
    withExtendedLifetime(run) {}
    let status = await engine.status
    let commits = status.commits
    #expect(commits.lag.seconds.count > 0 && commits.lag.seconds.count < commits.count)
  }

  @Test func `the notification queue is known as it was found`() async throws {
    let sink = ScriptedSink { .success(CommitReceipt(seq: Int64($0))) }
    let run = try EngineRun()
    defer { withExtendedLifetime(run) {} }
    let engine = try run.engine(sink)
    let half = ExactDecimal(units: 5, scale: 1)
    await engine.record(NotificationQueue(usage: half))
    #expect(await engine.status.store.notificationQueue == half)
  }

  @Test func `a store that is away is asked twice a second at most`() async throws {
    let sink = ScriptedSink { attempt in
      attempt > 4
        ? .success(CommitReceipt(seq: 1))
        : .failure(StoreError(.connectionLost, message: "on order", context: "commit"))
    }
    let run = try EngineRun()
    let engine = try run.engine(sink)
    _ = try await engine.run()
    // Its journal's folder goes with it.
    withExtendedLifetime(run) {}
    let moments = await sink.moments
    // A lower bound: no machine is too slow for it.
    for (earlier, later) in zip(moments, moments.dropFirst()).prefix(4) {
      #expect(later - earlier >= .milliseconds(500))
    }
    #expect(moments.count > 5)
  }

  /// A store whose second commit is answered when the exchange was asked for the hundredth time;
  /// the next one ends the run.
  private actor SilentStore: CommitSink {
    private let requests: AsyncStream<Int>
    private var engine: Engine?
    private(set) var commits = 0
    /// What the engine says of the second commit before it is answered.
    private(set) var reportedWait: Int64?

    init(_ requests: AsyncStream<Int>) { self.requests = requests }

    func follow(_ engine: Engine) { self.engine = engine }

    func commit(_ commit: Commit) async throws(StoreError) -> CommitReceipt {
      commits += 1
      if commits == 2 {
        for await request in requests where request >= 100 { break }
        reportedWait = await engine?.report(on: []).backlog.commitWaitMicroseconds
      }
      if commits == 3 { engine?.stop() }
      return CommitReceipt(seq: Int64(commits))
    }

    func load() throws(StoreError) -> StoredState {
      throw StoreError(.connectionLost, message: "on order", context: "load")
    }

    func repairCandidates(from day: TradingDay) -> [RepairCandidate] { [] }
  }

  @Test(.timeLimit(.minutes(2)))
  func `a store that does not answer keeps nobody from asking the exchange`() async throws {
    let (requests, inbox) = AsyncStream.makeStream(of: Int.self)
    var run = try EngineRun()
    run.speed = 60
    run.end = 11 * 3600
    run.asked = { inbox.yield($0) }
    let store = SilentStore(requests)
    let engine = try run.engine(store)
    await store.follow(engine)
    let began = ContinuousClock.now
    _ = try await engine.run()
    withExtendedLifetime(run) {}
    #expect(await store.commits > 2)
    let waited = Duration.microseconds(try #require(await store.reportedWait))
    #expect(waited > .zero && waited <= ContinuousClock.now - began)
    #expect(await engine.report(on: []).backlog.commitWaitMicroseconds == nil)
  }

  @Test func `a right that is missing is a fault with a sentence until it is given`() async throws {
    let sink = ScriptedSink { attempt in
      attempt == 1
        ? .failure(
          StoreError(
            .operatorNeeded, message: "permission denied for table candle", sqlState: "42501",
            context: "commit"))
        : .success(CommitReceipt(seq: Int64(attempt)))
    }
    let run = try EngineRun()
    let engine = try run.engine(sink)
    _ = try await engine.run()
    // Its journal's folder goes with it.
    withExtendedLifetime(run) {}
    #expect(await engine.status.store.fault == nil)
    #expect(await sink.moments.count > 1)
  }
}
