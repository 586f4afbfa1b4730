import Commits
import Market
import Store
import TestSupport
import Testing

@testable import Postgres

/// Who leads, and that nobody else writes. Time is the database's: a lease is made to run out by
/// setting its row's clock back, never by waiting.
@Suite struct LeaseTests {
  private let database: StoreDatabase

  init() throws { database = try StoreDatabase() }

  private static let milliseconds: Int64 = 60_000

  private func asker(_ holder: String, host: String = "here") -> LeaseConnection {
    LeaseConnection(
      url: database.url, holder: holder, host: host, milliseconds: Self.milliseconds)
  }

  private func taken(_ response: LeaseAttempt) throws -> Lease {
    guard case .taken(let lease, _) = response else {
      throw TestFailure(sentence: "The lease was not given: \(response).")
    }
    return lease
  }

  private func expire() throws {
    try database.execute(
      "update candled.lease set expires_at = clock_timestamp() - interval '1 second'")
  }

  private func writer(_ lease: Lease) async throws -> StoreWriter {
    let writer = StoreWriter(url: database.url, lease: lease)
    try await writer.connect()
    try await writer.takeUp(at: try await writer.load().position)
    return writer
  }

  @Test func `the first who asks leads, and the second learns who does`() throws {
    let lease = try taken(asker("a").take())
    #expect(lease == Lease(term: 1, holder: "a", milliseconds: Self.milliseconds))
    guard case .held(let row) = try asker("b", host: "there").take() else {
      Issue.record("two daemons lead")
      return
    }
    #expect(row.term == 1 && row.holder == "a" && row.host == "here")
    #expect(row.microsecondsLeft > 0 && row.microsecondsLeft <= Self.milliseconds * 1000)
  }

  @Test func `a lease that has run out is taken, and its holder learns it`() throws {
    let (first, second) = (asker("a"), asker("b"))
    let old = try taken(first.take())
    try expire()
    let new = try taken(second.take())
    #expect(new.term == old.term + 1 && new.holder == "b")
    let error = #expect(throws: StoreError.self) { try first.renew(old) }
    #expect(error?.code == .leaseLost)
  }

  @Test func `a lease that has run out but was not taken is renewed in the same term`() throws {
    let holder = asker("a")
    let lease = try taken(holder.take())
    try expire()
    try holder.renew(lease)
    guard case .held(let row) = try asker("b").take() else {
      Issue.record("a renewed lease was taken")
      return
    }
    #expect(row.term == lease.term)
  }

  @Test func `a restarted daemon takes its own lease up at once, in a new term`() throws {
    let old = try taken(asker("a").take())
    let new = try taken(asker("a").take())
    #expect(new.term == old.term + 1)
    // The same identity on another machine is a copied folder: it waits like everybody.
    guard case .held = try asker("a", host: "there").take() else {
      Issue.record("a copied identity leads")
      return
    }
  }

  @Test func `a lease given up is taken at once, and only by its holder given up`() throws {
    let (first, second) = (asker("a"), asker("b"))
    let old = try taken(first.take())
    try first.release(old)
    let new = try taken(second.take())
    try first.release(old)
    guard case .held(let row) = try first.take() else {
      Issue.record("a lease was given up by a stranger")
      return
    }
    #expect(row.term == new.term)
  }

  @Test func `every change holds its term, and every term its holder and its beginning`()
    async throws
  {
    var samples = StoreSamples(seed: 1)
    let first = try await writer(taken(asker("a").take()))
    _ = try await first.commit(samples.minute(0, position: 5, instruments: 3))
    try expire()
    let second = try await writer(taken(asker("b").take()))
    _ = try await second.commit(samples.minute(1, position: 9, instruments: 3))
    #expect(
      try database.execute("select seq, term, position from candled.change order by seq")
        == [["1", "1", "5"], ["2", "2", "9"]])
    let leaders = try database.execute(
      "select term, holder, state, from_journal, from_position, position from candled.leaders"
        + " order by term")
    #expect(
      leaders == [["1", "a", "over", "", "0", "0"], ["2", "b", "leads", "a", "5", "5"]])
    #expect(try database.value("select journal from candled.journal_position") == "b")
  }

  @Test func `a leader whose lease was taken writes nothing, over old and new connections`()
    async throws
  {
    var samples = StoreSamples(seed: 2)
    let stale = try await writer(taken(asker("a").take()))
    try expire()
    // Its session is ended by the takeover, as that of a daemon which sleeps in a transaction.
    let lease = try taken(asker("b").take())
    let commit = samples.minute(0, position: 5, instruments: 3)
    let cut = await #expect(throws: StoreError.self) { try await stale.commit(commit) }
    #expect(cut?.code == .connectionLost)
    let again = await #expect(throws: StoreError.self) { try await stale.connect() }
    #expect(again?.code == .leaseLost)
    #expect(try database.value("select count(*) from candled.change") == "0")
    let fresh = try await writer(lease)
    _ = try await fresh.commit(commit)
    #expect(try database.value("select term from candled.change") == "2")
  }

  @Test func `a writer without a lease serves until a term begins`() async throws {
    var samples = StoreSamples(seed: 3)
    let writer = try await freshWriter(database)
    _ = try await writer.commit(samples.minute(0, position: 1, instruments: 3))
    // Without the takeover's own means, so that the fence is all there is.
    try database.execute("update candled.lease set term = 1, holder = 'a'")
    let commit = samples.minute(1, position: 2, instruments: 3)
    let error = await #expect(throws: StoreError.self) { try await writer.commit(commit) }
    #expect(error?.code == .leaseLost)
    #expect(try database.value("select count(*) from candled.change") == "1")
  }

  @Test func `a new journal goes on behind the stored position, and says from where`()
    async throws
  {
    var samples = StoreSamples(seed: 4)
    let first = try await writer(taken(asker("a").take()))
    _ = try await first.commit(samples.minute(0, position: 5, instruments: 3))
    try expire()
    let second = StoreWriter(url: database.url, lease: try taken(asker("b").take()))
    try await second.connect()
    let stored = try await second.load()
    #expect(stored.journal == "a" && stored.position == JournalPosition(5))
    try await second.takeUp(at: JournalPosition(40))
    _ = try await second.commit(samples.minute(1, position: 41, instruments: 3))
    let after = try await second.load()
    #expect(after.journal == "b" && after.position == JournalPosition(41))
    #expect(
      try database.execute(
        "select from_journal, from_position, position from candled.lease_term where term = 2")
        == [["a", "5", "40"]])
  }

  @Test func `the daemon's role may lead, a reader may only look`() throws {
    let daemon = LeaseConnection(
      url: database.url(role: "candled"), holder: "a", host: "here",
      milliseconds: Self.milliseconds)
    let lease = try taken(daemon.take())
    try daemon.renew(lease)
    let reader = LeaseConnection(
      url: database.url(role: "candled_reader"), holder: "b", host: "there",
      milliseconds: Self.milliseconds)
    let error = #expect(throws: StoreError.self) { try reader.take() }
    #expect(error?.code == .operatorNeeded && error?.sqlState == "42501")
    let renewal = #expect(throws: StoreError.self) { try reader.renew(lease) }
    #expect(renewal?.sqlState == "42501")
    #expect(
      try SQLProbe.run(
        "select term, holder, state from candled.leaders",
        url: database.url(role: "candled_reader")) == [["1", "a", "leads"]])
  }
}

/// What a test cannot go on without.
struct TestFailure: Error { var sentence: String }
