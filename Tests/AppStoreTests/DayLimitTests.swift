import Alerts
import AppStore
import Market
import PaperTrading
import Postgres
import TestSupport
import TestTraits
import Testing

/// What a user may do on a day, at all gateways together.
@Suite(.ownThread) struct DayLimitTests {
  private let database: AppDatabase
  private let connection: AppConnection
  private let accounts: [Int64]

  init() throws {
    database = try AppDatabase()
    let connection = try database.connection()
    self.connection = connection
    let (alice, bob) = (try database.user(), try database.user("bob"))
    accounts = try [(alice, "a"), (alice, "b"), (bob, "c")].map { user, name in
      try LedgerTable(connection).create(
        userID: user, name: name, market: "cn", currency: "CNY")
    }
  }

  private func send(
    _ key: String, _ request: CommandRequest = .cancel(order: 1), account: Int = 0,
    within limits: DayLimits
  ) throws {
    _ = try CommandTable(connection).send(
      [KeyedRequest(accountID: accounts[account], key: key, request: request)], within: limits)
  }

  @Test func `requests beyond a user's day are not stored, and a known key is none`() throws {
    var limits = DayLimits.standard
    limits.commands = 3
    for (place, key) in ["a", "b", "c"].enumerated() {
      try send(key, account: place % 2, within: limits)
    }
    for _ in 0..<5 { try send("a", within: limits) }
    let beyond = #expect(throws: AppStoreError.self) { try send("d", within: limits) }
    #expect(
      beyond?.description
        == "a user has at most 3 requests to the broker a day (UTC): go on tomorrow")
    try send("d", account: 2, within: limits)
    #expect(try database.store.value("select count(*) from candled_app.command") == "4")
    try database.store.execute("update candled_app.user_day set day = day - 1")
    try send("d", within: limits)
  }

  @Test func `deposits and withdrawals have a bound of their own`() throws {
    var limits = DayLimits.standard
    limits.payments = 2
    let money = ExactDecimal(1)
    try send("a", .deposit(money, type: .bank, description: ""), within: limits)
    try send("b", .withdraw(money, description: ""), within: limits)
    let beyond = #expect(throws: AppStoreError.self) {
      try send("c", .withdraw(money, description: ""), within: limits)
    }
    #expect(beyond == .tooManyOfDay("deposits and withdrawals", limit: 2))
    try send("d", within: limits)
  }

  @Test func `an account that is not there is unknown, whatever was sent before`() throws {
    #expect(throws: AppStoreError.unknownAccount) {
      _ = try CommandTable(connection).send(
        [KeyedRequest(accountID: 99, key: "a", request: .close)], within: .none)
    }
  }

  @Test func `alerts and accounts have bounds, too`() throws {
    let alerts = AlertTable(connection, userID: 1)
    let symbol = try #require(Symbol("sh600519"))
    let request = AlertTable.Request(
      subject: AlertSubject(symbol: symbol, source: "sina"), condition: .above,
      threshold: ExactDecimal(1))
    let made = try alerts.create(request)
    let most = DayLimits.standard.alerts
    try database.store.execute("update candled_app.user_day set alerts = \(most - 1)")
    _ = try alerts.replace(made.id, with: request)
    let beyond = AppStoreError.tooManyOfDay("alerts made or changed", limit: most)
    #expect(throws: beyond) { try alerts.replace(made.id, with: request) }
    #expect(throws: beyond) { try alerts.create(request) }
    #expect(try alerts.all().map(\.revision) == [2])
    let table = AccountTable(connection, userID: 1)
    let accounts = DayLimits.standard.accounts
    try database.store.execute(
      """
      insert into candled_app.account
        (user_id, name, market, currency, closed_at)
      select 1, 'x' || n, 'cn', 'CNY', now() from generate_series(3, \(accounts)) n
      """)
    #expect(throws: AppStoreError.tooManyOfDay("accounts made", limit: accounts)) {
      _ = try table.create(named: "one more", market: .mainland)
    }
  }
}
