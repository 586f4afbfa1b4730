import AppStore
import EmbeddedPostgres
import Feeds
import Foundation
import Ledgers
import Market
import PaperTrading
import Platform
import Postgres
import Store
import TestSupport

/// Random commands of many clients at once on a ledger in PostgreSQL, against a model that shares
/// no code with it. After every step of the broker all balances are compared, and the rows audited.
package struct LedgerTrial: Sendable {
  package var commands: Int
  package var clients: Int
  package var seed: UInt64
  package var accounts = 64
  /// Of the broker, per trading day.
  package var stepsPerDay = 12
  /// Keys that all clients send at once.
  package var sharedKeys = 50
  var fault: PaperBroker.Fault?

  package init(commands: Int, clients: Int = 16, seed: UInt64) {
    self.commands = commands
    self.clients = clients
    self.seed = seed
  }

  package struct Verdict: Sendable {
    package var figures: [String] = []
    package var complaints: [String] = []
    package var fills = 0
    package var refused = 0
  }

  private static let firstDay = TradingDay(daysSince1970: 20_640)

  package func run(log: (String) -> Void = { _ in }) throws -> Verdict {
    let database = try LedgerDatabase()
    var verdict = try run(on: database, log: log)
    verdict.figures += try database.figures()
    return verdict
  }

  func run(on database: LedgerDatabase, log: (String) -> Void = { _ in }) throws -> Verdict {
    let start = Date()
    let ids = try database.makeAccounts(accounts)
    let clients = PaperClients(url: database.url, accounts: ids, seed: seed)
    var session = try LedgerSession(
      database, accounts: ids, seed: seed, day: Self.firstDay, fault: fault)
    try clients.start(clients: self.clients, commandsEach: commands / self.clients)
    try session.serve(while: { clients.isRunning }, trial: self, log: log)
    var verdict = Verdict()
    let seconds = Date().timeIntervalSince(start)
    for number in 0..<sharedKeys where session.complaints.isEmpty {
      let request = KeyedRequest(
        accountID: ids[number % ids.count], key: "shared-\(number)",
        request: .order(
          OrderRequest(
            symbol: PaperInstrument.all[0].symbol, side: .buy, kind: .limit,
            quantity: ExactDecimal(1), limit: ExactDecimal(units: 1, scale: 2))))
      try clients.sendAtOnce(request, clients: self.clients)
      try session.serve(while: { clients.isRunning }, trial: self, log: log)
      if clients.answersAtOnce.count != 1 {
        verdict.complaints.append("a key sent at once: \(clients.answersAtOnce)")
      }
    }
    verdict.complaints += session.complaints + clients.found.complaints
    verdict.complaints += try LedgerAudit(session.connection).findings().map(\.description)
    verdict.complaints += try session.compareReloaded()
    let sent = clients.found
    if sharedKeys > 0, verdict.complaints.isEmpty {
      verdict.complaints += try database.complaints(sharedKeys: sharedKeys)
    }
    verdict.fills = session.counts.fills
    verdict.refused = session.counts.refused
    verdict.figures += [
      "\(sent.sent) commands of \(self.clients) clients at once, \(sent.resent) sent again, "
        + "\(sent.conflicts) conflicts of keys, \(session.counts.refused) refused",
      "\(session.counts.steps) steps, each compared with the model and audited; "
        + "\(session.counts.days) days, \(session.counts.audits) audits of everything",
      "\(session.counts.fills) fills, \(session.counts.reversals) taken back, "
        + "\(session.counts.actions) dividends, bonuses and mergers",
      "\(sharedKeys) keys from \(self.clients) clients at once: one order each",
      "\(Int(seconds)) s, \(Int(Double(sent.sent) / max(seconds, 1))) commands/s",  // Safe: shown
    ]
    return verdict
  }
}

/// A private cluster with both schemas.
struct LedgerDatabase {
  let store: StoreDatabase

  init() throws {
    store = try StoreDatabase.alone()
    try AppSchema.file.apply(url: store.url)
  }

  var url: String { store.url(role: DatabaseRole.app) }

  func makeAccounts(_ count: Int) throws -> [Int64] {
    let rows = try store.execute(
      """
      with owner as (
        insert into candled_app.app_user (name)
        values ('trial')
        on conflict (name) do update set name = excluded.name
        returning id
      )
      insert into candled_app.account (user_id, name, market, currency)
      select owner.id, 'account ' || n, 'cn', 'CNY'
      from owner, generate_series(1, \(count)) n
      returning id
      """)
    return rows.compactMap { $0[0].flatMap { Int64($0) } }
  }

  func makeAction(
    _ symbol: Symbol, day: TradingDay, cents: Int64?, successor: Symbol? = nil
  ) throws -> PaperAction {
    var values = cents.map { "'dividend', 0.01 * \($0), null" } ?? "'bonus', 0.1, null"
    if let successor { values = "'merger', 0.62, '\(successor)'" }
    let id = try store.value(
      """
      insert into candled_app.corporate_action (symbol, ex_day, kind, per_share, successor)
      values ('\(symbol)', '\(day)', \(values))
      returning id
      """)
    return PaperAction(
      id: Int64(id ?? "") ?? 0, symbol: symbol, cashPerShare: cents, successor: successor)
  }

  func complaints(sharedKeys: Int) throws -> [String] {
    let rows = try store.execute(
      """
      select count(*), count(o.id)
      from candled_app.command c
      left join candled_app.paper_order o on o.command_id = c.id
      where c.idempotency_key like 'shared-%'
      """)
    guard let row = rows.first, row[0] == "\(sharedKeys)",
      let orders = row[1].flatMap({ Int($0) }), orders > 0, orders <= sharedKeys
    else { return ["keys that all clients sent at once: \(rows)"] }
    return []
  }

  func figures() throws -> [String] {
    let row = try store.execute(
      """
      select
        (select count(*) from candled_app.posting), (select count(*) from candled_app.entry),
        (select count(*) from candled_app.paper_order),
        pg_size_pretty(pg_database_size(current_database())),
        current_setting('server_version')
      """
    ).first?.map { $0 ?? "" }
    guard let row else { return [] }
    return [
      "\(row[0]) postings, \(row[1]) entries, \(row[2]) orders, \(row[3]); PostgreSQL \(row[4])"
    ]
  }
}
