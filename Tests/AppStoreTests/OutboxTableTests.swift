import Alerts
import AppStore
import Market
import PaperTrading
import Postgres
import TestSupport
import TestTraits
import Testing

/// What the schema adds to outboxes, in which order.
@Suite(.ownThread) struct OutboxTableTests {
  private let database: AppDatabase
  private let alice: Int64
  private let bob: Int64

  init() throws {
    database = try AppDatabase()
    alice = try database.user()
    bob = try database.user("bob")
    for user in [alice, bob] {
      try database.store.execute(
        """
        insert into candled_app.alert (
          user_id, symbol, source, condition, threshold, repeats, armed_at, armed_epoch, armed_seq)
        values (\(user), 'sh600000', 'sina', 'above', 1, 'daily', now(), 1, 1)
        """)
    }
  }

  /// - Parameter period: no two of a user's share it.
  private func notification(of user: Int64, on period: String) -> String {
    """
    insert into candled_app.notification (
      user_id, alert_id, revision, period, kind, source, condition, trading_day, basis, feed_epoch,
      feed_seq, observed_at)
    select
      user_id, id, 1, '\(period)', 'fired', source, condition, '2026-07-06', 'last', 1, 1, now()
    from candled_app.alert
    where user_id = \(user)
    """
  }

  @Test func `each user's rows are numbered without a gap, in the order of commits`() async throws {
    let url = database.url
    let first = try PostgresConnection(url: url, application: "first")
    try first.execute("begin", context: "test")
    try first.execute(notification(of: alice, on: "2026-07-06"), context: "test")
    // It waits for the first: its row must not be seen before.
    let second = [
      notification(of: alice, on: "2026-07-07"), notification(of: bob, on: "2026-07-07"),
    ]
    async let waiting: Void = onOwnThread {
      let connection = try PostgresConnection(url: url, application: "second")
      for statement in second { try connection.execute(statement, context: "test") }
    }
    try await waitUntilBlocked()
    let table = OutboxTable(try database.connection())
    #expect(try table.last() == 0 && table.rows(after: 0, limit: 10).isEmpty)
    try first.execute("commit", context: "test")
    try await waiting
    let rows = try table.rows(after: 0, limit: 10)
    #expect(rows.map(\.id) == [1, 2, 3] && rows.map(\.userID) == [alice, alice, bob])
    #expect(rows.map(\.number) == [1, 2, 1])
    #expect(try table.rows(of: alice, after: 1, limit: 10) == [rows[1]])
    #expect(try table.end(of: alice) == (2, 0) && table.end(of: bob) == (1, 0))
    #expect(try table.notifications(rows).count == 3)
  }

  @Test func `numbers of notifications are in the order of commits, whoever writes them`()
    async throws
  {
    let broker = try PostgresConnection(url: database.store.url, application: "broker")
    try broker.execute(
      "begin; update candled_app.outbox_cursor set last_id = last_id", context: "test")
    let (url, late) = (database.url, notification(of: alice, on: "2026-07-07"))
    async let waiting: Void = onOwnThread {
      try PostgresConnection(url: url, application: "second").execute(late, context: "test")
    }
    try await waitUntilBlocked()
    try broker.execute(notification(of: bob, on: "2026-07-06"), context: "test")
    try broker.execute("commit", context: "test")
    try await waiting
    let order = "select string_agg(user_id::text, ' ' order by id) from candled_app.notification"
    #expect(try database.store.value(order) == "\(bob) \(alice)")
  }

  @Test func `what becomes of an order wakes nobody who waits for alerts`() throws {
    let connection = try database.connection()
    let account = try LedgerTable(connection).create(
      userID: alice, name: "纸上", market: "cn", currency: "CNY")
    try connection.listen(to: [.alert])
    try database.store.execute(
      """
      insert into candled_app.notification (
        user_id, kind, event, account_id, trading_day, observed_at)
      values (\(alice), 'purchase', 'queue_empty', \(account), '2026-07-06', now())
      """)
    #expect(try connection.wait(milliseconds: 300, interrupt: -1) == .timeout)
    try database.store.execute(notification(of: alice, on: "2026-07-06"))
    #expect(try connection.wait(milliseconds: 20_000, interrupt: -1) == .notification)
  }

  @Test func `who waits for alerts is told which to read again`() throws {
    let (connection, url) = (try database.connection(), database.url)
    try connection.listen(to: [.alert])
    let ids = try database.store.execute("select id from candled_app.alert order by id")
      .compactMap { $0[0].flatMap { Int64($0) } }
    for change in [
      notification(of: alice, on: "2026-07-06"),
      "update candled_app.alert set state = 'deleted' where user_id = \(bob)",
    ] {
      try PostgresConnection(url: url, application: "user").execute(change, context: "test")
    }
    var told: Set<String> = []
    while told.count < 2 {
      #expect(try connection.wait(milliseconds: 20_000, interrupt: -1) == .notification)
      told.formUnion(connection.payloads)
    }
    #expect(told == Set(ids.map { "\($0)" }))
    let (table, day) = (NoticeTable(connection), AlertBook.firstDay)
    let part = try table.part(of: Set(ids), from: day)
    #expect(part.alerts.map(\.id) == [ids[0]] && part.firings.map(\.key.alertID) == [ids[0]])
    #expect(try table.part(of: [ids[1]], from: day).subjects.isEmpty)
  }

  private func waitUntilBlocked() async throws {
    let blocked = """
      select count(*)
      from pg_stat_activity
      where application_name = 'second'
        and wait_event_type = 'Lock'
      """
    while try database.store.value(blocked) == "0" { try await Task.sleep(for: .milliseconds(5)) }
  }

  @Test func `what a user changes keeps nothing from the user's outbox`() async throws {
    let holder = try PostgresConnection(url: database.store.url, application: "holder")
    try holder.execute("select pg_advisory_lock(1)", context: "test")
    try database.store.execute(
      """
      create function candled_app.waits() returns trigger language plpgsql security definer
      as 'begin perform pg_advisory_xact_lock_shared(1); return new; end';
      create trigger waits before insert on candled_app.watchlist
      for each row execute function candled_app.waits()
      """)
    let (url, alice) = (database.url, alice)
    async let waiting: Void = onOwnThread {
      let connection = try AppConnection(url: url, application: "second")
      _ = try WatchlistTable(connection, userID: alice).create(named: "mine")
    }
    try await waitUntilBlocked()
    let broker = try PostgresConnection(url: database.store.url, application: "broker")
    try broker.execute("set lock_timeout = '2s'", context: "test")
    #expect(throws: Never.self) {
      try broker.execute(notification(of: alice, on: "2026-07-06"), context: "test")
    }
    try holder.execute("select pg_advisory_unlock(1)", context: "test")
    try await waiting
  }

  @Test func `a refusal of what a later version asked for is left out`() throws {
    let connection = try database.connection()
    let account = try LedgerTable(connection).create(
      userID: alice, name: "纸上", market: "cn", currency: "CNY")
    let bodies = [
      "order of=a_later_version",
      CommandRequest.order(
        OrderRequest(
          symbol: StoreSamples.symbol(0), side: .buy, kind: .limit, quantity: ExactDecimal(100),
          limit: ExactDecimal(10))
      ).text,
    ]
    for (number, body) in bodies.enumerated() {
      try database.store.execute(
        """
        insert into candled_app.command (account_id, idempotency_key, fingerprint, kind, body)
        values (\(account), '\(number)', sha256('a'), 'order', '\(body)');
        update candled_app.command
        set sequence = id, outcome = 'refused', answer = 'funds: no', answered_at = now()
        where outcome is null
        """)
    }
    let table = OutboxTable(connection)
    let rows = try table.rows(after: 0, limit: 10)
    #expect(try rows.count == 2 && Array(table.refusals(rows).keys) == [rows[1].id])
  }

  @Test func `what is taken back leaves no gap, and rows never change`() throws {
    let connection = try PostgresConnection(url: database.url, application: "test")
    try connection.execute("begin", context: "test")
    try connection.execute(notification(of: alice, on: "2026-07-06"), context: "test")
    try connection.execute("rollback", context: "test")
    try connection.execute(notification(of: alice, on: "2026-07-07"), context: "test")
    let table = OutboxTable(try database.connection())
    let rows = try table.rows(after: 0, limit: 10)
    #expect(rows.map(\.id) == [1] && rows.map(\.number) == [1])
    for change in ["delete from candled_app.outbox", "update candled_app.outbox set number = 9"] {
      #expect(throws: StoreError.self) { try database.store.execute(change) }
    }
  }
}
