/// Accounts and their money.

import AppStore
import HTTPTypes
import PaperTrading

private struct AccountBody: Decodable {
  var name: String
  var market: String

  static let schema = Schema.object([
    .init("name", .text(charactersMax: LedgerTable.nameCharactersMax)),
    .init("market", .choice(PaperMarket.allCases.map(\.name))),
  ])
}

/// Money that comes or goes. There is a type of what is paid in only.
private struct MoneyBody: Decodable {
  var amount: String
  var type: String?
  var description: String?

  /// The documents' names: by credit card, by debit card, by transfer. As the log and apps spell
  /// them, too.
  static let types: KeyValuePairs = [
    "apple_pay": DepositType.applePay, "line_pay": .linePay, "bank": .bank,
    "applePay": .applePay, "linePay": .linePay,
    "ApplePay": .applePay, "LinePay": .linePay, "Bank": .bank,
  ]

  static func schema(_ type: [Schema.Member] = []) -> Schema {
    .object(
      [.init("amount", .matching(.amount))] + type + [
        .init(
          "description", .nullable(.text(charactersMax: CommandTable.descriptionCharactersMax)),
          isRequired: false)
      ])
  }

  func note() throws(Problem) -> String {
    guard let description else { return "" }
    let isPlain = !description.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F }
    let most = CommandTable.descriptionCharactersMax
    guard isPlain, (1...most).contains(description.unicodeScalars.count) else {
      throw .invalid(
        "description", expected: "1 to \(most) characters without control characters", found: "")
    }
    return description
  }
}

extension TradingRoutes {
  var accounts: [Route] {
    [
      reading(
        "/v1/accounts",
        answer: .object([.init("accounts", .array(of: PaperAccount.shape.schema))]), parameters: [],
        summary: "The user's accounts, each a portfolio and a world of its own."
      ) { (routes, request) throws(Problem) in
        let user = request.identity.userID
        let accounts = try await routes.service.run { (connection) throws(AppStoreError) in
          try AccountTable(connection, userID: user).all()
        }
        return .own { answer in
          answer.list("accounts", of: accounts) {
            $0.write($1, as: PaperAccount.shape, in: $1.market.zone)
          }
        }
      },
      makeAccount, closeAccount, resetAccount,
      reading(
        "/v1/account", answer: Portfolio.accountShape.schema,
        summary: "An account: its cash, and with it what it holds (equity)."
      ) { (routes, request) throws(Problem) in
        try await routes.valued(
          try await routes.service.account(request.account, of: request.identity))
      },
      reading(
        "/v1/commands/{id}", answer: CommandProgress.shape.schema,
        parameters: [Self.id(of: "command")],
        summary: "What became of a request that was answered with 202."
      ) { (routes, request) throws(Problem) in
        let (user, id) = (request.identity.userID, request.id)
        let found = try await routes.service.run { (connection) throws(AppStoreError) in
          try AccountTable(connection, userID: user).command(id)
        }
        guard let found else {
          throw Problem(
            .notFound, code: "unknown_command", title: "There is no command of this number.")
        }
        return .own(CommandProgress(found), as: CommandProgress.shape)
      },
    ]
  }

  private var makeAccount: Route {
    .ofUser(
      "/v1/accounts", method: .post, summary: "Makes an account, empty; its currency follows.",
      scope: .trade, status: .created, answer: PaperAccount.shape.schema,
      body: AccountBody.schema,
      problems: [.conflict, .contentTooLarge, .unprocessableContent, .serviceUnavailable]
    ) { (request) throws(Problem) in
      let body = try request.body(AccountBody.self)
      guard let market = PaperMarket.allCases.first(where: { $0.name == body.market }) else {
        throw Problem.invalid("market", expected: "A or US", found: body.market)
      }
      let user = request.identity.userID
      let account = try await service.run { (connection) throws(AppStoreError) in
        try AccountTable(connection, userID: user)
          .create(named: body.name, market: market)
      }
      return .made(account)
    }
  }

  private var closeAccount: Route {
    command(
      "/v1/accounts/{id}", method: .delete, status: .noContent, answer: nil,
      parameters: [Self.id(of: "account")],
      summary: "Closes an account: its orders and queue purchases are cancelled at once, it is in "
        + "no list any more, and another one may have its name. What it holds is not sold."
    ) { (routes, request) throws(Problem) in
      _ = try await routes.identity(of: request)
      return try await routes.answer(.close, of: request, in: request.id) { (_) in .done }
    }
  }

  private var resetAccount: Route {
    command(
      "/v1/accounts/{id}/reset", method: .post, status: .created,
      answer: PaperAccount.shape.schema, parameters: [Self.id(of: "account")],
      summary: "Closes an account and makes another one, empty, of its name and market."
    ) { (routes, request) throws(Problem) in
      let (name, market) = try await routes.identity(of: request)
      return try await routes.answer(.close, of: request, in: request.id) {
        (_) throws(Problem) in
        let user = request.identity.userID
        let account = try await routes.service.run { (connection) throws(AppStoreError) in
          let accounts = AccountTable(connection, userID: user)
          // Sent again, it has made one before.
          if let made = try accounts.all().first(where: { $0.name == name }) { return made }
          return try accounts.create(named: name, market: market)
        }
        return .made(account)
      }
    }
  }

  /// Of an account of the user, open or closed: the request may be one that was carried out before.
  private func identity(
    of request: UserRequest
  ) async throws(Problem) -> (name: String, market: PaperMarket) {
    let (id, user) = (request.id, request.identity.userID)
    return try await service.run { (connection) throws(AppStoreError) in
      let accounts = AccountTable(connection, userID: user)
      if let closed = try accounts.closed(id) { return closed }
      let account = try accounts.account(id)
      return (account.name, account.market)
    }
  }

  func valued(_ account: PaperAccount) async throws(Problem) -> Answer {
    let portfolio = try await service.portfolio(of: account)
    return .own(portfolio, as: Portfolio.accountShape, in: account.market.zone)
  }

  // MARK: Money

  var money: [Route] {
    [
      command(
        "/v1/account/deposits", method: .post, status: .created,
        answer: PaperAccount.shape.schema,
        body: MoneyBody.schema([.init("type", .choice(MoneyBody.types.map(\.key)))]),
        parameters: [Self.account], summary: "Pays money in, at once. The answer is the account."
      ) { (routes, request) throws(Problem) in
        let body = try request.body(MoneyBody.self)
        let known = MoneyBody.types.first { $0.key == body.type }
        guard let type = known?.value else {
          let names = MoneyBody.types.map(\.key).joined(separator: ", ")
          throw .invalid("type", expected: "one of \(names)", found: body.type ?? "")
        }
        return try await routes.move(
          .deposit(
            try body.amount.decimal("amount", .amount), type: type, description: try body.note()),
          of: request)
      },
      command(
        "/v1/account/withdrawals", method: .post, status: .created,
        answer: PaperAccount.shape.schema, body: MoneyBody.schema(), parameters: [Self.account],
        summary: "Pays money out. What is frozen for orders stays."
      ) { (routes, request) throws(Problem) in
        let body = try request.body(MoneyBody.self)
        return try await routes.move(
          .withdraw(try body.amount.decimal("amount", .amount), description: try body.note()),
          of: request)
      },
      reading(
        "/v1/account/transactions",
        answer: .page("transactions", of: TransactionLogRow.shape),
        parameters: [Self.account, MarketRoutes.limit(Self.rowsMax), MarketRoutes.cursor],
        summary: "The account's log, newest first: deposit, withdrawal, Buy-Order, Sell-Order, "
          + "Auto-Buy, dividend, bonus, reversal. Amounts are signed as its cash changed."
      ) { (routes, request) throws(Problem) in try await routes.log(request) },
    ]
  }

  private func move(
    _ command: CommandRequest, of request: UserRequest
  ) async throws(Problem) -> Answer {
    let id = try await service.account(request.account, of: request.identity).id
    return try await answer(command, of: request, in: id) { (_) async throws(Problem) in
      let account = try await service.account(id, of: request.identity)
      return .own(
        account, as: PaperAccount.shape, in: account.market.zone, status: .created,
        location: "/v1/account/transactions?account=\(id)")
    }
  }

  private func log(_ request: UserRequest) async throws(Problem) -> Answer {
    let account = try await service.account(request.account, of: request.identity)
    let name = request.arguments.fingerprint(of: "transactions \(account.id)")
    let before = try request.arguments.cursor(of: name)
    let limit = Int(request.arguments.integer("limit") ?? Self.rowsDefault)
    let rows = try await service.run { (connection) throws(AppStoreError) in
      try LedgerTable(connection).transactionLog(of: account.id, behind: before, limit: limit + 1)
    }
    let next = rows.count > limit ? Cursor.text(rows[limit - 1].sequence, of: name) : nil
    return .own { answer in
      answer.list(
        "transactions", of: rows.prefix(limit), as: TransactionLogRow.shape,
        in: account.market.zone)
      answer.member("nextCursor") { $0.optional(next) { $0.string($1) } }
    }
  }
}

extension Answer {
  fileprivate static func made(_ account: PaperAccount) -> Answer {
    .own(
      account, as: PaperAccount.shape, in: account.market.zone, status: .created,
      location: "/v1/account?account=\(account.id)")
  }
}
