import AppStore
import Market
import PaperTrading
import Postgres
import TestSupport
import TestTraits
import Testing

/// What an account had on each day: kept as it changes, and read without its postings.
@Suite(.ownThread) struct DayBalanceTests {
  /// Postings of three days, several in one statement as the broker writes them.
  private static let ledger = """
    set search_path = candled_app;
    begin;
    insert into app_user (name) values ('alice');
    insert into account (user_id, name, market, currency)
    values (1, 'a', 'cn', 'CNY');
    insert into command (account_id, idempotency_key, fingerprint, kind, body)
    select 1, 'k' || n, sha256('d'), 'deposit', 'd' from generate_series(1, 2) n;
    insert into posting (account_id, sequence, kind, at, trading_day, command_id, deposit_type)
    values (1, 1, 'deposit', now(), '2026-07-06', 1, 'Bank'),
      (1, 4, 'deposit', now(), '2026-07-08', 2, 'Bank');
    insert into posting (account_id, sequence, kind, at, trading_day)
    values (1, 2, 'settlement', now(), '2026-07-07'), (1, 3, 'settlement', now(), '2026-07-08');
    insert into entry (
      account_id, posting_sequence, line, unit, kind, amount, balance_after)
    values (1, 1, 1, 'cash', 'available', 1000, 1000), (1, 1, 2, 'cash', 'world', -1000, -1000),
      (1, 2, 1, 'cash', 'available', -300, 700), (1, 2, 2, 'cash', 'market', 300, 300),
      (1, 2, 3, 'sh600519', 'today', 30, 30), (1, 2, 4, 'sh600519', 'market', -30, -30),
      (1, 3, 1, 'sh600519', 'today', -30, 0), (1, 3, 2, 'sh600519', 'sellable', 30, 30),
      (1, 4, 1, 'cash', 'available', 5, 705), (1, 4, 2, 'cash', 'world', -5, -1005);
    commit
    """

  private func shown(_ rows: [DayBalance]) -> [String] {
    rows.map { "\($0.day) \($0.unit.text) \($0.balance) \($0.paidIn)" }
  }

  private static let all = [
    "2026-07-06 cash 1000 1000", "2026-07-07 cash 700 1000", "2026-07-07 sh600519 30 0",
    "2026-07-08 cash 705 1005",
  ]

  private func expectDays(over connection: AppConnection) throws {
    let table = HoldingTable(connection)
    let days = try [6, 7, 8, 9].map { try #require(TradingDay("2026-07-0\($0)")) }
    #expect(try shown(table.days(of: 1, from: days[0], through: days[2])) == Self.all)
    let second = try shown(table.days(of: 1, from: days[1], through: days[1]))
    #expect(second == Array(Self.all.prefix(3)))
    #expect(
      try shown(table.days(of: 1, from: days[3], through: days[3]))
        == ["2026-07-07 sh600519 30 0", "2026-07-08 cash 705 1005"])
    let held = try table.held(by: 1, on: days[1], today: days[1])
    #expect(shown(held.opening.balances) == ["2026-07-06 cash 1000 1000"])
    #expect(try table.firstDay(of: 1) == days[0] && table.firstDay(of: 2) == nil)
  }

  @Test func `each day has what the entries until its end add up to`() throws {
    let database = try AppDatabase()
    try SQLProbe.run(Self.ledger, url: database.store.url)
    try expectDays(over: database.connection())
    #expect(try LedgerAudit(database.connection()).findings().allSatisfy { $0.invariant != .daily })
    try database.store.execute(
      "update candled_app.day_balance set paid_in = 0 where trading_day = '2026-07-07'")
    #expect(try LedgerAudit(database.connection()).findings().contains { $0.invariant == .daily })
    #expect(throws: (any Error).self) {
      try database.store.execute("delete from candled_app.day_balance")
    }
  }
}
