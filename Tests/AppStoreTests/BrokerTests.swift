import Market
import PaperTrading
import Postgres
import TestSupport
import TestTraits
import Testing

@testable import AppStore

/// Commands, and the steps of the broker that executes them. The trial of the ledger has the rest.
@Suite(.ownThread) struct BrokerTests {
  private static let day = TradingDay(daysSince1970: 20_640)
  private let database: AppDatabase
  private let connection: AppConnection
  private let account: Int64

  init() throws {
    database = try AppDatabase()
    connection = try database.connection()
    account = try LedgerTable(connection).create(
      userID: database.user(), name: "纸上", market: "cn", currency: "CNY")
    try database.store.execute("update candled_app.gateway_lease set term = 3")
  }

  private func request(_ key: String, _ cents: Int64 = 100) -> KeyedRequest {
    KeyedRequest(
      accountID: account, key: key,
      request: .deposit(ExactDecimal(units: cents, scale: 2), type: .bank, description: "a b"))
  }

  /// Executes deposits and withdrawals that wait.
  @discardableResult
  private func step(term: Int64 = 3) throws -> [PendingCommand] {
    let table = BrokerTable(connection)
    return try table.step(term: term) { (sequence) throws(AppStoreError) in
      let ledgers = try LedgerTable(connection).ledgers(
        of: [account], on: Self.day)
      var ledger = ledgers[account] ?? AccountLedger(tradingDay: Self.day)
      let pending = try table.pending(limit: 100)
      var step = BrokerStep()
      for (place, command) in pending.enumerated() {
        let result: CommandResult
        do throws(LedgerRefusal) {
          guard case .deposit(let amount, let type, let description) = command.request else {
            continue
          }
          let posting = try ledger.deposit(amount, type: type)
          var row = PostingRow(
            accountID: account, posting: posting, at: Timestamp(day: Self.day, secondOfDay: 0))
          (row.commandID, row.description) = (command.id, description)
          step.postings.append(row)
          result = .done(.posting, posting.sequence)
        } catch {
          result = .refused(CommandRefusal(error))
        }
        let outcome = CommandOutcome(sequence: sequence + Int64(place) + 1, result: result)
        step.outcomes.append((command.id, outcome))
      }
      try table.write(step)
      return pending
    }
  }

  @Test func `what can be read again is stored without waiting for the disk`() throws {
    let table = BrokerTable(connection)
    let setting = Statement(
      name: "setting", sql: "select (current_setting('synchronous_commit') = 'off')::int::bigint")
    for isDurable in [false, true] {
      var move = CursorMove()
      (move.isDurable, move.quoteSequence) = (isDurable, isDurable ? 2 : 1)
      let isOff = try table.step(term: 3, move: move) { (_) throws(AppStoreError) in
        try table.numbers(setting)
      }
      #expect(isOff == [Int64(isDurable ? 0 : 1)])
      #expect(try table.numbers(setting) == [0])
      #expect(try table.cursor().quoteSequence == move.quoteSequence)
    }
    #expect(throws: AppStoreError.termIsOver(2)) {
      try table.step(term: 2) { (_) throws(AppStoreError) in }
    }
  }

  @Test func `the same key is the same command, and another request under it is a conflict`() throws
  {
    let commands = CommandTable(connection)
    let first = try commands.send([request("a"), request("b"), request("a")])
    #expect(first[0] == first[2] && first[0] != first[1])
    try step()
    guard case .command(let id, let outcome?) = try commands.send([request("a")])[0] else {
      Issue.record("no outcome")
      return
    }
    #expect(first[0] == .command(id: id, outcome: nil))
    #expect(outcome == CommandOutcome(sequence: 1, result: .done(.posting, 1)))
    #expect(try commands.send([request("a", 200)]) == [.conflict])
    #expect(try commands.outcomes(of: [id, 999]) == [id: outcome])
    #expect(try step() == [])
    let rows = try database.store.value("select count(*) from candled_app.command")
    #expect(rows == "2")
  }

  @Test func `who waits for an outcome is woken by it, and by time`() throws {
    let waiting = try database.connection()
    let commands = CommandTable(waiting)
    try commands.listenForOutcomes()
    let sent = try commands.send([request("a")])
    guard case .command(let id, nil) = sent[0] else {
      Issue.record("\(sent)")
      return
    }
    #expect(try commands.wait(for: [id], milliseconds: 20) == [:])
    try step()
    #expect(try commands.wait(for: [id], milliseconds: 10_000)[id]?.isDone == true)
  }

  @Test func `a request that cannot be stored is refused, and stores nothing`() throws {
    let commands = CommandTable(connection)
    var wrong = request("")
    #expect(throws: AppStoreError.self) { try commands.send([request("a"), wrong]) }
    wrong = request("a")
    wrong.accountID = 999
    #expect(throws: AppStoreError.unknownAccount) { try commands.send([request("b"), wrong]) }
    wrong = request("a")
    wrong.request = .withdraw(ExactDecimal(1), description: String(repeating: "汉", count: 257))
    #expect(throws: AppStoreError.self) { try commands.send([wrong]) }
    #expect(try database.store.value("select count(*) from candled_app.command") == "0")
  }

  @Test func `a broker of another term writes nothing`() throws {
    _ = try CommandTable(connection).send([request("a")])
    #expect(throws: AppStoreError.termIsOver(2)) { try step(term: 2) }
    try database.store.execute("update candled_app.gateway_lease set term = 4")
    #expect(throws: AppStoreError.termIsOver(3)) { try step() }
    #expect(try database.store.value("select count(*) from candled_app.posting") == "0")
    #expect(try step(term: 4).count == 1)
  }

  @Test func `a command that commits behind its successor is executed`() throws {
    let slow = try PostgresConnection(url: database.url, application: "slow")
    try slow.execute(
      """
      begin;
      insert into candled_app.command (account_id, idempotency_key, fingerprint, kind, body)
      values (\(account), 'slow', sha256('x'), 'deposit', '\(request("a").request.text)')
      """, context: "test")
    _ = try CommandTable(connection).send([request("fast")])
    #expect(try step().count == 1)
    try slow.execute("commit", context: "test")
    let late = try step()
    #expect(late.count == 1 && late[0].id == 1)
    let order = try database.store.execute(
      "select idempotency_key from candled_app.command order by sequence")
    #expect(order == [["fast"], ["slow"]])
  }

  @Test func `the log is read in pages, newest first`() throws {
    let requests = (1...7).map { request("\($0)", Int64($0)) }
    _ = try CommandTable(connection).send(requests)
    try step()
    let table = LedgerTable(connection)
    let first = try table.transactionLog(of: account, limit: 3)
    #expect(first.map(\.amount.description) == ["0.07", "0.06", "0.05"])
    let second = try table.transactionLog(of: account, behind: first.last?.sequence, limit: 9)
    #expect(second.map(\.sequence) == [4, 3, 2, 1])
    #expect(second.allSatisfy { $0.kind == "deposit" && $0.depositType == "Bank" })
    #expect(second[0].description == "a b" && second[0].symbol == nil)
    let books = try table.balances(of: [account])
    #expect(books[account]?[Book(.cash, .available)]?.description == "0.28")
    #expect(try LedgerAudit(connection).findings() == [])
  }

  @Test func `an account has a name of its own`() throws {
    let table = LedgerTable(connection)
    let user = try database.user("bob")
    for (name, currency) in [("", "CNY"), ("a\n", "CNY"), ("a", "EUR")] {
      #expect(throws: AppStoreError.self) {
        try table.create(
          userID: user, name: name, market: "cn", currency: currency)
      }
    }
    for isFirst in [true, false] {
      let made = try? table.create(
        userID: user, name: "a", market: "us", currency: "USD")
      #expect((made != nil) == isFirst)
    }
  }
}
