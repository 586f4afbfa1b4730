/// Alpaca's watchlists: the user's own, the same that the page and `/v1` have.

import AppStore
import Foundation
import HTTPTypes
import Market
import Reader

extension AlpacaTradingRoutes {
  private static let watchlist = Schema.named(
    "AlpacaWatchlist",
    .object([
      .init("id", .string), .init("account_id", .string), .init("name", .string),
      .init("created_at", .moment), .init("updated_at", .moment),
      .init("assets", .array(of: AlpacaRoutes.asset)),
    ]))

  private static let symbols = Schema.nullable(.array(of: .text(charactersMax: 32)))
  private static let name = Schema.text(charactersMax: WatchlistTable.nameCharactersMax)
  private static let made = Schema.object([
    .init("name", name), .init("symbols", symbols, isRequired: false),
  ])
  private static let changed = Schema.object([
    .init("name", .nullable(name), isRequired: false),
    .init("symbols", symbols, isRequired: false),
  ])
  private static let added = Schema.object([.init("symbol", .text(charactersMax: 32))])

  private static let path = "/v2/watchlists/{watchlist_id}"
  private static let key = Parameter(
    "watchlist_id", .text(charactersMax: 36), in: .path, summary: "Of the watchlist.",
    example: AlpacaID.watchlist.text(1, in: .none))

  var watchlists: [Route] {
    [
      route(
        "/v2/watchlists", summary: "Alpaca: the user's watchlists.",
        answer: .array(of: Self.watchlist)
      ) { (routes, call) throws(Problem) in try await routes.listAll(call) },
      route(
        "/v2/watchlists", method: .post, summary: "Alpaca: makes a watchlist.", isTrade: false,
        answer: Self.watchlist, body: Self.made
      ) { (routes, call) throws(Problem) in try await routes.make(call) },
      route(
        "\(Self.path)/{symbol}", method: .delete,
        summary: "Alpaca: removes a symbol. Removing it again is no error.", isTrade: false,
        parameters: [Self.key, AlpacaRoutes.symbol], answer: Self.watchlist
      ) { (routes, call) throws(Problem) in try await routes.remove(call) },
      route(
        Self.path, summary: "Alpaca: a watchlist.", parameters: [Self.key], answer: Self.watchlist
      ) { (routes, call) throws(Problem) in
        try await routes.answer(call) { (_, _) throws(AppStoreError) in }
      },
      route(
        Self.path, method: .put,
        summary: "Alpaca: gives a watchlist another name or other symbols.",
        isTrade: false, parameters: [Self.key], answer: Self.watchlist, body: Self.changed
      ) { (routes, call) throws(Problem) in try await routes.change(call) },
      route(
        Self.path, method: .post,
        summary: "Alpaca: adds a symbol at the end. Adding it again is no error.", isTrade: false,
        parameters: [Self.key], answer: Self.watchlist, body: Self.added
      ) { (routes, call) throws(Problem) in try await routes.add(call) },
      route(
        Self.path, method: .delete, summary: "Alpaca: deletes a watchlist.", isTrade: false,
        parameters: [Self.key], status: .noContent, answer: nil
      ) { (routes, call) throws(Problem) in
        try await routes.run(call) { (table) throws(AppStoreError) in
          try table.delete(try table.one(try call.watchlist()).id)
        }
        return .done
      },
    ]
  }

  // MARK: Requests

  private struct Made: Decodable {
    let name: String
    let symbols: [String]?
  }

  private struct Changed: Decodable {
    let name: String?
    let symbols: [String]?
  }

  private struct Added: Decodable {
    let symbol: String
  }

  private func make(_ call: AlpacaCall) async throws(Problem) -> Answer {
    let body = try call.body(Made.self)
    let entries = try listed(body.symbols ?? [])
    let list = try await run(call) { (table) throws(AppStoreError) in
      try table.create(named: body.name, with: entries)
    }
    return try answer(with: list, to: call)
  }

  private func listAll(_ call: AlpacaCall) async throws(Problem) -> Answer {
    let lists = try await run(call) { (table) throws(AppStoreError) in try table.all() }
    let state = try service.memory.loaded()
    return .ownList(of: lists) { $0.write(alpaca: $1, of: call.account, in: state) }
  }

  private func change(_ call: AlpacaCall) async throws(Problem) -> Answer {
    let body = try call.body(Changed.self)
    let entries = try body.symbols.map(listed)
    return try await answer(call) { (table, id) throws(AppStoreError) in
      try table.update(id, name: body.name, entries: entries)
    }
  }

  private func add(_ call: AlpacaCall) async throws(Problem) -> Answer {
    let added = try listed([try call.body(Added.self).symbol])
    return try await answer(call) { (table, id) throws(AppStoreError) in
      for entry in added { try table.add(entry.symbol, to: id) }
    }
  }

  /// Also of a symbol that is not listed any more.
  private func remove(_ call: AlpacaCall) async throws(Problem) -> Answer {
    let spelling = call.arguments["symbol"] ?? ""
    let directory = try service.memory.loaded().directory
    guard
      let symbol = directory.place(spelling: spelling).map({ directory[$0].symbol })
        ?? Symbol(anySpelling: spelling)
    else { throw .unknownSymbol(spelling, in: directory) }
    return try await answer(call) { (table, id) throws(AppStoreError) in
      try table.remove(symbol, from: id)
    }
  }

  // MARK: Shared

  private func listed(_ spellings: [String]) throws(Problem) -> [WatchlistEntry] {
    let directory = try service.memory.loaded().directory
    var entries: [WatchlistEntry] = []
    for spelling in spellings {
      guard let place = directory.place(spelling: spelling) else {
        let unknown = Problem.unknownSymbol(spelling, in: directory)
        throw Problem(
          .notFound, code: unknown.code, title: unknown.title,
          faults: [Problem.Fault(field: "symbol", expected: "a listed one", found: spelling)],
          nearest: unknown.nearest)
      }
      entries.append(WatchlistEntry(symbol: directory[place].symbol))
    }
    return entries
  }

  private func run<Value: Sendable>(
    _ call: AlpacaCall, body: @Sendable (WatchlistTable) throws(AppStoreError) -> Value
  ) async throws(Problem) -> Value {
    let user = call.identity.userID
    do throws(Problem) {
      return try await service.run { (connection) throws(AppStoreError) in
        try body(WatchlistTable(connection, userID: user))
      }
    } catch {
      throw error.status == .notFound ? Problem.unknownWatchlist : error
    }
  }

  /// The list that a request names, after `body`.
  private func answer(
    _ call: AlpacaCall, after body: @Sendable (WatchlistTable, Int64) throws(AppStoreError) -> Void
  ) async throws(Problem) -> Answer {
    let list = try await run(call) { (table) throws(AppStoreError) in
      let id = try call.watchlist()
      try body(table, id)
      return try table.one(id)
    }
    return try answer(with: list, to: call)
  }

  private func answer(with list: Watchlist, to call: AlpacaCall) throws(Problem) -> Answer {
    let state = try service.memory.loaded()
    return .own { $0.write(alpaca: list, of: call.account, in: state) }
  }
}

extension AlpacaCall {
  fileprivate func body<Body: Decodable>(_ type: Body.Type) throws(Problem) -> Body {
    let json = arguments.body.isEmpty ? Array("{}".utf8) : arguments.body
    try AlpacaNumbers.requireObject(json)
    return try JSONBody.decode(type, from: Data(json), orElse: .unprocessableContent)
  }

  /// - Throws: `unknown`.
  fileprivate func watchlist() throws(AppStoreError) -> Int64 {
    let id = AlpacaID.watchlist.number(arguments["watchlist_id"] ?? "", in: .none)
    guard let id else { throw .unknown(.watchlist, 0) }
    return id
  }
}

extension Problem {
  fileprivate static let unknownWatchlist = Problem(
    .notFound, code: "unknown_watchlist", title: "There is no such watchlist.")
}

extension JSONWriter {
  fileprivate mutating func write(
    alpaca watchlist: Watchlist, of account: PaperAccount, in state: MarketState
  ) {
    let zone = account.market.zone
    member("id") { $0.string(AlpacaID.watchlist.text(watchlist.id, in: .none)) }
    member("account_id") { $0.string(AlpacaID.account.text(account.id, in: .none)) }
    member("name") { $0.string(watchlist.name) }
    member("created_at") { $0.moment(watchlist.createdAt, in: zone) }
    member("updated_at") { $0.moment(watchlist.updatedAt, in: zone) }
    list("assets", of: watchlist.items) { asset, item in
      let place = state.directory.meant(by: item.symbol)
      asset.write(assetOf: item.symbol, at: place, in: state)
    }
  }
}
