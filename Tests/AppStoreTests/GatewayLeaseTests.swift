import AppStore
import Postgres
import TestSupport
import TestTraits
import Testing

/// Who has the lease, and who finds that another has it.
@Suite(.ownThread) struct GatewayLeaseTests {
  private static let silence = GatewayLease.silenceMillisecondsMax
  private static let beat = GatewayLease.beatMilliseconds
  private let database: AppDatabase

  init() throws { database = try AppDatabase() }

  private func lease(_ role: GatewayLease.Role = .broker) throws -> GatewayLease {
    GatewayLease(role, over: try database.connection())
  }

  @Test func `one gateway has a lease, and each role has its own`() throws {
    var (first, second) = (try lease(), try lease())
    #expect(try first.take(holder: "one", at: 0) && first.term == 1)
    #expect(try !second.take(holder: "two", at: 0) && second.term == nil)
    var other = try lease(.webhooks)
    #expect(try other.take(holder: "two", at: 0))
    let holders = try database.store.execute(
      "select role, term, holder from candled_app.gateway_lease order by role")
    #expect(holders == [["broker", "1", "one"], ["webhooks", "1", "two"]])
  }

  @Test func `a holder whose beats stop loses it, though its session lasts`() throws {
    var (frozen, next) = (try lease(), try lease())
    #expect(try frozen.take(holder: "frozen", at: 0))
    #expect(try !next.take(holder: "next", at: 0))
    try frozen.beat(at: Self.beat)
    for at in [Self.silence, Self.silence * 2 - 1] {
      #expect(try !next.take(holder: "next", at: at), "\(at)")
    }
    #expect(try next.take(holder: "next", at: Self.silence * 2) && next.term == 2)
    #expect(throws: AppStoreError.termIsOver(1)) { try frozen.beat(at: Self.beat * 2) }
    try next.beat(at: Self.silence * 3)
    #expect(try !frozen.take(holder: "frozen", at: Self.silence * 3))
  }

  @Test func `a holder that beats keeps it, for ever`() throws {
    var (holder, next) = (try lease(), try lease())
    #expect(try holder.take(holder: "holder", at: 0))
    for at in stride(from: 0, to: Self.silence * 5, by: Int(Self.beat)) {
      try holder.beat(at: at)
      #expect(try !next.take(holder: "next", at: at))
    }
  }

  /// A sequence that is logged writes once in 32 numbers.
  @Test func `beats write nothing to the log`() throws {
    let quiet = ["wal_level": "minimal", "max_wal_senders": "0", "autovacuum": "off"]
    let store = try StoreDatabase.alone(more: quiet)
    try AppSchema.file.apply(url: store.url)
    let url = store.url(role: DatabaseRole.app)
    var holder = GatewayLease(.broker, over: try AppConnection(url: url, application: "test"))
    #expect(try holder.take(holder: "holder", at: 0))
    let (position, number) = (
      "select pg_current_wal_insert_lsn()", "select last_value from candled_app.broker_beat"
    )
    try holder.beat(at: Self.beat)
    let first = try store.value(number)
    let before = try store.value(position)
    for count in Int64(2)...100 { try holder.beat(at: Self.beat * count) }
    #expect(try store.value(position) == before)
    #expect(try store.value(number) != first)
  }

  @Test func `a session that has ended leaves it at once`() throws {
    var next = try lease()
    do {
      var holder = try lease()
      #expect(try holder.take(holder: "holder", at: 0))
    }
    // The server takes a moment to see it.
    while try !next.take(holder: "next", at: 0) {}
    #expect(next.term == 2)
  }

  @Test func `of two that find it free one has it`() throws {
    var leases = [try lease(), try lease(), try lease()]
    var terms: [Int64?] = []
    for index in leases.indices {
      _ = try leases[index].take(holder: "\(index)", at: 0)
      terms.append(leases[index].term)
    }
    #expect(terms == [1, nil, nil])
  }

  @Test func `a transaction of an earlier term commits nothing, and one that runs is waited for`()
    throws
  {
    let connection = try database.connection()
    var (old, next) = (GatewayLease(.broker, over: connection), try lease())
    #expect(try old.take(holder: "old", at: 0))
    #expect(try !next.take(holder: "next", at: 0))
    #expect(try next.take(holder: "next", at: Self.silence))
    #expect(throws: AppStoreError.termIsOver(1)) {
      try BrokerTable(connection).step(term: 1) { (_) throws(AppStoreError) in }
    }
  }

  @Test func `a transaction that a frozen program left open ends by itself`() throws {
    let connection = try database.connection()
    let sessions = """
      select count(*)
      from pg_stat_activity
      where datname = current_database()
        and application_name = 'test'
      """
    #expect(try database.store.value(sessions) == "1")
    #expect(throws: AppStoreError.self) {
      try connection.inSnapshot { () throws(AppStoreError) in
        // As a program does that is stopped.
        let deadline = ContinuousClock.now + .seconds(30)
        while ContinuousClock.now < deadline, (try? database.store.value(sessions)) != "0" {}
        _ = try LedgerTable(connection).transactionLog(of: 1, limit: 1)
      }
    }
  }
}
