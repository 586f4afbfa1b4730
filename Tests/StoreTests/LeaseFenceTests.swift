import CPostgres
import Commits
import Market
import Postgres
import Store
import TestSupport
import Testing

/// The fence under fire: a commit and a takeover at the same moment, in every order the seed finds.
@Suite struct LeaseFenceTests {
  private struct Contender: Sendable {
    let writer: StoreWriter
    let lease: Lease
  }

  private let database: StoreDatabase

  init() throws { database = try StoreDatabase() }

  private func contender(_ holder: String) async throws -> (Contender, JournalPosition) {
    let asker = LeaseConnection(
      url: database.url, holder: holder, host: "here", milliseconds: 60_000)
    try database.execute(
      "update candled.lease set expires_at = clock_timestamp() - interval '1 second'")
    guard case .taken(let lease, _) = try asker.take() else {
      throw TestFailure(sentence: "The lease was not given.")
    }
    let writer = StoreWriter(url: database.url, lease: lease)
    try await writer.connect()
    let position = try await writer.load().position
    try await writer.takeUp(at: position)
    return (Contender(writer: writer, lease: lease), position)
  }

  /// Commits until the lease is lost.
  /// - Returns: the positions that were reported stored.
  private func commitOn(
    _ contender: Contender, from position: JournalPosition, seed: UInt64
  ) async -> [Int64] {
    var samples = StoreSamples(seed: seed)
    var stored: [Int64] = []
    var place = position.sequence + 1
    while true {
      let commit = samples.minute(Int(place % 200), position: place, instruments: 2)
      do throws(StoreError) {
        _ = try await contender.writer.commit(commit)
        stored.append(place)
        place += 1
      } catch {
        if error.code == .leaseLost { return stored }
        do throws(StoreError) {
          try await contender.writer.connect()
        } catch {
          if error.code == .leaseLost { return stored }
        }
      }
    }
  }

  @Test func `no commit of an earlier term is stored behind a later one, whoever is quicker`()
    async throws
  {
    let seed = UInt64.random(in: .min ... .max)
    var random = SplitMix(seed: seed)
    var acknowledged: Set<Int64> = []
    var (current, position) = try await contender("0")
    for round in 1...15 {
      let (leader, start) = (current, position)
      async let commits = commitOn(leader, from: start, seed: seed &+ UInt64(round))
      let pause = Int.random(in: 0..<30_000, using: &random)
      try await Task.sleep(nanoseconds: UInt64(pause) * 1000)
      // While the other is anywhere in its transaction.
      (current, position) = try await contender("\(round)")
      let found = position.sequence
      let stored = await commits
      #expect(stored.allSatisfy { $0 <= found }, "seed \(seed)")
      acknowledged.formUnion(stored)
    }
    try #require(!acknowledged.isEmpty, "seed \(seed)")
    let changes = try database.execute(
      "select seq, term, position from candled.change order by seq")
    let terms = changes.compactMap { $0[1].flatMap(Int64.init) }
    let positions = changes.compactMap { $0[2].flatMap(Int64.init) }
    #expect(terms.count == changes.count && terms == terms.sorted(), "seed \(seed)")
    #expect(positions == positions.sorted() && Set(positions).count == positions.count)
    #expect(acknowledged.isSubset(of: positions), "seed \(seed)")
    #expect(
      try database.value(
        "select count(*) from candled.change c left join candled.lease_term t using (term)"
          + " where t.term is null") == "0")
  }

  /// A transaction that has taken the term and does not end, like that of a daemon which was
  /// stopped before its commit.
  private func holdingTerm(as application: String) throws -> OpenTransaction {
    let session = try OpenTransaction(url: database.url + " application_name='\(application)'")
    session.run("select term from candled.lease for key share")
    return session
  }

  @Test func `a commit under way does not hold up the renewal`() async throws {
    let (leader, _) = try await contender("a")
    let commit = try holdingTerm(as: "candled writer")
    defer { commit.end() }
    let asker = LeaseConnection(
      url: database.url, holder: "a", host: "here", milliseconds: Self.shortMilliseconds)
    // It would fail with lock_not_available, not wait.
    try asker.renew(leader.lease)
  }

  @Test func `a takeover waits for a commit under way, and ends one that never does`()
    async throws
  {
    _ = try await contender("a")
    let unknownSymbol = try holdingTerm(as: "somebody")
    try database.execute("update candled.lease set expires_at = '-infinity'")
    let asker = LeaseConnection(
      url: database.url, holder: "b", host: "here", milliseconds: Self.shortMilliseconds)
    let error = #expect(throws: StoreError.self) { try asker.take() }
    #expect(error?.sqlState == "55P03" && error?.isTransient == true)
    unknownSymbol.end()
    let stopped = try holdingTerm(as: "candled writer")
    guard case .taken(let lease, let before) = try asker.take() else {
      Issue.record("a stopped daemon keeps the lead")
      return
    }
    #expect(before.holder == "a" && lease.term == before.term + 1)
    stopped.end()
  }

  private static let shortMilliseconds: Int64 = 3_000
}

/// A session of its own with a transaction that is open.
private final class OpenTransaction {
  private let handle: OpaquePointer?

  init(url: String) throws {
    handle = PQconnectdb(url)
    guard PQstatus(handle) == CONNECTION_OK else {
      throw TestFailure(sentence: "Cannot connect.")
    }
    run("begin")
  }

  deinit { PQfinish(handle) }

  func run(_ sql: String) { PQclear(PQexec(handle, sql)) }

  func end() { run("rollback") }
}
